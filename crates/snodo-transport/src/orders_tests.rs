//! Every order in which a pipe, its readers and whoever closes it can come to the table.
//!
//! The table stands under a lock, so one visit is one step; that a pipe wakes a reader is a step by itself, behind the lock.
//! A reader runs only while it was woken, as on any executor. Each run takes the steps in another order until there is none
//! left, and holds what the readers saw against a list of what was delivered. What follows from any order is then known
//! for all orders of these few steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use snodo_types::{Envelope, InboxLimits, Message, Overflow, TransportError, TransportFault};

use super::{Pending, Route};
use crate::Incoming;

/// What the pipe does, one after the other.
#[derive(Clone, Copy)]
enum Act {
    Answer(u64),
    Close,
    /// A notification that ends a listening request.
    Ends(u64),
    News(u64),
    /// Progress of a call.
    Part(u64, u64),
}

/// A reader: of a call, or of what concerns none.
#[derive(Clone, Copy)]
struct Plan {
    id: Option<u64>,
    limits: InboxLimits,
    listen: bool,
    /// Whether each poll comes with another waker.
    moves: bool,
    /// How often it polls though nobody woke it.
    restless: usize,
}

#[derive(Clone, Default)]
struct Scene {
    readers: Vec<Plan>,
    pipe: Vec<Act>,
    /// The second thread closes the table.
    closes: bool,
    /// The call whose reader goes away, at any moment after it was opened.
    drops: Option<u64>,
    /// What the pipe forgets: its wakes, for the test that this is seen.
    forgets: bool,
}

fn call(id: u64) -> Plan {
    let limits = InboxLimits::default();
    Plan { id: Some(id), limits, listen: false, moves: false, restless: 0 }
}

fn tight(plan: Plan, overflow: Overflow) -> Plan {
    let mut limits = plan.limits;
    (limits.capacity, limits.overflow) = (1, overflow);
    Plan { limits, ..plan }
}

#[test]
fn a_call_gets_each_message_once_in_any_order_of_steps() {
    let scene = Scene {
        readers: vec![call(1)],
        pipe: vec![Act::Part(1, 1), Act::Part(1, 2), Act::Part(1, 3), Act::Answer(1)],
        closes: true,
        ..Scene::default()
    };
    explore("one call, closed by another thread", &scene);
}

#[test]
fn calls_that_cross_each_other_lose_nothing() {
    let scene = Scene {
        readers: vec![call(1), call(2)],
        pipe: vec![Act::Part(1, 1), Act::Answer(2), Act::Answer(1), Act::Close],
        ..Scene::default()
    };
    explore("two calls, answered crosswise", &scene);
}

#[test]
fn a_call_that_is_given_up_takes_nothing_from_another() {
    let scene = Scene {
        readers: vec![call(1), call(2)],
        pipe: vec![Act::Answer(1), Act::Answer(2), Act::Close],
        drops: Some(1),
        ..Scene::default()
    };
    explore("two calls, one given up", &scene);
    let scene = Scene { pipe: vec![Act::Part(1, 1), Act::Answer(2)], closes: true, ..scene };
    explore("two calls, one given up, closed by another thread", &scene);
    let scene = Scene {
        readers: vec![call(1)],
        pipe: vec![Act::Part(1, 1), Act::Answer(1)],
        drops: Some(1),
        closes: true,
        ..Scene::default()
    };
    explore("one call, given up and closed", &scene);
}

#[test]
fn a_task_that_moves_is_woken_where_it_is() {
    let scene = Scene {
        readers: vec![Plan { moves: true, restless: 2, ..call(1) }],
        pipe: vec![Act::Part(1, 1), Act::Answer(1)],
        closes: true,
        ..Scene::default()
    };
    explore("a call whose task moves, polled without need", &scene);
}

// S-63
#[test]
fn what_overflows_is_counted_where_it_is_missing_in_any_order() {
    for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
        let scene = Scene {
            readers: vec![tight(call(1), overflow)],
            pipe: vec![Act::Part(1, 1), Act::Part(1, 2), Act::Part(1, 3), Act::Answer(1)],
            closes: true,
            ..Scene::default()
        };
        explore("a call with room for one message", &scene);
    }
    let mut first = tight(Plan { listen: true, ..call(1) }, Overflow::DropOldest);
    first.limits.keep_first = true;
    let scene = Scene {
        readers: vec![first],
        pipe: vec![Act::Part(1, 1), Act::Part(1, 2), Act::Part(1, 3), Act::Ends(1), Act::Close],
        ..Scene::default()
    };
    explore("a listening request that keeps its first", &scene);
}

