//! Events of a server, the same on every version.

mod bridge;
mod bridged;
mod listen;
mod reopen;
mod streamed;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::de::DeserializeOwned;
use snodo_types::{Body, Error, Message, SubscriptionFilter};

pub(crate) use self::bridge::Bridge;
pub use self::listen::Listen;
pub use self::reopen::Reopen;

use self::bridged::Bridged;
use self::streamed::Streamed;

/// Events of a server as they come: a stream, ended by one [`Event::Closed`].
///
/// Events wait in a bounded buffer until they are asked for; one that finds no room is counted, and
/// the count is told before the next event.
///
/// # Drop behavior
///
/// Dropping it ends the subscription at the server, as the version and the transport want it:
/// `notifications/cancelled` over a pipe, the closing of the stream over HTTP, and
/// `resources/unsubscribe` for resources nobody else watches on versions that begin with
/// `initialize`.
///
/// ```
/// use snodo::types::SubscriptionFilter;
/// use snodo::{Client, Event};
///
/// # async fn watch(client: Client) -> Result<(), snodo::Error> {
/// let filter = SubscriptionFilter::new().tools_list_changed().resource("file:///a.txt");
/// let mut events = client.listen(filter).max_buffer(64).await?;
/// while let Some(event) = events.next().await {
///     match event {
///         Event::Notification(told) => println!("{}", told.method()),
///         Event::Dropped(lost) => println!("{lost} events were lost"),
///         Event::Closed(reason) => println!("over: {reason}"),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping a subscription ends it"]
pub struct Subscription {
    source: Source,
    accepted: SubscriptionFilter,
}

enum Source {
    Bridged(Box<Bridged>),
    Streamed(Box<Streamed>),
    Over,
}

/// What comes on a [`Subscription`].
///
/// ```
/// # use snodo::Event;
/// assert!(matches!(Event::Dropped(2), Event::Dropped(2)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The subscription is over; nothing follows.
    Closed(Closed),
    /// So many events were lost here, because they were not asked for in time.
    Dropped(u64),
    /// The server told something.
    Notification(Notification),
    /// The subscription was lost and is there again; what happened meanwhile was missed.
    Resumed {
        /// What the server agrees to tell from here on.
        accepted: Box<SubscriptionFilter>,
        /// Whether something may have been missed.
        may_have_missed: bool,
    },
}

/// How a subscription ended.
///
/// ```
/// assert_eq!(snodo::Closed::Complete.to_string(), "the server ended the subscription");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Closed {
    /// The server gave it up (`notifications/cancelled`).
    Cancelled,
    /// The server ended it in good order.
    Complete,
    /// It failed: by the server's error, or with the connection.
    Failed(Error),
}

/// Something that a server told.
///
/// ```
/// fn uri(told: &snodo::Notification) -> Option<String> {
///     let params: serde_json::Value = told.params().ok()?;
///     params["uri"].as_str().map(str::to_owned)
/// }
/// # let _ = uri;
/// ```
#[derive(Clone)]
pub struct Notification(Message);

impl Subscription {
    /// What the server agreed to tell: the filter that was asked for, or less.
    #[must_use]
    pub fn accepted(&self) -> &SubscriptionFilter {
        &self.accepted
    }

    /// The next event; `None` after [`Event::Closed`].
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped before it gave something.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Ends the subscription, as dropping it does.
    pub fn close(mut self) {
        self.end();
    }

    /// The same for one that is held.
    pub(crate) fn end(&mut self) {
        self.source = Source::Over;
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let polled = match &mut self.source {
            Source::Bridged(bridged) => bridged.poll_event(cx),
            Source::Streamed(streamed) => streamed.poll_event(cx),
            Source::Over => return Poll::Ready(None),
        };
        if let Poll::Ready(Event::Closed(_)) = polled {
            self.source = Source::Over;
        }
        polled.map(Some)
    }
}

impl Stream for Subscription {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll_event(cx)
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("accepted", &self.accepted).finish_non_exhaustive()
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the server gave the subscription up"),
            Self::Complete => f.write_str("the server ended the subscription"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl Notification {
    pub(crate) fn new(message: Message) -> Self {
        Self(message)
    }

    /// What it is about, such as `notifications/resources/updated`.
    #[must_use]
    pub fn method(&self) -> &str {
        match self.0.body() {
            Body::Notification { method, .. } => method,
            _ => "",
        }
    }

    /// Its parameters read as a `T`; none read as the empty object.
    ///
    /// # Errors
    ///
    /// They are not a `T` (-32000).
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.0.decode().map_err(|error| Error::decode(error.to_string()))
    }

    /// The whole message, as the server sent it.
    #[must_use]
    pub fn raw(&self) -> &str {
        self.0.text()
    }
}

impl fmt::Debug for Notification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
