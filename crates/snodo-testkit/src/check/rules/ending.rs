//! The end of a connection, and the next one.

use std::time::Duration;

use serde_json::json;
use snodo_transport::Incoming;
use snodo_types::{Concern, Routing};

use super::{Kept, all_heard, answer, expect, request, response};
use crate::check::Case;

pub(in crate::check) async fn closes(case: &Case<'_>) -> Kept {
    let mut held = vec![case.wire.exchange(request(700, "hold", &json!({})))];
    all_heard(&mut held, case.peer, 700..701).await?;
    case.wire.close(Routing::new(), Duration::from_secs(2)).await;
    case.peer.release(700);
    // An answer or an error: either is an end.
    let _ = response(&mut held[0]).await;
    let _ = response(&mut case.wire.exchange(request(701, "echo", &json!({})))).await;
    Ok(())
}

pub(in crate::check) async fn lets_go(case: &Case<'_>) -> Kept {
    let wire = case.connect().await?;
    let mut held = vec![wire.exchange(request(710, "hold", &json!({})))];
    all_heard(&mut held, case.peer, 710..711).await?;
    drop((held, wire));
    case.peer.until_given_up(710).await;
    Ok(())
}

pub(in crate::check) async fn tells_who_waits(case: &Case<'_>) -> Kept {
    let mut leaving = case.wire.exchange(request(720, "leave", &json!({})));
    loop {
        match leaving.next().await {
            Some(Err(_)) => return Ok(()),
            Some(Ok(Incoming::Message(message)))
                if matches!(message.concerns(), Concern::Answer(_)) =>
            {
                return Err("an answer came that the peer did not give".to_owned());
            }
            Some(Ok(_)) => {}
            None => return Err("the exchange ended without an answer and without why".to_owned()),
        }
    }
}

pub(in crate::check) async fn comes_back(case: &Case<'_>) -> Kept {
    // The peer goes away, and then this side does: each time there is a new connection to be had.
    let _ = response(&mut case.wire.exchange(request(730, "leave", &json!({})))).await;
    let second = case.connect().await?;
    answer(
        &mut second.exchange(request(731, "echo", &json!({ "second": 1 }))),
        731,
        &json!({ "second": 1 }),
    )
    .await?;
    second.close(Routing::new(), Duration::from_secs(2)).await;
    let third = case.connect().await?;
    answer(
        &mut third.exchange(request(731, "echo", &json!({ "third": 1 }))),
        731,
        &json!({ "third": 1 }),
    )
    .await
}

pub(in crate::check) async fn keeps_connections_apart(case: &Case<'_>) -> Kept {
    let other = case.connect().await?;
    let mut held = vec![case.wire.exchange(request(740, "hold", &json!({})))];
    all_heard(&mut held, case.peer, 740..741).await?;
    // The same number on another connection is another request.
    let here = json!({ "other": true });
    answer(&mut other.exchange(request(740, "echo", &here)), 740, &here).await?;
    other.close(Routing::new(), Duration::from_secs(2)).await;
    case.peer.release(740);
    expect(&response(&mut held[0]).await?, 740, &json!({}))
}
