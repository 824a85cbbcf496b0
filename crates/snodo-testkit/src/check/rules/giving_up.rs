//! An exchange that is dropped before its end.

use serde_json::json;

use super::listening::listen;
use super::{Kept, abandon, all_heard, expect, message, request, response, with_abandon};
use crate::check::Case;

pub(in crate::check) async fn drops_unsent(case: &Case<'_>) -> Kept {
    drop(case.wire.exchange(with_abandon(request(600, "echo", &json!({})))));
    response(&mut case.wire.exchange(request(601, "echo", &json!({})))).await?;
    match case.peer.heard().iter().find(|text| text.contains("600")) {
        Some(text) => Err(format!("the peer heard {text}")),
        None => Ok(()),
    }
}

pub(in crate::check) async fn abandons(case: &Case<'_>) -> Kept {
    let mut held = vec![case.wire.exchange(with_abandon(request(610, "hold", &json!({}))))];
    all_heard(&mut held, case.peer, 610..611).await?;
    drop(held);
    is_told(case, 610).await;
    response(&mut case.wire.exchange(request(611, "echo", &json!({})))).await.map(drop)
}

pub(in crate::check) async fn stops_listening(case: &Case<'_>) -> Kept {
    if !case.wire.abilities().listen {
        return Ok(());
    }
    let mut listening = case.wire.exchange(with_abandon(listen(620, &json!({ "to": 1 }))));
    message(&mut listening).await?;
    drop(listening);
    is_told(case, 620).await;
    Ok(())
}

pub(in crate::check) async fn leaves_others_alone(case: &Case<'_>) -> Kept {
    let ids = 630..634;
    let mut held: Vec<_> = ids
        .clone()
        .map(|id| case.wire.exchange(with_abandon(request(id, "hold", &json!({})))))
        .collect();
    all_heard(&mut held, case.peer, ids).await?;
    drop(held.remove(1));
    for (id, mut exchange) in [630, 632, 633].into_iter().zip(held) {
        case.peer.release(id);
        expect(&response(&mut exchange).await?, id, &json!({}))?;
    }
    Ok(())
}

pub(in crate::check) async fn tells_no_end_twice(case: &Case<'_>) -> Kept {
    let mut exchange = case.wire.exchange(with_abandon(request(640, "echo", &json!({}))));
    response(&mut exchange).await?;
    drop(exchange);
    response(&mut case.wire.exchange(request(641, "echo", &json!({})))).await?;
    match case.peer.heard().iter().any(|text| *text == abandon().message(640)) {
        true => Err("the peer was told to give up what it had answered".to_owned()),
        false => Ok(()),
    }
}

pub(in crate::check) async fn outlives_late_answers(case: &Case<'_>) -> Kept {
    let mut held = vec![case.wire.exchange(request(650, "hold", &json!({})))];
    all_heard(&mut held, case.peer, 650..651).await?;
    drop(held);
    case.peer.release(650);
    for id in 651..655 {
        let mut exchange = case.wire.exchange(request(id, "echo", &json!({ "id": id })));
        expect(&response(&mut exchange).await?, id, &json!({ "id": id }))?;
    }
    Ok(())
}

/// Waits until the peer knows that nobody waits for this request any more, in the way the
/// transport has: by the notice, by the end of the request's own stream, or by both.
async fn is_told(case: &Case<'_>, id: u64) {
    let abilities = case.wire.abilities();
    let told = case.peer.until_heard(|text| text == abandon().message(id));
    let noticed = case.peer.until_given_up(id);
    if abilities.same_task || !abilities.listen {
        // No pipe lies between: the peer's work is dropped with the exchange.
        tokio::select! { () = told => {}, () = noticed => {} }
    } else if abilities.own_stream {
        told.await;
        noticed.await;
    } else {
        told.await;
    }
}
