//! The stream of a request that breaks or ends before its response, and what comes then.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use snodo_transport::{Exchange, Incoming, Transport as _};
use snodo_types::{Abandon, Envelope, TransportError, TransportFault};
use tokio::sync::Notify;

use super::server::{Act, Seen, Server, chunk, events, json, plain, soon, whole_events};
use super::{Item, connect, http, read, request, routing, told, transport};
use crate::Http;

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// A request of a version whose streams may be resumed.
fn resumable() -> Envelope {
    let mut envelope = request(1);
    envelope.resumable = true;
    envelope.routing = routing();
    envelope
}

/// A client that waits a little where the server names no wait.
fn hasty(server: &Server) -> Http {
    http(server).resume_delay(Duration::from_millis(10))
}

async fn resumed(http: Http) -> Vec<Item> {
    soon(read(connect(http).await.exchange(resumable()))).await
}

async fn lost(http: Http) -> TransportError {
    match resumed(http).await.pop() {
        Some(Err(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn news(number: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"n{number}"}}"#)
}

fn event(id: &str, data: &str) -> String {
    format!("id: {id}\ndata: {data}\n\n")
}

/// The method of each request, and the id behind which it asks.
fn asked(server: &Server) -> Vec<String> {
    let tell = |seen: &Seen| {
        let method = seen.line.split(' ').next().expect("a method");
        match seen.header("last-event-id") {
            Some(id) => format!("{method} {id}"),
            None => method.to_owned(),
        }
    };
    server.seen().iter().map(tell).collect()
}

/// A server that says one thing after another, and when it was asked.
async fn timed(scripts: Vec<Vec<Act>>) -> (Server, Arc<Mutex<Vec<Instant>>>) {
    let times = Arc::<Mutex<Vec<Instant>>>::default();
    let server = Server::start({
        let times = times.clone();
        move |_| {
            let mut times = times.lock().expect("not poisoned");
            times.push(Instant::now());
            scripts[(times.len() - 1).min(scripts.len() - 1)].clone()
        }
    })
    .await;
    (server, times)
}

fn gaps(times: &Mutex<Vec<Instant>>) -> Vec<Duration> {
    let times = times.lock().expect("not poisoned");
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

// HTTPL-05, HTTPL-08, HTTPL-09, HTTPL-10, HTTPL-11
#[tokio::test]
async fn an_empty_first_event_is_remembered_and_the_rest_asked_for_after_the_wait_it_names() {
    for first in [
        "id: 9-1\r\nretry: 100\r\ndata: \r\n\r\n",
        "data:\nid: 9-1\nretry: 100\n\n",
        "retry: 100\nid: 9-1\n\n",
    ] {
        let rest = [event("9-2", &news(1)), event("9-3", &news(2)), event("9-4", RESULT)];
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let (server, times) = timed(vec![whole_events(&[first]), whole_events(&rest)]).await;
        let client = hasty(&server).header("x-key", "k").expect("a header");
        assert_eq!(told(&resumed(client).await), [&news(1), &news(2), RESULT]);
        assert_eq!(asked(&server), ["POST", "GET 9-1"]);
        let seen = server.seen().remove(1);
        let header = |name| seen.header(name);
        assert_eq!(
            (header("accept"), header("mcp-session-id"), header("mcp-protocol-version")),
            (Some("text/event-stream"), Some("s-1"), Some("v"))
        );
        assert_eq!((header("x-key"), header("content-type")), (Some("k"), None));
        assert!(gaps(&times)[0] >= Duration::from_millis(100), "{:?}", gaps(&times));
    }
}

// As the given case RC-05 has it.
// HTTPL-11
#[tokio::test]
async fn a_stream_that_breaks_is_resumed_like_one_that_ends() {
    for end in [Act::Close, Act::Reset] {
        let mut first = events(&["id: a\nretry: 20\ndata:\n\n", &event("b", &news(1))]);
        first.push(end);
        let server = Server::scripted(vec![first, whole_events(&[&event("c", RESULT)])]).await;
        assert_eq!(told(&resumed(hasty(&server)).await), [&news(1), RESULT]);
        assert_eq!(asked(&server), ["POST", "GET b"]);
    }
}

// HTTPL-09, HTTPL-10
#[tokio::test]
async fn a_server_that_closes_again_and_again_is_polled_until_the_response_comes() {
    let mut scripts: Vec<_> = (0..12)
        .map(|n| match n {
            0 => whole_events(&["id: 0\nretry: 30\ndata:\n\n"]),
            _ => whole_events(&[&event(&n.to_string(), "")]),
        })
        .collect();
    scripts.push(whole_events(&[&event("12", RESULT), &event("13", RESULT)]));
    let (server, times) = timed(scripts).await;
    assert_eq!(told(&resumed(hasty(&server)).await), [RESULT]);
    let expected: Vec<_> = (0..12).map(|n| format!("GET {n}")).collect();
    assert_eq!(asked(&server)[1..], expected);
    assert!(gaps(&times).iter().all(|gap| *gap >= Duration::from_millis(30)), "{times:?}");
}

// As the given case RC-01 has it.
// HTTPL-23
#[tokio::test]
async fn a_stream_that_opens_and_brings_nothing_new_uses_up_the_attempts() {
    for nothing in ["", "id: a\ndata:\n\n", ": still here\n\n"] {
        let first = whole_events(&["id: a\nretry: 10\ndata:\n\n"]);
        let server = Server::scripted(vec![first, whole_events(&[nothing])]).await;
        let error = lost(hasty(&server)).await;
        assert_eq!(error.fault(), TransportFault::StreamEnded);
        assert!(error.message().contains("5 attempts"), "{error}");
        assert_eq!(asked(&server)[1..], ["GET a"; 5]);
    }
}

// HTTPL-23
#[tokio::test]
async fn only_what_is_new_makes_the_next_attempt_the_first_again() {
    let nothing = || whole_events(&[]);
    let server = Server::scripted(vec![
        whole_events(&[&event("a", "")]),
        nothing(),
        whole_events(&[&format!("data: {}\n\n", news(1))]),
        nothing(),
        plain("503 Service Unavailable", ""),
        whole_events(&[&event("b", RESULT)]),
    ])
    .await;
    let error = lost(hasty(&server).resume_attempts(2)).await;
    assert_eq!((error.fault(), error.status()), (TransportFault::StreamEnded, Some(503)));
    assert_eq!(asked(&server), ["POST", "GET a", "GET a", "GET a", "GET a"]);

    let server = Server::scripted(vec![
        whole_events(&[&event("a", "")]),
        nothing(),
        whole_events(&[&format!("data: {}\n\n", news(1))]),
        nothing(),
        whole_events(&[&event("b", "")]),
        nothing(),
        whole_events(&[&event("c", RESULT)]),
    ])
    .await;
    assert_eq!(told(&resumed(hasty(&server).resume_attempts(2)).await), [&news(1), RESULT]);
}

// HTTPL-10, HTTPL-11
#[tokio::test]
async fn a_resumed_stream_that_breaks_is_resumed_behind_its_own_last_id_with_the_wait_named_before()
{
    let mut second = events(&[&event("b", &news(1)), &event("c", &news(2))]);
    second.push(Act::Reset);
    let (server, times) = timed(vec![
        whole_events(&["id: a\nretry: 60\ndata:\n\n"]),
        second,
        whole_events(&["retry: 80\n\n"]),
        whole_events(&[&event("d", &news(3)), &event("e", RESULT)]),
    ])
    .await;
    assert_eq!(told(&resumed(hasty(&server)).await), [&news(1), &news(2), &news(3), RESULT]);
    assert_eq!(asked(&server), ["POST", "GET a", "GET c", "GET c"]);
    let least = [60, 60, 80].map(Duration::from_millis);
    assert!(gaps(&times).iter().zip(least).all(|(gap, least)| *gap >= least), "{times:?}");
}

// HTTPL-11, HTTPL-24
#[tokio::test]
async fn an_event_that_was_cut_off_is_asked_for_again_and_comes_once() {
    let whole = news(2);
    for cut in [format!("id: b\ndata: {}", &whole[..9]), format!("id: b\ndata: {whole}")] {
        let first = [event("a", &news(1)), cut];
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        let rest = [event("b", &whole), event("c", RESULT), event("c", RESULT)];
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let server = Server::scripted(vec![whole_events(&first), whole_events(&rest)]).await;
        assert_eq!(told(&resumed(hasty(&server)).await), [&news(1), &whole, RESULT]);
        assert_eq!(asked(&server), ["POST", "GET a"]);
    }
}

// HTTPL-11
#[tokio::test]
async fn a_response_that_came_is_the_end_whether_or_not_the_stream_has_more_ids() {
    let server =
        Server::scripted(vec![whole_events(&[&event("a", RESULT), &event("b", "")])]).await;
    assert_eq!(told(&resumed(hasty(&server)).await), [RESULT]);
    let cut = format!("id: a\ndata:\n\nid: b\ndata: {RESULT}");
    let without_its_last_line = Server::scripted(vec![whole_events(&[&cut])]).await;
    assert_eq!(told(&resumed(hasty(&without_its_last_line)).await), [RESULT]);
    assert_eq!((server.seen().len(), without_its_last_line.seen().len()), (1, 1));
}

// HTTPL-12
#[tokio::test]
async fn a_stream_that_names_no_id_that_could_be_sent_back_is_lost_at_once() {
    let long = event(&"x".repeat(5000), "");
    for first in ["", ": hi\n\n", "retry: 10\ndata:\n\n", "id: a\u{1}b\ndata:\n\n", &*long] {
        let server = Server::scripted(vec![whole_events(&[first])]).await;
        let error = lost(hasty(&server)).await;
        assert_eq!(error.fault(), TransportFault::StreamEnded, "{first:?}");
        assert_eq!(asked(&server), ["POST"]);
    }
    // An id may be taken back.
    let server = Server::scripted(vec![whole_events(&["id: a\ndata:\n\nid\ndata:\n\n"])]).await;
    lost(hasty(&server)).await;
    assert_eq!(asked(&server), ["POST"]);
    // What is no ASCII is sent back as it came.
    let first = whole_events(&[&event("\u{e4}", "")]);
    let server = Server::scripted(vec![first, whole_events(&[&event("b", RESULT)])]).await;
    assert_eq!(told(&resumed(hasty(&server)).await), [RESULT]);
    assert_eq!(asked(&server), ["POST", "GET \u{e4}"]);
}

// HTTP-09
#[tokio::test]
async fn where_streams_are_not_resumed_an_id_changes_nothing() {
    for end in [None, Some(Act::Reset)] {
        let mut first = events(&["id: a\nretry: 10\ndata:\n\n"]);
        first.push(end.unwrap_or_else(super::server::last_chunk));
        let server = Server::scripted(vec![first]).await;
        soon(read(transport(&server).await.exchange(request(1)))).await;
        assert_eq!(asked(&server), ["POST"]);
    }
    let server = Server::scripted(vec![whole_events(&[&event("a", "")])]).await;
    let error = lost(hasty(&server).resume_attempts(0)).await;
    assert_eq!(error.fault(), TransportFault::StreamEnded);
    assert_eq!(asked(&server), ["POST"]);
}

// HTTPL-09, HTTPL-15
#[tokio::test]
async fn a_server_that_will_not_resume_fails_the_call_and_its_status_shows() {
    for (head, status) in [
        ("404 Not Found", Some(404)),
        ("405 Method Not Allowed", Some(405)),
        ("400 Bad Request", Some(400)),
        ("401 Unauthorized\r\nwww-authenticate: Bearer", Some(401)),
        ("302 Found\r\nlocation: /other", Some(302)),
        ("200 OK\r\ncontent-type: application/json", None),
        ("204 No Content", None),
    ] {
        let server =
            Server::scripted(vec![whole_events(&[&event("a", "")]), plain(head, "")]).await;
        let error = lost(hasty(&server)).await;
        assert_eq!((error.fault(), error.status()), (TransportFault::StreamEnded, status));
        assert!(error.message().contains("could not be resumed"), "{error}");
        assert_eq!(error.challenges().len(), usize::from(status == Some(401)));
        assert_eq!(asked(&server), ["POST", "GET a"]);
    }
}

// HTTPL-23
#[tokio::test]
async fn a_server_in_trouble_is_asked_again_and_no_sooner_than_it_wants() {
    let (server, times) = timed(vec![
        whole_events(&[&event("a", "")]),
        plain("500 Internal Server Error", "oh"),
        vec![Act::Close],
        plain("409 Conflict", "the other stream is still open"),
        plain("429 Too Many Requests\r\nretry-after: 1", ""),
        whole_events(&[&event("b", RESULT)]),
    ])
    .await;
    assert_eq!(told(&resumed(hasty(&server)).await), [RESULT]);
    assert_eq!(asked(&server)[1..], ["GET a"; 5]);
    assert!(gaps(&times)[4] >= Duration::from_secs(1), "{:?}", gaps(&times));
}

// HTTPL-23
#[tokio::test]
async fn a_server_that_is_gone_is_tried_so_often_and_no_more() {
    let there = Arc::new(Notify::new());
    let server = Server::start({
        let there = there.clone();
        move |_| {
            there.notify_one();
            whole_events(&["id: a\nretry: 100\ndata:\n\n"])
        }
    })
    .await;
    let client = connect(hasty(&server).pool_idle(0).resume_attempts(2)).await;
    let mut exchange = client.exchange(resumable());
    until(&mut exchange, &there).await;
    until_closed(&mut exchange, &server).await;
    drop(server);
    let started = Instant::now();
    let items = soon(read(exchange)).await;
    let [Err(error)] = &*items else { panic!("{items:?}") };
    assert_eq!(error.fault(), TransportFault::StreamEnded);
    assert!(error.message().contains("2 attempts"), "{error}");
    assert!(started.elapsed() >= Duration::from_millis(200), "{:?}", started.elapsed());
}

/// Polls an exchange until something has happened at the server.
async fn until(exchange: &mut Exchange, happened: &Notify) {
    soon(async {
        tokio::select! {
            item = exchange.next() => panic!("{item:?}"),
            () = happened.notified() => {}
        }
    })
    .await;
}

/// Polls an exchange until its stream was read to the end: then the wait has begun.
async fn until_closed(exchange: &mut Exchange, server: &Server) {
    soon(async {
        tokio::select! {
            item = exchange.next() => panic!("{item:?}"),
            () = server.open_is(0) => {}
        }
    })
    .await;
}

// HTTPL-07, S-42
#[tokio::test]
async fn a_call_that_is_dropped_while_its_stream_is_resumed_is_given_up_once() {
    let prime = whole_events(&["id: a\nretry: 20\ndata:\n\n"]);
    let waiting = whole_events(&["id: a\nretry: 60000\ndata:\n\n"]);
    let hung_up = Arc::new(Notify::new());
    let silent = vec![Act::Hold(hung_up.clone())];
    let open = [events(&[&event("b", "")]), silent.clone()].concat();
    for (first, second) in [(waiting, None), (prime.clone(), Some(silent)), (prime, Some(open))] {
        let (there, given_up) = <(Arc<Notify>, Arc<Notify>)>::default();
        let server = Server::start({
            let (there, given_up, second) = (there.clone(), given_up.clone(), second.clone());
            move |seen| {
                let given = seen.body.contains("gone");
                if given {
                    given_up.notify_one();
                    return plain("202 Accepted", "");
                }
                let posted = seen.line.starts_with("POST");
                if posted == second.is_none() {
                    there.notify_one();
                }
                if posted { first.clone() } else { second.clone().expect("not before") }
            }
        })
        .await;
        let mut envelope = resumable();
        envelope.abandon = Some(Arc::new(Abandon::new(r#"{"gone":"#, "}", routing())));
        let mut exchange = connect(hasty(&server).pool_idle(0)).await.exchange(envelope);
        until(&mut exchange, &there).await;
        if second.is_none() {
            until_closed(&mut exchange, &server).await;
        }
        drop(exchange);
        soon(given_up.notified()).await;
        soon(server.open_is(0)).await;
        let told = server.seen().iter().filter(|seen| seen.body == r#"{"gone":1}"#).count();
        assert_eq!(told, 1);
        assert_eq!(asked(&server).len(), 2 + usize::from(second.is_some()));
    }
}

// HTTPL-07, S-42
#[tokio::test]
async fn behind_the_close_no_stream_is_asked_for_again_and_nothing_given_up_is_told() {
    let there = Arc::new(Notify::new());
    let server = Server::start({
        let there = Arc::clone(&there);
        move |seen| {
            if seen.body.contains(r#""method":"x""#) {
                there.notify_one();
                return whole_events(&["id: a\nretry: 1000\ndata:\n\n"]);
            }
            plain("202 Accepted", "")
        }
    })
    .await;
    let transport = connect(hasty(&server).pool_idle(0)).await;
    let mut envelope = resumable();
    envelope.abandon = Some(Arc::new(Abandon::new(r#"{"gone":"#, "}", routing())));
    let [mut read, mut dropped] =
        [transport.exchange(envelope.clone()), transport.exchange(envelope)];
    for exchange in [&mut read, &mut dropped] {
        until(exchange, &there).await;
        until_closed(exchange, &server).await;
    }
    soon(transport.close(routing(), Duration::from_secs(1))).await;

    match soon(read.next()).await {
        Some(Err(error)) => assert_eq!(error.fault(), TransportFault::Closed, "{error}"),
        other => panic!("{other:?}"),
    }
    drop((read, dropped));
    soon(server.open_is(0)).await;
    assert_eq!(asked(&server), ["POST", "POST", "DELETE"]);
}

// HTTPL-03, HTTPL-05
#[tokio::test]
async fn what_a_server_asks_on_a_resumed_stream_comes_before_the_response_as_soon_as_it_is_there() {
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let go = Arc::new(Notify::new());
    let mut second = events(&[&event("b", ask)]);
    second.extend([Act::Wait(go.clone()), chunk(&event("c", RESULT)), super::server::last_chunk()]);
    let server = Server::scripted(vec![whole_events(&[&event("a", "")]), second]).await;
    let mut exchange = connect(hasty(&server)).await.exchange(resumable());
    let first = soon(exchange.next()).await.expect("more").expect("a message");
    assert!(matches!(&first, Incoming::Message(message) if message.text() == ask), "{first:?}");
    go.notify_one();
    assert_eq!(told(&soon(read(exchange)).await), [RESULT]);
    assert_eq!(server.accepted(), 1, "the connection of a stream that ended is used again");
}

// HTTPL-06
#[tokio::test]
async fn streams_that_break_side_by_side_are_each_resumed_behind_their_own_id() {
    let server = Server::start(|seen| {
        let id = match seen.header("last-event-id") {
            Some(id) => id.strip_prefix("of-").expect("an id of ours"),
            None => {
                let id: String = seen.body.chars().filter(char::is_ascii_digit).skip(2).collect();
                return whole_events(&[&event(&format!("of-{id}"), "")]);
            }
        };
        whole_events(&[&event("last", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))])
    })
    .await;
    let transport = connect(hasty(&server)).await;
    let mut calls = tokio::task::JoinSet::new();
    for id in 1..=20 {
        let mut envelope = request(id);
        envelope.resumable = true;
        let exchange = transport.exchange(envelope);
        calls.spawn(async move { (id, told(&read(exchange).await)) });
    }
    while let Some(call) = soon(calls.join_next()).await {
        let (id, told) = call.expect("no panic");
        assert_eq!(told, [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)]);
    }
    assert_eq!(server.seen().len(), 40);
}

#[tokio::test]
async fn json_answers_and_failures_of_resumable_requests_are_what_they_were() {
    let server =
        Server::scripted(vec![json(RESULT), plain("404 Not Found", ""), vec![Act::Close]]).await;
    let transport = transport(&server).await;
    for expected in [RESULT, "!Status", "!Closed"] {
        assert_eq!(told(&soon(read(transport.exchange(resumable()))).await), [expected]);
    }
    assert_eq!(asked(&server), ["POST"; 3]);
}
