//! Signals that end the program politely.

use std::future::Future;
use std::io;
use std::pin::pin;

/// Waits for signals: the first one ends what is running, and the program then ends its
/// connection.
pub(crate) struct Signals {
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

/// A signal came, by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupted(pub(crate) u8);

impl Signals {
    /// Runs a future until a signal comes. The future is then dropped.
    pub(crate) async fn or<T>(
        &mut self,
        future: impl Future<Output = T>,
    ) -> Result<T, Interrupted> {
        let future = pin!(future);
        tokio::select! {
            done = future => Ok(done),
            signal = self.next() => Err(signal),
        }
    }

    #[cfg(unix)]
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(unix)]
    async fn next(&mut self) -> Interrupted {
        tokio::select! {
            _ = self.hangup.recv() => Interrupted(1),
            _ = self.interrupt.recv() => Interrupted(2),
            _ = self.terminate.recv() => Interrupted(15),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Interrupted {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Interrupted(2),
            // Without a way to hear of it, it never comes.
            Err(_) => std::future::pending().await,
        }
    }
}
