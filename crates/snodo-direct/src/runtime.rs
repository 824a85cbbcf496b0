//! What a server in the same process has to do.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use snodo_transport::Exchange;
use snodo_types::{
    ClientCapabilities, Implementation, InitializeParams, LoggingLevel, Message, ProtocolVersion,
};

/// A server that is called, not connected to.
///
/// [`Server`](crate::Server) is one; write your own to embed a server that exists already, or for
/// a test that has to say exactly this or that.
///
/// ```
/// use snodo_direct::{Context, Runtime};
/// use snodo_transport::Exchange;
/// use snodo_types::{Body, Message, ProtocolVersion};
///
/// /// Finds everything empty.
/// struct Empty;
///
/// impl Runtime for Empty {
///     fn versions(&self) -> Vec<ProtocolVersion> {
///         vec![ProtocolVersion::V2026_07_28]
///     }
///
///     fn dispatch(&self, message: Message, _context: Context) -> Exchange {
///         match message.body() {
///             Body::Request { id, .. } => Exchange::ready(Message::result(id, "{}")),
///             _ => Exchange::sent(),
///         }
///     }
/// }
/// ```
pub trait Runtime: Send + Sync + 'static {
    /// The protocol versions it enables, in any order.
    fn versions(&self) -> Vec<ProtocolVersion>;

    /// Takes a message, and gives back all that it says because of it: for a request any
    /// notifications and then the response, for anything else
    /// [`Incoming::Sent`](snodo_transport::Incoming::Sent).
    ///
    /// It is called in the caller's task, when the exchange is first polled, and its exchange is
    /// polled there. A call that is given up is an exchange that is dropped; so is a subscription
    /// (`subscriptions/listen`), whose exchange goes on until then or ends with the response. Its
    /// events are taken when the client's owner asks for them, and wait in the exchange until then.
    fn dispatch(&self, message: Message, context: Context) -> Exchange;
}

impl<R: Runtime + ?Sized> Runtime for Arc<R> {
    fn versions(&self) -> Vec<ProtocolVersion> {
        (**self).versions()
    }

    fn dispatch(&self, message: Message, context: Context) -> Exchange {
        (**self).dispatch(message, context)
    }
}

/// What a message comes with: who calls, and the session it belongs to.
///
/// There is one for each connection; its clones share the session.
///
/// ```
/// use snodo_direct::Context;
///
/// let context = Context::new().with_auth("ada");
/// assert_eq!(context.auth::<&str>(), Some(&"ada"));
/// assert_eq!(context.auth::<u32>(), None);
/// assert!(context.session().is_none());
/// ```
#[derive(Clone, Default)]
pub struct Context {
    auth: Option<Arc<dyn Any + Send + Sync>>,
    session: Arc<Mutex<Option<Arc<Session>>>>,
}

impl Context {
    /// The context of a new connection of nobody in particular.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says who calls.
    #[must_use]
    pub fn with_auth(mut self, auth: impl Any + Send + Sync) -> Self {
        self.auth = Some(Arc::new(auth));
        self
    }

    /// Who calls, as it was given to [`Direct::auth`](crate::Direct::auth); `None` where nothing
    /// was, or something of another type.
    #[must_use]
    pub fn auth<T: Any>(&self) -> Option<&T> {
        self.auth.as_deref()?.downcast_ref()
    }

    /// The session that `initialize` opened on this connection. Stateless versions have none.
    #[must_use]
    pub fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same caller on another connection.
    pub(crate) fn without_session(&self) -> Self {
        Self { auth: self.auth.clone(), session: Arc::default() }
    }

    /// Opens the session of this connection, or puts another in its place.
    pub fn set_session(&self, session: Session) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(session));
    }
}

impl fmt::Debug for Context {
    /// Who calls is not shown: it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("session", &self.session()).finish_non_exhaustive()
    }
}

/// What `initialize` settled for one connection.
///
/// ```
/// use snodo_direct::Session;
/// use snodo_types::{ClientCapabilities, Implementation, InitializeParams, ProtocolVersion};
///
/// let version = ProtocolVersion::V2025_11_25;
/// let params = InitializeParams::new(
///     version,
///     ClientCapabilities::new(),
///     Implementation::new("agent", "1.4.0"),
/// );
/// let session = Session::new(version, params);
/// assert_eq!(session.client_info.name, "agent");
/// assert_eq!(session.log_level, None);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// The version that is spoken.
    pub version: ProtocolVersion,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    pub client_info: Implementation,
    /// From which level on log messages are wanted, once the client said so.
    pub log_level: Option<LoggingLevel>,
}

impl Session {
    /// A session in this version with a client that said this of itself.
    #[must_use]
    pub fn new(version: ProtocolVersion, client: InitializeParams) -> Self {
        Self {
            version,
            capabilities: client.capabilities,
            client_info: client.client_info,
            log_level: None,
        }
    }
}
