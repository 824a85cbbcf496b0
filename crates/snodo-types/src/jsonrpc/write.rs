//! Messages that are written here: by tests, by servers, by whoever answers for one.
//!
//! What is given as text is taken as it is. It has to be one JSON object; nothing here reads it.

use std::ops::Range;

use serde::Serialize;

use super::message::{Form, Kind, Message, Name, Origin};
use super::{ErrorObject, RequestId};

impl Message {
    /// A request, written as a message; `params` is the text of an object.
    ///
    /// ```
    /// use snodo_types::Message;
    ///
    /// let message = Message::request(&1.into(), "echo", Some(r#"{"a":1}"#));
    /// assert_eq!(message.text(), r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}"#);
    /// ```
    #[must_use]
    pub fn request(id: &RequestId, method: &str, params: Option<&str>) -> Self {
        let mut text = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"#, json(id));
        let (method, params) = call(&mut text, method, params);
        Self {
            text,
            form: Form::Request { id: id.clone(), method, params },
            origin: Origin::Written,
            outside: None,
        }
    }

    /// A notification, written as a message; `params` is the text of an object.
    ///
    /// ```
    /// use snodo_types::Message;
    ///
    /// let message = Message::notification("news", None);
    /// assert_eq!(message.text(), r#"{"jsonrpc":"2.0","method":"news"}"#);
    /// ```
    #[must_use]
    pub fn notification(method: &str, params: Option<&str>) -> Self {
        let mut text = r#"{"jsonrpc":"2.0","method":"#.to_owned();
        let (method, params) = call(&mut text, method, params);
        Self {
            text,
            form: Form::Notification { method, params },
            origin: Origin::Written,
            outside: None,
        }
    }

    /// A result, written as a message; `result` is the text of an object.
    ///
    /// ```
    /// use snodo_types::Message;
    ///
    /// let message = Message::result(&1.into(), r#"{"tools":[]}"#);
    /// assert_eq!(message.text(), r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
    /// ```
    #[must_use]
    pub fn result(id: &RequestId, result: &str) -> Self {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, json(id));
        let end = text.len() - 1;
        let form =
            Form::Result { id: id.clone(), result: end - result.len()..end, kind: Kind::Unknown };
        Self { text, form, origin: Origin::Written, outside: None }
    }

    /// An error, written as a message; without an id it answers what could not be read.
    ///
    /// ```
    /// use snodo_types::{ErrorObject, Message};
    ///
    /// let message = Message::error(Some(&1.into()), &ErrorObject::new(-32601, "?"));
    /// assert!(message.text().ends_with(r#""id":1,"error":{"code":-32601,"message":"?"}}"#));
    /// ```
    #[must_use]
    pub fn error(id: Option<&RequestId>, error: &ErrorObject) -> Self {
        let error = json(error);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, json(&id));
        let end = text.len() - 1;
        let form = Form::Error { id: id.cloned(), error: end - error.len()..end };
        Self { text, form, origin: Origin::Written, outside: None }
    }
}

/// Writes a method and its parameters behind `"method":`, and closes the message.
fn call(text: &mut String, method: &str, params: Option<&str>) -> (Name, Option<Range<usize>>) {
    let quoted = json(method);
    let start = text.len() + 1;
    text.push_str(&quoted);
    let plain = quoted.len() == method.len() + 2;
    let name =
        if plain { Name::At(start..start + method.len()) } else { Name::Unescaped(method.into()) };
    let params = params.map(|params| {
        text.push_str(r#","params":"#);
        text.push_str(params);
        text.len() - params.len()..text.len()
    });
    text.push('}');
    (name, params)
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("ids, names and error objects are JSON")
}
