//! Annotations, one by one.

use serde_json::{Value, json};
use snodo_types::{Error, ProtocolVersion, Raw};

use super::ParamHeaders;
use crate::{Carrier, Extensions, Identity, Params, Request, dialect};

fn plan(schema: Value) -> ParamHeaders {
    ParamHeaders::of(&schema.into()).expect("a valid schema")
}

fn fault(schema: Value) -> String {
    ParamHeaders::of(&schema.into()).expect_err("an invalid schema")
}

/// A schema whose property `p` is this.
fn property(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "p": schema } })
}

fn pairs(plan: &ParamHeaders, arguments: &Value) -> Vec<(String, String)> {
    plan.headers(&arguments.to_string()).expect("headers")
}

/// The one header of an argument `p` of this type; `None` where there is none.
fn header(kind: &str, value: Value) -> Option<String> {
    let plan = plan(property(json!({ "type": kind, "x-mcp-header": "P" })));
    pairs(&plan, &json!({ "p": value })).pop().map(|(_, value)| value)
}

fn refusal(kind: &str, arguments: &str) -> Error {
    let plan = plan(property(json!({ "type": kind, "x-mcp-header": "P" })));
    plan.headers(arguments).expect_err("a value that does not fit")
}

// HDR-04, HDR-05, S-31
#[test]
fn an_argument_is_found_at_the_path_of_its_property_and_nowhere_else() {
    let plan = plan(json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "query": { "type": "string" },
        "order": { "type": "object", "properties": {
            "priority": { "type": "integer", "x-mcp-header": "Priority" },
            "region": { "type": "string", "x-mcp-header": "Method" },
        } },
    } }));
    let named = |value: &Value| {
        let mut pairs = pairs(&plan, value);
        pairs.sort();
        pairs.into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
    };
    assert_eq!(
        named(&json!({ "region": "a", "query": "b", "order": { "priority": 7, "region": "c" } })),
        ["Mcp-Param-Method: c", "Mcp-Param-Priority: 7", "Mcp-Param-Region: a"]
    );
    assert_eq!(
        named(&json!({ "order": { "priority": null, "region": "c" } })),
        ["Mcp-Param-Method: c"]
    );
    assert_eq!(named(&json!({ "order": [{ "priority": 7 }] })), [""; 0]);
    assert_eq!(named(&json!({ "priority": 7, "region": null })), [""; 0]);
}

#[test]
fn a_call_without_arguments_has_no_headers() {
    let plan = plan(property(json!({ "type": "string", "x-mcp-header": "P" })));
    for arguments in ["", "null", "{}", "[1]"] {
        assert!(plan.headers(arguments).expect("nothing is wrong").is_empty(), "{arguments:?}");
    }
}

// HDR-06, HDR-07, HDR-08, HDR-20
#[test]
fn a_value_goes_as_text_and_encoded_where_a_header_cannot_carry_it() {
    let table = [
        ("string", json!("us-west1"), Some("us-west1")),
        ("string", json!("two words"), Some("two words")),
        ("string", json!(""), Some("")),
        ("string", json!("Hello, 世界"), Some("=?base64?SGVsbG8sIOS4lueVjA==?=")),
        ("string", json!(" padded "), Some("=?base64?IHBhZGRlZCA=?=")),
        ("string", json!("line1\nline2"), Some("=?base64?bGluZTEKbGluZTI=?=")),
        ("string", json!("=?base64?literal?="), Some("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")),
        ("string", json!(null), None),
        ("integer", json!(42), Some("42")),
        ("integer", json!(-7), Some("-7")),
        ("integer", json!(0), Some("0")),
        ("boolean", json!(true), Some("true")),
        ("boolean", json!(false), Some("false")),
    ];
    for (kind, value, expected) in table {
        assert_eq!(header(kind, value.clone()).as_deref(), expected, "{value}");
    }
}

