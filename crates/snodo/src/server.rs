//! What a server told of itself.

use std::sync::Arc;

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
/// let server = client.server();
/// let name = server.info().map(|info| info.name.as_str());
/// println!("{name:?} {:?}", server.instructions());
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Server(Arc<Told>);

#[derive(Debug, Default)]
struct Told {
    info: Option<Implementation>,
    capabilities: Option<ServerCapabilities>,
    instructions: Option<String>,
}

impl Server {
    pub(crate) fn of(opened: &Opened) -> Self {
        let answer = opened.session.as_ref().map(|session| &session.answer);
        let Some(text) = answer.or(opened.discovered.as_ref()).and_then(result) else {
            return Self::default();
        };
        let told = if opened.session.is_some() {
            Told::at_initialize(text)
        } else {
            Told::at_discover(text)
        };
        Self(Arc::new(told.unwrap_or_default()))
    }

    /// Its name and version. For people and logs: nothing should depend on it.
    #[must_use]
    pub fn info(&self) -> Option<&Implementation> {
        self.0.info.as_ref()
    }

    /// What it can do.
    #[must_use]
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.0.capabilities.as_ref()
    }

    /// How it wants to be used, for a model to read.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.0.instructions.as_deref()
    }
}

impl Told {
    fn at_initialize(text: &str) -> Option<Self> {
        let told: InitializeResult = read(text)?;
        Some(Self {
            info: told.server_info,
            capabilities: Some(told.capabilities),
            instructions: told.instructions,
        })
    }

    fn at_discover(text: &str) -> Option<Self> {
        let told: DiscoverResult = read(text)?;
        // 2026-07-28 puts it into the metadata; some servers still write it as a member.
        let member = || told.other.get("serverInfo").and_then(|info| info.decode().ok());
        let info = told.meta().server_info().or_else(member);
        Some(Self { info, capabilities: Some(told.capabilities), instructions: told.instructions })
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
