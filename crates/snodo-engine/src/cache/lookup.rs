//! One request that may be answered by what is kept.

use std::collections::VecDeque;
use std::time::Duration;

use snodo_types::{
    Body, CacheHints, CacheScope, Error, ErrorObject, Fingerprint, Kept, Kind, Message, Outcome,
    Outside,
};

use super::is_complete;

/// Looks for a kept result, lets one of those who miss it fetch it, and says what becomes of the
/// answer.
///
/// The driver does one [`LookupStep`] after the other and tells what came of it.
///
/// ```
/// use std::time::Duration;
/// use snodo_engine::{Asking, Found, Lookup, LookupStep, Whose};
/// use snodo_types::Message;
///
/// let mut lookup = Lookup::new(Asking::default());
/// assert!(matches!(lookup.poll(), Some(LookupStep::Load(Whose::Everybody))));
/// let message = Message::result(&1.into(), "{}");
/// lookup.handle_loaded(Some(Found { message, fresh_for: Duration::from_secs(1) }));
/// assert!(matches!(lookup.poll(), Some(LookupStep::Leave(_))));
/// assert!(matches!(lookup.poll(), Some(LookupStep::Done(_))));
/// ```
#[derive(Debug)]
pub struct Lookup {
    asking: Asking,
    steps: VecDeque<LookupStep>,
    stage: Stage,
    /// What is past its time, for a server that cannot be asked.
    fallback: Option<Message>,
    caller: Option<Fingerprint>,
    /// Nobody who asks the same is waited for any more.
    alone: bool,
    /// How long it waited for other processes.
    waited: Duration,
    pause: Duration,
}

/// What is wanted, and on what terms.
///
/// ```
/// use snodo_engine::Asking;
///
/// let asking = Asking::default();
/// assert!(!asking.anew && asking.stale_for.is_zero());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "all that decides a lookup")]
pub struct Asking {
    /// The server is to be asked whatever is kept.
    pub anew: bool,
    /// What is kept for others than everybody is kept for some caller: who asks is found out first.
    pub private: bool,
    /// Other processes share what is kept for everybody.
    pub shared: bool,
    /// How long past its time a result may still answer, where the server cannot be asked.
    pub stale_for: Duration,
    /// How long another process that fetches the same is waited for.
    pub patience: Duration,
    /// The request asks for a page that is not the first.
    pub later_page: bool,
}

/// For whom a result is kept.
///
/// ```
/// assert_eq!(snodo_engine::Whose::Everybody, snodo_engine::Whose::Everybody);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the scopes of the protocol")]
pub enum Whose {
    /// This caller alone.
    Caller(Fingerprint),
    /// All who ask the same.
    Everybody,
}

/// One thing for the driver to do; see [`Lookup`].
///
/// ```
/// use snodo_engine::{Asking, Facts, Lookup, LookupStep, Turn};
/// use snodo_types::{Message, Outcome};
///
/// let mut lookup = Lookup::new(Asking::default());
/// while let Some(step) = lookup.poll() {
///     match step {
///         LookupStep::Load(_) => lookup.handle_loaded(None),
///         LookupStep::Join(_) => lookup.handle_turn(Turn::Mine),
///         LookupStep::Fetch => {
///             let answer = Message::result(&1.into(), r#"{"tools":[]}"#);
///             lookup.handle_answer(Ok(Outcome::Complete(answer)), Facts::default());
///         }
///         LookupStep::Done(answer) => assert!(answer.is_ok()),
///         // Claim, Sleep and Spoil; without a time to live nothing is saved.
///         step => println!("{step:?}"),
///     }
/// }
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver has to do each of them")]
pub enum LookupStep {
    /// Ask the store whether another process fetches; then call `handle_claim`.
    Claim,
    /// It is over. Nothing follows.
    Done(Box<Result<Outcome<Message>, Error>>),
    /// Send the request, or go on with it; then call `handle_caller` or `handle_answer`.
    Fetch,
    /// Wait until nobody else here fetches the same; then call `handle_turn`.
    Join(Whose),
    /// Let those go on who wait for this one.
    Leave(Leaving),
    /// Look for what is kept; then call `handle_loaded`.
    Load(Whose),
    /// Keep a result.
    Save {
        /// For whom.
        whose: Whose,
        /// The result.
        message: Message,
        /// How long it is fresh.
        fresh_for: Duration,
        /// How long it is of any use, that included.
        kept_for: Duration,
    },
    /// Wait so long; then call `handle_slept`.
    Sleep(Duration),
    /// All pages of the list are stale: the cursor is.
    Spoil,
}

