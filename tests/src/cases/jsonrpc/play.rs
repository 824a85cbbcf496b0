//! Playing the server of a case, and watching the client.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use snodo::types::SubscriptionFilter;
use snodo::{Client, Error, Event, ProtocolVersion};
use tokio::task::JoinHandle;

use super::handlers::{Handlers, Handling};
use super::ids::{Alias, translate, translate_value};
use super::script::{Effect, Exchange, Header, News, PendingCall};
use crate::cases::class::Failure;
use crate::cases::value::{is_subset, parsed, shown};
use crate::cases::wire::Wire;

/// Plays all of it; gives what is not as it should be.
pub(crate) async fn play(
    version: ProtocolVersion,
    header: &Header,
    exchanges: &[Exchange],
) -> Result<Vec<String>, String> {
    let effects = exchanges.iter().flat_map(|exchange| &exchange.effects);
    let cancels = effects.clone().any(|effect| matches!(effect, Effect::CancelHandler));
    let handles = cancels || effects.clone().any(|effect| matches!(effect, Effect::Call { .. }));
    let handlers = Handlers::new(handles, cancels);
    let mut scene = Scene::open(version, header, handlers).await?;
    let mut faults = Vec::new();
    for (at, exchange) in exchanges.iter().enumerate() {
        let seen = scene.hear(&exchange.said).await?;
        let found = seen.check(&exchange.effects, &scene.aliases);
        faults.extend(found.into_iter().map(|fault| format!("line {}: {fault}", at + 2)));
    }
    match (scene.lives().await, header.alive) {
        (Ok(()), false) => faults.push("the connection lives".to_owned()),
        (Err(why), true) => faults.push(format!("the connection does not live: {why}")),
        _ => {}
    }
    Ok(faults)
}

/// A client with requests in flight.
struct Scene {
    wire: Wire,
    /// `None` while `initialize` itself is in flight.
    client: Option<Client>,
    calls: Vec<Call>,
    aliases: Vec<Alias>,
    progress: Arc<Mutex<Vec<Value>>>,
    news: Arc<Mutex<Vec<(Value, News)>>>,
    handlers: Handlers,
}

/// A request in flight.
struct Call {
    case: Value,
    running: Option<JoinHandle<Result<Answer, Error>>>,
}

/// How a request ended well.
enum Answer {
    Connected(Client),
    Raw(String),
}

/// What was seen of a client after the server had spoken.
struct Seen {
    /// The requests that ended, with the text of the result.
    ended: Vec<(Value, Result<String, Failure>)>,
    sent: Vec<String>,
    progress: Vec<Value>,
    news: Vec<(Value, News)>,
    /// The methods of the notifications that the caller was told of.
    told: Vec<String>,
    /// The codes of the errors that belong to no request.
    faults: Vec<i64>,
    handling: Vec<Handling>,
}

impl Scene {
    async fn open(
        version: ProtocolVersion,
        header: &Header,
        handlers: Handlers,
    ) -> Result<Self, String> {
        let builder = handlers.install(Client::builder());
        let is_opening = |call: &PendingCall| call.method == "initialize";
        let (progress, news) = (Arc::default(), Arc::default());
        let (calls, aliases) = (Vec::new(), Vec::new());
        if let Some(opening) = header.pending.iter().find(|call| is_opening(call)) {
            let (connecting, mut wire) = Wire::begin(builder, version);
            let running =
                tokio::spawn(async move { joined(connecting.await).map(Answer::Connected) });
            let real = real_id(&wire.lines().await)?;
            let mut scene = Self { wire, client: None, calls, aliases, progress, news, handlers };
            scene.keep(opening, real, running);
            return Ok(scene);
        }
        let (client, wire) = Wire::connect(builder, version).await?;
        let mut scene =
            Self { wire, client: Some(client), calls, aliases, progress, news, handlers };
        for call in &header.pending {
            scene.begin(version, call).await?;
        }
        Ok(scene)
    }

    /// Sends a request and leaves it in flight, or gives it up.
    async fn begin(&mut self, version: ProtocolVersion, call: &PendingCall) -> Result<(), String> {
        let client = self.client.clone().ok_or("two connections")?;
        // The versions with sessions send no method that they do not know.
        let stateless = version == ProtocolVersion::V2026_07_28;
        let known = call.method.contains('/');
        let method = if stateless || known { call.method.clone() } else { "ping".to_owned() };
        let (progress, token) = (Arc::clone(&self.progress), call.progress_token.clone());
        let (news, id) = (Arc::clone(&self.news), call.id.clone());
        let running = tokio::spawn(async move {
            match method.as_str() {
                "subscriptions/listen" => listen(&client, id, news).await,
                _ => ask(&client, method, token, progress).await,
            }
        });
        let real = real_id(&self.wire.lines().await)?;
        if call.cancelled {
            running.abort();
            self.wire.lines().await;
        }
        self.keep(call, real, running);
        Ok(())
    }

