//! Each definition of each version, built, read, written and read again.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use snodo_types::{Body, ClientCapabilities, InputRequest, Message, Meta, Raw, ServerCapabilities};

use crate::documents::{Definition, Kind, Table};
use crate::nouns::{Read, Rule, rule};

const TABLES: &[(&str, &str)] = &[
    ("2025-06-18", include_str!("../vocabulary/2025-06-18.txt")),
    ("2025-11-25", include_str!("../vocabulary/2025-11-25.txt")),
    ("2026-07-28", include_str!("../vocabulary/2026-07-28.txt")),
    ("tasks-extension", include_str!("../vocabulary/tasks-extension.txt")),
];

/// Members that stay text although a definition gives them a plain kind: the same member is of another kind in another.
const KEPT_AS_TEXT: &[&str] = &["default"];

/// Every definition, with the table it is in.
fn each(mut check: impl FnMut(&str, &Table, &str)) {
    for (name, text) in TABLES {
        let table = Table::parse(text);
        assert!(table.definitions.len() > 60, "{name} has definitions");
        table.definitions.keys().for_each(|definition| check(name, &table, definition));
    }
}

/// Every definition that has a type, with each of its documents.
fn each_document(mut check: impl FnMut(&str, &Table, &str, &Value, Read)) {
    each(|name, table, definition| {
        if let Some(Rule::Type(read)) = rule(name, definition) {
            for document in table.documents(definition) {
                check(name, table, definition, &document, read);
            }
        }
    });
}

/// What a definition is, if it is not read into a type of its own.
#[derive(Debug, PartialEq)]
enum Apart {
    Capabilities,
    Envelope,
    Meta,
    Union,
}

fn apart(table: &Table, definition: &str) -> Option<Apart> {
    if definition.starts_with("ClientCapabilities") || definition.starts_with("ServerCapabilities")
    {
        return Some(Apart::Capabilities);
    }
    if definition.ends_with("._meta")
        || (definition.ends_with("MetaObject") && definition != "MetaObject")
    {
        return Some(Apart::Meta);
    }
    match &table.definitions[definition] {
        Definition::Object(members) => {
            let is_envelope =
                members.iter().any(|member| ["method", "jsonrpc"].contains(&member.name.as_str()));
            is_envelope.then_some(Apart::Envelope)
        }
        Definition::Other(Kind::Reference(_)) => Some(Apart::Union),
        Definition::Other(Kind::OneOf(kinds)) => {
            kinds.iter().all(|kind| matches!(kind, Kind::Reference(_))).then_some(Apart::Union)
        }
        Definition::Other(_) => None,
    }
}

#[test]
fn every_definition_has_a_type_or_a_reason_to_have_none() {
    let mut reasons = BTreeSet::new();
    each(|name, table, definition| match rule(name, definition) {
        Some(Rule::Type(_)) => {}
        Some(Rule::LeftOut(reason)) => {
            assert!(!reason.is_empty());
            reasons.insert(definition.to_owned());
        }
        None => assert!(
            apart(table, definition).is_some(),
            "{name}: {definition} has neither a type nor a reason to have none"
        ),
    });
    assert!(reasons.len() < 20, "a short list: {reasons:?}");
}

// BASE-12, ICON-01, TOOL-01, TOOL-07, TOOL-08, RES-01, RES-02, PRM-01, PRM-02, CMP-01, LOG-02
// DISC-01, SUB-01, SUB-03, MRTR-01, MRTR-03, MRTR-05, ELI-03, ELI-06, SAM-02, SAM-03, SAM-04
// TASK-05, TASK-09, TASK-16, TASK-22, TASKL-03, SRV-22
#[test]
fn every_document_is_understood_and_nothing_of_it_is_lost() {
    let mut count = 0;
    each_document(|name, _, definition, document, read| {
        let reading =
            read(document).unwrap_or_else(|why| panic!("{name}: {definition}: {document}: {why}"));
        let others = reading.others.unwrap_or_default();
        assert!(
            others.is_empty(),
            "{name}: {definition}: {others:?} of {document} is not understood"
        );
        assert_eq!(&reading.written, document, "{name}: {definition}");
        count += 1;
    });
    assert!(count > 1000, "only {count} documents were built");
}

#[test]
fn a_member_that_no_version_has_is_carried_along() {
    each_document(|name, _, definition, document, read| {
        let mut document = document.clone();
        let Value::Object(members) = &mut document else { return };
        let (deep, null) = (json!({ "deep": [1.5, null, { "x": "é" }] }), Value::Null);
        members.insert("x-deep".to_owned(), deep.clone());
        members.insert("x-null".to_owned(), null.clone());
        let reading = match read(&document) {
            Ok(reading) => reading,
            // What has any names has no unknown ones: these are no requests.
            Err(_) if definition.starts_with("InputRe") => return,
            Err(why) => panic!("{name}: {definition}: {document}: {why}"),
        };
        let Some(others) = reading.others else { return };
        assert_eq!(others, [("x-deep".to_owned(), deep), ("x-null".to_owned(), null)]);
        assert_eq!(reading.written, document, "{name}: {definition}");
    });
}

