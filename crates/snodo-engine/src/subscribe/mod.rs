//! One subscription, from its request to its end (2026-07-28, subscriptions).

use std::time::{Duration, Instant};

use serde::Deserialize;
use snodo_dialect::{Params, Request};
use snodo_types::{
    Body, Error, Message, Outcome, SubscriptionFilter, TransportError, TransportFault,
};

use crate::Terms;
use crate::deadline::Deadline;

/// A subscription: asked for, acknowledged, fed, ended.
///
/// Only the wait for the acknowledgement has a clock. What comes before it, or under another
/// subscription's id, is passed over and counted.
///
/// ```
/// use snodo_engine::{Subscription, Terms, Tidings};
/// use snodo_types::{Message, SubscriptionFilter};
/// # let empty = snodo_types::Raw::empty_object;
/// # let identity = snodo_dialect::Identity {
/// #     client_info: empty(),
/// #     capabilities: empty(),
/// #     extensions: Default::default(),
/// # };
/// # let dialect = snodo_dialect::dialect(snodo_types::ProtocolVersion::V2026_07_28);
/// # let outfit = dialect.outfit(&identity, Default::default(), None);
/// # let (identity, outfit) = (&identity, &outfit);
/// # let terms = Terms { dialect, outfit, identity, carrier: Default::default(), allowed: &[] };
///
/// let filter = SubscriptionFilter::new().tools_list_changed();
/// let mut subscription = Subscription::new(&filter, None)?;
/// let now = std::time::Instant::now();
/// let asked = subscription.poll(|| 1, &terms, now);
/// assert!(matches!(asked, Some(Tidings::Send(sent)) if sent.id == Some(1)));
/// let agreed = r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",
///     "params":{"notifications":{"toolsListChanged":true}}}"#;
/// subscription.handle_message(Message::parse(agreed)?, &terms);
/// let accepted = subscription.poll(|| 2, &terms, now);
/// assert!(matches!(accepted, Some(Tidings::Accepted(filter)) if filter.tools_list_changed == Some(true)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Subscription {
    request: Request,
    deadline: Deadline,
    state: State,
    strays: u64,
}

/// One thing for the driver of a [`Subscription`] to do or to tell.
///
/// ```
/// use snodo_engine::{Ending, Tidings};
///
/// /// What a driver tells who listens.
/// fn told(tidings: &Tidings) -> Option<String> {
///     match tidings {
///         Tidings::Send(_) | Tidings::Accepted(_) => None,
///         Tidings::Event(event) => Some(event.text().to_owned()),
///         Tidings::Closed(why) => Some(format!("{why:?}")),
///     }
/// }
/// assert_eq!(told(&Tidings::Closed(Ending::Complete)).as_deref(), Some("Complete"));
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver has to do each of them")]
pub enum Tidings {
    /// The server agreed to this much of the filter.
    Accepted(Box<SubscriptionFilter>),
    /// It is over; nothing follows.
    Closed(Ending),
    /// Something happened.
    Event(Message),
    /// Send this and read what comes back.
    Send(snodo_types::Envelope),
}

/// How a subscription ended.
///
/// ```
/// use snodo_engine::Ending;
///
/// /// Whether to listen anew: not where the server said that it is over.
/// fn again(ending: &Ending) -> bool {
///     matches!(ending, Ending::Failed(_))
/// }
/// assert!(!again(&Ending::Complete) && !again(&Ending::Cancelled));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Ending {
    /// The server gave it up (`notifications/cancelled`).
    Cancelled,
    /// The server ended it in good order.
    Complete,
    /// It failed: the server's error, or the transport's.
    Failed(Error),
}

#[derive(Debug)]
enum State {
    Fresh,
    /// Sent under this id, and not acknowledged.
    Asked(u64),
    /// Acknowledged.
    Open(u64),
    Telling(u64, Tidings),
    Ended(Ending),
    Told,
}

impl Subscription {
    /// A subscription that is not asked for yet. `timeout` is for the acknowledgement.
    ///
    /// # Errors
    ///
    /// The filter cannot be written (-32602).
    pub fn new(filter: &SubscriptionFilter, timeout: Option<Duration>) -> Result<Self, Error> {
        let params = Params::new().with("notifications", filter)?;
        let mut request = Request::new("subscriptions/listen", params);
        request.listen = true;
        request.inbox.keep_first = true;
        Ok(Self { request, deadline: Deadline::new(timeout, None), state: State::Fresh, strays: 0 })
    }

    /// What is asked, to be changed before it is sent.
    pub fn request_mut(&mut self) -> &mut Request {
        &mut self.request
    }

    /// What is to be done or told next; `None` until something happens.
    pub fn poll(
        &mut self,
        next_id: impl FnOnce() -> u64,
        terms: &Terms<'_>,
        now: Instant,
    ) -> Option<Tidings> {
        match std::mem::replace(&mut self.state, State::Told) {
            State::Fresh => Some(self.send(next_id(), terms, now)),
            State::Telling(id, tidings) => {
                self.state = State::Open(id);
                Some(tidings)
            }
            State::Ended(ending) => Some(Tidings::Closed(ending)),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Whether nothing is to be done until something happens: [`poll`](Self::poll) gives `None`.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Asked(_) | State::Open(_) | State::Told)
    }

