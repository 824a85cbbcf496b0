//! Event streams: of a request, of one that listens, and the one a server may offer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use snodo_transport::{Exchange, Incoming, Transport as _};
use snodo_types::TransportFault;
use tokio::sync::Notify;

use super::server::{Act, Server, chunk, events, json, last_chunk, plain, soon, whole_events};
use super::{call, connect, failure, http, read, request, result, routing, told, transport};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const NEWS: &str = r#"{"jsonrpc":"2.0","method":"n"}"#;
const ASKED: &str = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;

fn data(text: &str) -> String {
    format!("data: {text}\n\n")
}

async fn next(exchange: &mut Exchange) -> String {
    let item = soon(exchange.next()).await.expect("more");
    told(&[item]).remove(0)
}

// HTTPL-03, HTTP-08, HTTP-17, HTTP-07
#[tokio::test]
async fn requests_and_news_come_before_the_response_and_the_rest_is_skipped() {
    let answer = whole_events(&[
        ":\r\n\r\n",
        "id: 1\nretry: 10\ndata:\n\n",
        &data(NEWS),
        "event: ping\ndata: {\n\n",
        "data: not json\n\n",
        &data(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
        &data(ASKED),
        "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n",
        &data(NEWS),
    ]);
    let server = Server::scripted(vec![answer]).await;
    let told = told(&call(&transport(&server).await, 1).await);
    assert_eq!(told, [NEWS, ASKED, "{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}"]);
}

#[tokio::test]
async fn a_message_is_read_as_soon_as_it_came() {
    let go = Arc::new(Notify::new());
    let mut answer = events(&[&data(NEWS)]);
    answer.extend([Act::Wait(go.clone()), chunk(&data(RESULT)), last_chunk()]);
    let server = Server::scripted(vec![answer]).await;
    let mut exchange = transport(&server).await.exchange(request(1));
    assert_eq!(next(&mut exchange).await, NEWS);
    go.notify_one();
    assert_eq!(next(&mut exchange).await, RESULT);
    assert!(exchange.next().await.is_none());
}

#[tokio::test]
async fn a_failure_on_a_stream_answers_it_unless_it_names_another_and_a_better_one_comes() {
    let null = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#;
    let word = r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"m"}}"#;
    for (pieces, expected) in [
        (vec![data(null), data(RESULT)], null),
        (vec![data(word), data(RESULT)], RESULT),
        (vec![data(word), data(NEWS)], NEWS),
    ] {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let server = Server::scripted(vec![whole_events(&pieces)]).await;
        let told = told(&call(&transport(&server).await, 1).await);
        assert_eq!(told[0], expected);
        assert_eq!(told.len(), if expected == NEWS { 2 } else { 1 });
        assert!(expected != NEWS || told[1] == word, "the stray failure answers at the end");
    }
}

#[tokio::test]
async fn a_response_that_breaks_json_rpc_fails_its_request() {
    let both = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#;
    let server = Server::scripted(vec![whole_events(&[&data(both)])]).await;
    assert_eq!(failure(&transport(&server).await, 1).await.fault(), TransportFault::Malformed);
}

// HTTP-09
#[tokio::test]
async fn a_stream_that_ends_before_the_response_loses_the_request_and_nothing_is_resent() {
    for answer in [
        whole_events(&["id: 1\ndata:\n\n"]),
        whole_events(&[]),
        whole_events(&["data: {\"jsonrpc\":"]),
    ] {
        let server = Server::scripted(vec![answer]).await;
        let error = soon(failure(&transport(&server).await, 1)).await;
        assert_eq!(error.fault(), TransportFault::StreamEnded);
        assert_eq!(server.seen().len(), 1);
    }
    for end in [Act::Close, Act::Reset] {
        let mut answer = events(&[&data(NEWS)]);
        answer.push(end);
        let server = Server::scripted(vec![answer]).await;
        let items = soon(call(&transport(&server).await, 1)).await;
        let told = told(&items);
        assert_eq!(told.last().map(String::as_str), Some("!Closed"), "{told:?}");
    }
}

