//! The kit against transports that keep the rules and transports that do not.

mod pipe;

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use snodo_transport::{BoxFuture, Connect, Exchange, Incoming, Transport, from_fn};
use snodo_types::{Body, Concern, Envelope, TransportError, TransportFault};
use tokio::sync::Semaphore;

use super::rules::Kept;
use super::{check_transport, try_all};
use crate::Peer;
use pipe::{Pipes, Twist};

#[tokio::test]
async fn a_peer_in_the_caller_s_task_keeps_every_rule() {
    let peer = Peer::new();
    check_transport(&peer.clone(), &peer).await.expect("every rule");
}

#[tokio::test]
async fn a_pipe_keeps_every_rule() {
    let peer = Peer::new();
    check_transport(&Pipes::new(&peer, Twist::None), &peer).await.expect("every rule");
}

#[tokio::test]
async fn a_function_keeps_the_rules_for_transports_without_listening() {
    let peer = Peer::new();
    let server = peer.clone();
    let transport = from_fn(move |envelope| {
        let server = server.clone();
        async move { server.reply(envelope.message).await }
    });
    check_transport(&transport, &peer).await.expect("every rule");
}

#[tokio::test(start_paused = true)]
async fn a_report_names_each_broken_rule_and_what_was_seen() {
    let peer = Peer::new();
    let mute = from_fn(|_| async { Err(TransportError::new(TransportFault::Closed, "mute")) });
    let broken = check_transport(&mute, &peer).await.expect_err("a broken rule");
    let rules: Vec<_> = broken.rules().collect();
    assert_eq!(rules[0], "a request gets its response and ends after it");
    assert!(rules.len() > 15, "{broken}");
    let lines: Vec<_> = broken.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), rules.len(), "a line for each");
    for (line, rule) in lines.iter().zip(rules) {
        let found = broken.found(rule).expect("what was seen");
        assert_eq!(*line, format!("broken: {rule}: {found}"));
    }
    assert_eq!(broken.found("a transport is fast"), None);
}

#[tokio::test(start_paused = true)]
async fn each_rule_finds_out_a_transport_that_breaks_it() {
    let peer = Peer::new();
    let all = try_all(&peer.clone(), &peer, None).await;
    let named: Vec<_> = all.iter().map(|(rule, _)| *rule).collect();
    let broken = broken_transports();
    for rule in &named {
        assert!(broken.iter().any(|(broken, _)| broken == rule), "nothing breaks: {rule}");
    }
    for (rule, make) in broken {
        assert!(named.contains(&rule), "no such rule: {rule}");
        let peer = Peer::new();
        let tried = make(peer, rule).await;
        assert!(tried.iter().all(|kept| kept.is_err()), "not found out: {rule}: {tried:?}");
        assert_eq!(tried.len(), 1, "{rule}");
    }
}

/// Tries a rule on a transport that breaks it.
type Try = Box<dyn Fn(Peer, &'static str) -> BoxFuture<'static, Vec<Kept>>>;

fn broken_transports() -> Vec<(&'static str, Try)> {
    vec![
        ("a request gets its response and ends after it", filtered(Filter::NeverEnds)),
        ("an error of the peer is an answer", filtered(Filter::FailsOnErrors)),
        ("a message arrives as it was written", exchanging(writes_anew)),
        ("a long message arrives whole", exchanging(refuses_much)),
        ("a second exchange with a live id harms nobody", piped(Twist::TakesOver)),
        ("a message without an id ends once it is sent", filtered(Filter::NothingSent)),
        ("nothing happens before the first poll", exchanging(sends_at_once)),
        ("messages go out in the order of their first polls", piped(Twist::SwapsPairs)),
        ("answers in any order find their requests", exchanging(mixes_up())),
        ("many requests at once are all answered", exchanging(refuses_many())),
        ("what comes before a response comes in order", filtered(Filter::Backwards)),
        ("a request of the peer is not lost", filtered(Filter::NoRequests)),
        ("a number of the peer's own ends nothing of ours", filtered(Filter::EndsByNumber)),
        ("a listening request gets its events until its answer", filtered(Filter::NoParts)),
        ("a listening request ends when the peer ends it", filtered(Filter::NoEnds)),
        ("what concerns no request comes in order to who attends", piped(Twist::ForgetsUnasked)),
        ("a reader that sleeps keeps nobody else waiting", piped(Twist::WaitsForReaders)),
        ("what a slow reader lost is counted where it is missing", piped(Twist::CountsNothing)),
        ("no more waits for a reader than its inbox holds", piped(Twist::Hoards)),
        ("an exchange dropped before it was polled sends nothing", exchanging(sends_at_once)),
        ("an exchange dropped after it was written is given up", exchanging(ignores_drops())),
        ("a listening exchange that is dropped is given up", exchanging(ignores_drops())),
        ("giving one up leaves the others alone", piped(Twist::OneForAll)),
        ("an exchange that had its answer is not given up", piped(Twist::TellsAlways)),
        ("an answer that comes late harms nobody", piped(Twist::MindsLateAnswers)),
        ("a closed transport does not keep anybody waiting", piped(Twist::EndsNothing)),
        ("a dropped transport lets go of its peer", piped(Twist::HoldsOn)),
        ("who waits is told when the peer goes away", piped(Twist::UnawareOfTheEnd)),
        ("a connection can be made again", piped(Twist::Once)),
        ("two connections do not disturb each other", piped(Twist::Together)),
    ]
}

fn piped(twist: Twist) -> Try {
    Box::new(move |peer, rule| {
        Box::pin(async move { kept(&Pipes::new(&peer, twist), &peer, rule).await })
    })
}

fn exchanging(
    exchange: impl Fn(&Peer, Envelope) -> Exchange + Clone + Send + Sync + 'static,
) -> Try {
    Box::new(move |peer, rule| {
        let exchange = exchange.clone();
        Box::pin(async move {
            let connect = Broken { peer: peer.clone(), exchange };
            kept(&connect, &peer, rule).await
        })
    })
}

async fn kept<C: Connect>(connect: &C, peer: &Peer, rule: &str) -> Vec<Kept> {
    try_all(connect, peer, Some(rule)).await.into_iter().map(|(_, kept)| kept).collect()
}

/// Wraps the peer and breaks one rule.
struct Broken<F> {
    peer: Peer,
    exchange: F,
}

impl<F: Fn(&Peer, Envelope) -> Exchange + Clone + Send + Sync + 'static> Connect for Broken<F> {
    type Transport = Self;

    async fn connect(&self) -> Result<Self, TransportError> {
        Ok(Self { peer: self.peer.clone(), exchange: self.exchange.clone() })
    }
}

