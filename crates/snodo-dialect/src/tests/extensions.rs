//! Extensions: declared, routed and listened to.

use std::sync::Arc;

use serde_json::{Value, json};
use snodo_types::{Cause, Error, Message, Outcome, ProtocolVersion, Raw, Routing};

use super::{HTTP, PIPE, V25A, V25B, V26, identity, raw, request};
use crate::{Carrier, Extension, Extensions, Identity, Outfit, Params, Request, declare, dialect};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// An extension as a test wants it.
#[derive(Clone, Debug)]
struct Reports {
    id: &'static str,
    methods: &'static [&'static str],
    capability: &'static str,
    header: &'static str,
}

const REPORTS: Reports = Reports {
    id: "com.example/reports",
    methods: &["reports/get"],
    capability: "{}",
    header: "Mcp-Name",
};

impl Extension for Reports {
    fn id(&self) -> &str {
        self.id
    }

    fn methods(&self) -> &[&str] {
        self.methods
    }

    fn result_types(&self, method: &str) -> &[&str] {
        if method == "tools/call" { &["report"] } else { &[] }
    }

    fn capability(&self) -> Raw {
        raw(self.capability)
    }

    fn routing(&self, version: ProtocolVersion, method: &str, params: &Params) -> Routing {
        let report = params.member("report").unwrap_or_default();
        Routing::new().with(self.header, format!("{version} {method} {report}"))
    }
}

/// No extension but its methods and its capability.
#[derive(Debug)]
struct Plain;

impl Extension for Plain {
    fn id(&self) -> &str {
        "org.example/plain"
    }

    fn methods(&self) -> &[&str] {
        &["plain/ask"]
    }
}

fn registered(extension: Reports) -> Identity {
    let extensions = Extensions::new().with(Arc::new(extension)).expect("a valid extension");
    let capabilities = declare(&identity().capabilities, &extensions).expect("an object");
    Identity { capabilities, extensions, ..identity() }
}

fn outfit(version: ProtocolVersion, carrier: Carrier, identity: &Identity) -> Outfit {
    dialect(version).outfit(identity, carrier, None)
}

fn meta(message: &str) -> Value {
    let sent: Value = serde_json::from_str(message).expect("JSON");
    sent["params"]["_meta"].clone()
}

fn named(method: &'static str) -> Request {
    let mut request = request(method, &json!({ "name": "n", "report": "r" }));
    request.extension = Some(Arc::new(REPORTS));
    request
}

