//! The events of all servers in one stream.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use snodo::{Event, Subscription};

use crate::listed::Missing;

/// The events of all servers, as they come.
///
/// # Drop behavior
///
/// Dropping it ends every subscription, as dropping a [`Subscription`] does.
///
/// ```
/// use snodo::types::SubscriptionFilter;
///
/// # async fn watch(host: snodo_host::Host) {
/// let mut changes = host.listen(SubscriptionFilter::new().tools_list_changed()).await;
/// while let Some(change) = changes.next().await {
///     println!("{}: {:?}", change.server(), change.event());
/// }
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the subscriptions"]
pub struct Changes {
    open: Vec<(String, Subscription)>,
    missing: Vec<Missing>,
    /// Who is looked at first, so that a server with much to tell does not hide the others.
    first: usize,
}

/// Something that one of the servers told.
///
/// ```
/// fn is_end(change: &snodo_host::Change) -> bool {
///     matches!(change.event(), snodo::Event::Closed(_))
/// }
/// # let _ = is_end;
/// ```
#[derive(Debug)]
pub struct Change {
    server: String,
    event: Event,
}

impl Changes {
    pub(crate) fn new(open: Vec<(String, Subscription)>, missing: Vec<Missing>) -> Self {
        Self { open, missing, first: 0 }
    }

    /// The servers that are listened to.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.open.iter().map(|(server, _)| server.as_str())
    }

    /// The servers that are not connected, or that would not be listened to.
    #[must_use]
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// The next event of any server; `None` when nobody is listened to any more. After
    /// [`Event::Closed`] nothing follows of its server.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped before it gave something.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|cx| self.poll_change(cx)).await
    }

    fn poll_change(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        if self.open.is_empty() {
            return Poll::Ready(None);
        }
        let count = self.open.len();
        for step in 0..count {
            let at = (self.first + step) % count;
            let (server, subscription) = &mut self.open[at];
            let Poll::Ready(event) = pin!(subscription.next()).poll(cx) else { continue };
            let server = server.clone();
            self.first = at + 1;
            if matches!(event, None | Some(Event::Closed(_))) {
                drop(self.open.remove(at));
            }
            return match event {
                Some(event) => Poll::Ready(Some(Change { server, event })),
                None => self.poll_change(cx),
            };
        }
        Poll::Pending
    }
}

impl Change {
    /// The server that told it.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What it told.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// What it told, by itself.
    #[must_use]
    pub fn into_event(self) -> Event {
        self.event
    }
}
