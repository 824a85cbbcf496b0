//! Schemas and values: ordinary ones, and those that are made to break whoever reads them.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{Fault, Schema, Unusable};

fn schema(schema: Value) -> Schema {
    Schema::parse(&schema.to_string()).expect("a schema")
}

fn refused(schema: Value) -> Unusable {
    Schema::parse(&schema.to_string()).map(drop).expect_err("it is to be refused")
}

fn fits(schema: &Schema, value: Value) -> bool {
    match schema.check(&value.to_string()) {
        Ok(()) => true,
        Err(Fault::Mismatch(_)) => false,
        Err(fault) => panic!("{value}: {fault}"),
    }
}

fn wrong(of: Value, value: Value) -> (String, String) {
    match schema(of).check(&value.to_string()) {
        Err(Fault::Mismatch(wrong)) => (wrong.pointer().to_owned(), wrong.expected().to_owned()),
        other => panic!("{other:?}"),
    }
}

/// Does something that has to end within the time, generous for a machine that is busy.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    // As small as the threads of a runtime are.
    let thread = thread::Builder::new().stack_size(2 * 1024 * 1024);
    let _running = thread.spawn(move || tell.send(work())).expect("a thread");
    told.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Definitions, each made of references to the one before.
fn definitions(count: usize, first: Value, next: impl Fn(Value) -> Value) -> Value {
    let mut all = Map::from_iter([("d0".to_owned(), first)]);
    for at in 1..=count {
        let before = json!({ "$ref": format!("#/$defs/d{}", at - 1) });
        all.insert(format!("d{at}"), next(before));
    }
    json!({ "$defs": all, "$ref": format!("#/$defs/d{count}") })
}

fn nested(depth: usize, innermost: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..depth).fold(innermost, |inner, _| wrap(inner))
}

// JSC-01
#[test]
fn a_schema_that_names_no_dialect_is_of_2020_12() {
    let tuple = schema(json!({ "prefixItems": [{ "type": "integer" }], "items": false }));
    assert!(fits(&tuple, json!([1])));
    assert!(!fits(&tuple, json!(["a"])));
    assert!(!fits(&tuple, json!([1, 2])));
    let object = json!({
        "$defs": { "positive": { "exclusiveMinimum": 0 } },
        "properties": { "n": { "$ref": "#/$defs/positive" } },
        "unevaluatedProperties": false,
    });
    let object = schema(object);
    assert!(fits(&object, json!({ "n": 1 })));
    assert!(!fits(&object, json!({ "n": 0 })));
    assert!(!fits(&object, json!({ "n": 1, "m": 1 })));
}

// JSC-02
#[test]
fn a_schema_is_read_by_the_dialect_that_it_names() {
    let of = |dialect: &str| {
        schema(json!({
            "$schema": dialect,
            "items": [{ "type": "integer" }],
            "definitions": { "x": { "type": "string" } },
            "properties": { "n": { "$ref": "#/definitions/x", "maxLength": 1 } },
        }))
    };
    for dialect in
        ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema"]
    {
        let old = of(dialect);
        assert!(!fits(&old, json!(["a"])), "{dialect}: items is a tuple");
        assert!(
            fits(&old, json!({ "n": "long" })),
            "{dialect}: what stands beside $ref is ignored"
        );
    }
    let dialect = "https://json-schema.org/draft/2019-09/schema";
    let middle = of(dialect);
    assert!(!fits(&middle, json!(["a"])));
    assert!(!fits(&middle, json!({ "n": "long" })));
    let draft_04 = json!({
        "$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": true
    });
    assert!(!fits(&schema(draft_04), json!(3)));
}

