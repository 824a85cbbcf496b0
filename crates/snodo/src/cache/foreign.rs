//! A store that others share: asked with patience, done without when it fails.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use snodo_engine::{Claim, Group, Key};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::store::{Entry, Erased, Loaded, Mark, Release, StoreError};
use crate::timer::{self, Timer};

/// A store, how it is, and what it has yet to be told.
pub(super) struct Foreign {
    store: Box<dyn Erased>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Groups that are stale and that the store does not know of, each with the number of its last
    /// mention. Past [`MOST_OWED`] whole servers stand in for them.
    owed: Vec<(Group, u64)>,
    mentions: u64,
    /// It failed, and is left alone until then.
    resting: Option<Instant>,
    failing: bool,
    /// The task that tells it.
    teller: Option<AbortHandle>,
}

/// How long the store may take for one thing.
const LIMIT: Duration = Duration::from_secs(1);

/// How long it is left alone after a failure.
const REST: Duration = Duration::from_secs(1);

/// How many groups may be owed before whole servers are.
const MOST_OWED: usize = 64;

/// How often the task tries to tell the store what it is owed; later loads go on with it.
const MOST_TRIES: u32 = 30;

impl Foreign {
    pub(super) fn new(store: Box<dyn Erased>) -> Self {
        Self { store, state: Mutex::default() }
    }

    /// `None` where the store cannot be asked.
    pub(super) async fn load(&self, key: &Key) -> Option<Loaded> {
        self.tell().await?;
        self.ask(self.store.load(key)).await
    }

    /// Says whether it was saved.
    pub(super) async fn save(&self, key: &Key, entry: Entry, mark: Mark) -> bool {
        self.ask(self.store.save(key, entry, mark)).await.is_some()
    }

    /// Where the store cannot be asked, each process fetches.
    pub(super) async fn claim(&self, key: &Key) -> Claim {
        self.ask(self.store.claim(key)).await.unwrap_or(Claim::Mine)
    }

    pub(super) async fn release(&self, key: &Key, release: Release) {
        self.ask(self.store.release(key, release)).await;
    }

    /// Remembers what has become stale, and tells the store by a task of its own, where there is a
    /// runtime for one; else before the next load.
    pub(super) fn invalidate(self: &Arc<Self>, groups: &[Group]) {
        let mut state = self.lock();
        groups.iter().for_each(|group| state.owe(group));
        let told = state.teller.as_ref().is_some_and(|teller| !teller.is_finished());
        if let (false, Ok(runtime)) = (told, Handle::try_current()) {
            let task = runtime.spawn(tell_all(Arc::downgrade(self)));
            state.teller = Some(task.abort_handle());
        }
    }

    /// Tells the store what it is owed; `None` where it cannot be told.
    async fn tell(&self) -> Option<()> {
        loop {
            let Some((group, mention)) = self.lock().owed.first().cloned() else { return Some(()) };
            self.ask(self.store.invalidate(&group)).await?;
            // Mentioned once more while it was told, it is told once more.
            self.lock().owed.retain(|owed| *owed != (group.clone(), mention));
        }
    }

    async fn ask<T>(&self, asked: impl Future<Output = Result<T, StoreError>>) -> Option<T> {
        if self.lock().resting.is_some_and(|until| timer::now() < until) {
            return None;
        }
        let mut asked = pin!(asked);
        let mut timer = Timer::default();
        let deadline = timer::now().checked_add(LIMIT);
        let answer = poll_fn(|cx| match asked.as_mut().poll(cx) {
            Poll::Ready(answer) => Poll::Ready(answer),
            // Without a runtime nobody keeps the time, and the store is waited for.
            Poll::Pending => match timer.poll(deadline, cx) {
                Poll::Ready(Ok(())) => {
                    Poll::Ready(Err(StoreError::new(format!("no answer within {LIMIT:?}"))))
                }
                _ => Poll::Pending,
            },
        });
        match answer.await {
            Ok(answer) => {
                self.works();
                Some(answer)
            }
            Err(error) => {
                self.fails(&error);
                None
            }
        }
    }

    fn works(&self) {
        let mut state = self.lock();
        state.resting = None;
        if std::mem::take(&mut state.failing) {
            tracing::info!("the store of the cache is back");
        }
    }

    fn fails(&self, error: &StoreError) {
        let mut state = self.lock();
        state.resting = timer::now().checked_add(REST);
        if std::mem::replace(&mut state.failing, true) {
            tracing::debug!(%error, "the store of the cache still fails");
        } else {
            tracing::warn!(%error, "the store of the cache fails; calls go on without it");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn owe(&mut self, group: &Group) {
        self.mentions += 1;
        let mention = self.mentions;
        if self.owed.len() >= MOST_OWED {
            // As many as there are servers, then.
            let wholes: Vec<_> = self.owed.drain(..).map(|(group, _)| group.whole()).collect();
            wholes.iter().for_each(|whole| self.note(whole, mention));
            return self.note(&group.whole(), mention);
        }
        self.note(group, mention);
    }

    fn note(&mut self, group: &Group, mention: u64) {
        self.owed.retain(|(known, _)| !group.covers(known));
        self.owed.push((group.clone(), mention));
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(teller) = &state.teller {
            teller.abort();
        }
    }
}

/// Tells the store what it is owed until it is owed nothing, or it failed too often.
async fn tell_all(foreign: Weak<Foreign>) {
    for _ in 0..MOST_TRIES {
        let Some(foreign) = foreign.upgrade() else { return };
        if foreign.tell().await.is_some() {
            return;
        }
        drop(foreign);
        tokio::time::sleep(REST).await;
    }
}
