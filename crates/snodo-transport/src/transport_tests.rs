//! What a transport and a way to a server are by default, and what wraps them.

use std::future::{Future, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use snodo_types::{Envelope, Message, Routing, TransportError, TransportFault};

use super::{Abilities, BoxFuture, Transport};
use crate::{Connect, Exchange, Incoming, connect_fn, from_fn};

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("ready at once"),
    }
}

/// Everything that comes of an exchange: `sent`, the text of a message, the fault of a failure.
fn all(mut exchange: Exchange) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(next) = now(exchange.next()) {
        all.push(match next {
            Ok(Incoming::Message(message)) => message.text().to_owned(),
            Ok(Incoming::Sent) => "sent".to_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("{:?}", error.fault()),
        });
    }
    all
}

fn request(id: u64) -> Envelope {
    Envelope::request(id, String::new())
}

fn answer(id: u64) -> Message {
    Message::result(&id.into(), "{}")
}

/// The least that a transport can be.
struct Least;

impl Transport for Least {
    fn exchange(&self, _: Envelope) -> Exchange {
        Exchange::sent()
    }
}

/// One that says what it is asked.
#[derive(Default)]
struct Telling {
    closed: AtomicUsize,
}

impl Transport for Telling {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        Exchange::ready(answer(envelope.id.unwrap_or_default()))
    }

    fn abilities(&self) -> Abilities {
        Abilities { listen: true, ..Abilities::default() }
    }

    fn unsolicited(&self, _: Routing) -> Option<Exchange> {
        Some(Exchange::failed(TransportError::new(TransportFault::Closed, "over")))
    }

    fn close(&self, _: Routing, _: Duration) -> BoxFuture<'static, ()> {
        self.closed.fetch_add(1, Ordering::Relaxed);
        Box::pin(ready(()))
    }
}

#[test]
fn a_transport_that_says_nothing_of_itself_can_nothing_beyond_exchanges() {
    assert_eq!(Least.abilities(), Abilities::default());
    assert!(Least.unsolicited(Routing::new()).is_none());
    now(Least.close(Routing::new(), Duration::ZERO));
    assert_eq!(all(Least.exchange(request(1))), ["sent"]);
}

fn passes_through(wrapped: &impl Transport) {
    assert_eq!(all(wrapped.exchange(request(7))), [answer(7).text()]);
    assert!(wrapped.abilities().listen);
    assert_eq!(wrapped.unsolicited(Routing::new()).map(all), Some(vec!["Closed".to_owned()]));
    now(wrapped.close(Routing::new(), Duration::ZERO));
}

#[test]
fn what_is_shared_or_boxed_is_the_transport_within() {
    let within = Arc::new(Telling::default());
    passes_through(&within);
    let shared: Arc<dyn Transport> = within.clone();
    passes_through(&shared);
    let boxed: Box<dyn Transport> = Box::new(Arc::clone(&within));
    passes_through(&boxed);
    assert_eq!(within.closed.load(Ordering::Relaxed), 3);
}

#[test]
fn a_function_is_a_transport_and_the_way_to_it() {
    let server = from_fn(|envelope: Envelope| {
        ready(match envelope.id {
            Some(1) => Ok(Some(answer(1))),
            Some(2) => Ok(None),
            Some(_) => Err(TransportError::new(TransportFault::Connect, "no")),
            None => Ok(None),
        })
    });
    let way = server.clone();
    assert!(format!("{way:?}").starts_with("FromFn"));
    let transport = now(way.connect()).expect("nothing can fail");
    assert_eq!(all(transport.exchange(request(1))), [answer(1).text()]);
    assert_eq!(all(transport.exchange(request(2))), ["StreamEnded"], "a request has an answer");
    assert_eq!(all(transport.exchange(request(3))), ["Connect"]);
    assert_eq!(all(transport.exchange(Envelope::notification(String::new()))), ["sent"]);
}

#[test]
fn a_way_to_a_server_has_a_name_where_it_was_given_one() {
    let way = connect_fn(|| ready(Ok::<_, TransportError>(Least)));
    assert_eq!((&*way.target(), way.origin()), ("the server", None));
    let way = way.named("the quiet one");
    assert_eq!(way.target(), "the quiet one");
    assert!(format!("{way:?}").contains("the quiet one"));
    assert_eq!(all(now(way.connect()).expect("a transport").exchange(request(1))), ["sent"]);
    let fails = connect_fn(|| {
        ready(Err::<Least, _>(TransportError::new(TransportFault::Spawn, "no program")))
    });
    assert_eq!(now(fails.connect()).err().map(|error| error.fault()), Some(TransportFault::Spawn));
}

struct Unnamed;

impl Connect for Unnamed {
    type Transport = Least;

    async fn connect(&self) -> Result<Least, TransportError> {
        Ok(Least)
    }
}

#[test]
fn a_way_that_says_nothing_of_itself_leads_to_the_server() {
    assert_eq!((&*Unnamed.target(), Unnamed.origin()), ("the server", None));
}

#[test]
fn an_exchange_shows_nothing_of_what_goes_through_it() {
    assert_eq!(format!("{:?}", Exchange::ready(answer(1))), "Exchange");
}