#[tokio::test]
async fn a_response_without_its_last_blank_line_counts() {
    for tail in ["", "\n", "\r\n"] {
        let server =
            Server::scripted(vec![whole_events(&[&format!("data: {RESULT}{tail}")])]).await;
        result(&transport(&server).await, 1).await;
    }
}

// As the given case RC-07 has it.
#[tokio::test]
async fn a_stream_held_open_behind_the_response_delays_nobody_and_its_connection_goes() {
    let hung_up = Arc::new(Notify::new());
    let mut answer = events(&[&data(RESULT)]);
    answer.push(Act::Hold(hung_up.clone()));
    let server = Server::scripted(vec![answer]).await;
    let transport = transport(&server).await;
    let started = Instant::now();
    for _ in 0..30 {
        result(&transport, 1).await;
        soon(hung_up.notified()).await;
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    soon(server.open_is(0)).await;
}

#[tokio::test]
async fn an_endless_flow_behind_the_response_is_not_read() {
    let mut answer = events(&[&data(RESULT)]);
    answer.extend(std::iter::repeat_n(chunk(&": more\n".repeat(1000)), 10_000));
    let server = Server::scripted(vec![answer]).await;
    soon(result(&transport(&server).await, 1)).await;
    soon(server.open_is(0)).await;
}

// HTTP-12
#[tokio::test]
async fn dropping_an_exchange_closes_its_stream_and_says_nothing() {
    let hung_up = Arc::new(Notify::new());
    let mut answer = events(&[&data(NEWS)]);
    answer.push(Act::Hold(hung_up.clone()));
    let server = Server::scripted(vec![answer]).await;
    let transport = transport(&server).await;
    let mut exchange = transport.exchange(request(1));
    assert_eq!(next(&mut exchange).await, NEWS);
    drop(exchange);
    soon(hung_up.notified()).await;
    soon(server.open_is(0)).await;
    assert_eq!(server.seen().len(), 1);
}

// HTTP-16
#[tokio::test]
async fn dropping_an_exchange_before_its_head_has_come_closes_its_connection() {
    let (hung_up, asked) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = Server::start({
        let (hung_up, asked) = (hung_up.clone(), asked.clone());
        move |_| {
            asked.notify_one();
            vec![Act::Hold(hung_up.clone())]
        }
    })
    .await;
    let transport = transport(&server).await;
    let mut exchange = transport.exchange(request(1));
    tokio::select! {
        _ = exchange.next() => panic!("there is no answer"),
        () = asked.notified() => {}
    }
    drop(exchange);
    soon(hung_up.notified()).await;
}

#[tokio::test]
async fn a_listener_that_sleeps_loses_the_oldest_and_is_told() {
    let many: String =
        (0..1000).map(|n| data(&format!(r#"{{"jsonrpc":"2.0","method":"e{n}"}}"#))).collect();
    let first = data(r#"{"jsonrpc":"2.0","method":"ack"}"#);
    let server =
        Server::scripted(vec![whole_events(&[&first, &many, &data(RESULT)]), json(RESULT)]).await;
    let transport = transport(&server).await;
    let mut envelope = request(1);
    envelope.listen = true;
    (envelope.inbox.capacity, envelope.inbox.keep_first) = (2, true);
    let mut exchange = transport.exchange(envelope);
    assert!(next(&mut exchange).await.contains("ack"));
    // The connection is free again: the whole stream was read while nobody looked.
    soon(async {
        while server.accepted() != 1
            || !matches!(told(&call(&transport, 1).await)[0].as_str(), RESULT)
        {}
    })
    .await;
    soon(server.open_is(1)).await;
    let mut told = told(&soon(read(exchange)).await);
    told.retain(|item| !item.contains("\"e"));
    assert!(told.iter().any(|item| item.starts_with("Dropped(")), "{told:?}");
    assert_eq!(told.last().map(String::as_str), Some(RESULT));
}

// S-65
#[tokio::test]
async fn dropping_a_listener_ends_its_task_and_its_stream() {
    let hung_up = Arc::new(Notify::new());
    let mut answer = events(&[&data(NEWS)]);
    answer.push(Act::Hold(hung_up.clone()));
    let server = Server::scripted(vec![answer]).await;
    let mut envelope = request(1);
    envelope.listen = true;
    let mut exchange = transport(&server).await.exchange(envelope);
    assert_eq!(next(&mut exchange).await, NEWS);
    drop(exchange);
    soon(hung_up.notified()).await;
    soon(async {
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

// HTTPL-04, HTTPL-13, HTTPL-18, S-22
#[tokio::test]
async fn the_stream_a_server_offers_is_opened_once_with_the_session_and_tells_when_it_is_there() {
    let go = Arc::new(Notify::new());
    let mut answer = events(&[]);
    answer.extend([
        Act::Wait(go.clone()),
        chunk(&data(ASKED)),
        chunk(&data(RESULT)),
        chunk(&data(NEWS)),
        last_chunk(),
    ]);
    let server = Server::scripted(vec![answer, plain("405 Method Not Allowed", "")]).await;
    let transport = connect(http(&server).header("x-key", "k").expect("a header")).await;
    let mut unsolicited = transport.unsolicited(routing()).expect("once");
    assert!(transport.unsolicited(routing()).is_none());
    assert_eq!(server.seen().len(), 0, "nothing before the first poll");
    assert_eq!(next(&mut unsolicited).await, "Sent");
    let seen = server.seen().remove(0);
    assert_eq!(seen.line, "GET /mcp HTTP/1.1");
    let header = |name| seen.header(name);
    assert_eq!(header("accept"), Some("text/event-stream"));
    assert_eq!(
        (header("mcp-session-id"), header("mcp-protocol-version")),
        (Some("s-1"), Some("v"))
    );
    assert_eq!(
        (header("x-key"), header("content-type"), header("content-length")),
        (Some("k"), None, None)
    );
    go.notify_one();
    assert_eq!(told(&soon(read(unsolicited)).await), [ASKED, NEWS]);
}

// HTTPL-04
#[tokio::test]
async fn a_server_that_offers_no_stream_is_no_failure_and_is_asked_once() {
    for head in [
        "405 Method Not Allowed",
        "404 Not Found",
        "400 Bad Request",
        "406 Not Acceptable",
        "403 Forbidden",
        "200 OK\r\ncontent-type: application/json",
        "204 No Content",
    ] {
        let server = Server::scripted(vec![plain(head, "")]).await;
        let unsolicited = transport(&server).await.unsolicited(routing()).expect("once");
        assert_eq!(told(&soon(read(unsolicited)).await), [""; 0], "{head}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_could_not_be_asked_for_is_a_failure() {
    for (head, status) in [
        ("401 Unauthorized", 401),
        ("503 Service Unavailable", 503),
        ("307 Temporary Redirect", 307),
    ] {
        let server = Server::scripted(vec![plain(head, "")]).await;
        let unsolicited = transport(&server).await.unsolicited(routing()).expect("once");
        let items = soon(read(unsolicited)).await;
        let [Err(error)] = &*items else { panic!("{items:?}") };
        assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(status)));
    }
}

#[tokio::test]
async fn a_stream_nobody_reads_is_bounded_and_the_gap_is_told() {
    let many: String = (0..1000).map(|_| data(NEWS)).collect();
    let server = Server::start(move |seen| match seen.line.starts_with("GET") {
        true => whole_events(&[&many]),
        false => json(RESULT),
    })
    .await;
    let transport = connect(http(&server).resume_attempts(0)).await;
    let mut unsolicited = transport.unsolicited(routing()).expect("once");
    assert_eq!(next(&mut unsolicited).await, "Sent");
    // The stream was read to its end once its connection rests: the next request takes it.
    soon(async {
        loop {
            call(&transport, 1).await;
            if server.accepted() == 1 {
                break;
            }
        }
    })
    .await;
    let items = soon(read(unsolicited)).await;
    let dropped = items.iter().find_map(|item| match item {
        Ok(Incoming::Dropped(count)) => Some(*count),
        _ => None,
    });
    assert_eq!((dropped, items.len()), (Some(1000 - 256), 257));
}
