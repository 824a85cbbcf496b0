//! Calls of tools that are held against the tool's definition, before they are sent and when they
//! are answered.
//!
//! What holding means is behind [`Checker`], which a feature supplies; without one no call comes
//! here.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use snodo_transport::BoxFuture;
use snodo_types::{Body, Error, Message, Outcome, Tool};
use tokio::sync::Mutex;

use crate::Client;
use crate::call::Call;
use crate::client::Core;
use crate::doing::naming;
use crate::driver::Driver;
use crate::running::Answer;
use crate::timer::{self, Timer};

/// What is known of the tools of one server.
pub(crate) trait Checker: Send + Sync {
    /// Takes a definition.
    fn learn(&self, tool: &Tool) -> Arc<dyn Check>;

    /// What is known of the tool of this name, as far as the server's list is known.
    fn find(&self, name: &str) -> Option<Arc<dyn Check>>;

    /// The server's list has no tool of this name.
    fn miss(&self, name: &str);

    /// The server's list is not what it was.
    fn forget(&self);
}

/// Holds calls of one tool against its definition.
pub(crate) trait Check: Send + Sync {
    fn arguments(&self, text: &str) -> Result<(), Error>;

    fn result(&self, message: &Message) -> Result<(), Error>;
}

/// Makes a checker for each client, where one is wanted.
#[derive(Clone, Default)]
pub(crate) struct Checkers(pub(crate) Option<Arc<dyn Fn() -> Box<dyn Checker> + Send + Sync>>);

impl Checkers {
    pub(crate) fn make(&self) -> Option<Arc<Checks>> {
        let checker = self.0.as_ref()?();
        Some(Arc::new(Checks { checker, turn: Mutex::new(()) }))
    }
}

impl fmt::Debug for Checkers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Checkers")
    }
}

/// The checker of a client.
pub(crate) struct Checks {
    checker: Box<dyn Checker>,
    /// One call at a time asks for the list of tools.
    turn: Mutex<()>,
}

impl Checks {
    pub(crate) fn learn(&self, tool: &Tool) -> Arc<dyn Check> {
        self.checker.learn(tool)
    }

    pub(crate) fn forget(&self) {
        self.checker.forget();
    }

    /// What the server tells, perhaps of its tools.
    pub(crate) fn hear(&self, message: &Message) {
        let changed = "notifications/tools/list_changed";
        if matches!(message.body(), Body::Notification { method, .. } if method == changed) {
            self.forget();
        }
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Checks")
    }
}

/// A call of a tool that is checked.
pub(crate) struct Checked {
    checks: Arc<Checks>,
    name: String,
    state: State,
    target: String,
}

enum State {
    /// Nothing was done yet; so much of its time was spent before.
    Fresh(Box<Call>, Duration),
    /// The list of tools is on its way.
    Learning(Box<Learning>),
    /// It was sent.
    Sent(Box<Driver>, Arc<dyn Check>),
    /// The server has no such tool, as far as it lists them: there is nothing to hold it against.
    Unlisted(Box<Driver>),
    Over,
}

struct Learning {
    call: Box<Call>,
    held: Duration,
    since: Instant,
    list: BoxFuture<'static, Result<(), Error>>,
    timer: Timer,
}

impl Checked {
    /// The tool whose call is to be checked, and by what; `None` for any other request.
    pub(crate) fn tool(call: &Call) -> Option<(Arc<Checks>, String)> {
        let checks = call.checks.as_ref().filter(|_| call.method() == "tools/call")?;
        let name = serde_json::from_str(&call.param("name")?).ok()?;
        Some((Arc::clone(checks), name))
    }

