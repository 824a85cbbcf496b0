//! What comes before what.

use std::future::poll_fn;
use std::task::Poll;

use serde_json::json;
use snodo_types::{Body, Concern, Routing};

use super::{
    Kept, all_heard, answer, end, expect, message, notification, number, poll, request, response,
};
use crate::check::Case;

pub(in crate::check) async fn is_lazy(case: &Case<'_>) -> Kept {
    let early = case.wire.exchange(request(200, "echo", &json!({})));
    response(&mut case.wire.exchange(request(201, "echo", &json!({})))).await?;
    let was_heard = case.peer.requested(200);
    drop(early);
    if was_heard { Err("the message was sent before the first poll".to_owned()) } else { Ok(()) }
}

pub(in crate::check) async fn sorts(case: &Case<'_>) -> Kept {
    let ids = 210..274_u64;
    let mut exchanges: Vec<_> =
        ids.clone().map(|id| case.wire.exchange(request(id, "hold", &json!({})))).collect();
    all_heard(&mut exchanges, case.peer, ids.clone()).await?;
    for id in ids.rev() {
        case.peer.release(id);
        let mut exchange = exchanges.pop().ok_or("one exchange for each id")?;
        expect(&response(&mut exchange).await?, id, &json!({}))?;
        end(&mut exchange).await?;
    }
    Ok(())
}

pub(in crate::check) async fn sends_in_order(case: &Case<'_>) -> Kept {
    let names: Vec<_> = (0..50).map(|number| format!("kit/order/{number}")).collect();
    if case.wire.abilities().notify {
        for name in &names {
            let mut exchange = case.wire.exchange(notification(name));
            exchange.next().await.ok_or("no word about a message")?.map_err(|e| e.to_string())?;
        }
        case.peer.until_heard(|text| text.contains(&names[49])).await;
        let heard = case.peer.heard();
        let heard: Vec<_> = heard.iter().filter(|text| text.contains("kit/order/")).collect();
        if !heard.iter().zip(&names).all(|(text, name)| text.contains(&format!("{name}\""))) {
            return Err(format!("sent one after the other, they came as {heard:?}"));
        }
    }
    if case.wire.abilities().own_stream {
        // Each has a stream of its own, and the streams have no order.
        return Ok(());
    }
    let mut exchanges: Vec<_> =
        (280..300).map(|id| case.wire.exchange(request(id, "hold", &json!({})))).collect();
    // They were made in one order and are polled in the other.
    exchanges.reverse();
    all_heard(&mut exchanges, case.peer, 280..300).await?;
    let heard = case.peer.heard();
    let ids: Vec<_> = (280..300).rev().map(|id| format!("\"id\":{id},")).collect();
    let came = heard.iter().filter_map(|text| ids.iter().position(|id| text.contains(id)));
    let came: Vec<_> = came.collect();
    if came.is_sorted() { Ok(()) } else { Err(format!("polled in order, they came as {came:?}")) }
}

pub(in crate::check) async fn keeps_order(case: &Case<'_>) -> Kept {
    let mut exchange = case.wire.exchange(request(300, "count", &json!({ "to": 5 })));
    let mut told = Vec::new();
    loop {
        let message = message(&mut exchange).await?;
        match message.concerns() {
            Concern::Answer(300) => break,
            Concern::Part(300) => told.extend(number(&message, "progress")),
            _ => return Err(format!("{} does not belong here", message.text())),
        }
    }
    end(&mut exchange).await?;
    let all_or_nothing = told.is_empty() && !case.wire.abilities().listen;
    if all_or_nothing || told == [1, 2, 3, 4, 5] { Ok(()) } else { Err(format!("came: {told:?}")) }
}

pub(in crate::check) async fn hands_on(case: &Case<'_>) -> Kept {
    let mut unsolicited = case.wire.unsolicited(Routing::new());
    if unsolicited.is_some() && case.wire.unsolicited(Routing::new()).is_some() {
        return Err("what concerns no exchange is given out twice".to_owned());
    }
    let mut exchange = case.wire.exchange(request(310, "ask", &json!({})));
    let mut asked = false;
    loop {
        let message = message(&mut exchange).await?;
        match message.body() {
            Body::Request { .. } => asked = true,
            _ => break,
        }
    }
    end(&mut exchange).await?;
    let may_be_lost = !case.wire.abilities().listen;
    match &mut unsolicited {
        _ if asked || may_be_lost => Ok(()),
        Some(unsolicited) => match message(unsolicited).await?.body() {
            Body::Request { .. } => Ok(()),
            other => Err(format!("expected the peer's request, found {other:?}")),
        },
        None => Err("the request came nowhere".to_owned()),
    }
}

pub(in crate::check) async fn keeps_numbers_apart(case: &Case<'_>) -> Kept {
    // In the initialize era the number in `cancelled` is the sender's own (2025-11-25,
    // cancellation): it ends nothing of ours.
    let mut exchange = case.wire.exchange(request(320, "cancel", &json!({})));
    answer(&mut exchange, 320, &json!({})).await
}

pub(in crate::check) async fn bears_a_crowd(case: &Case<'_>) -> Kept {
    let mut exchanges: Vec<_> = (330..390_u64)
        .map(|id| (id, case.wire.exchange(request(id, "echo", &json!({ "id": id })))))
        .collect();
    let mut failed = None;
    poll_fn(|cx| {
        exchanges.retain_mut(|(id, exchange)| match poll(exchange, cx) {
            Poll::Ready(Some(Ok(snodo_transport::Incoming::Message(message)))) => {
                failed =
                    failed.take().or_else(|| expect(&message, *id, &json!({ "id": *id })).err());
                false
            }
            Poll::Ready(Some(Ok(_))) => {
                cx.waker().wake_by_ref();
                true
            }
            Poll::Ready(other) => {
                failed.get_or_insert_with(|| format!("request {id} got {other:?}"));
                false
            }
            Poll::Pending => true,
        });
        if exchanges.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    failed.map_or(Ok(()), Err)
}
