//! What is known about one MCP server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{Error, ErrorKind};
use crate::flight::Flight;
use crate::metadata::resource::Resource;
use crate::metadata::server::Server;
use crate::scopes::Scopes;
use crate::secret::Secret;
use crate::tokens::Tokens;

/// One MCP server: its tokens, and what led to them.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) url: String,
    /// The one renewal that is under way.
    pub(crate) flight: Flight,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    loaded: bool,
    tokens: Option<Arc<Tokens>>,
    plan: Option<(Arc<Plan>, Instant)>,
    /// The token that the server refused though it was new, and when.
    rejected: Option<(Secret, Instant)>,
    /// What was asked for in vain, and when: the last few.
    failed: Vec<(Scopes, Failure, Instant)>,
}

/// Why scopes were asked for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A person said no.
    Declined,
    /// They were granted, or so it was said, and the server asked for them again.
    Repeated,
}

/// Who protects the server, and how that one is spoken to.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) resource: Resource,
    pub(crate) server: Server,
}

impl Session {
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.to_owned(), flight: Flight::default(), state: Mutex::default() }
    }

    pub(crate) fn tokens(&self) -> Option<Arc<Tokens>> {
        self.state().tokens.clone()
    }

    pub(crate) fn set_tokens(&self, tokens: Option<Tokens>) {
        self.state().tokens = tokens.map(Arc::new);
    }

    /// Whether this is the token that is used, or none is.
    pub(crate) fn uses(&self, access: Option<&Secret>) -> bool {
        self.state().tokens.as_ref().map(|tokens| &tokens.access) == access
    }

    /// Whether the store has been asked.
    pub(crate) fn is_loaded(&self) -> bool {
        self.state().loaded
    }

    /// Takes what the store had, unless something newer came meanwhile.
    pub(crate) fn load(&self, tokens: Option<Tokens>) {
        let mut state = self.state();
        if !state.loaded {
            state.loaded = true;
            if state.tokens.is_none() {
                state.tokens = tokens.map(Arc::new);
            }
        }
    }

    /// What was found out not long ago.
    pub(crate) fn plan(&self) -> Option<Arc<Plan>> {
        let state = self.state();
        let (plan, since) = state.plan.as_ref()?;
        (since.elapsed() < FRESH).then(|| Arc::clone(plan))
    }

    pub(crate) fn set_plan(&self, plan: Plan) -> Arc<Plan> {
        let plan = Arc::new(plan);
        self.state().plan = Some((Arc::clone(&plan), Instant::now()));
        plan
    }

    /// Remembers that a token was refused though it was new.
    pub(crate) fn reject(&self, access: &Secret) {
        self.state().rejected = Some((access.clone(), Instant::now()));
    }

    /// Whether a token was refused not long ago though it was new: another one would be too.
    pub(crate) fn was_rejected(&self, access: Option<&Secret>) -> bool {
        let state = self.state();
        let rejected = state.rejected.as_ref();
        rejected.is_some_and(|(token, since)| Some(token) == access && since.elapsed() < PAUSE)
    }

    /// Remembers that scopes were asked for in vain.
    pub(crate) fn fail(&self, scopes: &Scopes, failure: Failure) {
        let mut state = self.state();
        if state.failed.len() >= MOST_FAILURES {
            state.failed.remove(0);
        }
        state.failed.push((scopes.clone(), failure, Instant::now()));
    }

    /// Refuses to ask again for what was asked for in vain.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Declined`]: a person said no not long ago. [`ErrorKind::Rejected`]: it was
    /// granted three times, and did not help.
    pub(crate) fn check(&self, scopes: &Scopes) -> Result<(), Error> {
        let state = self.state();
        let recent = |failure: Failure| {
            let same = state.failed.iter().filter(|(what, why, since)| {
                what == scopes && *why == failure && since.elapsed() < MEMORY
            });
            same.count()
        };
        let what = scopes.parameter().unwrap_or_else(|| "no scope".to_owned());
        if recent(Failure::Declined) > 0 {
            let why = format!("a person declined {what:?} not long ago");
            return Err(Error::new(ErrorKind::Declined, why));
        }
        if recent(Failure::Repeated) >= MOST_REPEATS {
            let why = format!("{} does not let us in with {what:?}", self.url);
            return Err(Error::new(ErrorKind::Rejected, why));
        }
        Ok(())
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.flight.abort();
        *self.state() = State { loaded: true, ..State::default() };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long metadata is used without being read again.
const FRESH: Duration = Duration::from_secs(600);

/// How long a server that refuses new tokens is not asked for another.
const PAUSE: Duration = Duration::from_secs(60);

/// How long a no is remembered.
const MEMORY: Duration = Duration::from_secs(300);

/// How many failures are remembered.
const MOST_FAILURES: usize = 32;

/// How often the same scopes are asked for, for nothing.
const MOST_REPEATS: usize = 3;
