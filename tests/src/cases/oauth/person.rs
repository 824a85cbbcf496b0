//! A person who agrees at once.

use std::sync::{Arc, Mutex, PoisonError};

use snodo_oauth::{Departure, Error, Person, Visit};

/// Comes back with a good code, and remembers where they were sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Simulated {
    sent_to: Arc<Mutex<Vec<String>>>,
    /// What the server adds to its answers, where it says that it does.
    issuer: Option<String>,
}

impl Simulated {
    pub(super) fn new(issuer: Option<String>) -> Self {
        Self { issuer, ..Self::default() }
    }

    /// The pages that they were sent to.
    pub(super) fn sent_to(&self) -> Vec<String> {
        self.sent_to.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Person for Simulated {
    async fn prepare(&self, _before: Option<&str>) -> Result<Visit, Error> {
        let person = self.clone();
        Ok(Visit::new(REDIRECT, move |departure: Departure| async move {
            person.sent_to.lock().unwrap_or_else(PoisonError::into_inner).push(departure.url);
            let issuer = person.issuer.map(|issuer| format!("&iss={issuer}")).unwrap_or_default();
            Ok(format!("{REDIRECT}?code=good&state={}{issuer}", departure.state.expose()))
        }))
    }
}

/// Where they come back.
pub(super) const REDIRECT: &str = "http://127.0.0.1:1/cb";
