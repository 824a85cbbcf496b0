//! What a handler knows of the call it serves, and can say meanwhile.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use snodo_dialect::{Era, dialect};
use snodo_transport::{Incoming, Sender};
use snodo_types::{
    ClientCapabilities, ErrorObject, Implementation, LogMessage, LoggingLevel, Message, Meta,
    Progress, ProtocolVersion, Raw,
};

use crate::Context;

/// The call that a handler serves: who calls, in which version, and a way to say something before
/// the result.
///
/// ```
/// use serde_json::{Value, json};
/// use snodo_direct::{Call, Server};
/// use snodo_types::{CallToolResult, ErrorObject, LoggingLevel};
///
/// async fn fetch(_args: Value, call: Call) -> Result<CallToolResult, ErrorObject> {
///     let user = call.auth::<String>().map_or("nobody", String::as_str);
///     call.log(LoggingLevel::Info, json!({ "user": user })).await;
///     call.progress(1.0, Some(2.0), Some("half of it")).await;
///     Ok(CallToolResult::from_text(format!("for {user}, in {}", call.version())))
/// }
///
/// let server = Server::new("demo", "0.1.0").tool("fetch", json!({ "type": "object" }), fetch);
/// ```
#[derive(Clone)]
pub struct Call(Arc<Inner>);

struct Inner {
    context: Context,
    version: ProtocolVersion,
    meta: Option<Raw>,
    /// From which severity on log messages are sent; `None` for never.
    log_from: Option<u8>,
    sender: Arc<Sender>,
}

impl Call {
    /// A call, if what its request says about logging can be understood.
    pub(super) fn new(
        version: ProtocolVersion,
        meta: Option<Raw>,
        context: Context,
        sender: Arc<Sender>,
    ) -> Result<Self, ErrorObject> {
        let log_from = match dialect(version).era() {
            Era::Stateless => wanted_level(Meta::of(meta.as_ref()))?,
            // Until the client chooses a level, the server does (server utilities, "Logging").
            _ => {
                let level = context.session().and_then(|session| session.log_level.clone());
                Some(level.map_or(0, |level| level.severity()))
            }
        };
        Ok(Self(Arc::new(Inner { context, version, meta, log_from, sender })))
    }

    /// Who calls, as it was given to [`Direct::auth`](crate::Direct::auth); `None` where nothing
    /// was, or something of another type.
    #[must_use]
    pub fn auth<T: Any>(&self) -> Option<&T> {
        self.0.context.auth()
    }

    /// The version that is spoken.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.0.version
    }

    /// What the client can do: said in the request itself or, in versions with a session, when
    /// that was opened.
    #[must_use]
    pub fn client_capabilities(&self) -> ClientCapabilities {
        match dialect(self.0.version).era() {
            Era::Stateless => self.meta().client_capabilities(),
            _ => self.0.context.session().map(|session| session.capabilities.clone()),
        }
        .unwrap_or_default()
    }

    /// Who the client is, if it says so. Not to be trusted: see [`auth`](Self::auth) for that.
    #[must_use]
    pub fn client_info(&self) -> Option<Implementation> {
        match dialect(self.0.version).era() {
            Era::Stateless => self.meta().client_info(),
            _ => self.0.context.session().map(|session| session.client_info.clone()),
        }
    }

    /// What stands in the request's `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.0.meta.as_ref())
    }

    /// Says how far the work has come; `progress` has to grow from one to the next.
    ///
    /// It arrives before the result, and waits until the caller has taken what was said before.
    /// Nothing is sent where the caller did not ask for progress, nor for a number that is not
    /// finite.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing was said.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = self.meta().progress_token() else { return };
        if !progress.is_finite() || total.is_some_and(|total| !total.is_finite()) {
            return;
        }
        let mut params = Progress::new(token, progress);
        params.total = total;
        params.message = message.map(str::to_owned);
        self.notify("notifications/progress", &params).await;
    }

    /// Says something to the client's log; any JSON value.
    ///
    /// Sent only if the client wants messages of this level: in stateless versions where the
    /// request asks for them, else from the level on that the client has set, all until it has.
    /// It arrives before the result, and waits until the caller has taken what was said before.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, nothing was said.
    pub async fn log(&self, level: LoggingLevel, data: impl Into<Raw>) {
        if self.0.log_from.is_some_and(|from| level.severity() >= from) {
            self.notify("notifications/message", &LogMessage::new(level, data)).await;
        }
    }

    async fn notify<P: Serialize>(&self, method: &str, params: &P) {
        let params = Raw::of(params).expect("nouns are strings, numbers and JSON text");
        let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        let message = Message::parse(text).expect("it is written as a notification above");
        self.0.sender.send(Incoming::Message(message)).await;
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("version", &self.0.version).finish_non_exhaustive()
    }
}

/// The least severity that a stateless request asks for. A level that is none is an error (server
/// utilities, "Logging").
fn wanted_level(meta: Meta<'_>) -> Result<Option<u8>, ErrorObject> {
    match (meta.text(Meta::LOG_LEVEL), meta.log_level()) {
        (None, _) => Ok(None),
        (Some(_), Some(level)) if !matches!(level, LoggingLevel::Other(_)) => {
            Ok(Some(level.severity()))
        }
        (Some(text), _) => {
            let text: String = text.chars().take(64).collect();
            Err(ErrorObject::new(ErrorObject::INVALID_PARAMS, format!("no log level: {text}")))
        }
    }
}
