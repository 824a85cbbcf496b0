//! A reader that is slower than the peer.

use serde_json::json;
use snodo_transport::{Exchange, Incoming};
use snodo_types::Concern;

use super::listening::listen;
use super::{Kept, answer, number, request, response, short};
use crate::check::Case;

pub(in crate::check) async fn lets_nobody_wait(case: &Case<'_>) -> Kept {
    let text = "x".repeat(500);
    let flood = json!({ "to": TOLD, "text": text });
    let mut sleeper = case.wire.exchange(request(500, "count", &flood));
    // Its first word, so that it has begun. Whatever comes now, nobody reads it.
    let first = sleeper.next().await;
    for id in 501..505 {
        let mut other = case.wire.exchange(request(id, "echo", &json!({ "id": id })));
        answer(&mut other, id, &json!({ "id": id })).await?;
    }
    drop((first, sleeper));
    Ok(())
}

pub(in crate::check) async fn counts_what_is_lost(case: &Case<'_>) -> Kept {
    if !case.wire.abilities().listen {
        return Ok(());
    }
    let mut envelope = listen(510, &json!({ "to": TOLD }));
    envelope.inbox.capacity = 16;
    let mut exchange = case.wire.exchange(envelope);
    let first = until_first(&mut exchange).await?;
    if !case.wire.abilities().same_task {
        // The peer says all it has to say, and then something on another exchange.
        response(&mut case.wire.exchange(request(511, "echo", &json!({})))).await?;
    }
    let mut next = first + 1;
    while next <= TOLD {
        next += match exchange.next().await {
            Some(Ok(Incoming::Dropped(lost))) => lost,
            Some(Ok(Incoming::Sent)) => 0,
            Some(Ok(Incoming::Message(message))) if number(&message, "number") == Some(next) => 1,
            other => return Err(format!("expected event {next}, found {other:?}")),
        };
    }
    case.peer.release(510);
    answer(&mut exchange, 510, &json!({})).await
}

pub(in crate::check) async fn keeps_its_bound(case: &Case<'_>) -> Kept {
    let abilities = case.wire.abilities();
    if !abilities.listen || abilities.own_stream || abilities.same_task {
        // Only on a pipe is it known what has come by now: what the peer said before an answer.
        return Ok(());
    }
    let mut envelope = request(520, "count", &json!({ "to": TOLD }));
    envelope.inbox.capacity = 16;
    let mut exchange = case.wire.exchange(envelope);
    until_first(&mut exchange).await?;
    case.peer.until_done(520).await;
    response(&mut case.wire.exchange(request(521, "echo", &json!({})))).await?;
    let mut kept = 0;
    loop {
        match exchange.next().await {
            Some(Ok(Incoming::Message(message))) => match message.concerns() {
                Concern::Answer(520) => break,
                Concern::Part(520) => kept += 1,
                _ => return Err(format!("{} does not belong here", short(&message))),
            },
            Some(Ok(_)) => {}
            other => return Err(format!("expected the answer, found {other:?}")),
        }
    }
    // One or two may be on their way out of the inbox.
    if kept <= 18 { Ok(()) } else { Err(format!("{kept} messages waited where 16 may")) }
}

/// Reads the first event; gives its number.
async fn until_first(exchange: &mut Exchange) -> Result<u64, String> {
    let mut lost = 0;
    loop {
        match exchange.next().await {
            Some(Ok(Incoming::Dropped(more))) => lost += more,
            Some(Ok(Incoming::Message(message))) => {
                let found = number(&message, "number").or_else(|| number(&message, "progress"));
                return match found {
                    Some(number) if number == lost + 1 => Ok(number),
                    _ => Err(format!("expected event {}, found {}", lost + 1, short(&message))),
                };
            }
            Some(Ok(_)) => {}
            other => return Err(format!("expected the first event, found {other:?}")),
        }
    }
}

/// How much the peer tells a reader that sleeps; more than any queue on the way holds.
const TOLD: u64 = 2000;