#[test]
fn what_concerns_no_call_reaches_its_reader_beside_a_call() {
    let nobody = Plan { id: None, ..call(0) };
    let scene = Scene {
        readers: vec![nobody, call(1)],
        pipe: vec![Act::News(1), Act::Answer(1)],
        closes: true,
        ..Scene::default()
    };
    explore("news beside a call", &scene);
}

/// Without this the tests above would prove little.
#[test]
fn a_wake_that_is_forgotten_is_seen() {
    let scene = Scene {
        readers: vec![call(1)],
        pipe: vec![Act::Answer(1), Act::Close],
        forgets: true,
        ..Scene::default()
    };
    let mut orders = Orders::default();
    let mut found = Vec::new();
    let messages = scene.messages();
    while orders.begin() {
        found.extend(Run::of(&scene, &messages, &mut orders).err());
    }
    assert!(!found.is_empty() && found.iter().all(|why| why == LOST), "{found:?}");
}

/// Runs a scene in every order.
fn explore(name: &str, scene: &Scene) {
    let mut orders = Orders::default();
    let messages = scene.messages();
    let mut count = 0_u64;
    while orders.begin() {
        if let Err(why) = Run::of(scene, &messages, &mut orders) {
            panic!("{name}: {why}, by the steps {:?}", orders.taken);
        }
        count += 1;
    }
    println!("{count:>8} orders: {name}");
    assert!(count > 100, "there is more than one order of steps");
}

/// The choices of a run: which, and of how many.
#[derive(Default)]
struct Orders {
    taken: Vec<(usize, usize)>,
    at: usize,
    begun: bool,
}

impl Orders {
    /// Goes on to the next order, if there is one.
    fn begin(&mut self) -> bool {
        self.at = 0;
        if !std::mem::replace(&mut self.begun, true) {
            return true;
        }
        while let Some((choice, of)) = self.taken.pop() {
            if choice + 1 < of {
                self.taken.push((choice + 1, of));
                return true;
            }
        }
        false
    }

    fn choose(&mut self, of: usize) -> usize {
        if self.at == self.taken.len() {
            self.taken.push((0, of));
        }
        let (choice, before) = self.taken[self.at];
        assert_eq!(before, of, "a run is the same each time");
        self.at += 1;
        choice
    }
}

/// Who takes a step.
#[derive(Clone, Copy)]
enum Actor {
    Closer,
    Dropper,
    Pipe,
    Reader(usize),
}

struct Run<'s> {
    scene: &'s Scene,
    /// What the pipe delivers; a message is known by its place here.
    messages: &'s [Message],
    table: Pending,
    readers: Vec<Reader>,
    /// How much of the script is done, and who is to be woken behind it.
    done: usize,
    pipe_wakes: Vec<Waker>,
    closer_wakes: Vec<Waker>,
    closed: bool,
    closer_done: bool,
    late: u64,
}

