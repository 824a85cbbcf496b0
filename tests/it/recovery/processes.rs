//! A server process that is killed, and started again.

use std::time::{Duration, Instant};

use serde_json::json;
use snodo::types::{Processed, SubscriptionFilter, TransportFault};
use snodo::{Client, Event, KeepAlive, ProtocolVersion, Restart, State};
use tokio::task::JoinSet;

use super::ledger::{Book, Ledger, until};
use super::{SLACK, TOOLS_CHANGED, VERSIONS, alone, next, resumed, told};

const URI: &str = "zoo://counter";

async fn connect(book: &Book, version: ProtocolVersion, restart: Restart) -> Client {
    let builder = Client::builder().protocol([version]).restart(restart);
    builder.connect(book.stdio()).await.expect("connected")
}

fn filter() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed()
}

/// Ends a client; no process of its server's is left.
async fn leave(client: Client, book: &Book) {
    client.close().await;
    drop(client);
    until("no process is left", || book.left().is_empty()).await;
}

// STDIO-11, STDIO-12, STDIO-15, SUB-12, SUB-13
#[test]
fn a_killed_server_fails_each_call_once_and_comes_back_with_its_subscriptions() {
    for version in VERSIONS {
        alone(async move {
            let book = Book::new();
            let client = connect(&book, version, Restart::ON_FAILURE).await;
            let mut events = client.listen(filter().resource(URI)).await.expect("agreed");
            let mut calls = JoinSet::new();
            for n in 0..20 {
                calls.spawn(client.call_tool("hang", json!({ "n": n })).into_future());
            }
            book.until("hang", 20).await;
            let killed = Instant::now();
            book.kill().await;
            while let Some(call) = calls.join_next().await {
                let error = call.expect("no panic").expect_err("nobody answered");
                let below = error.transport().expect("a failure of the transport");
                assert_eq!(below.fault(), TransportFault::Exited, "{error:?}");
                assert_eq!((below.exit(), below.processed()), (Some("signal 9"), Processed::Maybe));
            }
            resumed(&mut events).await;
            // The first pause of the policy, and the start of a process.
            assert!(
                killed.elapsed() < Duration::from_millis(500) + SLACK,
                "{:?}",
                killed.elapsed()
            );
            assert_eq!(client.state(), State::Connected);
            client.call_tool("change", json!({ "n": 100 })).await.expect("answered");
            told(&mut events, TOOLS_CHANGED).await;
            assert_eq!(book.processes().len(), 2, "started once more");
            assert_eq!(book.counts("hang"), (0..20).map(|n| (n, 1)).collect(), "once each");
            assert_eq!(book.counts("change"), [(100, 1)].into());
            let opened = if version == VERSIONS[0] { "listen" } else { "watch" };
            assert_eq!(book.count(opened), 2, "asked for again, once");
            drop(events);
            leave(client, &book).await;
        });
    }
}

/// A call may find the end first: then the subscription comes back on the process of the call, and
/// no other is started.
#[test]
fn a_call_and_a_subscription_share_one_start() {
    for version in VERSIONS {
        alone(async move {
            let book = Book::new();
            let client = connect(&book, version, Restart::ALWAYS).await;
            let mut events = client.listen(filter()).await.expect("agreed");
            let error = client.call_tool("leave", json!({ "status": 7 })).await;
            let error = error.expect_err("it left");
            assert_eq!(error.transport().and_then(|below| below.exit()), Some("exit status 7"));
            // Nobody looks at the subscription meanwhile.
            client.call_tool("add", json!({ "n": 1 })).await.expect("on a new process");
            resumed(&mut events).await;
            client.call_tool("change", ()).await.expect("answered");
            told(&mut events, TOOLS_CHANGED).await;
            assert_eq!(book.processes().len(), 2, "{version}: one start for both");
            drop(events);
            leave(client, &book).await;
        });
    }
}

// S-64
#[test]
fn without_the_option_a_killed_server_stays_dead_and_everybody_is_told() {
    for version in VERSIONS {
        alone(async move {
            let book = Book::new();
            let client = connect(&book, version, Restart::NEVER).await;
            let mut events = client.listen(filter()).await.expect("agreed");
            book.kill().await;
            let event = next(&mut events).await;
            assert!(matches!(event, Event::Closed(_)), "{event:?}");
            assert!(events.next().await.is_none());
            let error = client.call_tool("add", json!({ "n": 1 })).await.expect_err("it is dead");
            assert!(error.is_closed(), "{error:?}");
            assert_eq!((book.processes().len(), client.state()), (1, State::Lost));
            drop(events);
            leave(client, &book).await;
        });
    }
}

#[test]
fn a_server_that_leaves_in_good_order_is_not_started_again_on_failure_alone() {
    alone(async {
        let book = Book::new();
        let client = connect(&book, VERSIONS[0], Restart::ON_FAILURE).await;
        client.call_tool("leave", json!({ "status": 0 })).await.expect_err("it left");
        client.call_tool("add", json!({ "n": 1 })).await.expect_err("nobody is there");
        assert_eq!(book.processes().len(), 1);
        leave(client, &book).await;
    });
}

#[test]
fn a_server_that_keeps_dying_is_started_no_more_often_than_allowed() {
    for version in VERSIONS {
        alone(async move {
            let book = Book::new();
            let restart = Restart::ALWAYS.at_most(2, Duration::from_secs(600));
            let client = connect(&book, version, restart).await;
            let mut outcomes = Vec::new();
            for n in 0..5 {
                client.call_tool("leave", json!({ "status": 1 })).await.expect_err("it left");
                outcomes.push(client.call_tool("add", json!({ "n": n })).await.is_ok());
            }
            assert_eq!(outcomes, [true, true, false, false, false]);
            assert_eq!((book.processes().len(), client.state()), (3, State::Lost));
            leave(client, &book).await;
        });
    }
}

/// The process is there and says nothing: it is ended, and another is started.
#[test]
fn a_server_that_hangs_is_noticed_by_its_silence_and_replaced() {
    for version in VERSIONS {
        alone(async move {
            let book = Book::new();
            let alive = KeepAlive::every(Duration::from_secs(1)).failures(2);
            let builder = Client::builder().protocol([version]).restart(Restart::ON_FAILURE);
            let client = builder.keep_alive(alive).connect(book.stdio()).await.expect("connected");
            let mut events = client.listen(filter()).await.expect("agreed");
            book.signal("STOP").await;
            let stopped = Instant::now();
            let call = client.call_tool("add", json!({ "n": 1 })).timeout(None);
            let error = call.await.expect_err("it was never answered");
            assert!(error.is_closed(), "{error:?}");
            // Two questions, a second apart and a second of patience each, and the end.
            let most = Duration::from_secs(6) + SLACK;
            assert!(stopped.elapsed() < most, "{:?}", stopped.elapsed());
            resumed(&mut events).await;
            client.call_tool("add", json!({ "n": 2 })).await.expect("on a new process");
            assert_eq!(book.processes().len(), 2);
            until("the old process is gone", || book.left().len() == 1).await;
            drop(events);
            leave(client, &book).await;
        });
    }
}
