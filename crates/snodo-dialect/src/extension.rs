//! Extensions of the protocol.

use std::fmt;
use std::sync::Arc;

use snodo_types::{ClientCapabilities, Error, Members, MetaKey, ProtocolVersion, Raw, Routing};

use crate::Params;

/// An extension of the protocol, from 2026-07-28 on: methods and results beyond the protocol's own.
///
/// Register it on the client, and it is declared with every request; or name it on one request
/// ([`Request::extension`](crate::Request::extension)), and it is declared with that one alone. The
/// versions before know no extensions: there it is not declared, and its methods are refused.
///
/// ```
/// use std::sync::Arc;
///
/// use serde_json::json;
/// use snodo_dialect::{
///     Carrier, Extension, Extensions, Identity, Params, Request, declare, dialect,
/// };
/// use snodo_types::{ProtocolVersion, Raw, Routing};
///
/// /// Reports that take their time: `com.example/reports`.
/// #[derive(Debug)]
/// struct Reports;
///
/// impl Extension for Reports {
///     fn id(&self) -> &str {
///         "com.example/reports"
///     }
///
///     fn methods(&self) -> &[&str] {
///         &["reports/get", "reports/drop"]
///     }
///
///     fn result_types(&self, method: &str) -> &[&str] {
///         // A tool may answer with a report to come, in place of its result.
///         if method == "tools/call" { &["report"] } else { &[] }
///     }
///
///     fn routing(&self, _: ProtocolVersion, _: &str, params: &Params) -> Routing {
///         // Its methods are routed by the report.
///         match params.member("report").and_then(|text| serde_json::from_str::<String>(&text).ok()) {
///             Some(report) => Routing::new().with("Mcp-Name", report),
///             None => Routing::new(),
///         }
///     }
/// }
///
/// let extensions = Extensions::new().with(Arc::new(Reports))?;
/// let identity = Identity {
///     client_info: Raw::empty_object(),
///     capabilities: declare(&Raw::empty_object(), &extensions)?,
///     extensions,
/// };
/// let newest = dialect(ProtocolVersion::V2026_07_28);
/// let outfit = newest.outfit(&identity, Carrier { routes: true, own_stream: true }, None);
/// let request = Request::new("reports/get", Params::new().with("report", "r 1")?);
/// let envelope = newest.dress(&request, 1, &outfit)?;
/// assert_eq!(envelope.routing.value("Mcp-Name"), Some("r 1"));
/// assert!(envelope.message.contains(r#""extensions":{"com.example/reports":{}}"#));
/// # Ok::<(), snodo_types::Error>(())
/// ```
pub trait Extension: fmt::Debug + Send + Sync + 'static {
    /// Its identifier: a `_meta` key with a prefix, such as `com.example/reports`.
    fn id(&self) -> &str;

    /// The requests that it adds to what a client may ask. A method of the protocol itself is
    /// never an extension's.
    fn methods(&self) -> &[&str];

    /// The values of `resultType`, beyond the protocol's own, that the result of a method may have.
    /// Such a result is complete; what it means is for the caller to know. None unless said.
    fn result_types(&self, method: &str) -> &[&str] {
        let _ = method;
        &[]
    }

    /// The settings it is declared with, a JSON object; `{}` unless said.
    fn capability(&self) -> Raw {
        Raw::empty_object()
    }

    /// What travels beside a request of one of its methods: over HTTP, headers. Nothing unless said.
    ///
    /// Values are given plain and are encoded as the protocol's own are. The names that the version
    /// sets itself are not overridden.
    fn routing(&self, version: ProtocolVersion, method: &str, params: &Params) -> Routing {
        let _ = (version, method, params);
        Routing::new()
    }
}

/// The extensions registered on a client. A clone is a count.
///
/// ```
/// use snodo_dialect::Extensions;
///
/// let none = Extensions::new();
/// assert!(none.is_empty() && none.owner("reports/get").is_none());
/// ```
#[derive(Clone, Default)]
pub struct Extensions(Arc<[Arc<dyn Extension>]>);

impl Extensions {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    ///
    /// # Errors
    ///
    /// Its identifier is no `_meta` key with a prefix, or there already; its settings are no
    /// object; one of its methods is another extension's (-32602).
    pub fn with(self, extension: Arc<dyn Extension>) -> Result<Self, Error> {
        check(&*extension)?;
        let id = extension.id();
        if self.get(id).is_some() {
            return Err(Error::usage(format!("the extension {id} is registered already")));
        }
        for method in extension.methods() {
            if let Some(owner) = self.owner(method) {
                let text = format!("{method} is a method of {} and of {id}", owner.id());
                return Err(Error::usage(text));
            }
        }
        Ok(Self(self.0.iter().cloned().chain([extension]).collect()))
    }

    /// The one with this identifier.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<dyn Extension>> {
        self.iter().find(|extension| extension.id() == id)
    }

    /// The one that a method belongs to.
    #[must_use]
    pub fn owner(&self, method: &str) -> Option<&Arc<dyn Extension>> {
        self.iter().find(|extension| extension.methods().contains(&method))
    }

    /// All of them, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Extension>> {
        self.0.iter()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|extension| extension.id())).finish()
    }
}

/// The capabilities of a client with its extensions among them (2026-07-28, versioning, "Extension
/// Negotiation"). Settings that the client declares itself stand.
///
/// ```
/// use snodo_dialect::{Extensions, declare};
/// use snodo_types::Raw;
///
/// let mine = Raw::parse(r#"{"roots":{}}"#)?;
/// assert_eq!(declare(&mine, &Extensions::new())?, mine);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The capabilities, or `extensions` in them, are no object (-32602).
pub fn declare(capabilities: &Raw, extensions: &Extensions) -> Result<Raw, Error> {
    let add = |declared: Raw, extension: &Arc<dyn Extension>| with(&declared, &**extension);
    extensions.iter().try_fold(capabilities.clone(), add)
}

/// Refuses what cannot be declared.
pub(crate) fn check(extension: &dyn Extension) -> Result<(), Error> {
    let id = extension.id();
    if MetaKey::parse(id).and_then(|key| key.prefix()).is_none() {
        let text =
            format!("{id:?} is no extension's identifier: a prefix with dots, a slash, a name");
        return Err(Error::usage(text));
    }
    if !extension.capability().is_object() {
        return Err(Error::usage(format!("the settings of the extension {id} are no JSON object")));
    }
    Ok(())
}

/// Capabilities with one more extension among them.
pub(crate) fn with(capabilities: &Raw, extension: &dyn Extension) -> Result<Raw, Error> {
    let object = |raw: &Raw, what: &str| {
        let unreadable = |error| Error::usage(format!("{what}: {error}"));
        raw.decode::<Members>().map_err(unreadable)
    };
    let mut declared = object(capabilities, "the client's capabilities")?;
    let mut extensions = match declared.get(EXTENSIONS).filter(|value| !value.is_null()) {
        Some(value) => object(value, "`extensions` of the client's capabilities")?,
        None => Members::new(),
    };
    if extensions.get(extension.id()).is_none_or(Raw::is_null) {
        extensions.insert(extension.id(), extension.capability());
    }
    declared.insert(EXTENSIONS, Raw::from(&extensions));
    Ok(Raw::from(&declared))
}

/// Whether capabilities have an extension among them.
pub(crate) fn declares(capabilities: &Raw, id: &str) -> bool {
    ClientCapabilities::from(capabilities.clone()).extension(id).is_some()
}

/// The member of capabilities that holds extensions.
pub(crate) const EXTENSIONS: &str = "extensions";
