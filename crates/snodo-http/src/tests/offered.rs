//! The stream that a server offers of itself, when it ends, breaks or is refused later.

use std::sync::Arc;
use std::time::Duration;

use snodo_transport::{Exchange, Incoming, Transport as _};
use snodo_types::TransportFault;
use tokio::sync::Notify;

use super::server::{Act, Server, chunk, events, json, plain, soon, whole_events};
use super::{Item, call, connect, http, read, routing, told};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const ASKED: &str = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;

fn news(number: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"n{number}"}}"#)
}

fn data(text: &str) -> String {
    format!("data: {text}\n\n")
}

async fn offered(server: &Server) -> Exchange {
    let http = http(server).resume_delay(Duration::from_millis(10));
    connect(http).await.unsolicited(routing()).expect("once")
}

async fn all(scripts: Vec<Vec<Act>>) -> (Server, Vec<Item>) {
    let server = Server::scripted(scripts).await;
    let items = soon(read(offered(&server).await)).await;
    (server, items)
}

fn last_ids(server: &Server) -> Vec<Option<String>> {
    let seen = server.seen();
    seen.iter().map(|seen| seen.header("last-event-id").map(str::to_owned)).collect()
}

fn gone() -> Vec<Act> {
    plain("405 Method Not Allowed", "")
}

// HTTPL-04, HTTPL-11
#[tokio::test]
async fn a_stream_that_ends_or_breaks_is_opened_again_behind_its_last_id_or_without_one() {
    let mut broken = events(&[&data(&news(1))]);
    broken.push(Act::Reset);
    let (server, items) = all(vec![
        broken,
        whole_events(&[&format!("id: a\n{}", data(ASKED))]),
        whole_events(&[&data(&news(2))]),
        gone(),
    ])
    .await;
    // The second `Sent`: nobody knows what was missed behind the stream without an id. It waits
    // beside the messages, and may be heard before them.
    let mut told = told(&items);
    told.sort();
    let mut expected = ["Sent", "Sent", &news(1), ASKED, &news(2)];
    expected.sort_unstable();
    assert_eq!(told, expected);
    assert_eq!(last_ids(&server), [None, None, Some("a".to_owned()), Some("a".to_owned())]);
    for seen in server.seen() {
        assert_eq!(seen.line, "GET /mcp HTTP/1.1");
        assert_eq!(seen.header("mcp-session-id"), Some("s-1"));
        assert_eq!(seen.header("accept"), Some("text/event-stream"));
    }
}

// As the given case RC-03 has it.
// HTTPL-23
#[tokio::test]
async fn a_stream_that_only_opens_and_closes_is_left_alone_in_the_end_and_that_is_no_failure() {
    for (stream, told_anew) in [("", 5), ("id: a\n\n", 0)] {
        let (server, items) = all(vec![whole_events(&[stream])]).await;
        assert_eq!(told(&items), vec!["Sent"; 1 + told_anew]);
        assert_eq!(server.seen().len(), 1 + 5);
    }
}

// HTTPL-15, HTTPL-23
#[tokio::test]
async fn a_stream_that_is_refused_later_is_over_and_the_status_shows() {
    for (head, status) in [("404 Not Found", 404), ("400 Bad Request", 400)] {
        let (server, items) = all(vec![whole_events(&[&data(ASKED)]), plain(head, "")]).await;
        let Some(Err(error)) = items.last() else { panic!("{items:?}") };
        assert_eq!((error.fault(), error.status()), (TransportFault::StreamEnded, Some(status)));
        assert_eq!((items.len(), server.seen().len()), (3, 2));
    }
    let unavailable = plain("503 Service Unavailable", "");
    let (server, items) = all(vec![whole_events(&[]), unavailable]).await;
    let Some(Err(error)) = items.last() else { panic!("{items:?}") };
    assert_eq!(error.status(), Some(503));
    assert_eq!(server.seen().len(), 1 + 5);
}

#[tokio::test]
async fn a_reader_that_sleeps_over_many_streams_loses_the_oldest_and_is_told() {
    let many: String = (0..600).map(|n| data(&news(n))).collect();
    let server = Server::start(move |seen| match seen.header("last-event-id") {
        _ if seen.line.starts_with("POST") => json(RESULT),
        None => whole_events(&[&many, "id: 1\ndata:\n\n"]),
        Some("1") => whole_events(&[&many, "id: 2\ndata:\n\n"]),
        Some(_) => gone(),
    })
    .await;
    let mut offered = offered(&server).await;
    assert_eq!(told(&[soon(offered.next()).await.expect("more")]), ["Sent"]);
    soon(async {
        while server.seen().len() < 3 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let items = soon(read(offered)).await;
    let dropped: u64 = items
        .iter()
        .map(|item| match item {
            Ok(Incoming::Dropped(count)) => *count,
            _ => 0,
        })
        .sum();
    let messages = items.iter().filter(|item| matches!(item, Ok(Incoming::Message(_)))).count();
    assert_eq!((dropped, messages), (1200 - 256, 256));
}

#[tokio::test]
async fn dropping_a_stream_that_waits_to_be_opened_again_leaves_nothing() {
    let wait = whole_events(&["retry: 60000\n\n"]);
    let server = Server::scripted(vec![wait]).await;
    let http = http(&server).pool_idle(0);
    let mut offered = connect(http).await.unsolicited(routing()).expect("once");
    assert_eq!(told(&[soon(offered.next()).await.expect("more")]), ["Sent"]);
    soon(server.open_is(0)).await;
    drop(offered);
    soon(async {
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(server.seen().len(), 1);
}

// HTTPL-06
#[tokio::test]
async fn calls_go_on_beside_a_stream_that_is_opened_again() {
    let (go, hung_up) = <(Arc<Notify>, Arc<Notify>)>::default();
    let server = Server::start({
        let (go, hung_up) = (go.clone(), hung_up.clone());
        move |seen| {
            if seen.line.starts_with("POST") {
                return json(RESULT);
            }
            if seen.header("last-event-id").is_none() {
                return whole_events(&["id: 7\ndata:\n\n"]);
            }
            let mut acts = events(&[]);
            acts.extend([
                Act::Wait(go.clone()),
                chunk(&data(&news(1))),
                Act::Hold(hung_up.clone()),
            ]);
            acts
        }
    })
    .await;
    let transport = connect(http(&server).resume_delay(Duration::from_millis(10))).await;
    let mut offered = transport.unsolicited(routing()).expect("once");
    assert_eq!(told(&[soon(offered.next()).await.expect("more")]), ["Sent"]);
    assert_eq!(told(&soon(call(&transport, 1)).await), [RESULT]);
    go.notify_one();
    assert_eq!(told(&[soon(offered.next()).await.expect("more")]), [news(1)]);
    drop(offered);
    soon(hung_up.notified()).await;
}
