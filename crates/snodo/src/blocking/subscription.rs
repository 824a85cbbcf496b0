//! Events, for a loop.

use std::fmt;
use std::sync::Arc;

use snodo_types::SubscriptionFilter;

use super::Rest;
use crate::Event;

/// A [`Subscription`](crate::Subscription) as an iterator: each `next` waits for an event, and there
/// is none after [`Event::Closed`]. Dropping it ends it at the server.
///
/// ```
/// fn count(events: snodo::blocking::Subscription) -> usize {
///     events.count()
/// }
/// # let _ = count;
/// ```
#[must_use = "dropping a subscription ends it"]
pub struct Subscription {
    events: crate::Subscription,
    rest: Arc<Rest>,
}

impl Subscription {
    pub(super) fn new(events: crate::Subscription, rest: Arc<Rest>) -> Self {
        Self { events, rest }
    }

    /// What the server agreed to tell.
    #[must_use]
    pub fn accepted(&self) -> &SubscriptionFilter {
        self.events.accepted()
    }
}

impl Iterator for Subscription {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.rest.wait(self.events.next())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.rest.within(|| self.events.end());
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("blocking::Subscription").field(&self.events).finish()
    }
}
