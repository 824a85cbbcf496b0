//! The methods of a version, and who may send them.

use std::fmt;

/// The methods of one version.
///
/// ```
/// use snodo_dialect::{Role, dialect};
/// use snodo_types::ProtocolVersion;
///
/// let catalog = dialect(ProtocolVersion::V2025_11_25).catalog();
/// let ping = catalog.entry("ping").expect("both sides may ping");
/// assert!(ping.has(Role::ClientRequest) && ping.has(Role::ServerRequest));
/// ```
#[derive(Debug)]
pub struct Catalog {
    /// Sorted by method.
    entries: &'static [Entry],
}

/// One method.
///
/// ```
/// # use snodo_dialect::dialect;
/// # use snodo_types::ProtocolVersion;
/// let call = dialect(ProtocolVersion::V2026_07_28).catalog().entry("tools/call").expect("there");
/// assert_eq!(call.mirrored(), Some("name"));
/// assert!(call.may_ask());
/// ```
#[derive(Clone, Copy)]
pub struct Entry {
    method: &'static str,
    roles: &'static [Role],
    mirrored: Option<&'static str>,
    asks: bool,
    reads: bool,
}

/// Who sends a method, and as what.
///
/// ```
/// # use snodo_dialect::Role;
/// assert_ne!(Role::ClientRequest, Role::ServerRequest);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The client tells.
    ClientNotification,
    /// The client asks.
    ClientRequest,
    /// The server asks, but only inside an input-required result.
    Embedded,
    /// The server tells.
    ServerNotification,
    /// The server asks.
    ServerRequest,
}

impl Catalog {
    /// A catalog over entries sorted by method.
    pub(crate) const fn new(entries: &'static [Entry]) -> Self {
        Self { entries }
    }

    /// The entry of a method.
    #[must_use]
    pub fn entry(&self, method: &str) -> Option<&'static Entry> {
        // Two names are told apart by their lengths, nearly always: that is less than ordering a few of them.
        self.entries.iter().find(|entry| entry.method == method)
    }

    /// Every entry, sorted by method.
    pub fn iter(&self) -> impl Iterator<Item = &'static Entry> {
        self.entries.iter()
    }
}

impl Entry {
    pub(crate) const fn new(method: &'static str, roles: &'static [Role]) -> Self {
        Self { method, roles, mirrored: None, asks: false, reads: false }
    }

    /// The parameter that HTTP routes by.
    pub(crate) const fn mirroring(mut self, parameter: &'static str) -> Self {
        self.mirrored = Some(parameter);
        self
    }

    /// The answer may be a request for input.
    pub(crate) const fn asking(mut self) -> Self {
        self.asks = true;
        self
    }

    /// The request changes nothing, so that it may be sent again.
    pub(crate) const fn reading(mut self) -> Self {
        self.reads = true;
        self
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Whether the method is sent in this role.
    #[must_use]
    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// The parameter whose value is mirrored in `Mcp-Name`.
    #[must_use]
    pub fn mirrored(&self) -> Option<&'static str> {
        self.mirrored
    }

    /// Whether the server may answer that it needs input first.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.asks
    }

    /// Whether the request changes nothing at the server, so that it may be sent again where
    /// nobody knows what became of it. No tool counts as such, whatever it says of itself.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.reads
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.method, self.roles)
    }
}