fn answer(
    request: &Request,
    outfit: &Outfit,
    result_type: &str,
) -> Result<Outcome<Message>, Error> {
    let text = format!(r#"{{"jsonrpc":"2.0","id":5,"result":{{"resultType":"{result_type}"}}}}"#);
    dialect(V26).read(request, Message::parse(text).expect("a message"), outfit)
}

fn is_unknown(outcome: Result<Outcome<Message>, Error>) -> bool {
    let error = outcome.expect_err("nobody announced it");
    matches!(error.cause(), Some(Cause::UnknownResultType(_)))
}

// VER-18
#[test]
fn an_extension_is_registered_under_a_key_with_a_prefix_once_and_with_settings() {
    let register = |extension: Reports| Extensions::new().with(Arc::new(extension));
    for id in ["com.example/reports", "io.modelcontextprotocol/tasks", "a/b"] {
        assert!(register(Reports { id, ..REPORTS }).is_ok(), "{id}");
    }
    for id in ["reports", "", "/reports", "com..example/x", "com.example/-x", "1a/x", "a b/x"] {
        let error = register(Reports { id, ..REPORTS }).expect_err(id);
        assert_eq!(error.code(), -32602, "{id}");
    }
    for capability in ["null", "true", "[]", "\"x\""] {
        assert!(register(Reports { capability, ..REPORTS }).is_err(), "{capability}");
    }
    let one = register(REPORTS).expect("valid");
    assert!(
        one.clone().with(Arc::new(Reports { methods: &[], ..REPORTS })).is_err(),
        "the same id"
    );
    assert!(one.clone().with(Arc::new(Reports { id: "org.example/x", ..REPORTS })).is_err());
    let both = one.with(Arc::new(Plain)).expect("another one");
    assert_eq!(both.owner("plain/ask").map(|owner| owner.id()), Some("org.example/plain"));
    assert_eq!(both.owner("reports/get").map(|owner| owner.id()), Some("com.example/reports"));
    assert!(both.owner("tools/call").is_none() && both.get("org.example/x").is_none());
    assert_eq!(format!("{both:?}"), r#"["com.example/reports", "org.example/plain"]"#);
}

// VER-18, DISC-05
#[test]
fn registered_extensions_are_declared_among_what_the_client_declares_itself() {
    let extensions = Extensions::new()
        .with(Arc::new(Reports { capability: r#"{"most":3}"#, ..REPORTS }))
        .and_then(|extensions| extensions.with(Arc::new(Plain)))
        .expect("valid");
    let declared = |capabilities| declare(&raw(capabilities), &extensions);
    let table = [
        (r#"{}"#, r#"{"extensions":{"com.example/reports":{"most":3},"org.example/plain":{}}}"#),
        (
            r#"{"roots":{},"extensions":{"com.example/reports":{"most":9},"x.y/z":{}},"sampling":{}}"#,
            r#"{"roots":{},"extensions":{"com.example/reports":{"most":9},"x.y/z":{},"org.example/plain":{}},"sampling":{}}"#,
        ),
        (
            r#"{"extensions":null}"#,
            r#"{"extensions":{"com.example/reports":{"most":3},"org.example/plain":{}}}"#,
        ),
    ];
    for (before, after) in table {
        assert_eq!(declared(before).expect("an object").text(), after);
    }
    for capabilities in ["[]", "null", r#"{"extensions":[]}"#, r#"{"extensions":true}"#] {
        assert_eq!(declared(capabilities).expect_err(capabilities).code(), -32602);
    }
}

// S-43
#[test]
fn the_owner_of_a_method_routes_it_over_http_for_the_version() {
    let with = registered(REPORTS);
    let by_registration = request("reports/get", &json!({ "report": "ü" }));
    let beside = |identity: &Identity, carrier, request: &Request| {
        dialect(V26).dress(request, 5, &outfit(V26, carrier, identity)).expect("dressed").routing
    };
    let routed = beside(&with, HTTP, &by_registration);
    assert_eq!(
        routed.value("Mcp-Name"),
        Some(&*crate::encode_header("2026-07-28 reports/get \"ü\"")),
        "encoded like the version's own"
    );
    assert_eq!(routed.value("Mcp-Method"), Some("reports/get"));
    assert!(beside(&with, PIPE, &by_registration).is_empty(), "nothing travels beside a pipe");

    let by_name = beside(&identity(), HTTP, &named("reports/get"));
    assert_eq!(by_name.value("Mcp-Name"), Some("2026-07-28 reports/get \"r\""));
    let others = beside(&identity(), HTTP, &named("other/get"));
    assert_eq!(others.value("Mcp-Name"), None, "not its method");
}

// S-43, HDR-03
#[test]
fn an_extension_overrides_no_header_of_the_version_and_routes_no_method_of_the_protocol() {
    let greedy = Reports { methods: &["tools/call", "reports/get"], ..REPORTS };
    let call = request("tools/call", &json!({ "name": "echo" }));
    let beside = |extension: Reports, request: &Request| {
        let outfit = outfit(V26, HTTP, &registered(extension));
        dialect(V26).dress(request, 5, &outfit).map(|envelope| envelope.routing)
    };
    let routed = beside(greedy, &call).expect("dressed");
    assert_eq!(routed.value("Mcp-Name"), Some("echo"));
    let beyond = Reports { methods: &["tools/call"], header: "x-report", ..REPORTS };
    assert_eq!(beside(beyond, &call).expect("dressed").value("x-report"), None);
    let get = request("reports/get", &json!({}));
    let method = beside(Reports { header: "mcp-method", ..REPORTS }, &get).expect("dressed");
    assert_eq!(method.value("Mcp-Method"), Some("reports/get"));
    for header in ["Host", "content-length", "a b", "", "x\r\ny"] {
        let error = beside(Reports { header, ..REPORTS }, &get).expect_err(header);
        assert_eq!(error.code(), -32000, "{header:?}");
    }
}

// TASK-01, VER-18
#[test]
fn an_extension_that_is_named_on_a_request_is_declared_with_that_request_alone() {
    let outfit = outfit(V26, PIPE, &identity());
    let sent = |request: &Request| {
        let dressed = dialect(V26).dress(request, 5, &outfit).expect("dressed");
        meta(&dressed.message)[CAPABILITIES].clone()
    };
    let both = json!({ "roots": {}, "extensions": { "com.example/reports": {} } });
    assert_eq!(sent(&named("tools/call")), both);
    assert_eq!(sent(&request("tools/call", &json!({}))), json!({ "roots": {} }));

    let mut overridden = named("tools/call");
    overridden
        .meta
        .push((CAPABILITIES.to_owned(), raw(r#"{"sampling":{},"extensions":{"x.y/z":{}}}"#)));
    assert_eq!(
        sent(&overridden),
        json!({ "sampling": {}, "extensions": { "x.y/z": {}, "com.example/reports": {} } })
    );
    let mut invalid = named("tools/call");
    invalid.extension = Some(Arc::new(Reports { id: "reports", ..REPORTS }));
    assert_eq!(dialect(V26).dress(&invalid, 5, &outfit).expect_err("no id").code(), -32602);
}

// VER-18
#[test]
fn naming_an_extension_that_is_registered_changes_nothing() {
    let identity = registered(Reports { capability: r#"{"most":3}"#, ..REPORTS });
    let outfit = outfit(V26, PIPE, &identity);
    let sent = dialect(V26).dress(&named("tools/call"), 5, &outfit).expect("dressed").message;
    let expected = json!({ "roots": {}, "extensions": { "com.example/reports": { "most": 3 } } });
    assert_eq!(meta(&sent)[CAPABILITIES], expected);
}

// BASE-08, BASE-09, TASK-04
#[test]
fn a_type_of_result_is_accepted_where_its_extension_was_declared_for_that_method() {
    let declared = outfit(V26, PIPE, &registered(REPORTS));
    let bare = outfit(V26, PIPE, &identity());
    let call = request("tools/call", &json!({ "name": "n" }));
    assert!(matches!(answer(&call, &declared, "report"), Ok(Outcome::Complete(_))));
    assert!(matches!(answer(&named("tools/call"), &bare, "report"), Ok(Outcome::Complete(_))));
    assert!(is_unknown(answer(&call, &bare, "report")));
    assert!(is_unknown(answer(&call, &declared, "task")), "a type of nobody's");
    assert!(is_unknown(answer(&request("prompts/get", &json!({})), &declared, "report")));
    assert!(is_unknown(answer(&named("prompts/get"), &bare, "report")));
}

// BASE-09
#[test]
fn an_extension_that_a_request_did_not_declare_is_not_listened_to() {
    let undeclared = Identity { capabilities: raw("{}"), ..registered(REPORTS) };
    let call = request("tools/call", &json!({ "name": "n" }));
    assert!(is_unknown(answer(&call, &outfit(V26, PIPE, &undeclared), "report")));
    let mut withheld = call;
    withheld.meta.push((CAPABILITIES.to_owned(), raw("{}")));
    assert!(is_unknown(answer(&withheld, &outfit(V26, PIPE, &registered(REPORTS)), "report")));
}

// VER-18
#[test]
fn versions_before_know_no_extensions() {
    for version in [V25A, V25B] {
        let outfit = outfit(version, HTTP, &registered(REPORTS));
        let dressed = dialect(version).dress(&named("tools/call"), 5, &outfit).expect("dressed");
        assert_eq!(meta(&dressed.message), Value::Null);
        assert_eq!(dressed.routing.value("Mcp-Name"), None);
        let error = dialect(version).admit("reports/get").expect_err("not of this version");
        assert_eq!(error.code(), -32601);
    }
    assert!(dialect(V26).admit("reports/get").is_ok());
}

#[test]
fn an_extension_that_says_no_more_than_its_methods_adds_nothing_else() {
    assert!(Plain.result_types("tools/call").is_empty());
    assert_eq!(Plain.capability().text(), "{}");
    assert_eq!(Plain.routing(V26, "plain/ask", &Params::new()).iter().count(), 0);
}

#[test]
fn a_request_shows_names_and_no_value_that_a_caller_gave() {
    let mut request =
        request("tools/call", &json!({ "name": "n", "arguments": { "key": "s3cret" } }));
    request.meta.push(("com.example/k".into(), raw("\"s3cret\"")));
    request.progress = true;
    let shown = format!("{request:?}");
    assert!(shown.contains("tools/call") && shown.contains("com.example/k"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
}
