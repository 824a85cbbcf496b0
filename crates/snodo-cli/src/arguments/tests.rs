//! How arguments are read.

use serde_json::{Value, json};
use snodo::Error;
use snodo::types::{Members, Raw};

use super::{Arguments, missing, read_one};

fn typed(schema: Value, words: &[&str]) -> Result<Value, Error> {
    typed_beside(schema, words, None)
}

fn typed_beside(schema: Value, words: &[&str], object: Option<&str>) -> Result<Value, Error> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let members = Arguments::read(&words, object)?.typed(Some(&Raw::from(schema)))?;
    Ok(serde_json::to_value(&members).expect("members are JSON"))
}

fn property(schema: Value, text: &str) -> Result<Value, String> {
    let schema = json!({ "type": "object", "properties": { "k": schema }, "$defs": {
        "count": { "type": "integer" },
        "loop": { "anyOf": [{ "$ref": "#/$defs/loop" }, { "$ref": "#/$defs/loop" }] },
    } });
    match typed(schema, &[&format!("k={text}")]) {
        Ok(value) => Ok(value["k"].clone()),
        Err(error) => Err(error.message().to_owned()),
    }
}

#[test]
fn a_string_stays_text_whatever_it_looks_like() {
    for text in ["5", "true", "null", "{}", "\"quoted\"", "", " a=b ", "01"] {
        assert_eq!(property(json!({ "type": "string" }), text), Ok(json!(text)));
        assert_eq!(property(json!({ "enum": ["a", "b"] }), text), Ok(json!(text)));
    }
}

