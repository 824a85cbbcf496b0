//! What the data of an error says, where the protocol gives it a shape.

use serde::de::DeserializeOwned;

use crate::object::object;
use crate::{ClientCapabilities, ElicitParams, ErrorObject, Members};

/// The server does not speak the version of the request: which ones it speaks.
///
/// ```
/// use snodo_types::{ErrorObject, UnsupportedVersion};
///
/// let error = ErrorObject::new(ErrorObject::UNSUPPORTED_PROTOCOL_VERSION, "no")
///     .with_data(serde_json::json!({ "supported": ["2026-07-28"], "requested": "2027-01-01" }));
/// assert_eq!(error.unsupported_version().expect("told").supported, ["2026-07-28"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// The versions the server speaks.
    pub supported: Vec<String>,
    /// The version it was asked in.
    pub requested: Option<String>,
    /// Members without a name here.
    pub other: Members,
}

/// The request needs something the client did not say that it can do.
///
/// ```
/// use snodo_types::ErrorObject;
///
/// let error = ErrorObject::new(ErrorObject::MISSING_CLIENT_CAPABILITY, "no")
///     .with_data(serde_json::json!({ "requiredCapabilities": { "sampling": {} } }));
/// assert!(error.missing_capability().expect("told").required_capabilities.sampling());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingCapability {
    /// What the client would have to be able to do.
    pub required_capabilities: ClientCapabilities,
    /// Members without a name here.
    pub other: Members,
}

/// The user has to open a URL before the request can be answered, 2025-11-25.
///
/// ```
/// use snodo_types::ErrorObject;
///
/// let data = serde_json::json!({ "elicitations": [
///     { "mode": "url", "elicitationId": "e1", "url": "https://example.com", "message": "Log in" }
/// ] });
/// let error = ErrorObject::new(ErrorObject::URL_ELICITATION_REQUIRED, "no").with_data(data);
/// assert_eq!(error.url_elicitations().expect("told").elicitations[0].message, "Log in");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlElicitations {
    /// What the user is asked to open.
    pub elicitations: Vec<ElicitParams>,
    /// Members without a name here.
    pub other: Members,
}

impl ErrorObject {
    /// What a server says of its versions, if this is the error for it and it has that shape.
    #[must_use]
    pub fn unsupported_version(&self) -> Option<UnsupportedVersion> {
        self.data_of(Self::UNSUPPORTED_PROTOCOL_VERSION)
    }

    /// What a server says of missing capabilities, if this is the error for it and it has that
    /// shape.
    #[must_use]
    pub fn missing_capability(&self) -> Option<MissingCapability> {
        self.data_of(Self::MISSING_CLIENT_CAPABILITY)
    }

    /// What the user has to open first, if this is the error for it and it has that shape.
    #[must_use]
    pub fn url_elicitations(&self) -> Option<UrlElicitations> {
        self.data_of(Self::URL_ELICITATION_REQUIRED)
    }

    fn data_of<T: DeserializeOwned>(&self, code: i64) -> Option<T> {
        let data = self.data.as_ref().filter(|_| self.code == code)?;
        data.decode().ok()
    }
}

object! {
    impl UnsupportedVersion {
        required supported: "supported",
        optional requested: "requested";
        other
    }
}

object! {
    impl MissingCapability {
        required required_capabilities: "requiredCapabilities";
        other
    }
}

object! {
    impl UrlElicitations {
        required elicitations: "elicitations";
        other
    }
}
