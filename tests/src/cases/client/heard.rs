//! What a client was told without asking.

use std::sync::{Arc, Mutex, PoisonError};

use snodo::{Event, Subscription};
use tokio::task::JoinHandle;

/// The methods of all notifications that reached the caller, shared by the clients of a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    /// By the function that is given everything.
    function: Vec<String>,
    /// On subscriptions.
    events: Vec<String>,
    listeners: Vec<Listener>,
}

/// Reads a subscription for as long as it is kept.
#[derive(Debug)]
struct Listener(JoinHandle<()>);

impl Heard {
    pub(crate) fn note(&self, method: &str) {
        self.with(|told| told.function.push(method.to_owned()));
    }

    /// Notes what comes on a subscription from now on.
    pub(crate) fn listen(&self, mut subscription: Subscription) {
        let heard = self.clone();
        let reading = tokio::spawn(async move {
            while let Some(event) = subscription.next().await {
                if let Event::Notification(told) = event {
                    heard.with(|all| all.events.push(told.method().to_owned()));
                }
            }
        });
        self.with(|told| told.listeners.push(Listener(reading)));
    }

    /// Ends all subscriptions.
    pub(crate) fn stop(&self) {
        self.with(|told| told.listeners.clear());
    }

    /// How many there were; the same one may have come both ways.
    pub(crate) fn count(&self) -> usize {
        self.with(|told| told.function.len().max(told.events.len()))
    }

    /// The first of these that did not come, or not as often.
    pub(crate) fn missing(&self, wanted: &[String]) -> Option<String> {
        let times =
            |all: &[String], method: &String| all.iter().filter(|known| *known == method).count();
        self.with(|told| {
            let missing = wanted.iter().find(|method| {
                let came = times(&told.function, method).max(times(&told.events, method));
                came < times(wanted, method)
            });
            missing.cloned()
        })
    }

    fn with<T>(&self, change: impl FnOnce(&mut Told) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}
