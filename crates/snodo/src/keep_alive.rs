//! Asking a server for signs of life.

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use snodo_dialect::Era;
use snodo_types::{Error, Routing};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::client::Core;
use crate::{CacheMode, Client, State, renewal};

/// How often a server is asked for a sign of life, and how often it may fail to give one.
///
/// It is asked by `ping`, on the stateless version by `server/discover`. Any answer is a sign of
/// life, an error too. After so many failures in a row the connection counts as lost: a pipe is
/// closed, so that what waits on it fails, and a session is opened anew.
///
/// ```
/// use std::time::Duration;
/// use snodo::KeepAlive;
///
/// let patient = KeepAlive::every(Duration::from_secs(30)).failures(3);
/// assert_ne!(patient, KeepAlive::every(Duration::from_secs(30)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    every: Duration,
    failures: u32,
}

impl KeepAlive {
    /// Asks so often, at least a second apart; one failure is enough unless set.
    #[must_use]
    pub const fn every(every: Duration) -> Self {
        Self { every, failures: 1 }
    }

    /// So many failures in a row lose the connection; at least one.
    #[must_use]
    pub const fn failures(self, failures: u32) -> Self {
        Self { failures, ..self }
    }
}

/// The task that asks. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Keeper(Option<AbortHandle>);

impl Keeper {
    /// Starts the task, on the runtime in reach. It does not keep the client alive.
    pub(crate) fn spawn(core: &Arc<Core>, keep_alive: KeepAlive) -> Self {
        let watched = watch(Arc::downgrade(core), keep_alive);
        Self(Handle::try_current().ok().map(|runtime| runtime.spawn(watched).abort_handle()))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

async fn watch(core: Weak<Core>, keep_alive: KeepAlive) {
    let every = keep_alive.every.max(Duration::from_secs(1));
    let mut failures = 0;
    loop {
        tokio::time::sleep(every).await;
        let answer = sign_of_life(&core, every).await;
        let Some(core) = core.upgrade().filter(|core| !core.is_closed()) else { return };
        match answer {
            None => {}
            Some(Ok(())) => {
                failures = 0;
                core.note(State::Connected);
            }
            Some(Err(error)) => {
                failures += 1;
                tracing::warn!(server = core.target, failures, %error, "no sign of life");
                if failures >= keep_alive.failures.max(1) {
                    failures = 0;
                    give_up(&core, &error).await;
                }
            }
        }
    }
}

/// Asks once, unless the client is gone or closed; gives up where nobody but the question itself holds
/// the client any more.
async fn sign_of_life(core: &Weak<Core>, within: Duration) -> Option<Result<(), Error>> {
    let client = Client::of(core.upgrade().filter(|core| !core.is_closed())?);
    let mut asking = pin!(ask(client, within));
    loop {
        match tokio::time::timeout(GLANCE, asking.as_mut()).await {
            Ok(answer) => return Some(answer),
            // Should the question hold fewer, it is asked again in a while; that harms nobody.
            Err(_) if core.strong_count() <= HELD_BY_A_QUESTION => return None,
            Err(_) => {}
        }
    }
}

/// Any word of the server's is a sign of life.
async fn ask(client: Client, within: Duration) -> Result<(), Error> {
    let era = client.core().connection().opened.dialect.era();
    let answer = match era {
        Era::Initialize => {
            let asking = client.ping().timeout(within).into_future();
            drop(client);
            asking.await.map(drop)
        }
        _ => {
            let asking = client.discover().timeout(within).cache(CacheMode::Bypass).into_future();
            drop(client);
            asking.await.map(drop)
        }
    };
    match answer {
        Err(error) if error.transport().is_some() || error.is_timeout() => Err(error),
        _ => Ok(()),
    }
}

/// How often a question that waits looks whether anybody still wants to know.
const GLANCE: Duration = Duration::from_millis(250);

/// A request under way and its driver hold the client.
const HELD_BY_A_QUESTION: usize = 2;

async fn give_up(core: &Arc<Core>, error: &Error) {
    core.note(State::Lost);
    let connection = core.connection();
    if !connection.transport.abilities().own_stream {
        connection.span.lost();
        return connection.transport.close(Routing::new(), Duration::from_secs(1)).await;
    }
    if connection.opened.outfit.has_session()
        && let Err(error) = renewal::renew(Arc::clone(core), connection.epoch, None).await
    {
        tracing::debug!(%error, "the session could not be opened anew");
    }
    tracing::debug!(%error, "the server gives no sign of life");
}