    /// The call of that tool. `held` of its time was spent before.
    pub(crate) fn new(call: Call, (checks, name): (Arc<Checks>, String), held: Duration) -> Self {
        let target = call.target().to_owned();
        Self { checks, name, state: State::Fresh(Box::new(call), held), target }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        loop {
            match &mut self.state {
                State::Fresh(..) => {
                    if let Err(error) = self.begin() {
                        return Poll::Ready(Err(self.explain(error)));
                    }
                }
                State::Learning(learning) => {
                    let learnt = ready!(learning.poll(cx));
                    let State::Learning(learning) = std::mem::replace(&mut self.state, State::Over)
                    else {
                        continue;
                    };
                    let sent = learnt.and_then(|()| self.send(*learning));
                    if let Err(error) = sent {
                        return Poll::Ready(Err(self.explain(error)));
                    }
                }
                State::Sent(driver, check) => {
                    let answer = ready!(driver.poll(cx));
                    let check = Arc::clone(check);
                    let answer = answer.and_then(|outcome| match outcome {
                        Outcome::Complete(message) => {
                            check.result(&message)?;
                            Ok(Outcome::Complete(message))
                        }
                        asked => Ok(asked),
                    });
                    self.state = State::Over;
                    return Poll::Ready(answer.map_err(|error| self.explain(error)));
                }
                State::Unlisted(driver) => return driver.poll(cx),
                State::Over => return Poll::Pending,
            }
        }
    }

    /// Holds the arguments against the definition and sends the call; where it is not known, asks
    /// for the list first.
    fn begin(&mut self) -> Result<(), Error> {
        let State::Fresh(call, held) = std::mem::replace(&mut self.state, State::Over) else {
            return Ok(());
        };
        let known = call.check.clone().or_else(|| self.checks.checker.find(&self.name));
        self.state = match known {
            Some(check) => sent(*call, held, check)?,
            None => {
                let (core, checks) = (Arc::clone(&call.core), Arc::clone(&self.checks));
                let list = Box::pin(learn(core, checks, self.name.clone()));
                let (since, timer) = (timer::now(), Timer::default());
                State::Learning(Box::new(Learning { call, held, since, list, timer }))
            }
        };
        Ok(())
    }

    fn send(&mut self, learning: Learning) -> Result<(), Error> {
        let Learning { call, held, since, .. } = learning;
        let held = held + timer::now().saturating_duration_since(since);
        self.state = match self.checks.checker.find(&self.name) {
            Some(check) => sent(*call, held, check)?,
            None => State::Unlisted(Box::new(call.start(held))),
        };
        Ok(())
    }

    pub(crate) fn explain(&self, error: Error) -> Error {
        error.at(&naming("tools/call", &self.name), &self.target)
    }
}

fn sent(call: Call, held: Duration, check: Arc<dyn Check>) -> Result<State, Error> {
    check.arguments(call.param("arguments").as_deref().unwrap_or("{}"))?;
    Ok(State::Sent(Box::new(call.start(held)), check))
}

impl Learning {
    /// Waits no longer for the list than for the call.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let Poll::Ready(learnt) = self.list.as_mut().poll(cx) {
            return Poll::Ready(learnt);
        }
        let limits = &self.call.limits;
        let limit = limits.timeout.into_iter().chain(limits.deadline).min();
        let same_task = self.call.core.connection().transport.abilities().same_task;
        let Some(limit) = limit.filter(|_| !same_task) else { return Poll::Pending };
        let end = self.since.checked_add(limit.saturating_sub(self.held));
        self.timer.poll(end, cx).map(|waited| waited.and(Err(Error::timeout(limit))))
    }
}

/// Lists the tools, whose definitions are learnt as they come in.
async fn learn(core: Arc<Core>, checks: Arc<Checks>, name: String) -> Result<(), Error> {
    let _turn = checks.turn.lock().await;
    if checks.checker.find(&name).is_some() {
        return Ok(());
    }
    let tools = Client::of(core).list_tools().await?;
    if !tools.iter().any(|tool| tool.name == name) {
        tracing::debug!(tool = name, "the server does not list the tool: it is not checked");
        checks.checker.miss(&name);
    }
    Ok(())
}