struct Reader {
    plan: Plan,
    state: State,
    woken: Arc<Woken>,
    restless: usize,
    seen: Vec<Seen>,
    /// What was delivered to it while it could take it, in order.
    meant: Vec<Seen>,
    /// Whether its end was delivered.
    ended: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Fresh,
    Open,
    Over,
    /// The table was closed before.
    Refused,
    Dropped,
}

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Dropped(u64),
    Failed,
    /// By its place in the script.
    Message(usize),
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<'s> Run<'s> {
    fn of(scene: &'s Scene, messages: &'s [Message], orders: &mut Orders) -> Result<(), String> {
        let readers = scene.readers.iter().map(|plan| Reader::new(*plan)).collect();
        let table = Pending::new();
        let (pipe_wakes, closer_wakes) = (Vec::new(), Vec::new());
        let (done, late, closed, closer_done) = (0, 0, false, !scene.closes);
        let mut run = Self {
            scene,
            messages,
            table,
            readers,
            done,
            pipe_wakes,
            closer_wakes,
            closed,
            closer_done,
            late,
        };
        loop {
            let actors = run.actors();
            if actors.is_empty() {
                return run.judge();
            }
            run.step(actors[orders.choose(actors.len())])?;
            run.check_wakes()?;
        }
    }

    /// Whoever could be next.
    fn actors(&self) -> Vec<Actor> {
        let mut actors = Vec::new();
        if !self.pipe_wakes.is_empty() || self.done < self.scene.pipe.len() {
            actors.push(Actor::Pipe);
        }
        if !self.closer_wakes.is_empty() || !self.closer_done {
            actors.push(Actor::Closer);
        }
        let leaves =
            |reader: &&Reader| reader.state == State::Open && reader.plan.id == self.scene.drops;
        if self.scene.drops.is_some() && self.readers.iter().any(|reader| leaves(&reader)) {
            actors.push(Actor::Dropper);
        }
        let runs = self.readers.iter().enumerate().filter(|(_, reader)| reader.can_run());
        actors.extend(runs.map(|(at, _)| Actor::Reader(at)));
        actors
    }

    fn step(&mut self, actor: Actor) -> Result<(), String> {
        match actor {
            Actor::Pipe => match self.pipe_wakes.pop() {
                Some(waker) if !self.scene.forgets => waker.wake(),
                Some(_) => {}
                None => {
                    self.done += 1;
                    self.pipe_wakes = self.act(self.done - 1)?;
                }
            },
            Actor::Closer => match self.closer_wakes.pop() {
                Some(waker) => waker.wake(),
                None => {
                    self.closer_done = true;
                    self.closer_wakes = self.close();
                }
            },
            Actor::Dropper => {
                let id = self.scene.drops.unwrap_or_default();
                for reader in self.readers.iter_mut().filter(|one| one.plan.id == Some(id)) {
                    reader.state = State::Dropped;
                    if self.table.forget(id) == reader.ended {
                        return Err("it is not told whether the peer is still at work".to_owned());
                    }
                }
            }
            Actor::Reader(at) => {
                return self.readers[at].step(&mut self.table, self.messages, self.closed);
            }
        }
        Ok(())
    }

    fn act(&mut self, place: usize) -> Result<Vec<Waker>, String> {
        let act = self.scene.pipe[place];
        let (id, ends) = match act {
            Act::Close => return Ok(self.close()),
            Act::Answer(id) | Act::Ends(id) => (Some(id), true),
            Act::Part(id, _) => (Some(id), false),
            Act::News(_) => (None, false),
        };
        let route = self.table.deliver(self.messages[place].clone());
        let reader = self.readers.iter_mut().find(|reader| reader.plan.id == id);
        let reader = reader.filter(|reader| id.is_none() || reader.state == State::Open);
        match (reader.filter(|reader| !reader.ended), route) {
            (Some(reader), Route::Delivered(waker)) => {
                reader.meant.push(Seen::Message(place));
                reader.ended = ends;
                Ok(waker.into_iter().collect())
            }
            (None, Route::Late) => {
                self.late += 1;
                Ok(Vec::new())
            }
            // Behind the end nobody reads what concerns no call, a cancel of what is over included.
            (None, Route::Delivered(waker)) if id.is_none() || matches!(act, Act::Ends(_)) => {
                Ok(waker.into_iter().collect())
            }
            (_, route) => Err(format!("{place} went the wrong way: {route:?}")),
        }
    }

    fn close(&mut self) -> Vec<Waker> {
        if !std::mem::replace(&mut self.closed, true) {
            for reader in &mut self.readers {
                let lives = reader.state == State::Open || reader.plan.id.is_none();
                if lives && !std::mem::replace(&mut reader.ended, true) {
                    reader.meant.push(Seen::Failed);
                }
            }
        }
        self.table.close(TransportError::new(TransportFault::Closed, "over"))
    }

    /// Whoever has something to read was woken, or is about to be.
    fn check_wakes(&self) -> Result<(), String> {
        for reader in self.readers.iter().filter(|reader| reader.has_something()) {
            let own = Arc::as_ptr(&reader.woken).cast();
            let mut coming = self.pipe_wakes.iter().chain(&self.closer_wakes);
            if !reader.woken.0.load(Ordering::Relaxed) && !coming.any(|waker| waker.data() == own) {
                return Err(LOST.to_owned());
            }
        }
        Ok(())
    }

    /// What has to hold when nobody has a step left.
    fn judge(&mut self) -> Result<(), String> {
        for reader in &self.readers {
            match reader.state {
                State::Over => reader.compare()?,
                State::Refused if reader.seen.is_empty() => {}
                State::Dropped => {}
                State::Open => return Err("a reader waits behind the end".to_owned()),
                State::Fresh | State::Refused => return Err("a reader did nothing".to_owned()),
            }
        }
        if self.table.live() > 0 {
            return Err(format!("{} places are left", self.table.live()));
        }
        if self.table.late_messages() != self.late {
            return Err(format!("{} were late, not {}", self.late, self.table.late_messages()));
        }
        Ok(())
    }
}

