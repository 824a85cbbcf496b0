//! Requests that stay open, and what concerns no request at all.

use serde_json::{Value, json};
use snodo_transport::{Exchange, Incoming};
use snodo_types::{Concern, Envelope, Routing};

use super::{Kept, end, expect, message, number, request, response, short};
use crate::check::Case;

pub(in crate::check) async fn listens(case: &Case<'_>) -> Kept {
    if !case.wire.abilities().listen {
        return Ok(());
    }
    let mut exchange = case.wire.exchange(listen(400, &json!({ "to": 20 })));
    events(&mut exchange, 400, 1..=20).await?;
    // While it stays open, others are answered.
    response(&mut case.wire.exchange(request(401, "echo", &json!({})))).await?;
    case.peer.release(400);
    events(&mut exchange, 400, 0..=0).await?;
    expect(&response(&mut exchange).await?, 400, &json!({}))?;
    end(&mut exchange).await
}

pub(in crate::check) async fn hears_the_end(case: &Case<'_>) -> Kept {
    if !case.wire.abilities().listen {
        return Ok(());
    }
    let mut exchange = case.wire.exchange(listen(410, &json!({ "to": 1, "ends": true })));
    events(&mut exchange, 410, 1..=1).await?;
    case.peer.release(410);
    events(&mut exchange, 410, 0..=0).await?;
    let last = message(&mut exchange).await?;
    if last.concerns() != Concern::Ends(410) {
        return Err(format!("expected that the peer gives it up, found {}", short(&last)));
    }
    // Where the stream is its own, it ends without an answer.
    match exchange.next().await {
        None | Some(Err(_)) => Ok(()),
        Some(Ok(more)) => Err(format!("the peer gave it up, and then came {more:?}")),
    }
}

pub(in crate::check) async fn attends(case: &Case<'_>) -> Kept {
    let Some(mut unsolicited) = case.wire.unsolicited(Routing::new()) else { return Ok(()) };
    if case.wire.abilities().own_stream {
        match unsolicited.next().await {
            Some(Ok(Incoming::Sent)) => {}
            None => return Ok(()),
            other => return Err(format!("expected Sent or the end, found {other:?}")),
        }
    }
    const TOLD: u64 = 300;
    let mut telling = case.wire.exchange(request(420, "tell", &json!({ "to": TOLD })));
    expect(&response(&mut telling).await?, 420, &json!({}))?;
    let mut next = 1;
    while next <= TOLD {
        match unsolicited.next().await {
            Some(Ok(Incoming::Message(message))) if number(&message, "number") == Some(next) => {
                next += 1;
            }
            Some(Ok(Incoming::Dropped(lost))) => next += lost,
            other => return Err(format!("expected number {next}, found {other:?}")),
        }
    }
    Ok(())
}

/// A request that stays open.
pub(super) fn listen(id: u64, params: &Value) -> Envelope {
    let mut envelope = request(id, "listen", params);
    envelope.listen = true;
    envelope
}

/// Reads events with these numbers, in this order.
async fn events(exchange: &mut Exchange, id: u64, numbers: std::ops::RangeInclusive<u64>) -> Kept {
    for expected in numbers {
        let message = message(exchange).await?;
        if message.concerns() != Concern::Part(id) || number(&message, "number") != Some(expected) {
            return Err(format!("expected event {expected}, found {}", short(&message)));
        }
    }
    Ok(())
}
