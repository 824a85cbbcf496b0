//! The kit against transports that keep the rules and transports that do not.

use std::sync::{Arc, Mutex};

use snodo_transport::{Connect, Exchange, Transport, from_fn};
use snodo_types::{Envelope, TransportError};

use super::check_transport;
use crate::Peer;

#[tokio::test]
async fn a_peer_in_the_caller_s_task_keeps_every_rule() {
    let peer = Peer::new();
    check_transport(&peer.clone(), &peer).await.expect("every rule");
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

async fn broken_by(
    exchange: impl Fn(&Peer, Envelope) -> Exchange + Clone + Send + Sync + 'static,
) -> Vec<&'static str> {
    let peer = Peer::new();
    let connect = Broken { peer: peer.clone(), exchange };
    let broken = check_transport(&connect, &peer).await.expect_err("a broken rule");
    broken.rules().collect()
}

#[tokio::test]
async fn a_transport_that_sends_at_once_is_found_out() {
    let broken = broken_by(|peer, envelope| {
        let mut exchange = peer.answer(envelope.message);
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let first = std::pin::pin!(exchange.next()).as_mut().poll(&mut cx);
        Exchange::generate(|sender| async move {
            if let std::task::Poll::Ready(Some(Ok(first))) = first {
                sender.send(first).await;
            }
            while let Some(next) = exchange.next().await {
                sender.send(next?).await;
            }
            Ok(())
        })
    })
    .await;
    assert!(broken.contains(&"nothing happens before the first poll"), "{broken:?}");
    assert!(
        broken.contains(&"an exchange dropped before it was polled sends nothing"),
        "{broken:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_ignores_a_drop_is_found_out() {
    let forgotten = Arc::new(Mutex::new(Vec::new()));
    let broken = broken_by(move |peer, envelope| {
        let kept = Kept(Some(peer.answer(envelope.message)), Arc::clone(&forgotten));
        Exchange::generate(|sender| async move {
            let mut kept = kept;
            while let Some(next) = kept.0.as_mut().expect("kept until it is dropped").next().await {
                sender.send(next?).await;
            }
            Ok(())
        })
    })
    .await;
    assert_eq!(broken, ["an exchange dropped after it was written is given up"]);
}

struct Kept(Option<Exchange>, Arc<Mutex<Vec<Exchange>>>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.1.lock().expect("no panic").extend(self.0.take());
    }
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_mixes_up_answers_is_found_out() {
    let last = Arc::new(Mutex::new(None::<Envelope>));
    let broken = broken_by(move |peer, envelope| {
        let before = last.lock().expect("no panic").replace(envelope.clone());
        let wrong = before.filter(|before| before.id.is_some()).unwrap_or(envelope);
        peer.answer(wrong.message)
    })
    .await;
    assert!(broken.contains(&"answers in any order find their requests"), "{broken:?}");
}
