//! A server as a Streamable HTTP endpoint.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use snodo_transport::{Connect, Exchange, Incoming, Transport};
use snodo_types::{Concern, Message, Outside, Routing, TransportError};

use super::fault::{Faults, Plan};
use super::pipe::{envelope, method_of};
use crate::loopback::event;
use crate::{Answers, Events, Loopback, Reply, Request};

/// Listens until what it gives is dropped.
pub(super) async fn serve<C: Connect>(
    connect: Arc<C>,
    faults: Faults,
    answers: Answers,
) -> io::Result<Loopback> {
    let endpoint = Arc::new(Endpoint { connect, faults, answers, lines: Mutex::default() });
    Loopback::serve(move |request| Arc::clone(&endpoint).answer(request)).await
}

struct Endpoint<C: Connect> {
    connect: Arc<C>,
    faults: Faults,
    answers: Answers,
    lines: Mutex<Lines<C::Transport>>,
}

/// The connections that clients have.
struct Lines<T> {
    /// For those who name no session.
    plain: Option<Arc<T>>,
    sessions: HashMap<String, Arc<T>>,
}

impl<T> Default for Lines<T> {
    fn default() -> Self {
        Self { plain: None, sessions: HashMap::new() }
    }
}

impl<C: Connect> Endpoint<C> {
    async fn answer(self: Arc<Self>, request: Request) -> Reply {
        match request.method.as_str() {
            "POST" => self.post(request).await,
            "GET" => self.get(&request).await,
            "DELETE" => self.delete(&request).await,
            _ => Reply::new(405),
        }
    }

    async fn post(&self, request: Request) -> Reply {
        let line = match self.line(&request).await {
            Ok(line) => line,
            Err(reply) => return reply,
        };
        let Ok(message) = Message::parse(request.body) else { return Reply::new(400) };
        let method = method_of(&message);
        let id = envelope(message.clone()).id;
        let mut exchange = line.exchange(envelope(message));
        let first = loop {
            match exchange.next().await {
                Some(Ok(Incoming::Message(message))) => break message,
                Some(Ok(_)) if id.is_some() => {}
                Some(Ok(_)) => return Reply::new(202),
                Some(Err(error)) => return refusal(&error),
                None => return Reply::reset(),
            }
        };
        let plan = self.faults.plan(&first, method.as_deref());
        tokio::time::sleep(plan.delay).await;
        if let Some((status, body)) = plan.status {
            return Reply::new(status).header("Content-Type", "text/html").text(body);
        }
        if plan.cut_after == Some(0) {
            return Reply::reset();
        }
        let mut reply = Reply::new(first.outside().and_then(|it| it.status).unwrap_or(200));
        if let Some(Outside { session: Some(session), .. }) = first.outside() {
            self.lines().sessions.insert(session.as_str().to_owned(), Arc::clone(&line));
            reply = reply.header("Mcp-Session-Id", session.as_str());
        }
        let is_whole = id.is_some_and(|id| first.concerns() == Concern::Answer(id))
            || matches!(first.body(), snodo_types::Body::Error { .. });
        let is_alone = plan.junk.is_empty() && plan.copies == 1;
        let as_json = self.answers == Answers::Json || first.outside().is_some_and(fails);
        if is_whole && is_alone && as_json {
            let media = plan.content_type.clone().unwrap_or_else(|| "application/json".to_owned());
            let reply = reply.header("Content-Type", &media);
            if plan.slow.is_none() && plan.cut_after.is_none() {
                return reply.text(first.into_text());
            }
            return reply.pieces(|events| async move { write(&events, &plan, first.text()).await });
        }
        let media = plan.content_type.clone().unwrap_or_else(|| "text/event-stream".to_owned());
        let faults = self.faults.clone();
        reply.header("Content-Type", &media).pieces(|events| async move {
            say(&events, &plan, &first).await;
            hand_on(exchange, method.as_deref(), &faults, &events).await;
        })
    }

    async fn get(&self, request: &Request) -> Reply {
        let line = match self.line(request).await {
            Ok(line) => line,
            Err(reply) => return reply,
        };
        let Some(mut exchange) = line.unsolicited(Routing::new()) else { return Reply::new(405) };
        if line.abilities().own_stream && !matches!(exchange.next().await, Some(Ok(Incoming::Sent)))
        {
            return Reply::new(405);
        }
        let faults = self.faults.clone();
        Reply::new(200)
            .stream(|events| async move { hand_on(exchange, None, &faults, &events).await })
    }

    async fn delete(&self, request: &Request) -> Reply {
        let session = request.header("mcp-session-id").unwrap_or_default();
        let line = self.lines().sessions.remove(session);
        let Some(line) = line else { return Reply::new(404) };
        line.close(Routing::new(), Duration::from_secs(1)).await;
        Reply::new(200)
    }

    /// The connection that a request belongs to.
    async fn line(&self, request: &Request) -> Result<Arc<C::Transport>, Reply> {
        if let Some(session) = request.header("mcp-session-id") {
            let known = self.lines().sessions.get(session).cloned();
            return known.ok_or_else(|| Reply::new(404).text("no such session"));
        }
        let begins = request.rpc().is_some_and(|method| method == "initialize");
        let known = self.lines().plain.clone();
        if let Some(known) = known.filter(|_| !begins) {
            return Ok(known);
        }
        let made = self.connect.connect().await.map_err(|error| refusal(&error))?;
        let made = Arc::new(made);
        self.lines().plain = Some(Arc::clone(&made));
        Ok(made)
    }

    fn lines(&self) -> MutexGuard<'_, Lines<C::Transport>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether something outside of a message says that a request failed.
fn fails(outside: &Outside) -> bool {
    outside.status.is_some_and(|status| status >= 400)
}

/// A failure below the messages, as HTTP has it.
fn refusal(error: &TransportError) -> Reply {
    match error.status() {
        Some(status) if status >= 400 => {
            let reply = Reply::new(status).text(error.message());
            match error.retry_after() {
                Some(wait) => reply.header("Retry-After", &wait.as_secs().to_string()),
                None => reply,
            }
        }
        _ => Reply::reset(),
    }
}

/// Writes what comes on an exchange, each as late as it is to be.
async fn hand_on(mut exchange: Exchange, method: Option<&str>, faults: &Faults, events: &Events) {
    while let Some(next) = exchange.next().await {
        match next {
            Ok(Incoming::Message(message)) => {
                let plan = faults.plan(&message, method);
                tokio::time::sleep(plan.delay).await;
                say(events, &plan, &message).await;
            }
            Ok(_) => {}
            Err(_) => return events.cut().await,
        }
    }
}

/// Writes a message as an event, with what befalls it.
async fn say(events: &Events, plan: &Plan, message: &Message) {
    let junk = plan.junk.iter().map(|junk| event(junk));
    let copies = std::iter::repeat_n(message.text(), plan.copies).map(event);
    write(events, plan, &junk.chain(copies).collect::<String>()).await;
}

async fn write(events: &Events, plan: &Plan, text: &str) {
    let (pieces, breaks) = plan.pieces(text);
    for (pause, piece) in pieces {
        if pause > Duration::ZERO {
            tokio::time::sleep(pause).await;
        }
        events.raw(piece).await;
    }
    if breaks {
        events.cut().await;
    }
}
