//! A message goes out, and what it causes comes back.

use serde_json::json;
use snodo_transport::Incoming;
use snodo_types::{Body, Concern, ErrorObject, Message, TransportFault};

use super::{Kept, end, expect, notification, request, response, short};
use crate::check::Case;

pub(in crate::check) async fn answers(case: &Case<'_>) -> Kept {
    let params = json!({ "a": [1, "ü\n\"\u{2028}"], "b": { "c": null } });
    let mut exchange = case.wire.exchange(request(100, "echo", &params));
    expect(&response(&mut exchange).await?, 100, &params)?;
    end(&mut exchange).await
}

pub(in crate::check) async fn hands_over_errors(case: &Case<'_>) -> Kept {
    let mut exchange = case.wire.exchange(request(110, "fail", &json!({ "why": 1 })));
    let response = response(&mut exchange).await?;
    let error: Option<ErrorObject> = match (response.concerns(), response.body()) {
        (Concern::Answer(110), Body::Error { error, .. }) => serde_json::from_str(error).ok(),
        _ => None,
    };
    match error.as_ref().map(|error| (error.code, error.data.is_some())) {
        Some((-32000, true)) => end(&mut exchange).await,
        _ => Err(format!("expected the peer's error, found {}", short(&response))),
    }
}

pub(in crate::check) async fn sends(case: &Case<'_>) -> Kept {
    if !case.wire.abilities().notify {
        return Ok(());
    }
    let reply = Message::result(&7.into(), r#"{"kit":"replies"}"#);
    for (envelope, mark) in [(notification("kit/sends"), "kit/sends"), (reply.into(), "replies")] {
        let mut exchange = case.wire.exchange(envelope);
        match exchange.next().await {
            Some(Ok(Incoming::Sent)) => {}
            other => return Err(format!("expected Sent, found {other:?}")),
        }
        end(&mut exchange).await?;
        case.peer.until_heard(|text| text.contains(mark)).await;
    }
    Ok(())
}

pub(in crate::check) async fn changes_nothing(case: &Case<'_>) -> Kept {
    // Spaces, an escape and a number that no floating point holds: none of it is the transport's.
    let text = r#"{ "id":120,"params":{"n":12345678901234567890.10,"s":"\u0041"},"method":"echo" ,"jsonrpc":"2.0"}"#;
    let message = Message::parse(text).map_err(|malformed| malformed.to_string())?;
    let answer = response(&mut case.wire.exchange(message.into())).await?;
    if !case.peer.heard().iter().any(|heard| heard == text) {
        return Err("the peer did not hear the text that was given".to_owned());
    }
    match answer.body() {
        Body::Result { result: r#"{"n":12345678901234567890.10,"s":"\u0041"}"#, .. } => Ok(()),
        _ => Err(format!("the answer came as {}", short(&answer))),
    }
}

pub(in crate::check) async fn carries_much(case: &Case<'_>) -> Kept {
    let much = json!({ "text": "x".repeat(1_000_000) });
    let mut exchange = case.wire.exchange(request(130, "echo", &much));
    expect(&response(&mut exchange).await?, 130, &much)
}

pub(in crate::check) async fn survives_duplicates(case: &Case<'_>) -> Kept {
    let mut first = vec![case.wire.exchange(request(140, "hold", &json!({})))];
    super::all_heard(&mut first, case.peer, 140..141).await?;
    let mut second = case.wire.exchange(request(140, "echo", &json!({ "second": true })));
    match second.next().await {
        Some(Err(error)) if error.fault() == TransportFault::Usage => {}
        Some(Ok(Incoming::Message(message))) => {
            expect(&message, 140, &json!({ "second": true }))?;
        }
        other => return Err(format!("the second got {other:?}")),
    }
    drop(second);
    case.peer.release(140);
    expect(&response(&mut first[0]).await?, 140, &json!({}))
}
