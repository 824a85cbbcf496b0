//! How a request is given up.

use serde_json::{Value, json};

use super::{HTTP, PIPE, V25A, V25B, V26, dress};
use crate::{Carrier, Params, Request};

fn call() -> Request {
    Request::new("tools/call", Params::new())
}

// S-42, CAN-01, CAN-02, INIT-20, STDIO-08
#[test]
fn a_request_is_cancelled_by_a_notification_that_names_its_number() {
    for (version, carrier) in [(V26, PIPE), (V25B, PIPE), (V25B, HTTP), (V25A, PIPE), (V25A, HTTP)]
    {
        let abandon = dress(version, carrier, &call()).abandon.expect("a notice");
        let text: Value = serde_json::from_str(&abandon.message(5)).expect("JSON");
        assert_eq!(text["jsonrpc"], json!("2.0"));
        assert_eq!(text["method"], json!("notifications/cancelled"));
        assert_eq!(text["params"]["requestId"], json!(5));
        assert!(text["params"]["reason"].is_string() && text.get("id").is_none());
    }
}

// S-42, CAN-02, HTTP-06, HTTP-12
#[test]
fn a_stateless_request_with_a_stream_of_its_own_is_given_up_by_closing_that() {
    for routes in [true, false] {
        let carrier = Carrier { routes, own_stream: true };
        assert!(dress(V26, carrier, &call()).abandon.is_none());
    }
    let shared = Carrier { routes: true, own_stream: false };
    let abandon = dress(V26, shared, &call()).abandon.expect("a notice");
    let expected = [("MCP-Protocol-Version", "2026-07-28")];
    assert_eq!(abandon.routing().iter().collect::<Vec<_>>(), expected);
}

// INIT-08
#[test]
fn initialize_is_never_cancelled() {
    for version in [V25B, V25A] {
        for carrier in [PIPE, HTTP] {
            let request = Request::new("initialize", Params::new());
            assert!(dress(version, carrier, &request).abandon.is_none());
        }
    }
}
