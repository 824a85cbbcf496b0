//! Connections: used again, closed, and ended with their owner.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use snodo_transport::Transport as _;
use snodo_types::{Processed, TransportFault};
use tokio::sync::Notify;

use super::server::{Act, Server, events, json, plain, soon, whole_events, write};
use super::{
    call, connect, failure, http, notice, read, request, result, routing, told, transport,
};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[tokio::test]
async fn calls_one_after_another_use_one_connection_json_and_events_alike() {
    let stream = whole_events(&[&format!("data: {RESULT}\n\n")]);
    for answer in [json(RESULT), stream] {
        let server = Server::scripted(vec![answer]).await;
        let transport = transport(&server).await;
        for _ in 0..1000 {
            result(&transport, 1).await;
        }
        assert_eq!((server.seen().len(), server.accepted()), (1000, 1));
    }
}

#[tokio::test]
async fn a_failure_with_a_body_keeps_its_connection() {
    let server =
        Server::scripted(vec![plain("502 Bad Gateway", "<html>"), plain("404 Not Found", "")])
            .await;
    let transport = transport(&server).await;
    for _ in 0..5 {
        failure(&transport, 1).await;
    }
    assert_eq!(server.accepted(), 1);
}

// S-11
#[tokio::test]
async fn transports_of_one_connector_share_its_connections_and_these_end_with_them() {
    let server = Server::start(|_| json(RESULT)).await;
    let http = http(&server);
    let (first, second) = (connect(http.clone()).await, connect(http.clone()).await);
    result(&first, 1).await;
    result(&second, 1).await;
    let changed = connect(http.clone().pool_idle(1)).await;
    result(&changed, 1).await;
    assert_eq!(server.accepted(), 2, "another configuration, another pool");
    drop((first, second, changed));
    soon(server.open_is(1)).await;
    drop(http);
    soon(server.open_is(0)).await;
}

// S-11
#[tokio::test]
async fn a_connection_rests_no_longer_than_it_may_and_no_more_of_them_than_may() {
    let server = Server::start(|_| json(RESULT)).await;
    let transport = connect(http(&server).pool_idle(2)).await;
    let calls: Vec<_> = (0..5).map(|_| transport.exchange(request(1))).collect();
    let calls: Vec<_> = calls.into_iter().map(|exchange| tokio::spawn(read(exchange))).collect();
    for call in calls {
        assert_eq!(told(&call.await.expect("no panic")), [RESULT]);
    }
    soon(server.open_is(2)).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(4100)).await;
    tokio::time::resume();
    soon(server.open_is(0)).await;
    let before = server.accepted();
    result(&transport, 1).await;
    assert_eq!(server.accepted(), before + 1);
}

// S-11
#[tokio::test]
async fn a_connection_carries_so_many_requests_and_so_many_run_at_once() {
    let server = Server::start(|_| json(RESULT)).await;
    let transport = connect(http(&server).pool_max_requests_per_connection(3)).await;
    for _ in 0..7 {
        result(&transport, 1).await;
    }
    assert_eq!(server.accepted(), 3);

    let server = Server::start(|_| json(RESULT)).await;
    let transport = connect(http(&server).pool_max_requests_at_once(2)).await;
    let calls: Vec<_> =
        (0..20).map(|_| tokio::spawn(read(transport.exchange(request(1))))).collect();
    for call in calls {
        assert_eq!(told(&call.await.expect("no panic")), [RESULT]);
    }
    assert!(server.accepted() <= 2, "{}", server.accepted());
}

#[tokio::test]
async fn an_open_stream_takes_no_turn_from_other_requests() {
    let hung_up = Arc::new(Notify::new());
    let server = Server::start({
        let hung_up = hung_up.clone();
        move |seen| match seen.body.contains("\"id\":1,") {
            true => [events(&[":\n"]), vec![Act::Hold(hung_up.clone())]].concat(),
            false => plain("202 Accepted", ""),
        }
    })
    .await;
    let transport = connect(http(&server).pool_max_requests_at_once(1)).await;
    let mut stream = transport.exchange(request(1));
    let both = async {
        tokio::select! {
            _ = stream.next() => panic!("the stream says nothing"),
            items = read(transport.exchange(notice())) => items,
        }
    };
    assert_eq!(told(&soon(both).await), ["Sent"]);
}

