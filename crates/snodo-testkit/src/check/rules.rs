//! Each rule as a function; the ids are of one range for each, so that the peer can tell them apart.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_transport::{Exchange, Incoming, Transport};
use snodo_types::{Abandon, Body, Concern, Envelope, Message, Routing, TransportFault};

use crate::Peer;

type Wire = Arc<dyn Transport>;
type Kept = Result<(), String>;

pub(super) async fn answers(wire: Wire, _: Peer) -> Kept {
    let mut exchange = wire.exchange(request(100, "echo", &json!({ "a": [1, "ü"] })));
    let response = response(&mut exchange).await?;
    expect(&response, 100, &json!({ "a": [1, "ü"] }))?;
    end(&mut exchange).await
}

pub(super) async fn sends(wire: Wire, peer: Peer) -> Kept {
    if !wire.abilities().notify {
        return Ok(());
    }
    let mut exchange = wire.exchange(Envelope::notification(notification("kit/sends")));
    match exchange.next().await {
        Some(Ok(Incoming::Sent)) => {}
        other => return Err(format!("expected Sent, found {other:?}")),
    }
    end(&mut exchange).await?;
    peer.until_heard(|text| text.contains("kit/sends")).await;
    Ok(())
}

pub(super) async fn is_lazy(wire: Wire, peer: Peer) -> Kept {
    let early = wire.exchange(request(200, "echo", &json!({})));
    response(&mut wire.exchange(request(201, "echo", &json!({})))).await?;
    let was_heard = peer.requested(200);
    drop(early);
    if was_heard { Err("the message was sent before the first poll".to_owned()) } else { Ok(()) }
}

pub(super) async fn sorts(wire: Wire, peer: Peer) -> Kept {
    let ids = 300..310_u64;
    let mut exchanges: Vec<_> =
        ids.clone().map(|id| wire.exchange(request(id, "hold", &json!({})))).collect();
    all_heard(&mut exchanges, &peer, ids.clone()).await?;
    for id in ids.rev() {
        peer.release(id);
        let mut exchange = exchanges.pop().ok_or("one exchange for each id")?;
        expect(&response(&mut exchange).await?, id, &json!({}))?;
        end(&mut exchange).await?;
    }
    Ok(())
}

pub(super) async fn keeps_order(wire: Wire, _: Peer) -> Kept {
    let mut exchange = wire.exchange(request(400, "count", &json!({ "to": 5 })));
    let mut told = Vec::new();
    loop {
        let message = message(&mut exchange).await?;
        match (message.concerns(), message.body()) {
            (Concern::Answer(400), _) => break,
            (Concern::Part(400), Body::Notification { params: Some(params), .. }) => {
                let params: Value = serde_json::from_str(params).unwrap_or_default();
                told.push(params["progress"].as_u64().unwrap_or_default());
            }
            _ => return Err(format!("{} does not belong here", message.text())),
        }
    }
    end(&mut exchange).await?;
    let all_or_nothing = told.is_empty() && !wire.abilities().listen;
    if all_or_nothing || told == [1, 2, 3, 4, 5] { Ok(()) } else { Err(format!("came: {told:?}")) }
}

pub(super) async fn hands_on(wire: Wire, _: Peer) -> Kept {
    let mut unsolicited = wire.unsolicited(Routing::new());
    if unsolicited.is_some() && wire.unsolicited(Routing::new()).is_some() {
        return Err("what concerns no exchange is given out twice".to_owned());
    }
    let mut exchange = wire.exchange(request(500, "ask", &json!({})));
    let mut asked = false;
    loop {
        let message = message(&mut exchange).await?;
        match message.body() {
            Body::Request { .. } => asked = true,
            _ => break,
        }
    }
    end(&mut exchange).await?;
    let may_be_lost = !wire.abilities().listen;
    match &mut unsolicited {
        _ if asked || may_be_lost => Ok(()),
        Some(unsolicited) => match message(unsolicited).await?.body() {
            Body::Request { .. } => Ok(()),
            other => Err(format!("expected the peer's request, found {other:?}")),
        },
        None => Err("the request came nowhere".to_owned()),
    }
}

