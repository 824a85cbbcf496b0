//! How a client's connection is.

use std::fmt;

use tokio::sync::watch;

/// How the connection of a client is, as far as it is known: nothing is asked to find out.
///
/// ```
/// # fn show(client: &snodo::Client) {
/// assert_eq!(client.state(), snodo::State::Connected);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// The client was closed.
    Closed,
    /// It is there.
    Connected,
    /// It is over, and nothing brings it back by itself.
    Lost,
    /// It is over, and a new one is being made.
    Reconnecting,
}

/// The changes of a client's [`State`], the newest first: one that reads late misses those between.
///
/// ```
/// # async fn watch(client: snodo::Client) {
/// let mut changes = client.state_changes();
/// while let Some(state) = changes.next().await {
///     println!("{state}");
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StateChanges(watch::Receiver<State>);

impl StateChanges {
    pub(crate) fn new(receiver: watch::Receiver<State>) -> Self {
        Self(receiver)
    }

    /// The next state that is not the one given last; `None` once the client is gone.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<State> {
        self.0.changed().await.ok()?;
        Some(*self.0.borrow_and_update())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Closed => "closed",
            Self::Connected => "connected",
            Self::Lost => "lost",
            Self::Reconnecting => "reconnecting",
        })
    }
}
