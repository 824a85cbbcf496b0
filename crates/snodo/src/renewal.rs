//! Making a connection anew: once for all who need it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use snodo_types::{Error, TransportError, TransportFault};
use tokio::sync::{Mutex, MutexGuard};

use crate::State;
use crate::client::Core;
use crate::connection::closed;

/// One renewal at a time. Who waited while an attempt failed shares its failure; one that was
/// dropped in the middle is taken over by the next in line.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    turn: Mutex<()>,
    /// How many attempts came to an end.
    attempts: AtomicU64,
    failure: StdMutex<Option<Error>>,
}

/// Makes sure that the connection of this epoch, which ended for this reason, is no longer the one
/// of today. A process is started again only as the client's [`Restart`](crate::Restart) says.
///
/// # Cancel safety
///
/// Dropped in the middle, what was begun is ended; the next who waits begins anew.
pub(crate) async fn renew(
    core: Arc<Core>,
    epoch: u64,
    why: Option<TransportError>,
) -> Result<(), Error> {
    let renewal = &core.renewal;
    let attempts = renewal.attempts.load(Ordering::Acquire);
    let turn = renewal.turn().await;
    if core.connection().epoch > epoch {
        return Ok(());
    }
    if renewal.attempts.load(Ordering::Acquire) > attempts
        && let Some(error) = renewal.failed()
    {
        return Err(error);
    }
    if core.is_closed() {
        return Err(closed().into());
    }
    let why = why.filter(|_| !core.connection().transport.abilities().own_stream);
    if let Some(why) = &why
        && !(core.options.restart.follows(why) && core.starts.allow(core.options.restart))
    {
        core.note(State::Lost);
        return Err(Error::from(why.clone()));
    }
    tracing::info!(server = core.target, "the connection is over; a new one is opened");
    core.note(State::Reconnecting);
    let outcome = core.reconnect(epoch).await;
    core.note(if outcome.is_ok() { State::Connected } else { State::Lost });
    *renewal.failure.lock().unwrap_or_else(PoisonError::into_inner) =
        outcome.as_ref().err().cloned();
    renewal.attempts.fetch_add(1, Ordering::AcqRel);
    let connection = outcome?;
    // Who listens goes on with it, should this caller be gone before it is restored.
    connection.context.bridge.lose(epoch, why.unwrap_or_else(session_lost));
    if core.is_closed() {
        // It was closed in the meantime, which waits for this turn: the new session ends as the old one did.
        connection.close(core.options.close_limit()).await;
        return Err(closed().into());
    }
    drop(turn);
    if let Err(error) = connection.restored(&core).await {
        tracing::warn!(%error, "what stood on the connection before could not be restored");
    }
    Ok(())
}

pub(crate) fn session_lost() -> TransportError {
    TransportError::new(TransportFault::StreamEnded, "the session is over")
}

impl Renewal {
    /// Waits until no connection is being made, and keeps others from it.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    fn failed(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
