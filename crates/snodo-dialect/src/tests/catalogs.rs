//! Who may send what.

use serde_json::json;
use snodo_types::{Kind, ProtocolVersion};

use super::{V25A, V25B, V26};
use crate::Role::{ClientNotification, ClientRequest, Embedded, ServerNotification, ServerRequest};
use crate::{Catalog, Entry, Era, Role, dialect};

/// The protocol's own table: a method, and who sends it in 2026-07-28, 2025-11-25 and 2025-06-18.
/// `c` is the client, `s` the server, `i` the server within a result that asks for input.
const TABLE: [(&str, [&str; 3]); 34] = [
    ("completion/complete", ["c", "c", "c"]),
    ("elicitation/create", ["i", "s", "s"]),
    ("initialize", ["", "c", "c"]),
    ("logging/setLevel", ["", "c", "c"]),
    ("ping", ["", "cs", "cs"]),
    ("prompts/get", ["c", "c", "c"]),
    ("prompts/list", ["c", "c", "c"]),
    ("resources/list", ["c", "c", "c"]),
    ("resources/read", ["c", "c", "c"]),
    ("resources/subscribe", ["", "c", "c"]),
    ("resources/templates/list", ["c", "c", "c"]),
    ("resources/unsubscribe", ["", "c", "c"]),
    ("roots/list", ["i", "s", "s"]),
    ("sampling/createMessage", ["i", "s", "s"]),
    ("server/discover", ["c", "", ""]),
    ("subscriptions/listen", ["c", "", ""]),
    ("tasks/cancel", ["", "cs", ""]),
    ("tasks/get", ["", "cs", ""]),
    ("tasks/list", ["", "cs", ""]),
    ("tasks/result", ["", "cs", ""]),
    ("tools/call", ["c", "c", "c"]),
    ("tools/list", ["c", "c", "c"]),
    ("notifications/cancelled", ["cs", "cs", "cs"]),
    ("notifications/elicitation/complete", ["", "s", ""]),
    ("notifications/initialized", ["", "c", "c"]),
    ("notifications/message", ["s", "s", "s"]),
    ("notifications/progress", ["s", "cs", "cs"]),
    ("notifications/prompts/list_changed", ["s", "s", "s"]),
    ("notifications/resources/list_changed", ["s", "s", "s"]),
    ("notifications/resources/updated", ["s", "s", "s"]),
    ("notifications/roots/list_changed", ["", "c", "c"]),
    ("notifications/subscriptions/acknowledged", ["s", "", ""]),
    ("notifications/tasks/status", ["", "cs", ""]),
    ("notifications/tools/list_changed", ["s", "s", "s"]),
];

const ROLES: [Role; 5] =
    [ClientNotification, ClientRequest, Embedded, ServerNotification, ServerRequest];

fn role(method: &str, sender: char) -> Role {
    match (sender, method.starts_with("notifications/")) {
        ('c', true) => ClientNotification,
        ('c', false) => ClientRequest,
        ('s', true) => ServerNotification,
        ('s', false) => ServerRequest,
        _ => Embedded,
    }
}

/// The table of one version: methods with their senders, sorted.
fn table(version: ProtocolVersion) -> Vec<(&'static str, &'static str)> {
    let column = [V26, V25B, V25A].iter().position(|known| *known == version).expect("known");
    let mut rows: Vec<_> =
        TABLE.iter().map(|(method, senders)| (*method, senders[column])).collect();
    rows.retain(|(_, senders)| !senders.is_empty());
    rows.sort_unstable();
    rows
}

// SRV-01
#[test]
fn each_catalog_is_the_protocol_s_table() {
    for version in [V26, V25B, V25A] {
        let catalog = dialect(version).catalog();
        let methods: Vec<_> = catalog.iter().map(|entry| entry.method()).collect();
        let expected: Vec<_> = table(version).iter().map(|(method, _)| *method).collect();
        assert_eq!(methods, expected, "{version}");
        for (method, senders) in table(version) {
            let entry = catalog.entry(method).expect(method);
            let roles = ROLES.into_iter().filter(|role| entry.has(*role));
            let mut expected: Vec<_> = senders.chars().map(|who| role(method, who)).collect();
            expected.sort_by_key(|role| ROLES.iter().position(|known| known == role));
            assert_eq!(roles.collect::<Vec<_>>(), expected, "{method} at {version}");
        }
    }
}

