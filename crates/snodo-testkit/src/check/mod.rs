//! The rules that every transport has to keep, tried on one.

mod rules;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use snodo_transport::{Connect, Transport};

use crate::Peer;

/// Tries a transport against the rules of [`Transport`].
///
/// `connect` has to lead to `peer`. Each rule gets a connection of its own. A transport that gives
/// one reply for each request and nothing else (its [`Abilities`](snodo_transport::Abilities) say
/// that it cannot listen) is not held to the rules about what comes before a reply.
///
/// # Errors
///
/// The rules that were broken, each with what was seen.
///
/// ```
/// use snodo_testkit::{Peer, check_transport};
/// use snodo_transport::from_fn;
///
/// # async fn check() -> Result<(), snodo_testkit::BrokenRules> {
/// let peer = Peer::new();
/// let server = peer.clone();
/// let transport = from_fn(move |envelope| {
///     let server = server.clone();
///     async move { server.reply(envelope.message).await }
/// });
/// check_transport(&transport, &peer).await
/// # }
/// ```
pub async fn check_transport<C: Connect>(connect: &C, peer: &Peer) -> Result<(), BrokenRules> {
    let mut kit = Kit { connect, peer, broken: Vec::new() };
    kit.rule("a request gets its response and ends after it", rules::answers).await;
    kit.rule("a message without an id ends once it is sent", rules::sends).await;
    kit.rule("nothing happens before the first poll", rules::is_lazy).await;
    kit.rule("answers in any order find their requests", rules::sorts).await;
    kit.rule("what comes before a response comes in order", rules::keeps_order).await;
    kit.rule("a request of the peer is not lost", rules::hands_on).await;
    kit.rule("an exchange dropped before it was polled sends nothing", rules::drops_unsent).await;
    kit.rule("an exchange dropped after it was written is given up", rules::abandons).await;
    kit.rule("an answer that comes late harms nobody", rules::outlives_late_answers).await;
    kit.rule("a second exchange with a live id harms nobody", rules::survives_duplicates).await;
    kit.rule("a long message arrives whole", rules::carries_much).await;
    kit.rule("a closed transport does not keep anybody waiting", rules::closes).await;
    if kit.broken.is_empty() { Ok(()) } else { Err(BrokenRules(kit.broken)) }
}

/// The rules that a transport broke; see [`check_transport`].
///
/// ```
/// use snodo_testkit::{Peer, check_transport};
/// use snodo_transport::from_fn;
///
/// # async fn check() {
/// // It answers everything, and nothing with what was asked.
/// let transport = from_fn(|_| async { Ok(None) });
/// let broken = check_transport(&transport, &Peer::new()).await.expect_err("no transport");
/// assert!(broken.to_string().contains("a request gets its response"));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BrokenRules(Vec<(&'static str, String)>);

impl BrokenRules {
    /// The rules, each as a sentence.
    pub fn rules(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(rule, _)| *rule)
    }
}

impl fmt::Display for BrokenRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (rule, found)) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}broken: {rule}: {found}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BrokenRules {}

struct Kit<'a, C> {
    connect: &'a C,
    peer: &'a Peer,
    broken: Vec<(&'static str, String)>,
}

impl<C: Connect> Kit<'_, C> {
    async fn rule<F, G>(&mut self, name: &'static str, rule: F)
    where
        F: FnOnce(Arc<dyn Transport>, Peer) -> G,
        G: Future<Output = Result<(), String>>,
    {
        let tried = async {
            let transport = self.connect.connect().await;
            let transport = transport.map_err(|error| format!("cannot connect: {error}"))?;
            rule(Arc::new(transport), self.peer.clone()).await
        };
        let tried = tokio::time::timeout(PATIENCE, tried).await;
        let outcome = tried.unwrap_or_else(|_| Err(format!("nothing happened for {PATIENCE:?}")));
        if let Err(found) = outcome {
            self.broken.push((name, found));
        }
    }
}

/// How long a rule may take. Only a rule that is broken takes so long.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
