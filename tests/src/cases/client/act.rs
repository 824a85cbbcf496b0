//! Doing the steps.

use std::borrow::Borrow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use snodo::transport::BoxFuture;
use snodo::{Client, Error, State};
use tokio::task::JoinSet;

use super::step::Call;
use super::{Action, ClientScript, Step, StepResult, Target};
use crate::cases::class::Failure;

/// The clients of a case, and what their steps need.
#[derive(Clone)]
pub(crate) struct Stage {
    target: Target,
    /// In the order in which they connected; `None` once dropped.
    clients: Vec<Option<Client>>,
    negotiated: Option<String>,
    close_again: bool,
    /// How many pings the server saw answered.
    pings: Arc<dyn Fn() -> usize + Send + Sync>,
}

impl Stage {
    pub(crate) fn new(
        target: Target,
        script: &ClientScript,
        pings: impl Fn() -> usize + Send + Sync + 'static,
    ) -> Self {
        Self {
            target,
            clients: Vec::new(),
            negotiated: None,
            close_again: script.close_in_close_callback,
            pings: Arc::new(pings),
        }
    }

    /// The version that the last client settled.
    pub(crate) fn negotiated(&self) -> Option<String> {
        self.negotiated.clone()
    }

    /// Does one step, as often as it says.
    pub(crate) async fn run(&mut self, step: &Step) -> StepResult {
        match (&step.action, step.parallel) {
            (Action::Several(steps), Some(most)) if is_fan(steps, most, step.repeat) => {
                let steps: Vec<_> = steps.iter().cloned().map(Arc::new).collect();
                StepResult::Several(self.fan(&steps, most).await)
            }
            (_, None) if step.repeat.is_none() => self.act(&step.action, step.on).await,
            (action, parallel) => {
                let count = step.repeat.or(parallel).unwrap_or(1);
                let one = Step { parallel: None, repeat: None, ..step.clone() };
                let cancelled = step.cancel_first_after.map(|after| {
                    let action = action.clone().cancelled_after(after);
                    Step { action, ..one.clone() }
                });
                let (one, cancelled) = (Arc::new(one), cancelled.map(Arc::new));
                let steps = (0..count).map(|at| match (&cancelled, at) {
                    (Some(cancelled), 0) => Arc::clone(cancelled),
                    _ => Arc::clone(&one),
                });
                let steps: Vec<_> = steps.collect();
                StepResult::Several(match parallel {
                    Some(most) => self.fan(&steps, most).await,
                    None => self.sequence(&steps, step.gap).await,
                })
            }
        }
    }

    async fn sequence<S: Borrow<Step>>(&mut self, steps: &[S], gap: Duration) -> Vec<StepResult> {
        let mut results = Vec::with_capacity(steps.len());
        for step in steps {
            if !results.is_empty() && !gap.is_zero() {
                tokio::time::sleep(gap).await;
            }
            let result = self.boxed(step.borrow()).await;
            results.push(result.sharing(results.last()));
        }
        results
    }

    /// Does steps at the same time, at most so many at once; each has the clients that are there.
    async fn fan(&mut self, steps: &[Arc<Step>], most: usize) -> Vec<StepResult> {
        let known = self.clients.len();
        let mut results: Vec<Option<StepResult>> = vec![None; steps.len()];
        let mut last = None;
        let mut running = JoinSet::new();
        let mut waiting = steps.iter().cloned().enumerate();
        loop {
            while running.len() < most.max(1)
                && let Some((at, step)) = waiting.next()
            {
                let mut stage = self.clone();
                running.spawn(async move {
                    let result = stage.boxed(&step).await;
                    (at, result, stage.clients.split_off(known), stage.negotiated)
                });
            }
            match running.join_next().await {
                Some(Ok((at, result, clients, negotiated))) => {
                    let result = result.sharing(last.as_ref());
                    last = Some(result.clone());
                    results[at] = Some(result);
                    self.clients.extend(clients);
                    self.negotiated = negotiated;
                }
                Some(Err(panicked)) => {
                    results.push(Some(failed(Failure::Step(panicked.to_string()))));
                }
                None => break,
            }
        }
        results.into_iter().flatten().collect()
    }

    fn boxed<'a>(&'a mut self, step: &'a Step) -> BoxFuture<'a, StepResult> {
        Box::pin(self.run(step))
    }

    async fn act(&mut self, action: &Action, on: Option<usize>) -> StepResult {
        match action {
            Action::Connect => self.connect().await,
            Action::ConnectFails(times) => {
                let mut results = Vec::with_capacity(*times);
                for _ in 0..*times {
                    results.push(self.connect().await);
                    self.clients.clear();
                }
                StepResult::Several(results)
            }
            Action::Drop => {
                let at = on.map_or(self.clients.len(), |number| number);
                if let Some(slot) = at.checked_sub(1).and_then(|at| self.clients.get_mut(at)) {
                    *slot = None;
                }
                StepResult::Ok
            }
            Action::Several(steps) => {
                StepResult::Several(self.sequence(steps, Duration::ZERO).await)
            }
            Action::Sleep(time) => {
                tokio::time::sleep(*time).await;
                StepResult::Ok
            }
            Action::WaitNotifications(count) => {
                self.wait(*count, || self.target.heard().count()).await
            }
            Action::WaitPings(count) => self.wait(*count, || (self.pings)()).await,
            Action::Listen(filter) => match self.client(on) {
                Ok(client) => outcome(client.listen(filter.clone()).await.map(|subscription| {
                    self.target.heard().listen(subscription);
                })),
                Err(failure) => failed(failure),
            },
            Action::Close(number) => match self.client(number.or(on)) {
                Ok(client) => self.close(client).await,
                Err(failure) => failed(failure),
            },
            action => match self.client(on) {
                Ok(client) => ask(&client, action).await,
                Err(failure) => failed(failure),
            },
        }
    }

