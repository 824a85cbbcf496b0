//! What a server told of itself.

use snodo_engine::Opened;
use snodo_types::{
    Body, DiscoverResult, Implementation, InitializeResult, Message, ProtocolVersion,
    ServerCapabilities, SessionId,
};

/// What the server told when the connection was opened: by `server/discover` or `initialize`.
///
/// A connection that was opened without asking (one stateless version alone) knows nothing.
///
/// ```
/// # fn show(client: &snodo::Client) {
/// let name = client.server().info().map(|info| info.name.as_str());
/// println!("{name:?} {:?}", client.server().instructions());
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Server {
    info: Option<Implementation>,
    capabilities: Option<ServerCapabilities>,
    instructions: Option<String>,
}

impl Server {
    pub(crate) fn of(opened: &Opened) -> Self {
        let answer =
            opened.session.as_ref().map(|session| &session.answer).or(opened.discovered.as_ref());
        let Some(text) = answer.and_then(result) else { return Self::default() };
        if opened.session.is_some() {
            let Some(told) = read::<InitializeResult>(text) else { return Self::default() };
            return Self {
                info: told.server_info,
                capabilities: Some(told.capabilities),
                instructions: told.instructions,
            };
        }
        let Some(told) = read::<DiscoverResult>(text) else { return Self::default() };
        // 2026-07-28 puts it into the metadata; some servers still write it as a member.
        let member = || told.other.get("serverInfo").and_then(|info| info.decode().ok());
        let info = told.meta().server_info().or_else(member);
        Self { info, capabilities: Some(told.capabilities), instructions: told.instructions }
    }

    /// Its name and version. For people and logs: nothing should depend on it.
    #[must_use]
    pub fn info(&self) -> Option<&Implementation> {
        self.info.as_ref()
    }

    /// What it can do.
    #[must_use]
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.capabilities.as_ref()
    }

    /// How it wants to be used, for a model to read.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }
}

/// A session of a version that begins with `initialize`.
///
/// ```
/// # fn show(client: &snodo::Client) {
/// if let Some(session) = client.session() {
///     println!("{}", session.version());
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    version: ProtocolVersion,
    id: Option<SessionId>,
    server: Server,
}

impl Session {
    pub(crate) fn of(opened: &Opened) -> Option<Self> {
        let session = opened.session.as_ref()?;
        Some(Self {
            version: opened.dialect.version(),
            id: session.id.clone(),
            server: Server::of(opened),
        })
    }

    /// The version that was agreed on.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// The id that the server issued, if it did. It may act as a credential.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_ref().map(SessionId::as_str)
    }

    /// What the server told of itself.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }
}

fn result(answer: &Message) -> Option<&str> {
    match answer.body() {
        Body::Result { result, .. } => Some(result),
        _ => None,
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text)
        .inspect_err(
            |error| tracing::warn!(%error, "what the server told of itself cannot be read"),
        )
        .ok()
}