pub(super) async fn drops_unsent(wire: Wire, peer: Peer) -> Kept {
    drop(wire.exchange(with_abandon(request(600, "echo", &json!({})))));
    response(&mut wire.exchange(request(601, "echo", &json!({})))).await?;
    match peer.heard().iter().find(|text| text.contains("600")) {
        Some(text) => Err(format!("the peer heard {text}")),
        None => Ok(()),
    }
}

pub(super) async fn abandons(wire: Wire, peer: Peer) -> Kept {
    let mut held = vec![wire.exchange(with_abandon(request(700, "hold", &json!({}))))];
    all_heard(&mut held, &peer, 700..701).await?;
    drop(held);
    let abilities = wire.abilities();
    let told = peer.until_heard(|text| text == abandon().message(700));
    let noticed = peer.until_given_up(700);
    if abilities.same_task || !abilities.listen {
        // No pipe lies between: the peer's work is dropped with the exchange.
        tokio::select! { () = told => {}, () = noticed => {} }
    } else if abilities.own_stream {
        told.await;
        noticed.await;
    } else {
        told.await;
    }
    response(&mut wire.exchange(request(701, "echo", &json!({})))).await.map(drop)
}

pub(super) async fn outlives_late_answers(wire: Wire, peer: Peer) -> Kept {
    let mut held = vec![wire.exchange(request(800, "hold", &json!({})))];
    all_heard(&mut held, &peer, 800..801).await?;
    drop(held);
    peer.release(800);
    for id in 801..805 {
        let mut exchange = wire.exchange(request(id, "echo", &json!({ "id": id })));
        expect(&response(&mut exchange).await?, id, &json!({ "id": id }))?;
    }
    Ok(())
}

pub(super) async fn survives_duplicates(wire: Wire, peer: Peer) -> Kept {
    let mut first = vec![wire.exchange(request(900, "hold", &json!({})))];
    all_heard(&mut first, &peer, 900..901).await?;
    let mut second = wire.exchange(request(900, "echo", &json!({ "second": true })));
    match second.next().await {
        Some(Err(error)) if error.fault() == TransportFault::Usage => {}
        Some(Ok(Incoming::Message(message))) => {
            expect(&message, 900, &json!({ "second": true }))?;
        }
        other => return Err(format!("the second got {other:?}")),
    }
    drop(second);
    peer.release(900);
    expect(&response(&mut first[0]).await?, 900, &json!({}))
}

pub(super) async fn carries_much(wire: Wire, _: Peer) -> Kept {
    let much = json!({ "text": "x".repeat(1_000_000) });
    let mut exchange = wire.exchange(request(1000, "echo", &much));
    expect(&response(&mut exchange).await?, 1000, &much)
}

pub(super) async fn closes(wire: Wire, peer: Peer) -> Kept {
    let mut held = vec![wire.exchange(request(1100, "hold", &json!({})))];
    all_heard(&mut held, &peer, 1100..1101).await?;
    wire.close(Routing::new(), Duration::from_secs(2)).await;
    peer.release(1100);
    // An answer or an error: either is an end.
    let _ = response(&mut held[0]).await;
    let _ = response(&mut wire.exchange(request(1101, "echo", &json!({})))).await;
    Ok(())
}

fn request(id: u64, method: &str, params: &Value) -> Envelope {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    Envelope::request(id, message.to_string())
}

fn notification(method: &str) -> String {
    json!({ "jsonrpc": "2.0", "method": method }).to_string()
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
        () = peer.until_requested(ids) => Ok(()),
        ended = ended => Err(format!("expected nothing yet, found {ended:?}")),
    }
}

fn poll(
    exchange: &mut Exchange,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Incoming, snodo_types::TransportError>>> {
    let mut next = std::pin::pin!(exchange.next());
    Future::poll(next.as_mut(), cx)
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
        _ => Err(format!("expected a response, found {}", message.text())),
    }
}

fn expect(response: &Message, id: u64, result: &Value) -> Kept {
    let found: Option<Value> = match response.body() {
        Body::Result { result, .. } => serde_json::from_str(result).ok(),
        _ => None,
    };
    if response.concerns() == Concern::Answer(id) && found.as_ref() == Some(result) {
        return Ok(());
    }
    let shown: String = response.text().chars().take(200).collect();
    Err(format!("expected the answer to {id}, found {shown}"))
}

async fn end(exchange: &mut Exchange) -> Kept {
    match exchange.next().await {
        None => Ok(()),
        other => Err(format!("expected the end, found {other:?}")),
    }
}
