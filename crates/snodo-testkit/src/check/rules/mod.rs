//! Each rule as a function; the ids are of one range for each, so that the peer can tell them apart.

pub(super) mod ending;
pub(super) mod exchange;
pub(super) mod giving_up;
pub(super) mod listening;
pub(super) mod order;
pub(super) mod pressure;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::Value;
use snodo_transport::{Exchange, Incoming};
use snodo_types::{Abandon, Body, Concern, Envelope, Message, Routing, TransportError};

use crate::Peer;

/// What a rule ends with; the text says what was seen instead.
pub(super) type Kept = Result<(), String>;

/// The envelope of a request to the peer.
fn request(id: u64, method: &str, params: &Value) -> Envelope {
    Message::request(&id.into(), method, Some(&params.to_string())).into()
}

fn notification(method: &str) -> Envelope {
    Message::notification(method, None).into()
}

fn with_abandon(mut envelope: Envelope) -> Envelope {
    envelope.abandon = Some(Arc::new(abandon()));
    envelope
}

fn abandon() -> Abandon {
    let before = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
    Abandon::new(before, "}}", Routing::new())
}

/// Polls the exchanges, none of which may end, until the peer has heard every id.
async fn all_heard(
    exchanges: &mut [Exchange],
    peer: &Peer,
    ids: impl Iterator<Item = u64> + Clone,
) -> Kept {
    meanwhile(exchanges, peer.until_requested(ids)).await
}

/// Polls the exchanges, none of which may say anything, until something else has happened.
async fn meanwhile(exchanges: &mut [Exchange], happened: impl Future<Output = ()>) -> Kept {
    let ended = poll_fn(|cx| {
        for exchange in exchanges.iter_mut() {
            match poll(exchange, cx) {
                Poll::Ready(Some(Ok(Incoming::Sent))) | Poll::Pending => {}
                Poll::Ready(other) => return Poll::Ready(other),
            }
        }
        Poll::Pending
    });
    tokio::select! {
        () = happened => Ok(()),
        ended = ended => Err(format!("expected nothing yet, found {ended:?}")),
    }
}

fn poll(
    exchange: &mut Exchange,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Incoming, TransportError>>> {
    pin!(exchange.next()).as_mut().poll(cx)
}

/// The next message, past what a transport may say for itself.
async fn message(exchange: &mut Exchange) -> Result<Message, String> {
    loop {
        match exchange.next().await {
            Some(Ok(Incoming::Message(message))) => return Ok(message),
            Some(Ok(Incoming::Sent)) => {}
            other => return Err(format!("expected a message, found {other:?}")),
        }
    }
}

async fn response(exchange: &mut Exchange) -> Result<Message, String> {
    let message = message(exchange).await?;
    match message.concerns() {
        Concern::Answer(_) => Ok(message),
        _ => Err(format!("expected a response, found {}", short(&message))),
    }
}

/// Waits for the answer past whatever comes before it, and for the end behind it.
async fn answer(exchange: &mut Exchange, id: u64, result: &Value) -> Kept {
    let mut last = message(exchange).await?;
    while last.concerns() != Concern::Answer(id) {
        if matches!(last.concerns(), Concern::Answer(_)) {
            return Err(format!("expected the answer to {id}, found {}", short(&last)));
        }
        last = message(exchange).await?;
    }
    expect(&last, id, result)?;
    end(exchange).await
}

fn expect(response: &Message, id: u64, result: &Value) -> Kept {
    let found: Option<Value> = match response.body() {
        Body::Result { result, .. } => serde_json::from_str(result).ok(),
        _ => None,
    };
    if response.concerns() == Concern::Answer(id) && found.as_ref() == Some(result) {
        return Ok(());
    }
    Err(format!("expected the answer to {id}, found {}", short(response)))
}

async fn end(exchange: &mut Exchange) -> Kept {
    match exchange.next().await {
        None => Ok(()),
        other => Err(format!("expected the end, found {other:?}")),
    }
}

/// The number that stands in a member of a notification's parameters.
fn number(message: &Message, member: &str) -> Option<u64> {
    let Body::Notification { params: Some(params), .. } = message.body() else { return None };
    let params: Value = serde_json::from_str(params).ok()?;
    params[member].as_u64()
}

/// The beginning of a message, for a report.
fn short(message: &Message) -> String {
    message.text().chars().take(200).collect()
}
