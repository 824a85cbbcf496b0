//! Doing what a lookup asks for.

use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use snodo_engine::{Asking, Facts, Found, Key, Leaving, Lookup, LookupStep, Whose};
use snodo_transport::BoxFuture;
use snodo_types::{Error, Fingerprint, ProtocolVersion};

use super::CacheMode;
use super::desk::{Desk, Fetching};
use super::flights::Place;
use super::store::{Mark, Release};
use crate::call::Call;
use crate::connection::Connection;
use crate::doing::doing;
use crate::driver::Driver;
use crate::running::Answer;
use crate::timer::{self, Timer};
use crate::trace::CallSpan;

/// A call that may be answered by what is kept.
pub(crate) struct Cached {
    /// Behind a lock only to be shared between threads; it is never waited for.
    future: Mutex<BoxFuture<'static, Answer>>,
    method: String,
    target: String,
}

/// How a call is looked for.
pub(crate) struct Plan {
    desk: Arc<Desk>,
    key: Key,
    mode: CacheMode,
    terms: Terms,
}

/// What an answer is kept under besides what was asked.
#[derive(PartialEq, Eq)]
struct Terms {
    version: ProtocolVersion,
    session: Option<Fingerprint>,
}

impl Plan {
    /// `None` where the call has nothing to do with the cache.
    pub(crate) fn of(call: &Call) -> Option<Self> {
        let desk = call.core.desk()?;
        let extra = !call.plain || !call.request.params.meta().is_empty();
        // A client that was closed answers nothing, whatever is kept.
        if extra || call.cache == CacheMode::Bypass || call.core.is_closed() {
            return None;
        }
        let connection = call.core.connection();
        let terms = Terms::of(&connection);
        let key = Key::of(&call.request, desk.server(), terms.version, &connection.identity)?;
        Some(Self { desk: Arc::clone(desk), key, mode: call.cache, terms })
    }
}

impl Terms {
    fn of(connection: &Connection) -> Self {
        let session = connection.session.as_ref().and_then(|session| session.id());
        Self {
            version: connection.opened.dialect.version(),
            session: session.map(|id| Fingerprint::of(&[b"session", id.as_bytes()])),
        }
    }
}

impl Cached {
    /// `held` of the call's time was spent already, in a queue.
    pub(crate) fn new(call: Call, plan: Plan, held: Duration) -> Self {
        let (method, target) = (call.method().to_owned(), call.target().to_owned());
        let span = CallSpan::of(&call);
        let within = span.scope();
        let run = Run::new(call, plan, held, span).run();
        let future: BoxFuture<'static, Answer> = Box::pin(within.of(run));
        Self { future: Mutex::new(future), method, target }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        let future = self.future.get_mut().unwrap_or_else(PoisonError::into_inner);
        let answer = std::task::ready!(Future::poll(Pin::new(future), cx));
        self.future = Mutex::new(Box::pin(pending()));
        Poll::Ready(answer.map_err(|error| self.explain(error)))
    }

    pub(crate) fn explain(&self, error: Error) -> Error {
        error.at(&self.method, &self.target)
    }
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A lookup and what it holds.
struct Run {
    plan: Plan,
    lookup: Lookup,
    asked: Instant,
    /// How long it may wait; once it is being sent the driver knows.
    limit: Option<Duration>,
    /// How much of that was spent before.
    held: Duration,
    /// Until it is sent.
    unsent: Option<(Call, CallSpan)>,
    driver: Option<Driver>,
    /// Who asks, where that is known, until it was told.
    known: Option<Fingerprint>,
    /// Whether the transport is to tell who asks.
    names: bool,
    fetching: Option<Arc<Fetching>>,
    /// When it was first sent.
    began: Instant,
    /// The turn among those here who ask the same, and among those who do as the same caller.
    place: Option<Place>,
    own_place: Option<Place>,
    claimed: bool,
    mark: Option<Mark>,
    saved: Option<(Whose, Found)>,
}

impl Run {
    fn new(call: Call, plan: Plan, held: Duration, span: CallSpan) -> Self {
        let (asked, desk) = (timer::now(), &plan.desk);
        let connection = call.core.connection();
        let abilities = connection.transport.abilities();
        let limits = [call.limits.timeout, call.limits.deadline].into_iter().flatten();
        let limit = limits.min().filter(|_| !abilities.same_task);
        let one = abilities.one_caller.then(|| desk.caller_of(connection.epoch));
        let known = desk.caller().or(one);
        let asking = Asking {
            anew: plan.mode == CacheMode::Refresh,
            private: desk.has_private(&plan.key),
            shared: desk.is_shared(),
            stale_for: desk.stale_for(),
            patience: limit.map_or(PATIENCE, |limit| PATIENCE.min(limit / 2)),
            later_page: call.request.params.member("cursor").is_some(),
        };
        Self {
            plan,
            lookup: Lookup::new(asking),
            asked,
            limit,
            held,
            unsent: Some((call, span)),
            driver: None,
            names: known.is_none(),
            known,
            fetching: None,
            began: asked,
            place: None,
            own_place: None,
            claimed: false,
            mark: None,
            saved: None,
        }
    }

    async fn run(mut self) -> Answer {
        let answer = self.look().await;
        match (&mut self.driver, &mut self.unsent) {
            (Some(driver), _) => {
                driver.answered(&answer);
                answer.map_err(|error| driver.explain(error))
            }
            (None, Some((call, span))) => {
                span.ended(&answer);
                answer.map_err(|error| error.at(&doing(&call.request), call.target()))
            }
            (None, None) => answer,
        }
    }