    fn keep(&mut self, call: &PendingCall, real: u64, running: JoinHandle<Result<Answer, Error>>) {
        let (case, token) = (call.id.clone(), call.progress_token.clone());
        self.aliases.push(Alias { case: case.clone(), token, real });
        let running = (!call.cancelled).then_some(running);
        self.calls.push(Call { case, running });
    }

    /// Lets the server speak.
    async fn hear(&mut self, said: &str) -> Result<Seen, String> {
        self.wire.say(&translate(said, &self.aliases)).await?;
        let sent = self.wire.lines().await;
        let mut ended = Vec::new();
        for call in &mut self.calls {
            let Some(running) = call.running.take_if(|running| running.is_finished()) else {
                continue;
            };
            let result = match joined(running.await) {
                Ok(Answer::Connected(client)) => {
                    self.client = Some(client);
                    Ok("{}".to_owned())
                }
                Ok(Answer::Raw(raw)) => Ok(raw),
                Err(error) => Err(Failure::Error(error)),
            };
            ended.push((call.case.clone(), result));
        }
        let progress =
            std::mem::take(&mut *self.progress.lock().unwrap_or_else(PoisonError::into_inner));
        let (handling, told) = (self.handlers.seen(), self.handlers.told());
        let news = std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner));
        let faults = self.handlers.faults();
        Ok(Seen { ended, sent, progress, news, told, faults, handling })
    }

    /// Whether another request is answered.
    async fn lives(&mut self) -> Result<(), String> {
        let Some(client) = self.client.clone() else { return Err("it never was open".to_owned()) };
        let asking = tokio::spawn(async move { client.request("tools/list", ()).await.map(drop) });
        let lines = self.wire.lines().await;
        let request = lines.last().ok_or("another request is not sent")?;
        self.wire.answer(request).await?;
        self.wire.lines().await;
        if !asking.is_finished() {
            return Err("another request is not answered".to_owned());
        }
        joined(asking.await).map_err(|error| error.to_string())
    }
}

async fn ask(
    client: &Client,
    method: String,
    token: Option<Value>,
    progress: Arc<Mutex<Vec<Value>>>,
) -> Result<Answer, Error> {
    let tell = move |_| {
        if let Some(token) = &token {
            progress.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
        }
    };
    // Those that are read further than to the text are asked for by their types.
    let raw = match method.as_str() {
        "tools/call" => client.call_tool("t", json!({})).progress(tell).await?.raw().to_owned(),
        "tools/list" => {
            let page = client.list_page(snodo::ListKind::TOOLS, None).progress(tell).await?;
            page.raw().to_owned()
        }
        _ => client.request(method, ()).progress(tell).await?.raw().to_owned(),
    };
    Ok(Answer::Raw(raw))
}

/// Listens to everything, and tells what comes. It fails where the server refuses.
async fn listen(
    client: &Client,
    id: Value,
    news: Arc<Mutex<Vec<(Value, News)>>>,
) -> Result<Answer, Error> {
    let tell = |what| {
        let mut news = news.lock().unwrap_or_else(PoisonError::into_inner);
        news.push((id.clone(), what));
    };
    let filter = SubscriptionFilter::new().tools_list_changed().prompts_list_changed();
    let mut events = client.listen(filter.resources_list_changed()).await?;
    tell(News::Acknowledged);
    while let Some(event) = events.next().await {
        match event {
            Event::Notification(told) => tell(News::Event(told.method().to_owned())),
            Event::Closed(_) => tell(News::Ended),
            _ => {}
        }
    }
    // The end was told: this request neither resolves nor fails.
    std::future::pending().await
}

impl Seen {
    /// What is wrong: an effect that did not come, or something that nobody expects.
    fn check(&self, effects: &[Effect], aliases: &[Alias]) -> Vec<String> {
        let mut faults = Vec::new();
        for effect in effects {
            if !self.shows(effect, aliases) {
                faults.push(format!("expected {effect:?}, came: {}", self.words()));
            }
        }
        let named = |id: &Value| effects.iter().any(|effect| effect.names(id));
        for (id, _) in self.ended.iter().filter(|(id, _)| !named(id)) {
            faults.push(format!("request {id} ended: {}", self.words()));
        }
        if !self.sent.is_empty() && !effects.iter().any(Effect::is_sending) {
            faults.push(format!("the client wrote {:?}", self.sent));
        }
        faults
    }

