//! HTTP/2: one connection for all, and what becomes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use snodo_transport::Transport as _;
use snodo_types::{Processed, TransportFault};
use tokio::sync::{Barrier, Notify};

use super::http2_server::{Deed, Http2Server};
use super::server::{Server, json, soon};
use super::{connect, failure, read, request, result, told};
use crate::{Http, HttpTransport, HttpVersion};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn http(server: &Http2Server) -> Http {
    Http::new(server.url()).expect("a URL").http_version(HttpVersion::Http2)
}

fn answer(_: &str) -> Deed {
    Deed::Answer(RESULT.to_owned())
}

async fn calls_at_once(transport: &HttpTransport, calls: usize) {
    let calls: Vec<_> =
        (0..calls).map(|_| tokio::spawn(read(transport.exchange(request(1))))).collect();
    for call in calls {
        assert_eq!(told(&soon(call).await.expect("no panic")), [RESULT]);
    }
}

// S-11
#[tokio::test]
async fn sixty_four_calls_at_once_use_one_connection_from_the_first_on() {
    let barrier = Arc::new(Barrier::new(64));
    let deeds = move |_: &str| Deed::Gather(barrier.clone(), RESULT.to_owned());
    let server = Http2Server::start(128, deeds).await;
    let transport = connect(http(&server)).await;
    calls_at_once(&transport, 64).await;
    calls_at_once(&transport, 64).await;
    assert_eq!((server.seen().len(), server.accepted()), (128, 1));
}

#[tokio::test]
async fn a_request_names_scheme_and_authority_in_the_fields_of_http2() {
    let server = Http2Server::start(9, answer).await;
    result(&connect(http(&server).bearer("t").expect("a token")).await, 1).await;
    let seen = server.seen();
    assert_eq!(seen[0].uri().to_string(), server.url());
    let headers = seen[0].headers();
    assert!(!headers.contains_key("host") && !headers.contains_key("connection"));
    assert_eq!(headers.get("authorization").expect("the token"), "Bearer t");
    assert_eq!(headers.get("content-length").expect("a length"), "37");
}

#[tokio::test]
async fn giving_a_stream_up_tells_the_server_and_disturbs_no_other() {
    let gone = Arc::new(Notify::new());
    let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n";
    let server = Http2Server::start(9, {
        let gone = gone.clone();
        move |body| match body.contains("\"id\":2,") {
            true => Deed::Hold(event.to_owned(), gone.clone()),
            false => answer(body),
        }
    })
    .await;
    let transport = connect(http(&server)).await;
    let mut stream = transport.exchange(request(2));
    assert_eq!(told(&[soon(stream.next()).await.expect("an item")]).len(), 1);
    result(&transport, 1).await;
    drop(stream);
    soon(gone.notified()).await;
    result(&transport, 1).await;
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_server_that_takes_no_more_at_once_gets_another_connection() {
    let gone = Arc::new(Notify::new());
    let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n";
    let server = Http2Server::start(2, {
        move |body| match body.contains("\"id\":2,") {
            true => Deed::Hold(event.to_owned(), gone.clone()),
            false => answer(body),
        }
    })
    .await;
    let transport = connect(http(&server)).await;
    result(&transport, 1).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = transport.exchange(request(2));
        assert!(soon(stream.next()).await.is_some_and(|item| item.is_ok()));
        streams.push(stream);
    }
    assert_eq!(server.accepted(), 2);
    result(&transport, 1).await;
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn a_server_that_leaves_costs_a_new_connection_and_nothing_else() {
    let turn = AtomicUsize::new(0);
    let server = Http2Server::start(9, move |_| match turn.fetch_add(1, Ordering::SeqCst) % 3 {
        2 => Deed::Leave(RESULT.to_owned()),
        _ => Deed::Answer(RESULT.to_owned()),
    })
    .await;
    let transport = connect(http(&server)).await;
    for _ in 0..9 {
        soon(result(&transport, 1)).await;
    }
    assert_eq!(server.seen().len(), 9);
    assert!((3..=4).contains(&server.accepted()), "{}", server.accepted());
}

#[tokio::test]
async fn a_refused_request_was_not_processed_and_a_lost_one_may_have_been() {
    for (deed, processed) in [(Deed::Refuse, Processed::No), (Deed::Vanish, Processed::Maybe)] {
        let server = Http2Server::start(9, move |body| match body.contains("\"id\":2,") {
            true => deed.clone(),
            false => answer(body),
        })
        .await;
        let transport = connect(http(&server)).await;
        result(&transport, 1).await;
        let error = soon(failure(&transport, 2)).await;
        assert_eq!((error.fault(), error.processed()), (TransportFault::Closed, processed));
        soon(result(&transport, 1)).await;
    }
}

// S-11
#[tokio::test]
async fn a_shared_connection_rests_and_wears_out_as_others_do() {
    let server = Http2Server::start(9, answer).await;
    let transport = connect(http(&server)).await;
    result(&transport, 1).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(4100)).await;
    tokio::time::resume();
    soon(server.open_is(0)).await;
    result(&transport, 1).await;
    assert_eq!(server.accepted(), 2);

    let server = Http2Server::start(9, answer).await;
    let transport = connect(http(&server).pool_max_requests_per_connection(3)).await;
    for _ in 0..7 {
        result(&transport, 1).await;
    }
    assert_eq!(server.accepted(), 3);
    soon(server.open_is(1)).await;
    drop(transport);
    soon(server.open_is(0)).await;

    let server = Http2Server::start(9, answer).await;
    let transport = connect(http(&server).pool_idle(0)).await;
    result(&transport, 1).await;
    result(&transport, 1).await;
    assert_eq!(server.accepted(), 2);
    soon(server.open_is(0)).await;
}

#[tokio::test]
async fn a_server_that_speaks_another_version_is_told() {
    let server = Server::start(|_| json(RESULT)).await;
    let http = Http::new(server.url()).expect("a URL").http_version(HttpVersion::Http2);
    let error = soon(failure(&connect(http).await, 1)).await;
    assert_eq!(error.fault(), TransportFault::Malformed, "{error}");
}
