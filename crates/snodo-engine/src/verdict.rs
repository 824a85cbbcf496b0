//! What the answer to a probe says about a server.

use std::collections::HashMap;

use serde_json::value::RawValue;
use snodo_dialect::Carrier;
use snodo_types::{Body, Error, ErrorObject, Message, TransportError, TransportFault};

/// What an answer to the probe says about the server.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It speaks a stateless version; these, where it told.
    Modern { versions: Option<Vec<String>>, discovered: Option<Message> },
    /// It has to be asked by `initialize`.
    Old(Error),
    /// Nothing: somebody else answered, or nobody.
    Unknown(Error),
}

impl Verdict {
    /// Judges an answer by its class (2026-07-28, versioning, "Compatibility Matrix"; real servers
    /// answer in many ways, which all mean one of these three).
    pub(crate) fn of(answer: Message) -> Self {
        let status = answer.outside().and_then(|outside| outside.status);
        match answer.body() {
            Body::Result { result, .. } => match listed(result, "supportedVersions") {
                Some(versions) => {
                    Self::Modern { versions: Some(versions), discovered: Some(answer) }
                }
                None => Self::Old(Error::decode(
                    "server/discover was answered without `supportedVersions`",
                )),
            },
            Body::Error { error, .. } => match serde_json::from_str::<ErrorObject>(error) {
                Ok(object) => Self::of_error(object, status),
                Err(fault) => Self::of_status(status, Error::decode(fault.to_string())),
            },
            Body::Notification { .. } | Body::Request { .. } => {
                Self::Old(Error::decode("it is no response"))
            }
        }
    }

    /// Judges a failure of the transport. On a pipe all of them happen before older servers; where
    /// each exchange has its own stream, only a status or a body tells of the server.
    pub(crate) fn of_failure(why: TransportError, carrier: Carrier) -> Self {
        let (status, fault) = (why.status(), why.fault());
        let challenged = why.challenges().iter().any(|challenge| names_bearer(challenge));
        let refused_credential = status == Some(401) && why.credential_sent() && !challenged;
        let error = Error::from(why);
        match status {
            _ if !carrier.own_stream || refused_credential => Self::Old(error),
            Some(_) => Self::of_status(status, error),
            // A success that is no JSON-RPC answer: somebody who does not know the request.
            None if fault == TransportFault::Malformed => Self::Old(error),
            None => Self::Unknown(error),
        }
    }

    fn of_error(object: ErrorObject, status: Option<u16>) -> Self {
        match (object.code, supported(&object)) {
            (ErrorObject::UNSUPPORTED_PROTOCOL_VERSION, Some(versions)) => {
                Self::Modern { versions: Some(versions), discovered: None }
            }
            (ErrorObject::HEADER_MISMATCH | ErrorObject::MISSING_CLIENT_CAPABILITY, versions) => {
                Self::Modern { versions, discovered: None }
            }
            _ => Self::of_status(status, Error::from(object)),
        }
    }

    fn of_status(status: Option<u16>, error: Error) -> Self {
        match status {
            Some(401 | 403 | 408 | 425 | 429) => Self::Unknown(error),
            None | Some(200..=299 | 400..=499 | 500) => Self::Old(error),
            Some(_) => Self::Unknown(error),
        }
    }
}

/// The versions that an error's data lists as supported; `None` where it lists none.
pub(crate) fn supported(object: &ErrorObject) -> Option<Vec<String>> {
    listed(object.data.as_ref()?.text(), "supported")
}

/// The texts in a list; what is none in it is left out.
fn listed(object: &str, name: &str) -> Option<Vec<String>> {
    let items: Vec<&RawValue> = serde_json::from_str(member(object, name)?).ok()?;
    Some(items.into_iter().filter_map(|item| serde_json::from_str(item.get()).ok()).collect())
}

/// The text of a member's value; of one that is there twice, the last.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    members.get(name).map(|value| value.get())
}

fn names_bearer(challenge: &str) -> bool {
    challenge.to_ascii_lowercase().split([',', ' ']).any(|word| word == "bearer")
}