    fn shows(&self, effect: &Effect, aliases: &[Alias]) -> bool {
        match effect {
            Effect::AnyOf(choices) => choices.iter().any(|choice| self.shows(choice, aliases)),
            Effect::Call { method, order } => self.handling.iter().any(|handling| match handling {
                Handling::Began { method: began, order: seen } => {
                    method == began && order.as_ref().is_none_or(|order| order == seen)
                }
                Handling::Stopped => false,
            }),
            Effect::CancelHandler => self.handling.contains(&Handling::Stopped),
            Effect::Fault(code) => self.faults.contains(code),
            Effect::Ignored => self.ended.is_empty() && self.sent.is_empty(),
            Effect::Notify(method) => self.told.contains(method),
            Effect::NotifyOther => self.ended.is_empty() && self.sent.is_empty(),
            Effect::Progress(token) => self.progress.contains(token),
            Effect::Reject { id, error } => {
                matches!(self.result(id), Some(Err(failure)) if error.matches(failure))
            }
            Effect::Resolve { id, eq, raw_contains } => match self.result(id) {
                Some(Ok(raw)) => {
                    eq.as_ref().is_none_or(|value| parsed(raw) == *value)
                        && raw_contains.iter().all(|part| raw.contains(part))
                }
                _ => false,
            },
            Effect::Send(part) => {
                let part = translate_value(part, aliases);
                self.sent.iter().any(|line| is_subset(&part, &parsed(line)))
            }
            Effect::SendLacks(key) => {
                let results = self.sent.iter().map(|line| parsed(line));
                let mut results = results.filter_map(|message| message.get("result").cloned());
                results.any(|result| result.get(key).is_none())
            }
            Effect::SendNothing => self.sent.is_empty(),
            Effect::Subscription { id, news } => {
                self.news.iter().any(|(of, came)| of == id && came == news)
            }
            Effect::SendRawContains(part) => self.sent.iter().any(|line| line.contains(part)),
        }
    }

    fn result(&self, id: &Value) -> Option<&Result<String, Failure>> {
        self.ended.iter().find(|(ended, _)| ended == id).map(|(_, result)| result)
    }

    fn words(&self) -> String {
        let ended = self.ended.iter().map(|(id, result)| match result {
            Ok(raw) => format!("{id} resolved: {}", shown(raw)),
            Err(failure) => format!("{id} rejected: {failure}"),
        });
        let sent = self.sent.iter().map(|line| format!("sent {}", shown(line)));
        let handling = self.handling.iter().map(|handling| format!("{handling:?}"));
        let told = self.told.iter().map(|method| format!("told of {method}"));
        let news = self.news.iter().map(|(id, news)| format!("{id} {news:?}"));
        let faults = self.faults.iter().map(|code| format!("told of an error {code}"));
        let words: Vec<_> =
            ended.chain(sent).chain(handling).chain(told).chain(faults).chain(news).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join("; ") }
    }
}

impl Effect {
    /// Whether the end of this request is expected, in whatever way.
    fn names(&self, request: &Value) -> bool {
        match self {
            Self::AnyOf(choices) => choices.iter().any(|choice| choice.names(request)),
            Self::Reject { id, .. } | Self::Resolve { id, .. } => id == request,
            _ => false,
        }
    }

    /// Whether it is the client's to write something: what a handler answers, or what follows the
    /// answer to `initialize`.
    fn is_sending(&self) -> bool {
        match self {
            Self::AnyOf(choices) => choices.iter().any(Self::is_sending),
            Self::Call { .. } | Self::Resolve { .. } => true,
            Self::Send(_) | Self::SendLacks(_) | Self::SendRawContains(_) => true,
            _ => false,
        }
    }
}

/// The id that the client gave to what it sent last.
fn real_id(lines: &[String]) -> Result<u64, String> {
    let last = lines.last().ok_or("a request was not sent")?;
    parsed(last).get("id").and_then(Value::as_u64).ok_or_else(|| format!("no id in {last}"))
}

fn joined<T>(ended: Result<Result<T, Error>, tokio::task::JoinError>) -> Result<T, Error> {
    ended.unwrap_or_else(|panicked| Err(Error::usage(panicked.to_string())))
}
