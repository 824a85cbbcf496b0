//! What a client tells the server of its own accord.

use serde_json::{Value, json};
use snodo_types::LoggingLevel;

use super::{PIPE, V25A, V25B, V26, dress};
use crate::{LogLevel, Params, Request, Role, dialect};

// SRV-19
#[test]
fn a_log_level_of_the_initialize_era_is_a_request() {
    for version in [V25A, V25B] {
        let LogLevel::Request(request) = dialect(version).log_level(LoggingLevel::Emergency) else {
            panic!("{version} has a request for it");
        };
        let expected = concat!(
            r#"{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","#,
            r#""params":{"level":"emergency"}}"#
        );
        assert_eq!(dress(version, PIPE, &request).message, expected);
        assert!(dialect(version).admit(&request.method).is_ok());
    }
}

// LOG-01, META-12, DISC-08
#[test]
fn a_log_level_of_2026_stands_in_the_metadata_of_a_request() {
    let LogLevel::Meta(name, level) = dialect(V26).log_level(LoggingLevel::Notice) else {
        panic!("{V26} has no request for it");
    };
    let mut request = Request::new("tools/list", Params::new());
    request.meta.push((name, level));
    let sent: Value = serde_json::from_str(&dress(V26, PIPE, &request).message).expect("JSON");
    assert_eq!(sent["params"]["_meta"]["io.modelcontextprotocol/logLevel"], json!("notice"));
}

// SRV-04, ROOT-04, DISC-08
#[test]
fn a_change_of_roots_is_told_where_the_version_has_a_notification_for_it() {
    for version in [V25A, V25B] {
        let told = dialect(version).roots_changed().expect("it has one");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let method = "notifications/roots/list_changed";
        assert_eq!(told, json!({ "jsonrpc": "2.0", "method": method }));
        let entry = dialect(version).catalog().entry(method).expect("listed");
        assert!(entry.has(Role::ClientNotification));
    }
    assert_eq!(dialect(V26).roots_changed(), None);
}