#[test]
fn each_catalog_counts_what_its_schema_counts() {
    let counted =
        |version, role| dialect(version).catalog().iter().filter(|entry| entry.has(role)).count();
    let table = [(V26, [1, 10, 3, 8, 0]), (V25B, [5, 17, 0, 9, 8]), (V25A, [4, 13, 0, 7, 4])];
    for (version, counts) in table {
        assert_eq!(ROLES.map(|role| counted(version, role)), counts, "{version}");
    }
}

// HDR-03, MRTR-02
#[test]
fn three_methods_are_routed_by_name_and_may_ask_and_only_in_the_stateless_version() {
    for version in [V26, V25B, V25A] {
        for entry in dialect(version).catalog().iter() {
            let name = match entry.method() {
                "prompts/get" | "tools/call" if version == V26 => Some("name"),
                "resources/read" if version == V26 => Some("uri"),
                _ => None,
            };
            assert_eq!(entry.mirrored(), name, "{entry:?} at {version}");
            assert_eq!(entry.may_ask(), name.is_some(), "{entry:?} at {version}");
        }
    }
}

#[test]
fn what_only_reads_is_asked_by_the_client_and_no_tool_or_change_is_among_it() {
    let changes = ["initialize", "logging/setLevel", "tools/call", "tasks/cancel"];
    for version in [V26, V25B, V25A] {
        for entry in dialect(version).catalog().iter() {
            let changes = changes.contains(&entry.method()) || entry.method().contains("subscri");
            let reads = entry.has(ClientRequest) && !changes;
            assert_eq!(entry.reads(), reads, "{entry:?} at {version}");
        }
    }
}

// S-36, S-38, DISC-08, SUB-02
#[test]
fn what_a_client_may_not_ask_is_refused_by_name_and_version() {
    let unlisted = ["com.example/do", "tasks/update", "x", ""];
    let methods = TABLE.iter().map(|(method, _)| *method).chain(unlisted);
    for (method, version) in methods.flat_map(|method| [V26, V25B, V25A].map(|v| (method, v))) {
        let senders = table(version).iter().find(|(known, _)| *known == method).map(|row| row.1);
        let asks = |senders: &str| senders.contains('c') && !method.starts_with("notifications/");
        let allowed = match senders {
            Some(senders) => asks(senders),
            // An extension's method, as far as a stateless version can tell.
            None => version == V26,
        };
        match dialect(version).admit(method) {
            Ok(()) => assert!(allowed, "{method} at {version}"),
            Err(error) => {
                assert!(!allowed, "{method} at {version}");
                assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32601));
                let told = json!({ "method": method, "protocolVersion": version.as_str() });
                assert_eq!(error.data().expect("data").text(), told.to_string());
            }
        }
    }
}

#[test]
fn an_entry_is_what_was_said_of_it_and_nothing_else() {
    const ENTRIES: &[Entry] = &[Entry::new("a", &[ServerRequest])];
    let entry = Entry::new("x/y", &[ClientRequest, Embedded]);
    assert!(entry.has(ClientRequest) && entry.has(Embedded) && !entry.has(ServerRequest));
    assert_eq!((entry.mirrored(), entry.may_ask(), entry.reads()), (None, false, false));
    assert_eq!(format!("{entry:?}"), "x/y [ClientRequest, Embedded]");
    let entry = entry.mirroring("name");
    assert_eq!((entry.mirrored(), entry.may_ask(), entry.reads()), (Some("name"), false, false));
    let entry = entry.asking();
    assert_eq!((entry.may_ask(), entry.reads()), (true, false));
    assert!(entry.reading().reads());
    let catalog = Catalog::new(ENTRIES);
    assert_eq!(catalog.iter().map(Entry::method).collect::<Vec<_>>(), ["a"]);
    assert!(catalog.entry("a").is_some() && catalog.entry("b").is_none());
}

// VER-01
#[test]
fn every_version_has_a_dialect_of_its_own_that_names_its_era() {
    for version in ProtocolVersion::ALL {
        let spoken = dialect(*version);
        assert_eq!(spoken.version(), *version);
        let era = if *version == V26 { "stateless" } else { "initialize" };
        assert_eq!(spoken.era().to_string(), era, "{version}");
        assert_eq!(spoken.roots_changed().is_none(), *version == V26, "{version}");
    }
    assert_eq!(format!("{:>12}", Era::Stateless), "   stateless");
}