    /// Takes a message from the exchange of this subscription. Before the next one the driver polls.
    pub fn handle_message(&mut self, message: Message, terms: &Terms<'_>) {
        let (id, acknowledged) = match self.state {
            State::Asked(id) => (id, false),
            State::Open(id) => (id, true),
            _ => return,
        };
        match message.body() {
            Body::Result { .. } | Body::Error { .. } => self.answered(message, terms, acknowledged),
            Body::Notification { method: "notifications/cancelled", .. } => {
                self.end(Ending::Cancelled, acknowledged);
            }
            Body::Notification { .. } if !concerns(&message, id) => self.strays += 1,
            Body::Notification { method: ACKNOWLEDGED, params } if !acknowledged => {
                self.state = match accepted(params) {
                    Ok(filter) => State::Telling(id, Tidings::Accepted(Box::new(filter))),
                    Err(error) => State::Ended(Ending::Failed(error)),
                };
            }
            Body::Notification { method, .. } if !acknowledged || method == ACKNOWLEDGED => {
                tracing::debug!(
                    method,
                    "came before or beside the acknowledgement of a subscription"
                );
                self.strays += 1;
            }
            Body::Notification { .. } => {
                self.state = State::Telling(id, Tidings::Event(message));
            }
            Body::Request { method, .. } => {
                tracing::warn!(
                    method,
                    "the server sent a request, which its version does not allow"
                );
            }
        }
    }

    /// The exchange is over without a response; `None` where it just ended.
    pub fn handle_closed(&mut self, why: Option<TransportError>) {
        let acknowledged = matches!(self.state, State::Open(_));
        if acknowledged || matches!(self.state, State::Asked(_)) {
            let why = why.unwrap_or_else(|| {
                let text = "the stream of the subscription ended without a word";
                TransportError::new(TransportFault::StreamEnded, text)
            });
            self.end(Ending::Failed(Error::from(why)), acknowledged);
        }
    }

    /// The time given by [`deadline`](Self::deadline) has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        if matches!(self.state, State::Asked(_))
            && let Some(error) = self.deadline.expired(now)
        {
            self.end(Ending::Failed(error), false);
        }
    }

    /// The transport waits for a person: the clock stands.
    pub fn handle_held(&mut self, now: Instant) {
        self.deadline.hold(now);
    }

    /// The wait for a person is over.
    pub fn handle_released(&mut self, now: Instant) {
        self.deadline.release(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due, if ever.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Asked(_) => self.deadline.at(),
            _ => None,
        }
    }

    /// How many messages came that were not this subscription's, or came too early.
    #[must_use]
    pub fn strays(&self) -> u64 {
        self.strays
    }

    fn send(&mut self, id: u64, terms: &Terms<'_>, now: Instant) -> Tidings {
        let dressed = terms.dialect.admit(&self.request.method);
        match dressed.and_then(|()| terms.dialect.dress(&self.request, id, terms.outfit)) {
            Ok(envelope) => {
                self.deadline.start(now);
                self.state = State::Asked(id);
                Tidings::Send(envelope)
            }
            Err(error) => Tidings::Closed(Ending::Failed(error)),
        }
    }

    fn answered(&mut self, message: Message, terms: &Terms<'_>, acknowledged: bool) {
        let ending = match terms.dialect.read(&self.request, message, terms.outfit) {
            Ok(Outcome::Complete(_)) => Ending::Complete,
            Ok(Outcome::InputRequired(_)) => Ending::Failed(Error::decode(
                "a subscription may not be answered by asking for input",
            )),
            Err(error) => Ending::Failed(error),
        };
        self.end(ending, acknowledged);
    }

    /// An end before the acknowledgement is a failure, however it came.
    fn end(&mut self, ending: Ending, acknowledged: bool) {
        self.state = State::Ended(match ending {
            Ending::Failed(error) => Ending::Failed(error),
            ending if acknowledged => ending,
            _ => {
                let text = "the server ended the subscription before it acknowledged it";
                let why = TransportError::new(TransportFault::StreamEnded, text);
                Ending::Failed(Error::from(why))
            }
        });
    }
}

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Whether a notification is under this subscription's id. One without an id came on a stream that
/// is this subscription's alone.
fn concerns(message: &Message, id: u64) -> bool {
    message.subscription_id().is_none_or(|under| under.as_ours() == Some(id))
}

fn accepted(params: Option<&str>) -> Result<SubscriptionFilter, Error> {
    #[derive(Deserialize)]
    struct Acknowledged {
        notifications: SubscriptionFilter,
    }

    let Some(params) = params else {
        return Err(Error::decode("a subscription was acknowledged without parameters"));
    };
    let acknowledged = serde_json::from_str::<Acknowledged>(params);
    acknowledged
        .map(|acknowledged| acknowledged.notifications)
        .map_err(|error| Error::decode(format!("the acknowledgement of a subscription: {error}")))
}

#[cfg(test)]
mod tests;
