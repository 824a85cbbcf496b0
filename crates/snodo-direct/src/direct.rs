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
        Abilities { own_stream: true, same_task: true, ..Abilities::default() }
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
mod tests {
    use std::future::pending;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use futures_core::Stream;
    use serde_json::{Value, json};
    use snodo_transport::{Connect, Exchange, Transport};
    use snodo_types::{CallToolResult, Envelope, Processed, Routing, TransportFault};

    use super::Direct;
    use crate::hand::{Peer, run, stateless};
    use crate::{Call, Server};

    /// Counts what is alive.
    struct Alive(Arc<AtomicUsize>);

    impl Alive {
        fn new(count: &Arc<AtomicUsize>) -> Self {
            count.fetch_add(1, Ordering::SeqCst);
            Self(Arc::clone(count))
        }
    }

    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// A server with a tool that never ends, and how often that is under way.
    fn endless() -> (Server, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let alive = Arc::clone(&count);
        let server = Server::new("demo", "1").tool("wait", json!({}), move |_: Value, _: Call| {
            let alive = Arc::clone(&alive);
            async move {
                let _alive = Alive::new(&alive);
                pending::<()>().await;
                Ok(CallToolResult::default())
            }
        });
        (server, count)
    }

    fn envelope(name: &str) -> Envelope {
        let params = stateless(json!({ "name": name, "arguments": {} }));
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        Envelope::request(1, message.to_string())
    }

    fn poll(exchange: &mut Exchange) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        matches!(Pin::new(exchange).poll_next(&mut cx), Poll::Ready(_))
    }

    // S-23
    #[test]
    fn the_server_works_while_it_is_polled_and_stops_when_the_exchange_is_dropped() {
        let (server, alive) = endless();
        let peer = Peer::new(server);
        let mut exchanges: Vec<Exchange> =
            (0..3).map(|_| peer.0.exchange(envelope("wait"))).collect();
        assert_eq!(alive.load(Ordering::SeqCst), 0, "nothing before the first poll");
        for exchange in &mut exchanges {
            assert!(!poll(exchange));
        }
        assert_eq!(alive.load(Ordering::SeqCst), 3, "several calls are several futures");
        exchanges.pop();
        assert_eq!(alive.load(Ordering::SeqCst), 2);
        drop(exchanges);
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    }

    // S-06
    #[test]
    fn closing_does_nothing_and_a_call_after_it_works() {
        let peer = Peer::new(Server::new("demo", "1"));
        run(peer.0.close(Routing::new(), Duration::ZERO));
        assert_eq!(peer.result("server/discover", stateless(json!({})))["resultType"], "complete");
    }

    #[test]
    fn what_is_no_message_never_reaches_the_server() {
        let peer = Peer::new(Server::new("demo", "1"));
        let mut exchange = peer.0.exchange(Envelope::request(1, r#"{"id":1}"#.to_owned()));
        let error = run(exchange.next()).expect("an item").expect_err("malformed");
        assert_eq!((error.fault(), error.processed()), (TransportFault::Usage, Processed::No));
        assert!(run(exchange.next()).is_none());
    }

    #[test]
    fn it_is_a_call_in_the_same_task_with_a_stream_of_its_own() {
        let transport = run(Direct::new(Server::new("demo", "1")).connect()).expect("always there");
        let abilities = transport.abilities();
        assert!(abilities.same_task && abilities.own_stream && abilities.notify);
        assert!(!abilities.listen && !abilities.routing);
        assert!(transport.unsolicited(Routing::new()).is_none());
    }

    #[test]
    fn who_calls_is_not_shown() {
        let direct = Direct::new(Server::new("demo", "1")).auth("secret");
        let transport = run(direct.connect()).expect("always there");
        assert!(!format!("{direct:?} {transport:?}").contains("secret"));
    }
}
