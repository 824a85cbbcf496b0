//! Results in the memory of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use snodo_engine::{Found, Group, Key, Whose};
use snodo_types::Message;

use crate::timer;

/// At most [`MOST_ENTRIES`] results and [`MOST_BYTES`]; past that the one goes that was not used
/// for longest.
#[derive(Default)]
pub(super) struct Memory(Mutex<State>);

#[derive(Default)]
struct State {
    /// By the text of the key: few callers ask the same, and all of theirs stand together.
    kept: HashMap<Arc<str>, Vec<Kept>>,
    entries: usize,
    bytes: usize,
    /// Counts uses.
    tick: u64,
}

struct Kept {
    whose: Whose,
    group: Group,
    message: Message,
    fresh_until: Instant,
    kept_until: Instant,
    used: u64,
    size: usize,
}

/// How many results are kept at most.
const MOST_ENTRIES: usize = 256;

/// How many bytes results and their keys take at most: 16 MiB.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What an entry takes beside its texts, roughly.
const OVERHEAD: usize = 256;

impl Memory {
    /// What is kept, if it is still of use.
    pub(super) fn load(&self, key: &Key, whose: Whose) -> Option<Found> {
        let now = timer::now();
        let mut state = self.lock();
        state.tick += 1;
        let tick = state.tick;
        let place = state.place(key.text(), whose)?;
        let kept = state.kept.get_mut(key.text())?.get_mut(place)?;
        if kept.kept_until <= now {
            state.remove(key.text(), place);
            return None;
        }
        kept.used = tick;
        let fresh_for = kept.fresh_until.saturating_duration_since(now);
        Some(Found { message: kept.message.clone(), fresh_for })
    }

    /// Whether anything is kept under this key for some caller.
    pub(super) fn has_private(&self, key: &Key) -> bool {
        let state = self.lock();
        let of_key = state.kept.get(key.text());
        of_key.is_some_and(|of_key| of_key.iter().any(|kept| kept.whose != Whose::Everybody))
    }

    /// Forgets what is kept under this key for single callers: there is something for everybody.
    pub(super) fn forget_private(&self, key: &Key) {
        self.lock().retain(|text, kept| kept.whose == Whose::Everybody || **text != *key.text());
    }

    /// Keeps a result in place of what is there. One that alone is larger than all that may be
    /// kept is not.
    pub(super) fn save(
        &self,
        key: &Key,
        whose: Whose,
        message: Message,
        fresh_for: Duration,
        kept_for: Duration,
    ) {
        let now = timer::now();
        let until = |time: Duration| now.checked_add(time).unwrap_or(now);
        let size = message.text().len() + key.text().len() + OVERHEAD;
        if size > MOST_BYTES {
            tracing::debug!(size, limit = MOST_BYTES, "a result is too large to be kept");
            return;
        }
        let mut state = self.lock();
        if let Some(place) = state.place(key.text(), whose) {
            state.remove(key.text(), place);
        }
        while state.entries >= MOST_ENTRIES || state.bytes + size > MOST_BYTES {
            state.evict(now);
        }
        state.tick += 1;
        state.entries += 1;
        state.bytes += size;
        let kept = Kept {
            whose,
            group: key.group().clone(),
            message,
            fresh_until: until(fresh_for),
            kept_until: until(kept_for),
            used: state.tick,
            size,
        };
        state.kept.entry(key.shared_text()).or_default().push(kept);
    }

    /// Forgets a group, whoever it is kept for.
    pub(super) fn invalidate(&self, group: &Group) {
        self.lock().retain(|_, kept| !group.covers(&kept.group));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn place(&self, key: &str, whose: Whose) -> Option<usize> {
        self.kept.get(key)?.iter().position(|kept| kept.whose == whose)
    }

    fn remove(&mut self, key: &str, place: usize) {
        let Some(of_key) = self.kept.get_mut(key) else { return };
        let kept = of_key.swap_remove(place);
        self.entries -= 1;
        self.bytes -= kept.size;
        if of_key.is_empty() {
            self.kept.remove(key);
        }
    }

    /// Makes room: by all that is of no use any more, else by what was not used for longest. At
    /// most as many are looked at as there may be entries.
    fn evict(&mut self, now: Instant) {
        let before = self.entries;
        self.retain(|_, kept| kept.kept_until > now);
        if self.entries < before {
            return;
        }
        let all = self.kept.values().flatten();
        if let Some(oldest) = all.map(|kept| kept.used).min() {
            self.retain(|_, kept| kept.used != oldest);
        }
    }

    fn retain(&mut self, mut keep: impl FnMut(&Arc<str>, &Kept) -> bool) {
        let (mut entries, mut bytes) = (0, 0);
        self.kept.retain(|key, of_key| {
            of_key.retain(|kept| keep(key, kept));
            entries += of_key.len();
            bytes += of_key.iter().map(|kept| kept.size).sum::<usize>();
            !of_key.is_empty()
        });
        (self.entries, self.bytes) = (entries, bytes);
    }
}
