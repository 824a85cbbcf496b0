//! The rules that every transport has to keep, tried on one.

mod rules;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use snodo_transport::{BoxFuture, Connect, Transport};

use crate::Peer;
use rules::{Kept, ending, exchange, giving_up, listening, order, pressure};

/// Tries a transport against the rules of [`Transport`].
///
/// `connect` has to lead to `peer`, each time anew. Each rule gets a connection of its own, and ten
/// seconds of tokio's clock; with a paused clock a broken rule costs nothing.
///
/// | | rules |
/// |---|---|
/// | exchange | a request gets its response and ends after it; an error of the peer is an answer; a message arrives as it was written; a long message arrives whole; a second exchange with a live id harms nobody |
/// | notification | a message without an id ends once it is sent |
/// | ordering | nothing happens before the first poll; messages go out in the order of their first polls; answers in any order find their requests; many requests at once are all answered; what comes before a response comes in order; a request of the peer is not lost; a number of the peer's own ends nothing of ours |
/// | listen | a listening request gets its events until its answer; a listening request ends when the peer ends it; what concerns no request comes in order to who attends |
/// | backpressure | a reader that sleeps keeps nobody else waiting; what a slow reader lost is counted where it is missing; no more waits for a reader than its inbox holds |
/// | cancel | an exchange dropped before it was polled sends nothing; an exchange dropped after it was written is given up; a listening exchange that is dropped is given up; giving one up leaves the others alone; an exchange that had its answer is not given up; an answer that comes late harms nobody |
/// | close | a closed transport does not keep anybody waiting; a dropped transport lets go of its peer; who waits is told when the peer goes away |
/// | reopen | a connection can be made again; two connections do not disturb each other |
///
/// A transport that gives one reply for each request and nothing else (its
/// [`Abilities`](snodo_transport::Abilities) say that it cannot listen) is not held to the rules
/// about listening and about what comes before a reply; one whose exchanges have streams of their
/// own is not held to an order between them.
///
/// # Errors
///
/// The rules that were broken, each with what was seen.
///
/// # Cancel safety
///
/// Dropping the future drops the connections under test; the rest of the rules is not tried.
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
    let broken: Vec<_> = try_all(connect, peer, None)
        .await
        .into_iter()
        .filter_map(|(rule, kept)| Some((rule, kept.err()?)))
        .collect();
    if broken.is_empty() { Ok(()) } else { Err(BrokenRules(broken)) }
}

/// Every rule, or only one, with what came of it.
async fn try_all<C: Connect>(
    connect: &C,
    peer: &Peer,
    only: Option<&str>,
) -> Vec<(&'static str, Kept)> {
    let mut kit = Kit { dial: connect, peer, only, tried: Vec::new() };
    kit.rule("a request gets its response and ends after it", exchange::answers).await;
    kit.rule("an error of the peer is an answer", exchange::hands_over_errors).await;
    kit.rule("a message arrives as it was written", exchange::changes_nothing).await;
    kit.rule("a long message arrives whole", exchange::carries_much).await;
    kit.rule("a second exchange with a live id harms nobody", exchange::survives_duplicates).await;
    kit.rule("a message without an id ends once it is sent", exchange::sends).await;
    kit.rule("nothing happens before the first poll", order::is_lazy).await;
    kit.rule("messages go out in the order of their first polls", order::sends_in_order).await;
    kit.rule("answers in any order find their requests", order::sorts).await;
    kit.rule("many requests at once are all answered", order::bears_a_crowd).await;
    kit.rule("what comes before a response comes in order", order::keeps_order).await;
    kit.rule("a request of the peer is not lost", order::hands_on).await;
    kit.rule("a number of the peer's own ends nothing of ours", order::keeps_numbers_apart).await;
    kit.rule("a listening request gets its events until its answer", listening::listens).await;
    kit.rule("a listening request ends when the peer ends it", listening::hears_the_end).await;
    kit.rule("what concerns no request comes in order to who attends", listening::attends).await;
    kit.rule("a reader that sleeps keeps nobody else waiting", pressure::lets_nobody_wait).await;
    kit.rule(
        "what a slow reader lost is counted where it is missing",
        pressure::counts_what_is_lost,
    )
    .await;
    kit.rule("no more waits for a reader than its inbox holds", pressure::keeps_its_bound).await;
    kit.rule("an exchange dropped before it was polled sends nothing", giving_up::drops_unsent)
        .await;
    kit.rule("an exchange dropped after it was written is given up", giving_up::abandons).await;
    kit.rule("a listening exchange that is dropped is given up", giving_up::stops_listening).await;
    kit.rule("giving one up leaves the others alone", giving_up::leaves_others_alone).await;
    kit.rule("an exchange that had its answer is not given up", giving_up::tells_no_end_twice)
        .await;
    kit.rule("an answer that comes late harms nobody", giving_up::outlives_late_answers).await;
    kit.rule("a closed transport does not keep anybody waiting", ending::closes).await;
    kit.rule("a dropped transport lets go of its peer", ending::lets_go).await;
    kit.rule("who waits is told when the peer goes away", ending::tells_who_waits).await;
    kit.rule("a connection can be made again", ending::comes_back).await;
    kit.rule("two connections do not disturb each other", ending::keeps_connections_apart).await;
    kit.tried
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

    /// What was seen in place of a rule; `None` for one that was kept.
    #[must_use]
    pub fn found(&self, rule: &str) -> Option<&str> {
        self.0.iter().find(|(broken, _)| *broken == rule).map(|(_, found)| found.as_str())
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

struct Kit<'a> {
    dial: &'a dyn Dial,
    peer: &'a Peer,
    only: Option<&'a str>,
    tried: Vec<(&'static str, Kept)>,
}

impl Kit<'_> {
    async fn rule(&mut self, name: &'static str, rule: impl AsyncFnOnce(&Case<'_>) -> Kept) {
        if self.only.is_some_and(|only| only != name) {
            return;
        }
        let tried = async {
            let wire = self.dial.dial().await?;
            rule(&Case { wire, peer: self.peer, dial: self.dial }).await
        };
        let tried = tokio::time::timeout(PATIENCE, tried).await;
        let kept = tried.unwrap_or_else(|_| Err(format!("nothing happened for {PATIENCE:?}")));
        self.tried.push((name, kept));
    }
}

/// What a rule works with.
struct Case<'a> {
    wire: Arc<dyn Transport>,
    peer: &'a Peer,
    dial: &'a dyn Dial,
}

impl Case<'_> {
    /// Another connection to the same peer.
    async fn connect(&self) -> Result<Arc<dyn Transport>, String> {
        self.dial.dial().await
    }
}

/// A [`Connect`] of any kind.
trait Dial: Sync {
    fn dial(&self) -> BoxFuture<'_, Result<Arc<dyn Transport>, String>>;
}

impl<C: Connect> Dial for C {
    fn dial(&self) -> BoxFuture<'_, Result<Arc<dyn Transport>, String>> {
        Box::pin(async {
            let made = self.connect().await;
            let made = made.map_err(|error| format!("cannot connect: {error}"))?;
            let made: Arc<dyn Transport> = Arc::new(made);
            Ok(made)
        })
    }
}

/// How long a rule may take. Only a rule that is broken takes so long.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