#[tokio::test]
async fn a_resting_connection_that_was_closed_costs_nothing() {
    let mut closing = json(RESULT);
    closing.push(Act::Close);
    let server = Server::scripted(vec![closing]).await;
    let transport = transport(&server).await;
    for calls in 1..20 {
        result(&transport, 1).await;
        soon(server.open_is(0)).await;
        assert_eq!((server.seen().len(), server.accepted()), (calls, calls));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_with_a_request_on_it_is_not_tried_again() {
    for end in [Act::Reset, Act::Close] {
        let ends = vec![end];
        let server = Server::scripted(vec![json(RESULT), ends.clone(), ends, json(RESULT)]).await;
        let transport = transport(&server).await;
        result(&transport, 1).await;
        let error = failure(&transport, 1).await;
        assert_eq!(error.processed(), Processed::Unlikely, "it had rested");
        assert_eq!(server.seen().len(), 2);
        let error = failure(&transport, 1).await;
        assert_eq!(error.processed(), Processed::Maybe, "it was new");
        result(&transport, 1).await;
    }
}

#[tokio::test]
async fn what_comes_back_and_is_no_http_says_that_the_request_was_heard() {
    let nonsense = vec![Act::Write(b"hello?\r\n\r\n".to_vec()), Act::Close];
    let server = Server::scripted(vec![json(RESULT), nonsense]).await;
    let transport = transport(&server).await;
    result(&transport, 1).await;
    let error = failure(&transport, 1).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Malformed, Processed::Maybe));
}

#[tokio::test]
async fn a_server_that_says_it_closes_is_believed() {
    let hung_up = Arc::new(Notify::new());
    let old = format!("HTTP/1.0 200 OK\r\ncontent-length: {}\r\n\r\n{RESULT}", RESULT.len());
    for answer in [plain("200 OK\r\nConnection: Upgrade, Close", RESULT), vec![write(&old)]] {
        let answer = [answer, vec![Act::Hold(hung_up.clone())]].concat();
        let server = Server::scripted(vec![answer]).await;
        let transport = transport(&server).await;
        for _ in 0..3 {
            assert_eq!(told(&soon(call(&transport, 1)).await), [RESULT]);
            soon(hung_up.notified()).await;
        }
        assert_eq!(server.accepted(), 3);
    }
}

#[test]
fn a_pool_outlives_the_runtime_that_filled_it() {
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let outer = runtime();
    let server = outer.block_on(Server::start(|_| json(RESULT)));
    let http = http(&server);
    std::thread::scope(|scope| {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        scope.spawn(|| outer.block_on(stopped));
        for _ in 0..2 {
            let transport = runtime().block_on(async {
                let transport = connect(http.clone()).await;
                result(&transport, 1).await;
                transport
            });
            runtime().block_on(result(&transport, 1));
        }
        stop.send(()).expect("it runs");
    });
}

#[test]
fn outside_a_runtime_it_is_an_error_that_says_so() {
    fn now<T>(future: impl Future<Output = T>) -> T {
        match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("at once"),
        }
    }
    let http = crate::Http::new("http://127.0.0.1:1/").expect("a URL");
    let error = now(snodo_transport::Connect::connect(&http)).expect_err("no runtime");
    assert!(error.message().contains("runtime"), "{error}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let transport = runtime.expect("a runtime").block_on(connect(http));
    let mut listens = request(1);
    listens.listen = true;
    for mut exchange in [
        transport.exchange(request(1)),
        transport.exchange(notice()),
        transport.exchange(listens),
        transport.unsolicited(routing()).expect("once"),
    ] {
        let item = now(exchange.next()).expect("an item");
        assert_eq!(told(&[item]), ["!Unsupported"]);
        assert!(now(exchange.next()).is_none());
    }
    now(transport.close(routing(), Duration::from_secs(1)));
}

#[test]
fn a_listener_whose_runtime_ends_is_told_so() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut exchange = runtime.block_on(async {
        let never = Arc::new(Notify::new());
        let stream =
            [events(&["data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"]), vec![Act::Wait(never)]];
        let server = Server::scripted(vec![stream.concat()]).await;
        let mut listens = request(1);
        listens.listen = true;
        let mut exchange = transport(&server).await.exchange(listens);
        assert!(matches!(soon(exchange.next()).await, Some(Ok(_))));
        exchange
    });
    drop(runtime);
    let mut next = std::pin::pin!(exchange.next());
    let Poll::Ready(Some(Err(error))) = next.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    else {
        panic!("a failure at once")
    };
    assert!(error.message().contains("runtime"), "{error}");
}