impl Reader {
    fn new(plan: Plan) -> Self {
        Self {
            plan,
            state: State::Fresh,
            woken: Arc::new(Woken(AtomicBool::new(true))),
            restless: plan.restless,
            seen: Vec::new(),
            meant: Vec::new(),
            ended: false,
        }
    }

    fn can_run(&self) -> bool {
        let runs = self.woken.0.load(Ordering::Relaxed) || self.restless > 0;
        self.state == State::Fresh || self.state == State::Open && runs
    }

    /// Whether something was delivered that it has not read.
    fn has_something(&self) -> bool {
        let read = self.seen.iter().map(|seen| match seen {
            Seen::Dropped(lost) => *lost,
            Seen::Failed | Seen::Message(_) => 1,
        });
        self.state == State::Open && read.sum::<u64>() < self.meant.len() as u64
    }

    /// Opens its place, or polls once.
    fn step(
        &mut self,
        table: &mut Pending,
        messages: &[Message],
        closed: bool,
    ) -> Result<(), String> {
        if self.state == State::Fresh {
            let Some(id) = self.plan.id else {
                self.state = State::Open;
                return Ok(());
            };
            let mut envelope = Envelope::request(id, String::new());
            (envelope.inbox, envelope.listen) = (self.plan.limits, self.plan.listen);
            let opened = table.open(&envelope);
            self.state = if opened.is_ok() { State::Open } else { State::Refused };
            return if opened.is_ok() == closed {
                Err("opened wrongly".to_owned())
            } else {
                Ok(())
            };
        }
        if !self.woken.0.swap(false, Ordering::Relaxed) {
            self.restless -= 1;
        }
        if self.plan.moves {
            self.woken = Arc::new(Woken(AtomicBool::new(false)));
        }
        let waker = Waker::from(Arc::clone(&self.woken));
        let cx = Context::from_waker(&waker);
        let polled = match self.plan.id {
            Some(id) => table.poll(id, &cx),
            None => table.poll_unsolicited(&cx),
        };
        let seen = match polled {
            Poll::Pending => return Ok(()),
            Poll::Ready(None) => {
                self.state = State::Over;
                return Ok(());
            }
            Poll::Ready(Some(Ok(Incoming::Message(message)))) => {
                let place = messages.iter().position(|one| one.text() == message.text());
                Seen::Message(place.ok_or("a reader got what nobody delivered")?)
            }
            Poll::Ready(Some(Ok(Incoming::Dropped(lost)))) => Seen::Dropped(lost),
            Poll::Ready(Some(Ok(other))) => return Err(format!("a reader got {other:?}")),
            Poll::Ready(Some(Err(_))) => Seen::Failed,
        };
        self.seen.push(seen);
        // It goes on until it has to wait.
        self.woken.0.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Everything that was delivered was seen, in order and once, or is missing where it is said to be.
    fn compare(&self) -> Result<(), String> {
        let mut meant = self.meant.iter();
        for seen in &self.seen {
            let fits = match seen {
                Seen::Dropped(0) => false,
                Seen::Dropped(lost) => {
                    let lost = usize::try_from(*lost).unwrap_or(usize::MAX);
                    meant.by_ref().take(lost).count() == lost && self.plan.limits.capacity == 1
                }
                seen => meant.next() == Some(seen),
            };
            if !fits {
                return Err(format!("{:?} was seen of {:?}", self.seen, self.meant));
            }
        }
        match meant.next() {
            None => Ok(()),
            Some(missing) => Err(format!("{missing:?} was not seen")),
        }
    }
}

impl Scene {
    fn messages(&self) -> Vec<Message> {
        self.pipe.iter().map(|act| act.message()).collect()
    }
}

impl Act {
    fn message(self) -> Message {
        let (method, params) = match self {
            Self::Answer(id) => return Message::result(&id.into(), "{}"),
            // It is done to the table, and delivered to nobody.
            Self::Close => ("close", String::new()),
            Self::Ends(id) => ("notifications/cancelled", format!(r#"{{"requestId":{id}}}"#)),
            Self::News(number) => ("news", format!(r#"{{"number":{number}}}"#)),
            Self::Part(id, number) => (
                "notifications/progress",
                format!(r#"{{"progressToken":{id},"progress":{number}}}"#),
            ),
        };
        Message::notification(
            method,
            Some(&params).filter(|params| !params.is_empty()).map(String::as_str),
        )
    }
}

const LOST: &str = "a wake was lost";