/// What those who waited for a fetch are left with.
///
/// ```
/// assert_ne!(snodo_engine::Leaving::Failed, snodo_engine::Leaving::Unkept);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what a fetch comes to")]
pub enum Leaving {
    /// Nothing: the next one fetches.
    Failed,
    /// What was saved.
    Saved,
    /// Nothing, and there will not be anything: each one fetches.
    Unkept,
}

/// What was found.
///
/// ```
/// use std::time::Duration;
/// use snodo_engine::Found;
/// use snodo_types::Message;
///
/// let stale = Found { message: Message::result(&1.into(), "{}"), fresh_for: Duration::ZERO };
/// assert!(stale.fresh_for.is_zero());
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by the driver")]
pub struct Found {
    /// The result.
    pub message: Message,
    /// How long it still is fresh; zero for one that is stale.
    pub fresh_for: Duration,
}

/// What came of waiting for the others who ask the same here.
///
/// ```
/// assert!(matches!(snodo_engine::Turn::Mine, snodo_engine::Turn::Mine));
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "made by the driver")]
pub enum Turn {
    /// What another one fetched is not kept: there is nothing to wait for.
    Alone,
    /// Another one fetched it.
    Given(Found),
    /// Nobody fetches: it is up to this one.
    Mine,
    /// What another one fetched is for him alone.
    Private,
}

/// Who of several processes fetches.
///
/// ```
/// assert_ne!(snodo_engine::Claim::Mine, snodo_engine::Claim::Others);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what a store can say")]
pub enum Claim {
    /// Everybody: what was fetched last was not for sharing.
    Everybody,
    /// This one.
    Mine,
    /// Another one, which will be done soon.
    Others,
}

/// What the driver knows of an answer besides its text.
///
/// ```
/// let facts = snodo_engine::Facts { inquired: true, ..Default::default() };
/// assert_ne!(facts, snodo_engine::Facts::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by the driver")]
pub struct Facts {
    /// The server asked for input before it answered.
    pub inquired: bool,
    /// It was asked in another version or session than what it was looked for under.
    pub elsewhere: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Looking for what is for everybody.
    Looking,
    /// Waiting for whoever here fetches the same, or asking who else does.
    Waiting,
    /// The last look before it is fetched.
    Checking,
    /// Looking once more, after a pause for another process.
    Glancing,
    /// It is being fetched.
    Fetching,
    /// Who asks is known now: looking for what is his.
    Naming,
    Over,
}

impl Lookup {
    /// A lookup that has not begun.
    #[must_use]
    pub fn new(asking: Asking) -> Self {
        let (stage, first) = match asking {
            Asking { anew: true, .. } => (Stage::Waiting, LookupStep::Join(Whose::Everybody)),
            Asking { private: true, .. } => (Stage::Fetching, LookupStep::Fetch),
            _ => (Stage::Looking, LookupStep::Load(Whose::Everybody)),
        };
        Self {
            asking,
            steps: VecDeque::from([first]),
            stage,
            fallback: None,
            caller: None,
            alone: false,
            waited: Duration::ZERO,
            pause: FIRST_PAUSE,
        }
    }

    /// What is to be done next; `None` until the driver told what came of the last step.
    pub fn poll(&mut self) -> Option<LookupStep> {
        self.steps.pop_front()
    }

    /// What is kept, if anything is.
    pub fn handle_loaded(&mut self, found: Option<Found>) {
        if let Some(found) = found.filter(|_| !self.asking.anew) {
            if !found.fresh_for.is_zero() {
                return self.give(found.message, Kept::Fresh);
            }
            self.fallback = Some(found.message);
        }
        let (stage, step) = match (self.stage, self.caller) {
            (Stage::Looking, _) => (Stage::Waiting, LookupStep::Join(Whose::Everybody)),
            (Stage::Glancing, _) => (Stage::Waiting, LookupStep::Claim),
            (Stage::Naming, Some(caller)) if !self.alone => {
                (Stage::Waiting, LookupStep::Join(Whose::Caller(caller)))
            }
            _ => (Stage::Fetching, LookupStep::Fetch),
        };
        self.go(stage, step);
    }

    /// What came of waiting for the others here.
    pub fn handle_turn(&mut self, turn: Turn) {
        self.alone |= matches!(turn, Turn::Alone);
        match (turn, self.caller) {
            (Turn::Given(found), _) => self.give(found.message, Kept::Fresh),
            (Turn::Alone | Turn::Private, _) if !self.asking.anew => {
                self.go(Stage::Fetching, LookupStep::Fetch);
            }
            (_, Some(caller)) => self.go(Stage::Checking, LookupStep::Load(Whose::Caller(caller))),
            (Turn::Mine, None) if self.asking.shared && !self.asking.anew => {
                self.go(Stage::Waiting, LookupStep::Claim);
            }
            (_, None) => self.go(Stage::Checking, LookupStep::Load(Whose::Everybody)),
        }
    }

