//! Reading answers.

use snodo_types::{Body, Error, ErrorObject, Message};

/// The answer, if it is a result; else the server's error.
pub(crate) fn result_of(answer: &Message) -> Result<&str, Error> {
    match answer.body() {
        Body::Result { result, .. } => Ok(result),
        Body::Error { error, .. } => Err(match serde_json::from_str::<ErrorObject>(error) {
            Ok(object) => Error::from(object),
            Err(fault) => Error::decode(format!("its error object: {fault}")),
        }),
        Body::Notification { .. } | Body::Request { .. } => Err(Error::decode("it is no response")),
    }
}
