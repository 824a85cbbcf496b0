//! Reading messages against a tree of the whole text.

use serde_json::Value;
use snodo_types::{Body, Message, RequestId, answered_id};

use crate::head;
use crate::tree::Tree;

/// A text is a message by the rules of JSON-RPC or it is none, and its parts are those of the tree. Of a response that is
/// cut off, the id is told rightly or not at all.
///
/// # Panics
///
/// Where it is otherwise.
pub fn check(input: &[u8]) {
    let ([cut], bytes) = head::<1>(input);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let message = Message::parse(text);
    if let Some(tree) = Tree::read(text) {
        assert_eq!(message.is_ok(), is_message(&tree), "{text:?}: {message:?}");
    }
    match &message {
        Ok(message) => {
            assert_eq!(message.text(), text);
            compare(message);
            tell_cut(message, &bytes[..bytes.len() * usize::from(cut) / 256]);
            // Whom it concerns is asked of every message.
            let _ = message.concerns();
        }
        Err(malformed) => assert!(!malformed.reason().is_empty()),
    }
}

/// The rules, one after the other.
fn is_message(tree: &Tree) -> bool {
    let Some(members) = tree.members() else { return false };
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    let named = |name: &str| members.iter().filter(|(member, _)| member == name).count();
    if known.iter().any(|name| named(name) > 1) {
        return false;
    }
    // An empty value is an absent one.
    let member = |name: &str| {
        let found = members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value).filter(|value| **value != Tree::Null)
    };
    let object = |name: &str| matches!(member(name), Some(Tree::Object(_)));
    let id_fits = matches!(member("id"), None | Some(Tree::Number(_) | Tree::Text(_)));
    let says_two = member("jsonrpc").and_then(Tree::text) == Some("2.0");
    let (id, method) = (member("id").is_some(), member("method"));
    let kind = match (method, member("result"), member("error")) {
        (Some(method), None, None) => {
            method.text().is_some() && (id || member("params").is_none() || object("params"))
        }
        (None, Some(_), None) => id && object("result"),
        (None, None, Some(_)) => object("error"),
        _ => false,
    };
    says_two && id_fits && kind
}

fn compare(message: &Message) {
    let Ok(whole) = serde_json::from_str::<Value>(message.text()) else { return };
    let same = |piece: &str, name: &str| {
        let piece: Value = serde_json::from_str(piece).expect("a piece of what could be read");
        assert_eq!(piece, whole[name], "{name}");
    };
    let id = |id: &RequestId| {
        assert_eq!(serde_json::to_value(id).expect("JSON"), whole["id"]);
    };
    match message.body() {
        Body::Error { id: named, error } => {
            same(error, "error");
            named.into_iter().for_each(id);
        }
        Body::Notification { method, params } => {
            assert_eq!(whole["method"], method);
            params.into_iter().for_each(|params| same(params, "params"));
        }
        Body::Request { id: named, method, params } => {
            assert_eq!(whole["method"], method);
            params.into_iter().for_each(|params| same(params, "params"));
            id(named);
        }
        Body::Result { id: named, result } => {
            same(result, "result");
            id(named);
        }
    }
}

/// A response whose end is missing names its request or none, and a request names none of ours.
fn tell_cut(message: &Message, start: &[u8]) {
    let escaped = message.text().contains('\\');
    match (answered_id(start), message.body()) {
        (Some(told), Body::Result { id, .. } | Body::Error { id: Some(id), .. }) => {
            assert_eq!(&told, id);
        }
        // A name that is written with escapes is not looked for in what is cut.
        (Some(_), _) => assert!(escaped, "{:?}", message.text()),
        (None, _) => {}
    }
}
