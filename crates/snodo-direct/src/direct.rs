//! The transport to a server in the same process.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use futures_core::Stream;
use snodo_transport::{Abilities, Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, Message, ProtocolVersion, TransportError, TransportFault};

use crate::{Context, Runtime};

/// A server in this process, as a target to connect to.
///
/// Each connection has a [`Context`] of its own; all of them call the same runtime.
///
/// ```
/// use snodo_direct::{Direct, Server};
/// use snodo_transport::Connect;
/// use snodo_types::ProtocolVersion;
///
/// let target = Direct::new(Server::new("demo", "0.1.0")).auth("ada");
/// assert_eq!(target.versions(), ProtocolVersion::ALL);
/// assert_eq!(target.target(), "the server in this process");
/// ```
pub struct Direct<R> {
    runtime: Arc<R>,
    context: Context,
}

impl<R: Runtime> Direct<R> {
    /// The way to this runtime.
    #[must_use]
    pub fn new(runtime: R) -> Self {
        Self { runtime: Arc::new(runtime), context: Context::new() }
    }

    /// What the server's handlers see as [`Context::auth`]; nothing unless set.
    #[must_use]
    pub fn auth(mut self, auth: impl Any + Send + Sync) -> Self {
        self.context = self.context.with_auth(auth);
        self
    }

    /// The protocol versions that the runtime enables.
    #[must_use]
    pub fn versions(&self) -> Vec<ProtocolVersion> {
        self.runtime.versions()
    }
}

impl<R: Runtime> Connect for Direct<R> {
    type Transport = DirectTransport<R>;

    async fn connect(&self) -> Result<DirectTransport<R>, TransportError> {
        let context = self.context.without_session();
        Ok(DirectTransport { runtime: Arc::clone(&self.runtime), context })
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed("the server in this process")
    }
}

impl<R> Clone for Direct<R> {
    fn clone(&self) -> Self {
        Self { runtime: Arc::clone(&self.runtime), context: self.context.clone() }
    }
}

impl<R> fmt::Debug for Direct<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Direct")
    }
}

/// One connection to a server in this process.
///
/// It is a function call that looks like a transport: nothing is spawned and no clock runs, the
/// server works whenever an exchange is polled, in the task that polls it. A panic of the server
/// is a panic of that task.
///
/// # Drop behavior
///
/// Dropping an exchange drops the server's work on it; the notice that the envelope may hold for
/// that case is not needed and not sent. Closing does nothing, and calls after it work.
///
/// ```
/// use snodo_direct::{Direct, Server};
/// use snodo_transport::{Connect, Transport};
///
/// # async fn connect() -> Result<(), snodo_types::TransportError> {
/// let transport = Direct::new(Server::new("demo", "0.1.0")).connect().await?;
/// assert!(transport.abilities().same_task);
/// # Ok(())
/// # }
/// ```
pub struct DirectTransport<R> {
    runtime: Arc<R>,
    context: Context,
}

impl<R: Runtime> Transport for DirectTransport<R> {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        Exchange::new(Dispatch::Waiting {
            runtime: Arc::clone(&self.runtime),
            context: self.context.clone(),
            text: envelope.message,
        })
    }

    fn abilities(&self) -> Abilities {
        // Dropping an exchange is noticed by the server, which is what a stream of its own means.
        Abilities {
            listen: true,
            own_stream: true,
            same_task: true,
            one_caller: true,
            ..Abilities::default()
        }
    }
}

impl<R> fmt::Debug for DirectTransport<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectTransport").field("context", &self.context).finish_non_exhaustive()
    }
}

/// An exchange that calls the runtime when it is first polled, and not before.
enum Dispatch<R> {
    Waiting { runtime: Arc<R>, context: Context, text: String },
    Running(Exchange),
    Over,
}

impl<R: Runtime> Stream for Dispatch<R> {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        if let Self::Running(exchange) = &mut *self {
            return Pin::new(exchange).poll_next(cx);
        }
        let Self::Waiting { runtime, context, text } = std::mem::replace(&mut *self, Self::Over)
        else {
            return Poll::Ready(None);
        };
        let message = match Message::parse(text) {
            Ok(message) => message,
            Err(malformed) => {
                let error = TransportError::new(TransportFault::Usage, malformed.to_string());
                return Poll::Ready(Some(Err(error.not_processed().with_source(malformed))));
            }
        };
        let mut exchange = runtime.dispatch(message, context);
        let first = Pin::new(&mut exchange).poll_next(cx);
        *self = Self::Running(exchange);
        first
    }
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
