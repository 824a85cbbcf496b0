//! The request that opens a session.

use snodo_types::{Error, Members, ProtocolVersion, Raw};

use crate::classic::INITIALIZE;
use crate::extension::EXTENSIONS;
use crate::{Era, Identity, Params, Request, dialect};

/// The `initialize` request of a client that wants to speak this version.
///
/// Its capabilities are written as the versions with `initialize` have them: `roots` says whether
/// its changes are told, no unless declared, and there are no extensions.
///
/// ```
/// use snodo_dialect::{Extensions, Identity, initialize};
/// use snodo_types::{ProtocolVersion, Raw};
///
/// let identity = Identity {
///     client_info: Raw::parse(r#"{"name":"agent","version":"1.0"}"#)?,
///     capabilities: Raw::parse(r#"{"roots":{}}"#)?,
///     extensions: Extensions::new(),
/// };
/// let request = initialize(ProtocolVersion::V2025_11_25, &identity)?;
/// let capabilities = request.params.member("capabilities");
/// assert_eq!(capabilities.as_deref(), Some(r#"{"roots":{"listChanged":false}}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The version has no such request, or the capabilities are no object (-32602).
pub fn initialize(version: ProtocolVersion, identity: &Identity) -> Result<Request, Error> {
    if dialect(version).era() != Era::Initialize {
        return Err(Error::usage(format!("protocol version {version} opens no session")));
    }
    let params = Params::new()
        .with("protocolVersion", version.as_str())?
        .with("capabilities", &capabilities(&identity.capabilities)?)?
        .with("clientInfo", &identity.client_info)?;
    Ok(Request::new(INITIALIZE, params))
}

fn capabilities(declared: &Raw) -> Result<Members, Error> {
    let unreadable = |error| Error::usage(format!("the client's capabilities: {error}"));
    let mut declared: Members = declared.decode().map_err(unreadable)?;
    declared.remove(EXTENSIONS);
    let roots = declared.get("roots").filter(|roots| roots.is_object());
    if let Some(mut roots) = roots.and_then(|roots| roots.decode::<Members>().ok())
        && roots.get(LIST_CHANGED).is_none_or(Raw::is_null)
    {
        roots.insert(LIST_CHANGED, serde_json::Value::Bool(false));
        declared.insert("roots", Raw::from(&roots));
    }
    Ok(declared)
}

const LIST_CHANGED: &str = "listChanged";

#[cfg(test)]
mod tests {
    use snodo_types::{ProtocolVersion, Raw};

    use super::initialize;
    use crate::{Extensions, Identity};

    fn identity(capabilities: &str) -> Identity {
        Identity {
            client_info: Raw::parse(r#"{"name":"agent"}"#).expect("JSON"),
            capabilities: Raw::parse(capabilities).expect("JSON"),
            extensions: Extensions::new(),
        }
    }

    // INIT-01, S-53, VER-18, INIT-12
    #[test]
    fn capabilities_are_told_as_the_initialize_era_has_them() {
        let table = [
            ("{}", "{}"),
            (r#"{"sampling":{},"roots":{}}"#, r#"{"sampling":{},"roots":{"listChanged":false}}"#),
            (r#"{"roots":{"listChanged":true}}"#, r#"{"roots":{"listChanged":true}}"#),
            (r#"{"roots":{"x":1,"listChanged":null}}"#, r#"{"roots":{"x":1,"listChanged":false}}"#),
            (r#"{"roots":null}"#, r#"{"roots":null}"#),
            (r#"{"extensions":{"a.b/c":{}},"sampling":{}}"#, r#"{"sampling":{}}"#),
        ];
        for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2025_11_25] {
            for (declared, told) in table {
                let request = initialize(version, &identity(declared)).expect("an object");
                assert_eq!(request.method, "initialize");
                assert_eq!(request.params.member("capabilities").as_deref(), Some(told));
                let named = format!("{:?}", version.as_str());
                assert_eq!(request.params.member("protocolVersion"), Some(named));
                let client = request.params.member("clientInfo");
                assert_eq!(client.as_deref(), Some(r#"{"name":"agent"}"#));
            }
        }
    }

    #[test]
    fn there_is_none_for_a_stateless_version_or_for_capabilities_that_are_no_object() {
        assert!(initialize(ProtocolVersion::V2026_07_28, &identity("{}")).is_err());
        let error = initialize(ProtocolVersion::V2025_11_25, &identity("[]")).expect_err("a list");
        assert_eq!(error.code(), -32602);
    }
}