// JSC-03
#[test]
fn the_documentation_names_the_dialects_that_are_known_and_no_other() {
    let documented = include_str!("lib.rs").lines().skip_while(|line| *line != "//! # Dialects");
    let documented: Vec<_> = documented.take_while(|line| line.starts_with("//!")).collect();
    let documented = documented.join(" ");
    for (name, dialect) in [
        ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
        ("2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("draft-07", "http://json-schema.org/draft-07/schema#"),
        ("draft-06", "http://json-schema.org/draft-06/schema#"),
        ("draft-04", "http://json-schema.org/draft-04/schema#"),
        ("draft-03", "http://json-schema.org/draft-03/schema#"),
    ] {
        let known = Schema::parse(&json!({ "$schema": dialect }).to_string()).is_ok();
        assert_eq!(documented.contains(name), known, "{name}");
    }
}

// JSC-02
#[test]
fn a_dialect_that_is_not_known_is_told_and_checks_nothing() {
    for unknown in ["https://schemas.example/own", "http://json-schema.org/draft-03/schema#", ""] {
        let inner = json!({ "properties": { "a": { "$id": "urn:a", "$schema": unknown } } });
        for schema in [json!({ "$schema": unknown, "type": "object" }), inner] {
            let error = refused(schema);
            assert!(matches!(error, Unusable::Dialect(_)), "{error}");
        }
    }
    // Data that looks like it is none.
    schema(json!({ "const": { "$schema": "https://schemas.example/own" } }));
    schema(json!({ "properties": { "$schema": { "type": "string" } } }));
}

// JSC-04, JSC-05, JSC-06
#[test]
fn a_reference_to_another_document_is_refused_and_never_followed() {
    // Whoever followed it would hang: nobody answers there.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    silent.set_nonblocking(true).expect("a socket");
    let here = format!("http://{}/n.json", silent.local_addr().expect("an address"));
    let file = format!("file://{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    for target in [here.as_str(), &file, "other.json", "//host/x", "urn:uuid:1"] {
        for keyword in ["$ref", "$dynamicRef"] {
            let schema = json!({ "properties": { "n": { keyword: target } } });
            let error = refused(schema.clone());
            assert!(matches!(error, Unusable::External(_)), "{schema}: {error:?}");
        }
    }
    assert!(matches!(refused(json!({ "$schema": here })), Unusable::Dialect(_)));
    let error = silent.accept().expect_err("nobody came");
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    // Its own places by any of their names are no other document.
    schema(
        json!({ "$id": "https://schemas.example/a", "$ref": "https://schemas.example/a#/$defs/x", "$defs": { "x": true } }),
    );
    schema(
        json!({ "$id": "https://schemas.example/a", "$ref": "b", "$defs": { "x": { "$id": "b" } } }),
    );
    schema(json!({ "$ref": "#x", "$defs": { "x": { "$anchor": "x" } } }));
    schema(json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }));
}

#[test]
fn a_schema_that_is_none_is_told_with_the_reason() {
    for broken in [
        json!({ "type": "no type" }),
        json!({ "properties": 7 }),
        json!({ "$ref": "#/nowhere" }),
        json!({ "$ref": "#nowhere" }),
        json!(7),
        json!([]),
        json!(null),
    ] {
        let error = refused(broken.clone());
        assert!(matches!(error, Unusable::Invalid(_)), "{broken}: {error:?}");
        assert!(error.to_string().len() < 400, "{error}");
    }
    assert!(matches!(Schema::parse("{"), Err(Unusable::Invalid(_))));
    assert!(matches!(Schema::parse(""), Err(Unusable::Invalid(_))));
    for broken in ["(", "(?=a)b", r"(a)\1", "a{4294967295}"] {
        let error = refused(json!({ "pattern": broken }));
        assert!(
            matches!(error, Unusable::Unsupported(_) | Unusable::Limit(_)),
            "{broken}: {error:?}"
        );
    }
}