#[test]
fn each_kind_takes_its_own_json_and_refuses_the_rest() {
    let cases: [(&str, Value, &str); 8] = [
        ("integer", json!(-3), "-3"),
        ("number", json!(1.5), "1.5"),
        ("number", json!(7), "7"),
        ("boolean", json!(true), "true"),
        ("array", json!([1, "a"]), r#"[1, "a"]"#),
        ("object", json!({ "a": [1] }), r#"{"a":[1]}"#),
        ("null", json!(null), "null"),
        ("integer", json!(2.0), "2.0"),
    ];
    for (kind, value, text) in cases {
        assert_eq!(property(json!({ "type": kind }), text), Ok(value), "{kind} {text}");
        let refused = property(json!({ "type": kind }), "word").expect_err(kind);
        assert!(refused.starts_with("argument \"k\": "), "{refused}");
    }
    assert_eq!(
        property(json!({ "type": "integer" }), "1.5"),
        Err("argument \"k\": an integer is expected".to_owned())
    );
    assert_eq!(
        property(json!({ "type": ["boolean", "number"] }), "x"),
        Err("argument \"k\": a number or true or false is expected".to_owned())
    );
}

#[test]
fn where_several_kinds_are_allowed_json_goes_before_text() {
    let nullable = || json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
    assert_eq!(property(nullable(), "null"), Ok(json!(null)));
    assert_eq!(property(nullable(), "5"), Ok(json!("5")));
    assert_eq!(property(nullable(), "\"null\""), Ok(json!("null")));
    let either = || json!({ "type": ["string", "integer"] });
    assert_eq!(property(either(), "5"), Ok(json!(5)));
    assert_eq!(property(either(), "5.5"), Ok(json!("5.5")));
    assert_eq!(property(either(), "\"5\""), Ok(json!("5")));
}

#[test]
fn a_list_of_mixed_values_decides_what_a_text_is() {
    let listed = || json!({ "enum": [1, "2", true, null] });
    assert_eq!(property(listed(), "1"), Ok(json!(1)));
    assert_eq!(property(listed(), "2"), Ok(json!("2")));
    assert_eq!(property(listed(), "true"), Ok(json!(true)));
    // Not one of them, but of their kinds: the server will say so in its own words.
    assert_eq!(property(listed(), "3"), Ok(json!(3)));
    assert_eq!(property(json!({ "const": "7" }), "7"), Ok(json!("7")));
}

#[test]
fn references_and_combinations_are_followed() {
    assert_eq!(property(json!({ "$ref": "#/$defs/count" }), "5"), Ok(json!(5)));
    assert!(property(json!({ "allOf": [{ "$ref": "#/$defs/count" }] }), "x").is_err());
    let schema = json!({
        "oneOf": [
            { "properties": { "a": { "type": "string" } } },
            { "properties": { "a": { "type": "boolean" }, "b": { "type": "string" } } },
        ],
        "additionalProperties": { "type": "integer" },
    });
    assert_eq!(typed(schema.clone(), &["a=1", "b=1"]).expect("typed"), json!({"a": "1", "b": "1"}));
    assert!(typed(schema, &["c=x"]).is_err(), "other properties are integers");
}

#[test]
fn a_schema_without_an_end_allows_everything_at_last() {
    assert_eq!(property(json!({ "$ref": "#/$defs/loop" }), "x"), Ok(json!("x")));
    assert_eq!(property(json!({ "$ref": "https://example.com/x" }), "5"), Ok(json!(5)));
    assert_eq!(property(json!(true), "5"), Ok(json!(5)));
    assert_eq!(property(json!({ "type": 7, "anyOf": "x" }), "x"), Ok(json!("x")));
}

#[test]
fn without_a_schema_json_is_json_and_the_rest_is_text() {
    let words = ["n=1", "b=true", r#"o={"a":[1]}"#, r#"s="1""#, "t=plain", "e=", "z=01"];
    let expected = json!({
        "n": 1, "b": true, "o": { "a": [1] }, "s": "1", "t": "plain", "e": "", "z": "01",
    });
    assert_eq!(typed(json!({}), &words).expect("typed"), expected);
    assert_eq!(typed(Value::Null, &words).expect("typed"), expected);
}

#[test]
fn json_that_is_said_to_be_json_needs_no_schema() {
    let schema = json!({ "properties": { "a": { "type": "string" } } });
    assert_eq!(typed(schema, &["a:=1", "b:=\"=\""]).expect("typed"), json!({ "a": 1, "b": "=" }));
    let words = ["a:=x".to_owned()];
    assert!(Arguments::read(&words, None).is_err());
}

#[test]
fn pairs_win_over_the_object_beside_them() {
    let schema = json!({ "properties": { "a": { "type": "integer" } } });
    let typed = typed_beside(schema, &["a=2"], Some(r#"{"a": "x", "c": null}"#)).expect("typed");
    assert_eq!(typed, json!({ "a": 2, "c": null }));
}

#[test]
fn a_number_of_any_length_goes_out_as_it_was_written() {
    let long = "123456789012345678901234567890.10";
    let words = [format!("n={long}")];
    let schema = Raw::from(json!({ "properties": { "n": { "type": "number" } } }));
    let arguments = Arguments::read(&words, Some(r#"{"m": 0.10}"#)).expect("arguments");
    let text = serde_json::to_string(&arguments.typed(Some(&schema)).expect("typed"));
    assert_eq!(text.expect("text"), format!(r#"{{"m":0.10,"n":{long}}}"#));
}

#[test]
fn json_deeper_than_anyone_decodes_is_still_of_its_kind() {
    let deep = format!("k={}{}", "[".repeat(5_000), "]".repeat(5_000));
    let words = [deep.clone()];
    let schema = Raw::from(json!({ "properties": { "k": { "type": "array" } } }));
    let typed = Arguments::read(&words, None).expect("arguments").typed(Some(&schema));
    assert_eq!(typed.expect("typed").get("k").expect("k").text(), &deep[2..]);
}

#[test]
fn a_value_or_a_whole_object_may_stand_in_a_file() {
    let folder = std::env::temp_dir().join(format!("snodo-arguments-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let (text, object) = (file("t", "5\n"), file("o.json", r#"{ "a": [1], "n": 0 }"#));
    let schema = || json!({ "properties": { "s": { "type": "string" } } });
    let words = [format!("s=@{text}"), format!("n:=@{text}"), format!("@{object}")];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let expected = json!({ "s": "5\n", "n": 5, "a": [1] });
    assert_eq!(typed(schema(), &words).expect("typed"), expected);
    let args = format!("@{object}");
    let beside = typed_beside(schema(), &[], Some(&args)).expect("typed");
    assert_eq!(beside, json!({ "a": [1], "n": 0 }));
    assert!(typed(schema(), &["s=@/no/such/file"]).is_err());
    std::fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn what_is_required_and_missing_is_named_with_its_kind() {
    let schema = Raw::from(json!({ "required": ["n", "s", "any", 7], "properties": {
        "n": { "type": "integer", "description": "How many" }, "s": { "type": "string" },
    } }));
    let mut given = Members::new();
    given.insert("s", json!("x"));
    let missing = missing(&schema, &given);
    let told: Vec<_> = missing.iter().map(|w| (w.name.as_str(), w.kinds.as_str())).collect();
    assert_eq!(told, [("n", "an integer"), ("any", "")]);
    assert_eq!(missing[0].about.as_deref(), Some("How many"));
    assert_eq!(read_one(&schema, "n", "7").expect("a number").text(), "7");
    assert!(read_one(&schema, "n", "x").is_err());
}

#[test]
fn words_that_are_no_arguments_are_refused() {
    for words in [&["plain"][..], &["=x"], &["a=1", "a=2"], &["a=1", "a:=2"]] {
        assert!(typed(json!({}), words).is_err(), "{words:?}");
    }
    for object in ["[1]", "{", "null", "{} {}", ""] {
        assert!(Arguments::read(&[], Some(object)).is_err(), "{object}");
    }
}