impl<F: Fn(&Peer, Envelope) -> Exchange + Send + Sync + 'static> Transport for Broken<F> {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        (self.exchange)(&self.peer, envelope)
    }

    fn abilities(&self) -> snodo_transport::Abilities {
        self.peer.abilities()
    }
}

/// What an exchange does to what comes on it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Filter {
    /// Parts come in the other order.
    Backwards,
    /// The peer's own number ends the exchange.
    EndsByNumber,
    /// A JSON-RPC error is a failure of the transport.
    FailsOnErrors,
    /// It stays open behind its answer.
    NeverEnds,
    /// The peer's word that it gives the request up is lost.
    NoEnds,
    /// What belongs to the request is lost.
    NoParts,
    /// The peer's requests are lost.
    NoRequests,
    /// It does not say that a message was sent.
    NothingSent,
}

fn filtered(filter: Filter) -> Try {
    exchanging(move |peer, envelope| {
        let mut exchange = peer.answer(envelope.message);
        Exchange::generate(|sender| async move {
            let mut kept = Vec::new();
            while let Some(next) = exchange.next().await {
                let next = next?;
                let Incoming::Message(message) = &next else {
                    if filter != Filter::NothingSent {
                        sender.send(next).await;
                    }
                    continue;
                };
                match (filter, message.concerns(), message.body()) {
                    (Filter::NoEnds, Concern::Ends(_), _)
                    | (Filter::NoParts, Concern::Part(_), _)
                    | (Filter::NoRequests, _, Body::Request { .. }) => {}
                    (Filter::EndsByNumber, Concern::Ends(_), _) => return Ok(()),
                    (Filter::FailsOnErrors, _, Body::Error { .. }) => return Err(broken()),
                    (Filter::Backwards, Concern::Part(_), _) => kept.push(next),
                    _ => {
                        while let Some(part) = kept.pop() {
                            sender.send(part).await;
                        }
                        sender.send(next).await;
                    }
                }
            }
            if filter == Filter::NeverEnds {
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    })
}

fn writes_anew(peer: &Peer, envelope: Envelope) -> Exchange {
    let value: Value = serde_json::from_str(&envelope.message).expect("JSON");
    peer.answer(value.to_string())
}

fn refuses_much(peer: &Peer, envelope: Envelope) -> Exchange {
    if envelope.message.len() > 65_536 {
        return Exchange::failed(broken());
    }
    peer.answer(envelope.message)
}

fn sends_at_once(peer: &Peer, envelope: Envelope) -> Exchange {
    let mut exchange = peer.answer(envelope.message);
    let mut cx = Context::from_waker(Waker::noop());
    let first = std::pin::pin!(exchange.next()).as_mut().poll(&mut cx);
    Exchange::generate(|sender| async move {
        if let Poll::Ready(Some(Ok(first))) = first {
            sender.send(first).await;
        }
        while let Some(next) = exchange.next().await {
            sender.send(next?).await;
        }
        Ok(())
    })
}

fn mixes_up() -> impl Fn(&Peer, Envelope) -> Exchange + Clone {
    let last = Arc::new(Mutex::new(None::<Envelope>));
    move |peer, envelope| {
        let before = last.lock().expect("no panic").replace(envelope.clone());
        let wrong = before.filter(|before| before.id.is_some()).unwrap_or(envelope);
        peer.answer(wrong.message)
    }
}

/// Has room for so many at once.
fn refuses_many() -> impl Fn(&Peer, Envelope) -> Exchange + Clone {
    let room = Arc::new(Semaphore::new(32));
    move |peer, envelope| match Arc::clone(&room).try_acquire_owned() {
        Ok(place) => {
            let mut exchange = peer.answer(envelope.message);
            Exchange::generate(|sender| async move {
                let _place = place;
                while let Some(next) = exchange.next().await {
                    sender.send(next?).await;
                }
                Ok(())
            })
        }
        Err(_) => Exchange::failed(broken()),
    }
}

fn ignores_drops() -> impl Fn(&Peer, Envelope) -> Exchange + Clone {
    let forgotten = Arc::new(Mutex::new(Vec::new()));
    move |peer, envelope| {
        let kept = Forgotten(Some(peer.answer(envelope.message)), Arc::clone(&forgotten));
        Exchange::generate(|sender| async move {
            let mut kept = kept;
            while let Some(next) = kept.0.as_mut().expect("kept until it is dropped").next().await {
                sender.send(next?).await;
            }
            Ok(())
        })
    }
}

/// An exchange that lives on when it is dropped.
struct Forgotten(Option<Exchange>, Arc<Mutex<Vec<Exchange>>>);

impl Drop for Forgotten {
    fn drop(&mut self) {
        self.1.lock().expect("no panic").extend(self.0.take());
    }
}

fn broken() -> TransportError {
    TransportError::new(TransportFault::Closed, "broken on purpose")
}
