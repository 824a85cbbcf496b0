//! Reading and writing by the rules, on a noun made for it.

use serde_json::{Value, json};

use super::object;
use crate::{Members, Raw};

#[derive(Clone, Debug, Default, PartialEq)]
struct Noun {
    name: String,
    title: Option<String>,
    count: Option<u64>,
    share: Option<f64>,
    list: Vec<String>,
    limit: Option<i64>,
    value: Option<Raw>,
    other: Members,
}

object! {
    impl Noun {
        required name: "name",
        optional title: "title",
        optional count: "count",
        optional share: "share",
        default list: "list",
        nullable limit: "limit",
        any value: "value";
        other
    }
}

fn read(text: &str) -> Noun {
    serde_json::from_str(text).expect("a noun")
}

fn why_not(text: &str) -> String {
    serde_json::from_str::<Noun>(text).expect_err("no noun").to_string()
}

#[test]
fn null_reads_as_absent_but_where_null_is_a_value() {
    let noun = read(r#"{"name":"n","title":null,"count":null,"list":null,"limit":null}"#);
    assert_eq!(noun, Noun { name: "n".into(), ..Noun::default() });
    let noun = read(r#"{"name":"n","value":null}"#);
    assert_eq!(noun.value.as_ref().map(Raw::text), Some("null"));
    assert_eq!(
        serde_json::to_string(&noun).expect("text"),
        r#"{"name":"n","list":[],"limit":null,"value":null}"#
    );
}

#[test]
fn of_members_with_one_name_the_last_counts() {
    let noun = read(r#"{"name":"a","x":1,"title":"t","name":"b","title":null,"x":2}"#);
    assert_eq!((noun.name.as_str(), &noun.title), ("b", &None));
    assert_eq!(noun.other.get("x").map(Raw::text), Some("2"));
    assert_eq!(noun.other.len(), 1);
}

#[test]
fn a_value_of_another_kind_reads_as_absent_and_is_not_lost() {
    let text =
        r#"{"name":"n","title":{"en":["hello",1.50]},"count":-1,"share":"half","limit":1.5}"#;
    let noun = read(text);
    assert_eq!((&noun.title, noun.count, noun.share, noun.limit), (&None, None, None, None));
    let mut written = serde_json::to_value(&noun).expect("JSON");
    assert_eq!(written["list"].take(), json!([]));
    let mut expected: Value = serde_json::from_str(text).expect("JSON");
    expected["list"] = Value::Null;
    assert_eq!(written, expected);
}

#[test]
fn a_member_that_is_set_replaces_what_could_not_be_read() {
    let mut noun = read(r#"{"name":"n","title":5}"#);
    noun.title = Some("five".into());
    assert_eq!(
        serde_json::to_string(&noun).expect("text"),
        r#"{"name":"n","title":"five","list":[],"limit":null}"#
    );
}

#[test]
fn what_cannot_be_done_without_is_named() {
    assert_eq!(why_not("{}"), "Noun: `name`: is missing");
    assert_eq!(why_not(r#"{"name":null}"#), "Noun: `name`: is missing");
    assert_eq!(why_not(r#"{"name":5}"#), "Noun: `name`: not a string");
    assert_eq!(why_not(r#"{"name":"n","list":"x"}"#), "Noun: `list`: not a list");
    assert_eq!(why_not(r#"{"name":"n","list":["x",5]}"#), "Noun: `list`: [1]: not a string");
    assert!(why_not("null").starts_with("null is not an object"));
    assert!(why_not("[]").starts_with("not an object"));
    assert!(why_not("7").starts_with("not an object"));
}

#[test]
fn whole_numbers_may_be_written_with_a_fraction_of_zero() {
    let noun = read(r#"{"name":"n","count":5.0,"limit":-2e3,"share":3}"#);
    assert_eq!((noun.count, noun.limit, noun.share), (Some(5), Some(-2000), Some(3.0)));
    assert!(serde_json::to_string(&noun).expect("text").contains(r#""share":3,"#));
    assert_eq!(read(r#"{"name":"n","count":18446744073709551615}"#).count, Some(u64::MAX));
    assert_eq!(read(r#"{"name":"n","count":18446744073709551616}"#).count, None);
}

#[test]
fn names_with_escapes_are_the_names_they_stand_for() {
    let noun = read(r#"{"n\u0061me":"n","\u0078":1}"#);
    assert_eq!((noun.name.as_str(), noun.other.get("x").map(Raw::text)), ("n", Some("1")));
}

#[test]
fn it_reads_from_a_tree_and_from_a_stream_as_from_a_text() {
    let tree = json!({ "name": "n", "count": 5, "x": { "y": [null] }, "value": null });
    let noun: Noun = serde_json::from_value(tree.clone()).expect("a noun");
    assert_eq!(noun, read(&tree.to_string()));
    let stream: Noun = serde_json::from_reader(tree.to_string().as_bytes()).expect("a noun");
    assert_eq!(noun, stream);
}

#[test]
fn a_hundred_thousand_unknown_members_cost_no_more_than_their_sorting() {
    let names = if cfg!(miri) { 991 } else { 99_991 };
    let members: Vec<String> = (0..names + 9).map(|n| format!("\"k{}\":{n}", n % names)).collect();
    let noun = read(&format!("{{\"name\":\"n\",{}}}", members.join(",")));
    assert_eq!(noun.other.len(), names);
    assert_eq!(noun.other.iter().next().expect("one").1.text(), names.to_string());
}