    /// Who of several processes fetches.
    pub fn handle_claim(&mut self, claim: Claim) {
        match claim {
            Claim::Mine => self.go(Stage::Checking, LookupStep::Load(Whose::Everybody)),
            Claim::Others if self.waited < self.asking.patience => {
                self.waited += self.pause;
                self.go(Stage::Waiting, LookupStep::Sleep(self.pause));
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            }
            Claim::Everybody | Claim::Others => self.go(Stage::Fetching, LookupStep::Fetch),
        }
    }

    /// The pause is over.
    pub fn handle_slept(&mut self) {
        self.go(Stage::Glancing, LookupStep::Load(Whose::Everybody));
    }

    /// For whom the request is about to be sent. What was found for everybody stays of use.
    pub fn handle_caller(&mut self, caller: Fingerprint) {
        if self.stage != Stage::Fetching {
            return;
        }
        if self.caller.replace(caller) == Some(caller) {
            return self.go(Stage::Fetching, LookupStep::Fetch);
        }
        match self.asking.anew {
            true => self.go(Stage::Waiting, LookupStep::Join(Whose::Caller(caller))),
            false => self.go(Stage::Naming, LookupStep::Load(Whose::Caller(caller))),
        }
    }

    /// What came of the request.
    pub fn handle_answer(&mut self, answer: Result<Outcome<Message>, Error>, facts: Facts) {
        self.stage = Stage::Over;
        let leaving = match &answer {
            Ok(Outcome::Complete(message)) => match self.keeping(message, facts) {
                Some((whose, fresh_for)) => {
                    let kept_for = fresh_for.saturating_add(self.asking.stale_for);
                    let message = message.clone();
                    self.steps.push_back(LookupStep::Save { whose, message, fresh_for, kept_for });
                    Leaving::Saved
                }
                None => Leaving::Unkept,
            },
            Ok(Outcome::InputRequired(_)) => Leaving::Unkept,
            Err(error) => {
                if self.asking.later_page && error.code() == ErrorObject::INVALID_PARAMS {
                    self.steps.push_back(LookupStep::Spoil);
                }
                Leaving::Failed
            }
        };
        self.steps.push_back(LookupStep::Leave(leaving));
        let answer = match answer {
            Err(error) if cannot_be_asked(&error) => self
                .fallback
                .take()
                .map_or(Err(error), |message| Ok(Outcome::Complete(marked(message, Kept::Stale)))),
            answer => answer,
        };
        self.steps.push_back(LookupStep::Done(Box::new(answer)));
    }

    /// Whether a result is kept, for whom and for how long. What was asked for in rounds is not
    /// (2026-07-28, caching, "Cache Key").
    fn keeping(&self, message: &Message, facts: Facts) -> Option<(Whose, Duration)> {
        let Body::Result { result, .. } = message.body() else { return None };
        if facts.inquired || facts.elsewhere {
            return None;
        }
        let hints = CacheHints::of(result);
        if hints.ttl.is_zero() || !is_complete(result) {
            return None;
        }
        let whose = match hints.scope {
            CacheScope::Public => Whose::Everybody,
            _ => Whose::Caller(self.caller?),
        };
        Some((whose, hints.ttl.min(LONGEST)))
    }

    /// Ends with what was kept.
    fn give(&mut self, message: Message, kept: Kept) {
        let answer = Ok(Outcome::Complete(marked(message, kept)));
        self.steps.push_back(LookupStep::Leave(Leaving::Failed));
        self.go(Stage::Over, LookupStep::Done(Box::new(answer)));
    }

    fn go(&mut self, stage: Stage, step: LookupStep) {
        self.stage = stage;
        self.steps.push_back(step);
    }
}

fn marked(message: Message, kept: Kept) -> Message {
    message.with_outside(Outside { kept: Some(kept), ..Outside::default() })
}

/// Whether the server could not be asked, in place of having said no.
fn cannot_be_asked(error: &Error) -> bool {
    if error.kind() == Kind::Authorization {
        return false;
    }
    match error.transport().map(|below| below.status()) {
        None => error.is_timeout(),
        Some(Some(status)) => matches!(status, 408 | 429 | 500..),
        Some(None) => true,
    }
}

/// The longest that a result is fresh, whatever its server says: a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How soon to look whether another process is done, and how seldom at last.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(160);