    pub(crate) async fn connect(&mut self) -> StepResult {
        match self.target.connect().await {
            Ok(client) => {
                // A client of one stateless version sends nothing to connect. The cases want to
                // know whether the server can be reached: so it is asked.
                let silent = client.session().is_none() && client.server().capabilities().is_none();
                if silent && let Err(error) = client.discover().await {
                    return failed(Failure::Error(error));
                }
                self.negotiated = Some(client.protocol().to_string());
                self.clients.push(Some(client));
                StepResult::Ok
            }
            Err(error) => failed(Failure::Error(error)),
        }
    }

    fn client(&self, number: Option<usize>) -> Result<Client, Failure> {
        let slot = match number {
            Some(number) => number.checked_sub(1).and_then(|at| self.clients.get(at)),
            None => self.clients.last(),
        };
        let client = slot.cloned().flatten();
        client.ok_or_else(|| Failure::Step("there is no such client".to_owned()))
    }

    async fn close(&self, client: Client) -> StepResult {
        if !self.close_again {
            client.close().await;
            return StepResult::Ok;
        }
        // Whom the library wakes when a connection has closed closes again: who watches its state,
        // and who waits on a call. So does one who comes while the closing runs.
        let watching = {
            let (client, mut changes) = (client.clone(), client.state_changes());
            tokio::spawn(async move {
                while client.state() != State::Closed && changes.next().await.is_some() {}
                client.close().await;
            })
        };
        let calling = {
            let client = client.clone();
            tokio::spawn(async move {
                while client.request("tools/list", ()).await.is_ok() {}
                client.close().await;
            })
        };
        tokio::task::yield_now().await;
        tokio::join!(client.close(), client.close());
        match (watching.await, calling.await) {
            (Ok(()), Ok(())) => StepResult::Ok,
            _ => failed(Failure::Step("closing from a callback panicked".to_owned())),
        }
    }

    async fn wait(&self, count: usize, read: impl Fn() -> usize) -> StepResult {
        while read() < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        StepResult::Ok
    }
}

impl Action {
    fn cancelled_after(self, after: Duration) -> Self {
        match self {
            Self::Call(call) => Self::Call(Call { cancel_after: Some(after), ..call }),
            other => other,
        }
    }
}

/// Whether a list is done side by side, rather than its steps in turn by each of several.
fn is_fan(steps: &[Step], most: usize, repeat: Option<usize>) -> bool {
    let apart = |step: &Step| {
        !matches!(step.action, Action::Connect | Action::Close(_) | Action::Drop | Action::Sleep(_))
    };
    repeat.is_none() && steps.len() >= most && steps.iter().all(apart)
}

async fn ask(client: &Client, action: &Action) -> StepResult {
    let done = match action {
        Action::Call(call) => return call_tool(client, call).await,
        Action::List(list) => return list_names(client, list).await,
        // No other passes the check of what a script needs.
        Action::Notify(_) => client.roots_changed().await,
        Action::Method(method) => client.request(method.clone(), ()).await.map(drop),
        Action::RawCall { tool, arguments } => {
            let params = json!({ "name": tool, "arguments": arguments });
            client.request("tools/call", params).await.map(drop)
        }
        Action::Read(uri) => client.read_resource(uri).await.map(drop),
        other => return failed(Failure::Step(format!("{other:?} is not there yet"))),
    };
    outcome(done)
}

async fn call_tool(client: &Client, call: &Call) -> StepResult {
    let arguments: &Value = &call.arguments;
    let mut request = client.call_tool(&call.tool, arguments);
    if let Some(timeout) = call.timeout {
        request = request.timeout(timeout);
    }
    if call.reset_on_progress {
        request = request.reset_timeout_on_progress();
    }
    if let Some(limit) = call.max_total {
        request = request.max_total_timeout(limit);
    }
    match call.cancel_after {
        None => outcome(request.await.map(drop)),
        Some(after) => {
            let running = tokio::time::timeout(after, async { request.await.map(drop) });
            running.await.map_or(failed(Failure::Cancelled), outcome)
        }
    }
}

async fn list_names(client: &Client, list: &str) -> StepResult {
    let names = match list {
        "prompts" => names(client.list_prompts().await, |prompt| prompt.name),
        "resource_templates" | "resources/templates" => {
            names(client.list_resource_templates().await, |template| template.uri_template)
        }
        "resources" => names(client.list_resources().await, |resource| resource.uri),
        "tools" => names(client.list_tools().await, |tool| tool.name),
        other => return failed(Failure::Step(format!("there is no list of {other}"))),
    };
    names.map_or_else(|error| failed(Failure::Error(error)), StepResult::Tools)
}

fn names<T>(
    items: Result<Vec<T>, Error>,
    name: impl FnMut(T) -> String,
) -> Result<Vec<String>, Error> {
    items.map(|items| items.into_iter().map(name).collect())
}

fn outcome(done: Result<(), Error>) -> StepResult {
    done.map_or_else(|error| failed(Failure::Error(error)), |()| StepResult::Ok)
}

fn failed(failure: Failure) -> StepResult {
    StepResult::Failed(Arc::new(failure))
}