#[test]
fn a_plain_value_of_the_wrong_kind_is_noticed_and_not_lost() {
    let wrong = json!({ "wrong": [1] });
    each_document(|name, table, definition, document, read| {
        let Definition::Object(members) = &table.definitions[definition] else { return };
        let plain = members.iter().filter(|member| is_plain(table, &member.kind));
        for member in plain.filter(|member| !KEPT_AS_TEXT.contains(&member.name.as_str())) {
            let mut document = document.clone();
            document[&member.name] = wrong.clone();
            // Not read at all, or kept as something that was not understood.
            let Ok(reading) = read(&document) else { continue };
            let kept = reading.others.unwrap_or_default();
            assert!(
                kept.contains(&(member.name.clone(), wrong.clone())),
                "{name}: {definition}: `{}` may be anything, it seems",
                member.name
            );
            assert_eq!(reading.written[&member.name], wrong, "{name}: {definition}");
        }
    });
}

fn is_plain(table: &Table, kind: &Kind) -> bool {
    match table.resolve(kind) {
        Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::Text(_) => true,
        Kind::Just(value) => !value.is_object(),
        Kind::List(item) => is_plain(table, item),
        Kind::OneOf(kinds) => kinds.iter().all(|kind| is_plain(table, kind) || *kind == Kind::Null),
        _ => false,
    }
}

// BASE-01
#[test]
fn every_envelope_is_a_message_or_a_request_within_a_result() {
    each(|name, table, definition| {
        if apart(table, definition) != Some(Apart::Envelope) || rule(name, definition).is_some() {
            return;
        }
        for document in table.documents(definition) {
            let text = document.to_string();
            if document.get("jsonrpc").is_none() {
                let request: InputRequest = serde_json::from_str(&text)
                    .unwrap_or_else(|why| panic!("{name}: {definition}: {text}: {why}"));
                assert!(request.other.is_empty(), "{name}: {definition}: {text}");
                assert_eq!(serde_json::to_value(&request).expect("JSON"), document);
                continue;
            }
            let message = Message::parse(text.as_str())
                .unwrap_or_else(|why| panic!("{name}: {definition}: {text}: {why}"));
            assert_eq!(message.text(), text);
            let same = |text: &str, member: &str| {
                assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), document[member]);
            };
            match message.body() {
                Body::Error { error, .. } => same(error, "error"),
                Body::Notification { method, params } | Body::Request { method, params, .. } => {
                    assert_eq!(document["method"], method);
                    assert_eq!(params.is_some(), document.get("params").is_some());
                    params.into_iter().for_each(|params| same(params, "params"));
                }
                Body::Result { result, .. } => same(result, "result"),
            }
        }
    });
}

// DISC-04, DISC-05
#[test]
fn every_capability_that_is_declared_is_answered_for() {
    each(|name, table, definition| {
        for document in
            table.documents(definition).into_iter().filter(|document| document.is_object())
        {
            match definition {
                "ClientCapabilities" => {
                    let client: ClientCapabilities =
                        serde_json::from_value(document.clone()).expect("capabilities");
                    assert_eq!(serde_json::to_value(&client).expect("JSON"), document);
                    each_path(&document, &mut Vec::new(), &mut |path| {
                        let answer = client_answer(&client, path);
                        assert!(answer.is_some(), "{name}: nobody asks for {path:?} of a client");
                        assert_eq!(answer, Some(is_declared(&document, path)), "{name}: {path:?}");
                        let without = ClientCapabilities::from(Raw::from(without(&document, path)));
                        assert_eq!(
                            client_answer(&without, path),
                            Some(false),
                            "{name}: no {path:?}"
                        );
                    });
                }
                "ServerCapabilities" => {
                    let server: ServerCapabilities =
                        serde_json::from_value(document.clone()).expect("capabilities");
                    assert_eq!(serde_json::to_value(&server).expect("JSON"), document);
                    each_path(&document, &mut Vec::new(), &mut |path| {
                        let answer = server_answer(&server, path);
                        assert!(answer.is_some(), "{name}: nobody asks for {path:?} of a server");
                        assert_eq!(answer, Some(is_declared(&document, path)), "{name}: {path:?}");
                        let without = ServerCapabilities::from(Raw::from(without(&document, path)));
                        assert_eq!(
                            server_answer(&without, path),
                            Some(false),
                            "{name}: no {path:?}"
                        );
                    });
                }
                _ => {}
            }
        }
    });
}