    async fn look(&mut self) -> Answer {
        let (desk, key) = (Arc::clone(&self.plan.desk), self.plan.key.clone());
        while let Some(step) = self.lookup.poll() {
            match step {
                LookupStep::Claim => {
                    let claim = self.within(desk.claim(&key)).await?;
                    self.claimed = claim == snodo_engine::Claim::Mine;
                    self.lookup.handle_claim(claim);
                }
                LookupStep::Done(answer) => return *answer,
                LookupStep::Fetch => self.fetch().await,
                LookupStep::Join(whose) => self.join(&desk, &key, whose).await?,
                LookupStep::Leave(leaving) => self.leave(&desk, &key, leaving).await,
                LookupStep::Load(whose) => {
                    let (found, mark) = self.within(desk.load(&key, whose)).await?;
                    if whose == Whose::Everybody {
                        self.mark = mark;
                    }
                    self.lookup.handle_loaded(found);
                }
                LookupStep::Save { whose, message, fresh_for, kept_for } => {
                    let found = Found { message, fresh_for };
                    if self.fetching.as_ref().is_some_and(|fetching| fetching.is_spoiled()) {
                        tracing::debug!("what was fetched is stale already");
                        continue;
                    }
                    desk.save(&key, whose, &found, kept_for, self.mark.take()).await;
                    self.saved = Some((whose, found));
                }
                LookupStep::Sleep(pause) => {
                    self.within(timer::sleep(pause)).await??;
                    self.lookup.handle_slept();
                }
                LookupStep::Spoil => desk.invalidate(std::slice::from_ref(key.group())),
            }
        }
        // A lookup ends by `Done`.
        Err(Error::decode("a lookup came to nothing"))
    }

    async fn join(&mut self, desk: &Desk, key: &Key, whose: Whose) -> Result<(), Error> {
        let anew = (self.plan.mode == CacheMode::Refresh).then_some(self.asked);
        // Nobody waits for one while he keeps others waiting for another.
        if let Whose::Caller(_) = whose {
            self.own_place = None;
        }
        let (turn, place) = self.within(desk.flights().join(key, whose, anew)).await?;
        match whose {
            Whose::Caller(_) => self.own_place = place,
            Whose::Everybody => self.place = place,
        }
        self.lookup.handle_turn(turn);
        Ok(())
    }

    /// Sends the request, or goes on with it.
    async fn fetch(&mut self) {
        if let Some(caller) = self.known.take() {
            return self.lookup.handle_caller(self.with_session(caller));
        }
        if let Some((call, span)) = self.unsent.take() {
            self.begin(call, span);
        }
        let Some(driver) = &mut self.driver else { return };
        driver.go_on();
        let event = poll_fn(|cx| match driver.poll(cx) {
            Poll::Ready(answer) => Poll::Ready(Event::Answer(answer)),
            Poll::Pending => match driver.told_caller() {
                Some(caller) => Poll::Ready(Event::Caller(caller)),
                None => Poll::Pending,
            },
        });
        match event.await {
            Event::Caller(caller) => self.lookup.handle_caller(self.with_session(caller)),
            Event::Answer(answer) => {
                let facts = Facts {
                    inquired: driver.was_inquired(),
                    elsewhere: Terms::of(driver.connection()) != self.plan.terms,
                };
                self.lookup.handle_answer(answer, facts);
            }
        }
    }

    fn begin(&mut self, call: Call, span: CallSpan) {
        let now = timer::now();
        self.fetching = Some(self.plan.desk.fetching(&self.plan.key));
        self.began = now;
        let spent = self.held + now.saturating_duration_since(self.asked);
        let driver = call.start_in(span, spent);
        self.driver = Some(if self.names { driver.naming_caller() } else { driver });
    }

    /// What is private in a session stays in it.
    fn with_session(&self, caller: Fingerprint) -> Fingerprint {
        self.plan.terms.session.map_or(caller, |session| caller.and(session))
    }

    /// Lets those go on who wait for this one, here and elsewhere.
    async fn leave(&mut self, desk: &Desk, key: &Key, leaving: Leaving) {
        let saved = self.saved.as_ref();
        if std::mem::take(&mut self.claimed) {
            let shared = match leaving {
                Leaving::Failed => true,
                Leaving::Saved => saved.is_none_or(|(whose, _)| *whose == Whose::Everybody),
                Leaving::Unkept => false,
            };
            let release = if shared { Release::Done } else { Release::Unshared };
            desk.release(key, release).await;
        }
        for place in [self.place.take(), self.own_place.take()].into_iter().flatten() {
            match (leaving, saved) {
                (Leaving::Saved, Some((whose, found))) => place.give(*whose, found, self.began),
                (Leaving::Unkept, _) => place.scatter(),
                _ => {}
            }
        }
    }

    /// Waits for something within the call's time.
    async fn within<T>(&mut self, waited: impl Future<Output = T>) -> Result<T, Error> {
        let deadline = match &self.driver {
            Some(driver) => driver.deadline(),
            None => {
                self.limit.and_then(|limit| self.asked.checked_add(limit - self.held.min(limit)))
            }
        };
        let limit = self.limit.unwrap_or_default();
        let (mut waited, mut timer) = (pin!(waited), Timer::default());
        poll_fn(|cx| match waited.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Ok(value)),
            Poll::Pending => timer
                .poll(deadline, cx)
                .map(|time| Err(time.err().unwrap_or_else(|| Error::timeout(limit)))),
        })
        .await
    }
}

enum Event {
    Answer(Answer),
    Caller(Fingerprint),
}

/// How long another process that fetches the same is waited for at most; never more than half of
/// the call's time.
const PATIENCE: Duration = Duration::from_secs(5);
