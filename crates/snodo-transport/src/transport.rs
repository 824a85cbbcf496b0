//! The trait that carries messages.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use snodo_types::{Envelope, Routing};

use crate::Exchange;

/// A future on the heap.
///
/// ```
/// let ready: snodo_transport::BoxFuture<'static, u8> = Box::pin(std::future::ready(7));
/// # drop(ready);
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What carries messages to one peer and back.
///
/// Only [`exchange`](Self::exchange) has to be written; see the [crate's](crate) example. A
/// transport frames the inside of an [`Envelope`] and reads its outside. It neither invents nor
/// rewrites an id, and it may refuse a second live exchange with the same id.
///
/// Dropping the last handle to a transport ends it and everything it started.
///
/// ```
/// use snodo_transport::{Exchange, Incoming, Transport};
/// use snodo_types::{Envelope, Message};
///
/// /// Answers each request with an empty object.
/// struct Agreeable;
///
/// impl Transport for Agreeable {
///     fn exchange(&self, envelope: Envelope) -> Exchange {
///         Exchange::generate(|sender| async move {
///             let said = match envelope.id {
///                 Some(id) => Incoming::Message(Message::result(&id.into(), "{}")),
///                 None => Incoming::Sent,
///             };
///             sender.send(said).await;
///             Ok(())
///         })
///     }
/// }
/// # assert!(Agreeable.abilities().notify);
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends one message and gives back everything the peer says because of it.
    ///
    /// Nothing happens before the exchange is first polled. It ends after the response to a
    /// request, after [`Incoming::Sent`](crate::Incoming::Sent) for a message without an id, or
    /// after an error.
    ///
    /// # Drop behavior
    ///
    /// Dropping an unfinished exchange gives it up. Not yet written: nothing is ever sent.
    /// Otherwise the transport stops listening and sends
    /// [`Envelope::abandon`](snodo_types::Envelope::abandon), if there is one, without blocking.
    fn exchange(&self, envelope: Envelope) -> Exchange;

    /// What this transport can do.
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// What concerns no exchange: requests of the peer and its unasked notifications.
    ///
    /// Gives `Some` once in a connection's life, and `None` for transports without such a channel.
    /// Over a pipe it has kept what came since the connection was made (256 messages at most, the
    /// oldest dropped and told); over HTTP it opens the GET stream. Where each exchange has a stream of
    /// its own, this one says [`Incoming::Sent`](crate::Incoming::Sent) once it is there, and ends
    /// without it where the peer offers none. It does not keep a peer alive.
    fn unsolicited(&self, _routing: Routing) -> Option<Exchange> {
        None
    }

    /// Ends the connection politely within `limit`; what is left after it is cut off.
    ///
    /// `routing` names the session that ends, if there is one. The outcome is not told.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up politeness alone: what is left ends with the last handle.
    fn close(&self, _routing: Routing, _limit: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        (**self).exchange(envelope)
    }

    fn abilities(&self) -> Abilities {
        (**self).abilities()
    }

    fn unsolicited(&self, routing: Routing) -> Option<Exchange> {
        (**self).unsolicited(routing)
    }

    fn close(&self, routing: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        (**self).close(routing, limit)
    }
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        (**self).exchange(envelope)
    }

    fn abilities(&self) -> Abilities {
        (**self).abilities()
    }

    fn unsolicited(&self, routing: Routing) -> Option<Exchange> {
        (**self).unsolicited(routing)
    }

    fn close(&self, routing: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        (**self).close(routing, limit)
    }
}

/// What a transport can do, asked once for each connection.
///
/// The default is the least: requests and notifications, each with its own answer.
///
/// ```
/// use snodo_transport::Abilities;
///
/// let abilities = Abilities { routing: true, ..Abilities::default() };
/// assert!(abilities.notify && !abilities.listen);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "built by transports of other crates with `..Default`"
)]
pub struct Abilities {
    /// It can send messages that nothing answers. Without it there is no initialize era.
    pub notify: bool,
    /// It can keep an exchange open and deliver events on it.
    pub listen: bool,
    /// It carries [`Routing`] beside the message. Without it none is made.
    pub routing: bool,
    /// Each exchange has a stream of its own (HTTP), whose closing is noticed by the peer;
    /// exchanges of a pipe share one, and a peer there has to be told.
    pub own_stream: bool,
    /// The peer runs in the caller's task: what it asks meanwhile is served beside the exchange,
    /// and no clock runs.
    pub same_task: bool,
    /// All exchanges of a connection are the same caller's to the peer, since nothing that travels
    /// with a message says who sends it.
    pub one_caller: bool,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            notify: true,
            listen: false,
            routing: false,
            own_stream: false,
            same_task: false,
            one_caller: false,
        }
    }
}

#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;