/// Every path to a capability: what is below settings of no known shape is not one.
fn each_path<'d>(value: &'d Value, path: &mut Vec<&'d str>, check: &mut impl FnMut(&[&str])) {
    for (name, value) in value.as_object().into_iter().flatten() {
        path.push(name);
        check(path);
        let is_open = path.len() == 1 && ["experimental", "extensions"].contains(&path[0]);
        if !is_open && !["o", "n", "10", "2"].contains(&name.as_str()) {
            each_path(value, path, check);
        }
        path.pop();
    }
}

/// The document without what is at the end of a path.
fn without(document: &Value, path: &[&str]) -> Value {
    let mut document = document.clone();
    let (last, way) = path.split_last().expect("a path");
    let owner = way.iter().fold(&mut document, |value, name| &mut value[*name]);
    owner.as_object_mut().expect("an object").remove(*last);
    document
}

fn is_declared(document: &Value, path: &[&str]) -> bool {
    let value = path.iter().fold(document, |value, name| &value[*name]);
    !value.is_null() && *value != Value::Bool(false)
}

fn client_answer(client: &ClientCapabilities, path: &[&str]) -> Option<bool> {
    Some(match path {
        ["roots"] => client.roots(),
        ["roots", "listChanged"] => client.roots_list_changed(),
        ["sampling"] => client.sampling(),
        ["sampling", "tools"] => client.sampling_tools(),
        ["sampling", "context"] => client.sampling_context(),
        ["elicitation"] => client.elicitation_form() || client.elicitation_url(),
        ["elicitation", "form"] => client.elicitation_form(),
        ["elicitation", "url"] => client.elicitation_url(),
        ["experimental"] => client.experimental("10").is_some(),
        ["extensions"] => client.extension("10").is_some(),
        ["tasks", "requests", "elicitation", "create"] => client.task("elicitation/create"),
        ["tasks", "requests", "sampling", "createMessage"] => client.task("sampling/createMessage"),
        ["tasks", ..] => client.get(path).is_some(),
        [.., "o" | "n" | "10" | "2"] => return Some(is_declared(&settings(client.raw()), path)),
        _ => return None,
    })
}

fn server_answer(server: &ServerCapabilities, path: &[&str]) -> Option<bool> {
    Some(match path {
        ["tools"] => server.tools(),
        ["tools", "listChanged"] => server.tools_list_changed(),
        ["resources"] => server.resources(),
        ["resources", "listChanged"] => server.resources_list_changed(),
        ["resources", "subscribe"] => server.resources_subscribe(),
        ["prompts"] => server.prompts(),
        ["prompts", "listChanged"] => server.prompts_list_changed(),
        ["logging"] => server.logging(),
        ["completions"] => server.completions(),
        ["experimental"] => server.experimental("10").is_some(),
        ["extensions"] => server.extension("10").is_some(),
        ["tasks", "requests", "tools", "call"] => server.task("tools/call"),
        ["tasks", ..] => server.get(path).is_some(),
        [.., "o" | "n" | "10" | "2"] => return Some(is_declared(&settings(server.raw()), path)),
        _ => return None,
    })
}

/// Settings of no known shape are only carried along.
fn settings(raw: &Raw) -> Value {
    raw.decode().expect("JSON")
}

// META-12, META-13
#[test]
fn every_key_of_meta_that_a_version_names_is_read() {
    let mut known = BTreeSet::new();
    each(|name, table, definition| {
        if apart(table, definition) != Some(Apart::Meta) {
            return;
        }
        for document in table.documents(definition) {
            let raw = Raw::parse(document.to_string()).expect("JSON");
            let meta = Meta::of(Some(&raw));
            for key in document.as_object().expect("an object").keys() {
                let read = match key.as_str() {
                    Meta::CLIENT_CAPABILITIES => meta.client_capabilities().is_some(),
                    Meta::CLIENT_INFO => meta.client_info().is_some(),
                    Meta::LOG_LEVEL => meta.log_level().is_some(),
                    Meta::PROGRESS_TOKEN => meta.progress_token().is_some(),
                    Meta::PROTOCOL_VERSION => meta.protocol_version().is_some(),
                    Meta::SERVER_INFO => meta.server_info().is_some(),
                    Meta::SUBSCRIPTION_ID => meta.subscription_id().is_some(),
                    other => panic!("{name}: {definition}: nobody asks for {other}"),
                };
                assert!(read, "{name}: {definition}: {key} of {document}");
                known.insert(key.clone());
            }
        }
    });
    assert_eq!(known.len(), 7, "{known:?}");
}