#[test]
fn what_was_expected_and_where_is_told_without_the_value() {
    let cases = [
        (json!({ "type": "integer" }), json!("secret"), "", "integer"),
        (json!({ "type": ["integer", "null"] }), json!("secret"), "", "null or integer"),
        (json!({ "items": { "maximum": 3 } }), json!([1, 77]), "/1", "at most 3"),
        (
            json!({ "properties": { "a/b": { "minLength": 9 } } }),
            json!({ "a/b": "secret" }),
            "/a~1b",
            "at least 9 characters",
        ),
        (json!({ "required": ["n"] }), json!({}), "", "a property `n`"),
        (
            json!({ "additionalProperties": false }),
            json!({ "secret": 1 }),
            "",
            "no property beyond those of the schema",
        ),
        (
            json!({ "unevaluatedProperties": false }),
            json!({ "secret": 1 }),
            "",
            "no property beyond those of the schema",
        ),
        (json!({ "enum": ["a", 1] }), json!("secret"), "", r#"one of ["a",1]"#),
        (json!({ "const": { "a": 1 } }), json!("secret"), "", r#"the value {"a":1}"#),
        (json!({ "pattern": "^a+$" }), json!("secret"), "", "a text that matches ^a+$"),
        (
            json!({ "anyOf": [{ "type": "null" }, { "minLength": 9 }] }),
            json!("secret"),
            "",
            "one of the alternatives of `anyOf`",
        ),
        (
            json!({ "oneOf": [true, true] }),
            json!("secret"),
            "",
            "one alternative of `oneOf`, and not two",
        ),
        (json!({ "not": {} }), json!("secret"), "", "anything but what `not` names"),
        (
            json!({ "propertyNames": { "maxLength": 2 } }),
            json!({ "secret": 1 }),
            "",
            "names of properties as in: at most 2 characters",
        ),
        (json!({ "uniqueItems": true }), json!(["secret", "secret"]), "", "no item twice"),
        (
            json!({ "contains": { "type": "null" } }),
            json!(["secret"]),
            "",
            "an item that `contains` names",
        ),
        (json!({ "multipleOf": 2 }), json!(3), "", "a multiple of 2"),
        (
            json!({ "dependentRequired": { "a": ["b"] } }),
            json!({ "a": "secret" }),
            "",
            "a property `b`",
        ),
        (json!({ "properties": { "a": false } }), json!({ "a": "secret" }), "/a", "nothing here"),
        (json!(false), json!("secret"), "", "nothing here"),
    ];
    for (schema, value, pointer, expected) in cases {
        let found = wrong(schema.clone(), value);
        assert_eq!((found.0.as_str(), found.1.as_str()), (pointer, expected), "{schema}");
    }
}

#[test]
fn what_is_long_is_shortened_and_shows_no_control_characters() {
    let (_, expected) = wrong(json!({ "enum": ["x".repeat(5000)] }), json!(1));
    assert!(expected.chars().count() <= 201 && expected.ends_with('…'), "{expected}");
    let (_, expected) = wrong(json!({ "required": ["a\u{1b}[2Jb"] }), json!({}));
    assert_eq!(expected, "a property `a\u{fffd}[2Jb`");
    let name = "é".repeat(3000);
    let (pointer, _) =
        wrong(json!({ "additionalProperties": { "type": "null" } }), json!({ &name: 1 }));
    assert!(pointer.chars().count() <= 201, "{pointer}");
    let (pointer, _) =
        wrong(json!({ "additionalProperties": { "type": "null" } }), json!({ "\u{1b}": 1 }));
    assert_eq!(pointer, "/\u{fffd}");
}

#[test]
fn what_is_only_an_annotation_checks_nothing() {
    for dialect in
        ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
    {
        let annotated = schema(json!({
            "$schema": dialect, "format": "email", "contentEncoding": "base64url", "contentMediaType": "application/json"
        }));
        assert!(fits(&annotated, json!("no address, no base64, no JSON")));
    }
    assert!(fits(&schema(json!({ "format": "uri" })), json!("a b")));
}

#[test]
fn a_schema_that_describes_itself_fits_what_is_like_it() {
    let tree = schema(json!({
        "$defs": { "node": {
            "oneOf": [
                { "properties": { "kind": { "const": "leaf" } }, "required": ["kind"] },
                {
                    "properties": {
                        "kind": { "const": "pair" },
                        "left": { "$ref": "#/$defs/node" }, "right": { "$ref": "#/$defs/node" }
                    },
                    "required": ["kind", "left", "right"]
                },
            ]
        } },
        "$ref": "#/$defs/node",
    }));
    let leaf = json!({ "kind": "leaf" });
    let tall = nested(
        40,
        leaf.clone(),
        |left| json!({ "kind": "pair", "left": left, "right": { "kind": "leaf" } }),
    );
    assert!(fits(&tree, tall));
    let wide =
        nested(9, leaf.clone(), |side| json!({ "kind": "pair", "left": side, "right": side }));
    assert!(fits(&tree, wide));
    let rotten = nested(
        40,
        json!({ "kind": "?" }),
        |left| json!({ "kind": "pair", "left": left, "right": leaf }),
    );
    assert!(!fits(&tree, rotten));
    let list = schema(
        json!({ "$anchor": "list", "properties": { "next": { "$dynamicRef": "#list" }, "n": { "type": "integer" } } }),
    );
    assert!(fits(&list, nested(100, json!({ "n": 1 }), |next| json!({ "n": 1, "next": next }))));
    assert!(!fits(&list, nested(100, json!({ "n": "x" }), |next| json!({ "n": 1, "next": next }))));
}

// JSC-07
#[test]
fn a_schema_that_repeats_itself_without_end_is_refused_before_it_is_compiled() {
    let twice =
        |keyword: &'static str| move |before: Value| json!({ keyword: [before.clone(), before] });
    let bombs = [
        definitions(60, json!({ "type": "integer" }), twice("allOf")),
        definitions(60, json!({}), twice("anyOf")),
        definitions(60, json!(true), twice("oneOf")),
        definitions(
            60,
            json!({ "type": "integer" }),
            |before| json!({ "not": { "allOf": [before.clone(), before] } }),
        ),
        definitions(
            60,
            json!({}),
            |before| json!({ "if": before, "then": before, "else": before }),
        ),
        definitions(
            60,
            json!({ "properties": { "a": true } }),
            |before| json!({ "dependentSchemas": { "a": before, "b": before } }),
        ),
        definitions(3000, json!({}), |before| json!({ "allOf": [before] })),
        json!({ "$ref": "#" }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "anyOf": [{ "$ref": "#/$defs/a" }] } }, "$ref": "#/$defs/a" }),
        nested(65, json!({}), |inner| json!({ "properties": { "a": inner } })),
        nested(65, json!([]), |inner| json!([inner])),
        json!({ "enum": [nested(65, json!([]), |inner| json!([inner]))] }),
        json!({ "anyOf": vec![json!({}); 2048] }),
    ];
    for mut bomb in bombs {
        for keyword in ["unevaluatedProperties", "unevaluatedItems", "description"] {
            if let Value::Object(members) = &mut bomb {
                members.insert(
                    keyword.to_owned(),
                    if keyword == "description" { json!("") } else { json!(false) },
                );
            }
            let (text, shown) =
                (bomb.to_string(), bomb.to_string()[..60.min(bomb.to_string().len())].to_owned());
            let outcome = in_time(&shown, move || Schema::parse(&text).map(drop));
            let error = outcome.expect_err(&shown);
            assert!(
                matches!(error, Unusable::Limit(_) | Unusable::Invalid(_)),
                "{shown}: {error:?}"
            );
        }
    }
    let text = format!(r#"{{ "description": "{}" }}"#, "x".repeat(256 * 1024));
    assert_eq!(Schema::parse(&text).map(drop), Err(Unusable::Limit("it is longer than 256 KiB")));
    let text = format!("{}{}", r#"{"not":"#.repeat(100_000), "}".repeat(100_000));
    assert!(Schema::parse(&text[..200_000]).is_err());
}

// JSC-07
#[test]
fn what_is_as_large_as_is_allowed_is_compiled_and_checked_in_time() {
    let refs = |count: usize| {
        let one = |at: usize| json!({ "$ref": format!("#/$defs/d{at}") });
        let members = || (0..count).map(|at| (format!("p{at}"), one(at))).collect::<Map<_, _>>();
        let all = (0..count).map(|at| (format!("d{at}"), json!({ "properties": members() })));
        json!({ "$defs": all.collect::<Map<_, _>>(), "$ref": "#/$defs/d0" })
    };
    let ids = |count: usize| {
        let one = |at: usize| json!({ "$ref": format!("urn:a{at}") });
        let members = || (0..count).map(|at| (format!("p{at}"), one(at))).collect::<Map<_, _>>();
        let all = (0..count).map(|at| {
            (format!("d{at}"), json!({ "$id": format!("urn:a{at}"), "properties": members() }))
        });
        json!({ "$defs": all.collect::<Map<_, _>>(), "$ref": "urn:a0" })
    };
    let twice =
        |keyword: &'static str| move |before: Value| json!({ keyword: [before.clone(), before] });
    let mut unevaluated = definitions(8, json!({ "properties": { "a": true } }), twice("allOf"));
    unevaluated["unevaluatedProperties"] = json!(false);
    let mut dependent = definitions(
        8,
        json!({ "properties": { "a": true } }),
        |before| json!({ "dependentSchemas": { "a": before, "b": before } }),
    );
    dependent["unevaluatedProperties"] = json!(false);
    let ring = |depth: usize| {
        let one = |at: usize| {
            let next = json!({ "$ref": format!("#/$defs/d{}", (at + 1) % 12) });
            (format!("d{at}"), nested(depth, next, |inner| json!({ "properties": { "a": inner } })))
        };
        json!({ "$defs": (0..12).map(one).collect::<Map<_, _>>(), "$ref": "#/$defs/d0" })
    };
    let large = [
        ("references", refs(85)),
        ("resources", ids(6)),
        ("unevaluated", unevaluated),
        ("dependent", dependent),
        ("deep", ring(29)),
        ("chain", definitions(4000, json!({}), |before| json!({ "properties": { "a": before } }))),
        ("any", json!({ "anyOf": vec![json!({ "type": "null" }); 2000] })),
        ("levels", nested(30, json!({ "type": "null" }), |inner| json!({ "anyOf": [inner] }))),
    ];
    for (name, schema) in large {
        let text = schema.to_string();
        in_time(name, move || {
            let schema = Schema::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let tall = nested(120, json!(1), |inner| json!({ "a": inner, "b": 1 }));
            for value in [json!({ "a": 1, "b": 2 }), json!([1, 2]), tall] {
                let _judged = schema.check(&value.to_string());
            }
        });
    }
    for count in [7, 12] {
        assert!(matches!(refused(ids(count)), Unusable::Limit(_)), "{count}");
    }
}

// JSC-07
#[test]
fn a_value_that_takes_too_many_steps_is_given_up_in_time() {
    let alternatives = |kind: &str| vec![json!({ "required": [kind] }); 500];
    let wide = json!(vec![json!({ "a": 1 }); 50_000]);
    let unequal = |last: i32| json!([vec!["x"; 400], last]);
    let text = "ab".repeat(100_000);
    let cases = [
        ("contains", json!({ "contains": { "anyOf": alternatives("b") } }), wide.clone()),
        ("not", json!({ "items": { "not": { "anyOf": alternatives("b") } } }), wide),
        (
            "equal",
            json!({ "contains": { "enum": (0..40).map(unequal).collect::<Vec<_>>() } }),
            json!(vec![unequal(-1); 2000]),
        ),
        (
            "unique",
            json!({ "additionalProperties": { "uniqueItems": true } }),
            Value::from_iter(
                (0..60).map(|at| (at.to_string(), (0..50_000).map(Value::from).collect::<Value>())),
            ),
        ),
        ("text", json!({ "pattern": "(a|b)*a(a|b){2000}$" }), json!(text)),
        (
            "name",
            json!({ "patternProperties": { "(a|b)*a(a|b){2000}$": false } }),
            json!({ &text: 1 }),
        ),
        (
            "names",
            json!({ "propertyNames": { "pattern": "(a|b)*a(a|b){2000}$" } }),
            json!({ &text: 1 }),
        ),
    ];
    for (name, of, value) in cases {
        let outcome = in_time(name, move || schema(of).check(&value.to_string()));
        assert_eq!(outcome, Err(Fault::TooCostly), "{name}");
    }
}

// JSC-07
#[test]
fn a_schema_that_applies_itself_over_and_over_is_checked_in_time() {
    let again = json!({ "$ref": "#" });
    let bombs = [
        json!({ "properties": { "a": { "allOf": [again, again] } } }),
        json!({ "properties": { "a": { "anyOf": [{ "not": again }, again, { "not": again }] } } }),
        json!({ "patternProperties": { "a": again, "a+": again, "^a": again } }),
        json!({ "properties": { "a": { "oneOf": [again, { "not": again }] } } }),
        json!({ "properties": { "a": { "if": again, "then": again, "else": again } } }),
        json!({ "additionalProperties": again, "unevaluatedProperties": again, "contains": again }),
        json!({ "allOf": [{ "properties": { "a": again } }], "unevaluatedProperties": again }),
    ];
    for bomb in bombs {
        for innermost in [json!(1), json!({ "b": {} })] {
            let (bomb, value) =
                (bomb.clone(), nested(100, innermost, |inner| json!({ "a": inner })));
            let shown = bomb.to_string();
            in_time(&shown, move || drop(schema(bomb).check(&value.to_string())));
        }
    }
    let doubling =
        json!({ "properties": { "a": { "allOf": [again, again, { "maxProperties": 1 }] } } });
    let tall = |innermost| nested(100, innermost, |inner| json!({ "a": inner }));
    assert!(fits(&schema(doubling.clone()), tall(json!({ "b": 1 }))));
    assert!(!fits(&schema(doubling), tall(json!({ "b": 1, "c": 1 }))));
}

// JSC-07
#[test]
fn a_hostile_pattern_neither_hangs_nor_grows() {
    let text = "ab".repeat(200_000);
    for pattern in [
        "^(a+)+$",
        "(a|b)*a(a|b){200}",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(.*)(.*)(.*)(.*)(.*)[^ab]$",
        r"^(\p{L}|\p{N}|_){0,20}!$",
        "((a{10}){10}){10}",
    ] {
        let (of, value) = (json!({ "pattern": pattern }), json!(text));
        let outcome = in_time(pattern, move || schema(of).check(&value.to_string()));
        assert!(!matches!(outcome, Err(Fault::Unreadable(_))), "{pattern}: {outcome:?}");
        let (of, value) = (json!({ "patternProperties": { pattern: false } }), json!({ &text: 1 }));
        in_time(pattern, move || drop(schema(of).check(&value.to_string())));
        let (of, value) = (json!({ "propertyNames": { "pattern": pattern } }), json!({ &text: 1 }));
        in_time(pattern, move || drop(schema(of).check(&value.to_string())));
    }
    for pattern in ["((a{100}){100}){100}", r"\p{L}{300}", "(x{1000}){1000}"] {
        for schema in [
            json!({ "pattern": pattern }),
            json!({ "patternProperties": { pattern: true } }),
            json!({ "$defs": { "unused": { "pattern": pattern } } }),
            json!({ "$ref": "#/const", "const": { "pattern": pattern } }),
            json!({ "enum": [{ "properties": { "a": { "patternProperties": { pattern: {} } } } }] }),
        ] {
            assert!(matches!(refused(schema), Unusable::Limit(_)), "{pattern}");
        }
    }
    let many: Map<String, Value> =
        (0..2000).map(|at| (format!("(a|b){{40}}{at}"), json!(true))).collect();
    assert!(matches!(refused(json!({ "patternProperties": many })), Unusable::Limit(_)));
}

// JSC-07
#[test]
fn a_value_that_is_nested_too_deep_is_told_from_one_that_does_not_fit() {
    let anything = schema(json!(true));
    let text = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(anything.check(&text(127)), Ok(()));
    assert!(matches!(anything.check(&text(10_000)), Err(Fault::Unreadable(_))));
    assert!(matches!(anything.check("[1,"), Err(Fault::Unreadable(_))));
    assert!(matches!(anything.check(""), Err(Fault::Unreadable(_))));
    // Schema and value lead into each other on a small stack.
    let innermost = json!({ "$ref": "#" });
    let levels = nested(14, innermost, |inner| json!({ "anyOf": [false, { "allOf": [inner] }] }));
    let tall = nested(120, json!(1), |inner| json!({ "a": inner }));
    let of = json!({ "properties": { "a": levels } });
    in_time("levels", move || assert!(fits(&schema(of), tall)));
}

#[test]
fn ordinary_values_are_far_from_the_limit() {
    let row = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" },
            "n": { "type": "number", "minimum": 0 },
            "kind": { "enum": ["a", "b", "c"] },
            "tags": { "type": "array", "items": { "type": "string", "maxLength": 40 }, "uniqueItems": true },
        },
        "required": ["id", "n"],
        "additionalProperties": false,
    });
    let of = schema(json!({ "type": "array", "items": row }));
    let value = json!({
        "id": "01234567-89ab-cdef-0123-456789abcdef", "n": 1.5, "kind": "b", "tags": ["x", "y"]
    });
    assert!(fits(&of, json!(vec![value; 10_000])));
}

#[test]
fn a_schema_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Schema>();
    assert_eq!(format!("{:?}", schema(json!({}))), "Schema { .. }");
}

#[test]
fn a_schema_may_go_by_a_name_that_is_no_address() {
    let plain = schema(json!({ "$id": "Person", "properties": { "n": { "type": "integer" } } }));
    assert!(!fits(&plain, json!({ "n": "x" })));
    let tree = schema(json!({
        "$id": "Tree",
        "properties": { "children": { "type": "array", "items": { "$ref": "Tree" } }, "n": { "type": "integer" } },
    }));
    assert!(fits(&tree, json!({ "children": [{ "n": 1 }] })));
    assert!(!fits(&tree, json!({ "children": [{ "n": "x" }] })));
    let inner = schema(json!({
        "properties": { "root": { "$id": "T0", "properties": { "next": { "$ref": "T0" }, "n": { "type": "integer" } } } },
    }));
    assert!(!fits(&inner, json!({ "root": { "next": { "n": "x" } } })));
    let empty = schema(json!({ "$id": "", "type": "object" }));
    assert!(!fits(&empty, json!(1)));
}
