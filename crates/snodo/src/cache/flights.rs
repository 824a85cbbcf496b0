//! One fetch for all who miss the same at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use snodo_engine::{Found, Key, Turn, Whose};
use snodo_types::Message;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::timer;

/// Who fetches what. There is a flight for each key that somebody fetches, and no other.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<Name, Arc<Flight>>>);

type Name = (Arc<str>, Whose);

#[derive(Default)]
struct Flight {
    /// Held by who fetches; the next in line gets it when he is done, or dropped.
    turn: Arc<AsyncMutex<()>>,
    left: Mutex<Option<Left>>,
}

/// What the one before left.
enum Left {
    Saved(Saved),
    /// It was for nobody else.
    Unkept,
}

struct Saved {
    whose: Whose,
    message: Message,
    fresh_until: Instant,
    /// When it was asked for.
    began: Instant,
}

/// A place in a flight. Dropping it lets the next one fetch.
pub(super) struct Place {
    flights: Arc<Flights>,
    name: Name,
    flight: Arc<Flight>,
    _turn: OwnedMutexGuard<()>,
}

impl Flights {
    /// Waits for whoever fetches the same. Who wants it `anew` takes only what was asked for since
    /// then. A place is given to the one whose turn it is.
    ///
    /// # Cancel safety
    ///
    /// Dropped in the line, the place in it is lost.
    pub(super) async fn join(
        self: &Arc<Self>,
        key: &Key,
        whose: Whose,
        anew: Option<Instant>,
    ) -> (Turn, Option<Place>) {
        let name = (key.shared_text(), whose);
        let flight = Arc::clone(self.lock().entry(name.clone()).or_default());
        let line = Line { flights: Arc::clone(self), name, flight };
        let turn = Arc::clone(&line.flight.turn).lock_owned().await;
        let left = match &*line.flight.left() {
            Some(Left::Saved(saved)) => saved.turn(whose, anew),
            Some(Left::Unkept) => Turn::Alone,
            None => Turn::Mine,
        };
        let place = matches!(left, Turn::Mine).then(|| {
            let (name, flight) = (line.name.clone(), Arc::clone(&line.flight));
            Place { flights: Arc::clone(self), name, flight, _turn: turn }
        });
        (left, place)
    }

    /// Forgets a flight that nobody is on.
    fn leave(&self, name: &Name, flight: &Arc<Flight>) {
        let mut flights = self.lock();
        // One is the map's, one is of who leaves.
        if Arc::strong_count(flight) <= 2 {
            flights.remove(name);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Arc<Flight>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }
}

/// Somebody in the line.
struct Line {
    flights: Arc<Flights>,
    name: Name,
    flight: Arc<Flight>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.flights.leave(&self.name, &self.flight);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.flights.leave(&self.name, &self.flight);
    }
}

impl Flight {
    fn left(&self) -> MutexGuard<'_, Option<Left>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Leaves a result for those who wait.
    pub(super) fn give(&self, whose: Whose, found: &Found, began: Instant) {
        let now = timer::now();
        let fresh_until = now.checked_add(found.fresh_for).unwrap_or(now);
        let message = found.message.clone();
        *self.flight.left() = Some(Left::Saved(Saved { whose, message, fresh_until, began }));
    }

    /// Tells those who wait to do so no longer.
    pub(super) fn scatter(&self) {
        *self.flight.left() = Some(Left::Unkept);
    }
}

impl Saved {
    fn turn(&self, whose: Whose, anew: Option<Instant>) -> Turn {
        let fresh_for = self.fresh_until.saturating_duration_since(timer::now());
        if fresh_for.is_zero() || anew.is_some_and(|asked| self.began < asked) {
            return Turn::Mine;
        }
        match self.whose {
            Whose::Caller(_) if self.whose != whose => Turn::Private,
            _ => Turn::Given(Found { message: self.message.clone(), fresh_for }),
        }
    }
}
