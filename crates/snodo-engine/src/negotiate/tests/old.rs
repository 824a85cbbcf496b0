//! Every answer of an older server that was seen in the field leads to `initialize`.

use serde_json::{Value, json};
use snodo_dialect::Carrier;
use snodo_types::{TransportError, TransportFault};

use super::{HTTP, LIMIT, PIPE, PROBE, Talk, V25B, fault, message, status, with_status};

/// What came back for the probe.
enum Came {
    Body(Option<u16>, Value),
    Failure(TransportError),
    Silence,
}

fn body(status: u16, body: Value) -> Came {
    Came::Body(Some(status), body)
}

fn error(id: Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// Follows the fallback to the end: made anew, asked by `initialize`, told, open.
fn falls_back(name: &str, carrier: Carrier, came: Came) {
    let mut talk = Talk::probing(carrier);
    match came {
        Came::Body(None, body) => talk.hears(message(&body)),
        Came::Body(Some(status), body) => talk.hears(with_status(message(&body), status)),
        Came::Failure(why) => talk.breaks(why),
        Came::Silence => talk.waits(PROBE),
    }
    println!("{name}");
    talk.reopens();
    let asked = talk.asks("initialize", V25B);
    assert_eq!(talk.patience(), Some(LIMIT), "{name}");
    assert!(asked.routing.is_empty() && !asked.message.contains("_meta"), "{name}");
    talk.result(&json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    talk.announces();
    let opened = talk.opened(V25B);
    assert!(opened.session.is_some() && opened.discovered.is_none(), "{name}");
}

// S-17, VER-05, VER-06, VER-22, ERR-10
#[test]
fn on_a_pipe_every_answer_of_an_older_server_leads_to_initialize() {
    let mut s2 = error(json!(41), -32602, "Invalid request parameters");
    s2["error"]["data"] = json!("");
    let exited = fault(TransportFault::Exited).with_exit("exit status 1");
    let mut table = vec![
        ("S1, and S4 whose first line is skipped", {
            Came::Body(None, error(json!(41), -32601, "Method not found"))
        }),
        ("S2", Came::Body(None, s2)),
        ("S3", Came::Failure(exited)),
        ("the pipe closed", Came::Failure(fault(TransportFault::Closed))),
        ("silence", Came::Silence),
        ("a result of something else", {
            Came::Body(None, json!({ "jsonrpc": "2.0", "id": 41, "result": { "tools": [] } }))
        }),
        ("a list that is none", {
            let result = json!({ "supportedVersions": "2026-07-28" });
            Came::Body(None, json!({ "jsonrpc": "2.0", "id": 41, "result": result }))
        }),
        ("an error that is none", {
            Came::Body(None, json!({ "jsonrpc": "2.0", "id": 41, "error": { "code": "x" } }))
        }),
        ("an error of another code that lists versions", {
            let mut refused = error(json!(41), -32602, "Unsupported protocol version");
            refused["error"]["data"] = json!({ "supported": ["2026-07-28"] });
            Came::Body(None, refused)
        }),
        ("-32022 that lists nothing", {
            Came::Body(None, error(json!(41), -32022, "Unsupported protocol version"))
        }),
    ];
    let codes = [-32700, -32600, -32603, -32000, -32001, -32003, -32004, -32002, -32042, 0, 1];
    table.extend(codes.map(|code| ("a code", Came::Body(None, error(json!(41), code, "x")))));
    for (name, came) in table.into_iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
        falls_back(name, PIPE, came);
    }
}

// S-17, VER-06, VER-08, VER-15, VER-16
#[test]
fn over_http_every_answer_of_an_older_server_leads_to_initialize() {
    let missing_session = || {
        let text = "Bad Request: Missing session ID";
        body(400, error(json!("server-error"), -32600, text))
    };
    let mut h7 = error(json!(41), -32000, "Bad Request");
    h7["error"]["data"] = json!({ "reason": "server_missing_modern_protocol_support" });
    let unsupported = "Bad Request: Unsupported protocol version: 2026-07-28 \
                       (supported versions: 2025-11-25, 2025-06-18)";
    let table = [
        ("H1, H2", body(400, error(Value::Null, -32000, "Bad Request: Server not initialized"))),
        ("H3", body(400, error(Value::Null, -32000, unsupported))),
        ("H4, and H9 when its redirect was followed", missing_session()),
        ("H5", body(400, error(json!("server-error"), -32600, unsupported))),
        ("H6", body(404, error(json!(41), -32601, "Method not found"))),
        ("H7", body(400, h7)),
        ("H8", Came::Failure(status(415))),
        ("H11 in JSON", body(406, error(Value::Null, -32000, "Not Acceptable"))),
        ("H11 without a body", Came::Failure(status(406))),
        ("H12", Came::Failure(status(422))),
        ("H13", body(500, error(Value::Null, -32603, "Error in httpTransport: "))),
        ("H14", Came::Body(None, error(json!(41), -32602, "Invalid request parameters"))),
        ("no id at all", {
            let error = json!({ "code": -32000, "message": "busy" });
            body(400, json!({ "jsonrpc": "2.0", "error": error }))
        }),
        ("an error that is none", body(400, json!({ "jsonrpc": "2.0", "id": null, "error": {} }))),
        ("another result", {
            Came::Body(None, json!({ "jsonrpc": "2.0", "id": 41, "result": {} }))
        }),
        ("a page", Came::Failure(fault(TransportFault::Malformed))),
        ("a page with its status", {
            Came::Failure(fault(TransportFault::Malformed).with_status(200))
        }),
        ("400 without a body", Came::Failure(status(400))),
        ("404 without a body", Came::Failure(status(404))),
        ("405", Came::Failure(status(405))),
        ("410", Came::Failure(status(410))),
        ("500 without a body", Came::Failure(status(500))),
        ("200 with -32601", Came::Body(Some(200), error(json!(41), -32601, "Method not found"))),
    ];
    for (name, came) in table.into_iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
        falls_back(name, HTTP, came);
    }
}

// S-17
#[test]
fn a_401_without_a_bearer_challenge_to_a_credential_tries_initialize_once() {
    let without = || status(401).with_credential_sent();
    let basic = || without().with_challenges(vec![r#"Basic realm="bearer""#.to_owned()]);
    for why in [without(), basic()] {
        falls_back("401", HTTP, Came::Failure(why));
    }
    let mut talk = Talk::probing(HTTP);
    talk.breaks(without());
    talk.reopens();
    talk.asks("initialize", V25B);
    talk.breaks(without());
    let error = talk.failed();
    assert_eq!((error.kind(), error.code()), (snodo_types::Kind::Authorization, -32000));
}