// HDR-12, HDR-18
#[test]
fn an_integer_is_written_as_decimal_however_it_came_within_what_a_double_holds() {
    let plan = plan(property(json!({ "type": "integer", "x-mcp-header": "P" })));
    let table = [
        ("42.0", "42"),
        ("4.2e1", "42"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991.0", "-9007199254740991"),
    ];
    for (text, written) in table {
        let headers = plan.headers(&format!(r#"{{"p":{text}}}"#)).expect("an integer");
        assert_eq!(headers[0].1, written, "{text}");
    }
    for text in ["42.5", "9007199254740992", "-9007199254740992", "9007199254740992.0", "1e400"] {
        let error = plan.headers(&format!(r#"{{"p":{text}}}"#)).expect_err("no such integer");
        assert_eq!(error.code(), -32602, "{text}");
    }
}

// HDR-18
#[test]
fn a_value_of_another_type_is_refused_by_the_name_of_its_argument_and_not_shown() {
    for (kind, value) in [
        ("string", "7"),
        ("string", r#"{"secret":1}"#),
        ("integer", r#""7""#),
        ("integer", "true"),
        ("boolean", r#""true""#),
        ("boolean", "[]"),
    ] {
        let error = refusal(kind, &format!(r#"{{"p":{value}}}"#));
        assert_eq!(error.code(), -32602, "{kind} {value}");
        assert!(error.message().contains(r#"argument "p""#), "{error}");
        assert!(!error.message().contains("secret"), "{error}");
    }
}

#[test]
fn of_a_repeated_argument_the_last_counts() {
    let plan = plan(property(json!({ "type": "string", "x-mcp-header": "P" })));
    let headers = plan.headers(r#"{"p":7,"\u0070":"b"}"#).expect("the last one is a string");
    assert_eq!(headers, [("Mcp-Param-P".to_owned(), "b".to_owned())]);
    assert!(plan.headers(r#"{"p":"a","p":null}"#).expect("nothing").is_empty());
}

// HDR-11
#[test]
fn an_annotation_is_a_header_name_of_its_own() {
    for name in ["", "My Header", "a:b", "naïve", "a\u{1}b", "a\r\nb", "x/y", "\u{7f}"] {
        let reason = fault(property(json!({ "type": "string", "x-mcp-header": name })));
        assert!(reason.contains("no header name"), "{name:?}: {reason}");
        assert!(!reason.contains(['\r', '\n', '\u{1}']), "{reason:?}");
    }
    for value in [json!(null), json!(7), json!({}), json!(["a"])] {
        let reason = fault(property(json!({ "type": "string", "x-mcp-header": value })));
        assert!(reason.contains("no text"), "{reason}");
    }
    for (first, second) in [("Region", "Region"), ("Region", "REGION")] {
        let reason = fault(json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": first },
            "b": { "properties": { "c": { "type": "string", "x-mcp-header": second } } },
        } }));
        assert!(reason.contains("two properties"), "{reason}");
    }
    assert!(
        !plan(property(json!({ "type": "string", "x-mcp-header": "!#$%&'*+-.^_`|~9z" })))
            .is_empty()
    );
}

// HDR-12, HDR-17
#[test]
fn only_strings_integers_and_booleans_travel_and_null_may_stand_beside_them() {
    let of = |kind: Value| {
        ParamHeaders::of(&property(json!({ "type": kind, "x-mcp-header": "P" })).into())
    };
    for kind in [
        json!("string"),
        json!("integer"),
        json!("boolean"),
        json!(["string", "null"]),
        json!(["null", "integer"]),
    ] {
        assert!(of(kind.clone()).is_ok_and(|plan| !plan.is_empty()), "{kind}");
    }
    for kind in [
        json!("number"),
        json!("object"),
        json!("array"),
        json!("null"),
        json!(["null", "null"]),
        json!(["number", "null"]),
        json!(["string", "integer"]),
        json!(["string", "integer", "null"]),
        json!([]),
        json!(null),
        json!(1),
        json!({ "string": "null" }),
    ] {
        assert!(of(kind.clone()).is_err(), "{kind}");
    }
    for untyped in [json!({ "x-mcp-header": "P" }), json!({ "enum": ["a"], "x-mcp-header": "P" })] {
        assert!(fault(property(untyped)).contains("no string, integer or boolean"));
    }
}

// HDR-13
#[test]
fn an_annotation_anywhere_but_under_properties_alone_makes_the_schema_invalid() {
    let annotated = json!({ "type": "string", "x-mcp-header": "P" });
    let below = json!({ "properties": { "p": annotated } });
    let astray = [
        annotated.clone(),
        json!({ "items": annotated }),
        json!({ "items": [annotated] }),
        json!({ "prefixItems": [annotated] }),
        json!({ "oneOf": [below] }),
        json!({ "anyOf": [{}, below] }),
        json!({ "allOf": [below] }),
        json!({ "not": below }),
        json!({ "if": below }),
        json!({ "then": below }),
        json!({ "else": below }),
        json!({ "$defs": { "d": annotated } }),
        json!({ "definitions": { "d": below } }),
        json!({ "patternProperties": { "^x": annotated } }),
        json!({ "additionalProperties": annotated }),
        json!({ "dependentSchemas": { "a": below } }),
        json!({ "x-other": { "deep": [[{ "x-mcp-header": "P" }]] } }),
        json!({ "properties": { "a": { "type": "array", "items": annotated } } }),
        json!({ "properties": { "a": { "oneOf": [annotated] } } }),
        json!({ "properties": [annotated] }),
        json!({ "properties": { "a": [annotated] } }),
        json!({ "$ref": "#/$defs/d", "$defs": { "d": below } }),
    ];
    for schema in astray {
        assert!(ParamHeaders::of(&schema.clone().into()).is_err(), "{schema}");
    }
}

// HDR-13
#[test]
fn data_and_names_that_read_like_an_annotation_are_none() {
    let innocent = [
        json!({ "const": { "x-mcp-header": "P" } }),
        json!({ "default": { "x-mcp-header": "P" } }),
        json!({ "enum": [{ "x-mcp-header": 1 }] }),
        json!({ "examples": [{ "properties": { "p": { "x-mcp-header": "" } } }] }),
        json!({ "properties": { "x-mcp-header": { "type": "string" } } }),
        json!({ "properties": { "a": { "default": { "x-mcp-header": "P" } } } }),
        json!({ "items": { "properties": { "x-mcp-header": {} } } }),
        json!({ "$defs": { "x-mcp-header": { "type": "string" } } }),
        json!({ "required": ["x-mcp-header"], "description": "x-mcp-header" }),
        json!({ "definitions": { "x-mcp-header": true } }),
        json!({ "dependencies": { "x-mcp-header": ["a"] } }),
        json!({ "dependentRequired": { "x-mcp-header": ["a"] } }),
        json!({ "dependentSchemas": { "x-mcp-header": {} } }),
        json!({ "patternProperties": { "x-mcp-header": {} } }),
        json!([{ "x-mcp-header": "P" }]),
        json!(true),
        json!("x-mcp-header"),
    ];
    for schema in innocent {
        assert!(plan(schema.clone()).is_empty(), "{schema}");
    }
}

#[test]
fn an_annotation_written_with_an_escape_counts_like_any_other() {
    let text = r#"{"\u0070roperties":{"p":{"type":"string","x\u002dmcp-header":"P"}}}"#;
    let plan = ParamHeaders::of(&Raw::parse(text).expect("JSON")).expect("valid");
    assert_eq!(pairs(&plan, &json!({ "p": "a" })).len(), 1);
}

#[test]
fn numbers_of_any_size_do_not_spoil_a_schema() {
    let text = r#"{"properties":{"p":{"type":"integer","maximum":1e999,"x-mcp-header":"P"}}}"#;
    assert!(ParamHeaders::of(&Raw::parse(text).expect("JSON")).is_ok());
}

#[test]
fn a_schema_may_be_as_deep_as_the_bound_and_no_deeper() {
    let nested = |levels: usize| {
        let annotated = json!({ "type": "string", "x-mcp-header": "P" });
        let schema =
            (0..levels).fold(annotated, |inner, _| json!({ "properties": { "p": inner } }));
        ParamHeaders::of(&schema.into())
    };
    let deepest = nested(31).expect("63 values");
    let arguments = (0..31).fold(json!("a"), |inner, _| json!({ "p": inner }));
    assert_eq!(pairs(&deepest, &arguments).len(), 1);
    assert!(nested(32).expect_err("65 values").contains("deep"));
    // Without annotations nobody looks, and without end nobody falls.
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let of = |text: String| ParamHeaders::of(&Raw::parse(text).expect("JSON"));
    assert!(of(format!(r#"{{"default":{deep}}}"#)).is_ok());
    assert!(of(format!(r#"{{"x-mcp-header":{deep}}}"#)).is_err());
    assert!(
        of(format!(r#"{{"a":{deep},"b":"x-mcp-header"}}"#)).expect_err("deep").contains("deep")
    );
}

#[test]
fn a_schema_may_have_as_many_annotations_as_the_bound_and_no_more() {
    let with = |count: usize| {
        let properties: serde_json::Map<_, _> = (0..count)
            .map(|at| {
                (format!("p{at}"), json!({ "type": "integer", "x-mcp-header": format!("H{at}") }))
            })
            .collect();
        ParamHeaders::of(&json!({ "properties": properties }).into())
    };
    let arguments: serde_json::Map<_, _> =
        (0..256).map(|at| (format!("p{at}"), json!(at))).collect();
    assert_eq!(pairs(&with(256).expect("256"), &arguments.into()).len(), 256);
    assert!(with(257).expect_err("257").contains("more than 256"));
}

fn calling(arguments: &Value, schema: Value) -> Request {
    let params =
        Params::from_object(&json!({ "name": "q", "arguments": arguments })).expect("JSON");
    let mut request = Request::new("tools/call", params);
    request.param_headers = Some(plan(schema));
    request
}

fn dressed(
    version: ProtocolVersion,
    carrier: Carrier,
    request: &Request,
) -> Result<snodo_types::Routing, Error> {
    let identity = Identity {
        client_info: Raw::empty_object(),
        capabilities: Raw::empty_object(),
        extensions: Extensions::new(),
    };
    let outfit = dialect(version).outfit(&identity, carrier, None);
    dialect(version).dress(request, 1, &outfit).map(|envelope| envelope.routing)
}

const HTTP: Carrier = Carrier { routes: true, own_stream: true };

// HDR-04, S-31
#[test]
fn a_call_over_http_carries_its_annotated_arguments_beside_the_name_of_the_tool() {
    let schema = property(json!({ "type": "string", "x-mcp-header": "Method" }));
    let request = calling(&json!({ "p": " a" }), schema);
    let routing = dressed(ProtocolVersion::V2026_07_28, HTTP, &request).expect("dressed");
    assert_eq!(routing.value("Mcp-Param-Method"), Some("=?base64?IGE=?="));
    assert_eq!(routing.value("Mcp-Method"), Some("tools/call"));
    assert_eq!(routing.value("Mcp-Name"), Some("q"));
}

// HDR-18
#[test]
fn a_call_whose_argument_does_not_fit_is_not_dressed() {
    let schema = property(json!({ "type": "integer", "x-mcp-header": "P" }));
    let request = calling(&json!({ "p": "seven" }), schema);
    let error = dressed(ProtocolVersion::V2026_07_28, HTTP, &request).expect_err("no integer");
    assert_eq!(error.code(), -32602);
}

// HDR-14, HTTPL-19
#[test]
fn without_headers_or_before_2026_an_annotation_means_nothing() {
    let schema = property(json!({ "type": "integer", "x-mcp-header": "P" }));
    let request = calling(&json!({ "p": "seven" }), schema);
    let pipe = dressed(ProtocolVersion::V2026_07_28, Carrier::default(), &request);
    assert!(pipe.expect("nobody looks").is_empty());
    for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2025_11_25] {
        let routing = dressed(version, HTTP, &request).expect("nobody looks");
        assert_eq!(routing.value("Mcp-Param-P"), None);
        let invalid = json!({ "x-mcp-header": "" }).into();
        assert!(dialect(version).param_headers(&invalid).is_none());
    }
    let newest = dialect(ProtocolVersion::V2026_07_28);
    assert!(
        newest
            .param_headers(&json!({ "x-mcp-header": "" }).into())
            .is_some_and(|plan| plan.is_err())
    );
}

#[test]
fn whatever_stands_beside_a_property_is_passed_over() {
    for beside in [json!(true), json!(1.5), json!(-7), json!(u64::MAX), json!("x"), json!(null)] {
        let mut schema = property(json!({ "type": "string", "x-mcp-header": "P" }));
        schema["properties"]["other"] = beside.clone();
        schema["description"] = beside.clone();
        assert_eq!(pairs(&plan(schema), &json!({ "p": "v" })).len(), 1, "{beside}");
    }
}

#[test]
fn a_schema_that_cannot_be_read_or_names_too_much_is_told_in_a_line() {
    let broken = ParamHeaders::of(
        &Raw::parse(r#"{"properties":{"p":1e999},"x-mcp-header":"A"}"#).expect("JSON"),
    );
    assert!(broken.expect_err("no number").contains("cannot be read"));
    let long = "n".repeat(5_000);
    let told = fault(property(json!({ "type": "string", "x-mcp-header": format!("{long} ") })));
    assert!(told.contains('…') && told.len() < 1_000, "{told}");
}
