//! Streams that are cut in the middle, and servers that are started again, over HTTP.

use std::time::{Duration, Instant};

use serde_json::json;
use snodo::types::{Processed, SubscriptionFilter};
use snodo::{Client, Closed, Event, ProtocolVersion, Reopen};
use tokio::task::JoinSet;

use super::ledger::{Ledger, until};
use super::server::Lacks;
use super::sessions::Place;
use super::{SLACK, TOOLS_CHANGED, VERSIONS, alone, next, resumed, told};

const MODERN: ProtocolVersion = ProtocolVersion::V2026_07_28;

/// How soon a subscription is asked for again in these tests, and how late.
const QUICK: Reopen = Reopen::after(Duration::from_millis(40), Duration::from_millis(300));

fn filter() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed()
}

async fn changes(client: &Client) {
    client.call_tool("change", ()).await.expect("answered");
}

// SUB-11, SUB-13
#[test]
fn a_subscription_cut_in_mid_stream_is_asked_for_again_in_the_policy_s_time() {
    alone(async {
        let place = Place::new(Lacks::default()).await;
        let client = place.connect(MODERN).await;
        let mut events = client.listen(filter()).reopen(QUICK).await.expect("agreed");
        for round in 1..=5 {
            changes(&client).await;
            told(&mut events, TOOLS_CHANGED).await;
            // In the middle of the next event: its beginning is no event.
            place.proxy.cut_behind("notifications/tools");
            changes(&client).await;
            let cut = Instant::now();
            resumed(&mut events).await;
            assert!(cut.elapsed() < Duration::from_millis(40) + SLACK, "{:?}", cut.elapsed());
            assert_eq!(place.memory.count("listen"), round + 1);
        }
        let ids: Vec<_> = place.memory.entries();
        let ids: Vec<_> = ids.iter().filter(|e| e["did"] == "listen").map(|e| &e["id"]).collect();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "a new id each time: {ids:?}");
        drop(events);
        place.leave(client).await;
    });
}

#[test]
fn a_subscription_that_cannot_come_back_says_so_in_the_policy_s_time() {
    for version in VERSIONS {
        alone(async move {
            let mut place = Place::new(Lacks { ids: true, ..Lacks::default() }).await;
            let client = place.connect(version).await;
            let never = client.listen(filter()).reopen(Reopen::NEVER).await.expect("agreed");
            let thrice = client.listen(filter()).reopen(QUICK.attempts(3)).await.expect("agreed");
            place.kill();
            let killed = Instant::now();
            for mut events in [never, thrice] {
                let event = next(&mut events).await;
                let Event::Closed(Closed::Failed(error)) = &event else { panic!("{event:?}") };
                assert!(error.transport().is_some(), "{error:?}");
                assert!(events.next().await.is_none());
            }
            println!("{version}: {:?}", killed.elapsed());
            place.leave(client).await;
        });
    }
}

// HTTP-09, S-05
#[test]
fn a_call_cut_in_mid_stream_fails_once_and_is_not_made_again() {
    alone(async {
        let place = Place::new(Lacks::default()).await;
        let client = place.connect(MODERN).await;
        place.proxy.cut_behind("\"progress\":1");
        let call = client.call_tool("slow", json!({ "n": 1 })).progress(drop);
        let error = call.await.expect_err("it was cut");
        let below = error.transport().expect("a failure of the transport");
        assert_eq!(below.processed(), Processed::Maybe, "{error:?}");
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(place.memory.counts("slow"), [(1, 1)].into());
        client.call_tool("add", json!({ "n": 2 })).await.expect("answered");
        place.leave(client).await;
    });
}

// HTTPL-10, HTTPL-11
#[test]
fn a_call_of_the_initialize_era_cut_in_mid_stream_is_taken_up_where_it_stood() {
    // Behind the event that holds nothing but its id, and in the middle of two others.
    for words in ["data: \n\n", "\"progress\":1", "\"progress\":2"] {
        alone(async move {
            let place = Place::new(Lacks::default()).await;
            let client = place.connect(VERSIONS[1]).await;
            place.proxy.cut_behind(words);
            let (seen, steps) = std::sync::mpsc::channel();
            let call = client.call_tool("slow", json!({ "n": 1 }));
            call.progress(move |step| seen.send(step.progress).expect("somebody counts"))
                .await
                .unwrap_or_else(|error| panic!("{words}: {error:?}"));
            assert_eq!(steps.iter().collect::<Vec<_>>(), [1.0, 2.0], "each step once: {words}");
            assert_eq!(place.memory.counts("slow"), [(1, 1)].into());
            assert_eq!(place.memory.count("resume"), 1, "{words}");
            place.leave(client).await;
        });
    }
}

// HTTPL-12
#[test]
fn a_call_of_the_initialize_era_without_event_ids_fails_once_where_it_is_cut() {
    alone(async {
        let place = Place::new(Lacks { ids: true, ..Lacks::default() }).await;
        let client = place.connect(VERSIONS[1]).await;
        place.proxy.cut_behind("\"progress\":1");
        let call = client.call_tool("slow", json!({ "n": 1 })).progress(drop);
        let error = call.await.expect_err("it was cut");
        assert!(error.transport().is_some() && !error.may_be_repeated(), "{error:?}");
        assert_eq!(place.memory.counts("slow"), [(1, 1)].into());
        assert_eq!(place.memory.count("resume"), 0);
        client.call_tool("add", json!({ "n": 2 })).await.expect("answered");
        place.leave(client).await;
    });
}

// HTTPL-11
#[test]
fn a_server_s_own_stream_cut_in_mid_stream_loses_nothing_where_events_have_ids() {
    alone(async {
        let place = Place::new(Lacks::default()).await;
        let client = place.connect(VERSIONS[1]).await;
        let mut events = client.listen(filter()).await.expect("agreed");
        changes(&client).await;
        told(&mut events, TOOLS_CHANGED).await;
        for _ in 0..3 {
            place.proxy.cut_behind("notifications/tools");
            changes(&client).await;
            told(&mut events, TOOLS_CHANGED).await;
            changes(&client).await;
            told(&mut events, TOOLS_CHANGED).await;
        }
        assert_eq!((place.memory.count("resume"), place.memory.count("initialize")), (3, 1));
        let more = tokio::time::timeout(Duration::from_millis(200), events.next()).await;
        assert!(more.is_err(), "nothing twice: {more:?}");
        drop(events);
        place.leave(client).await;
    });
}

#[test]
fn a_server_s_own_stream_without_ids_is_opened_again_and_the_gap_is_told() {
    alone(async {
        let place = Place::new(Lacks { ids: true, ..Lacks::default() }).await;
        let client = place.connect(VERSIONS[1]).await;
        let mut events = client.listen(filter()).await.expect("agreed");
        place.proxy.cut_behind("notifications/tools");
        changes(&client).await;
        resumed(&mut events).await;
        changes(&client).await;
        told(&mut events, TOOLS_CHANGED).await;
        assert_eq!((place.memory.count("stream"), place.memory.count("initialize")), (2, 1));
        drop(events);
        place.leave(client).await;
    });
}

// HTTP-09
#[test]
fn a_list_cut_in_mid_stream_is_asked_for_once_more_under_a_new_id() {
    alone(async {
        let place = Place::new(Lacks::default()).await;
        let client = place.connect(MODERN).await;
        place.proxy.cut_behind("\"progress\":1");
        client.list_tools().await.expect("answered at last");
        let entries = place.memory.entries();
        let ids: Vec<_> = entries.iter().filter(|e| e["did"] == "list").map(|e| &e["id"]).collect();
        assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
        place.leave(client).await;
    });
}

// HTTPL-15, S-05
#[test]
fn a_server_killed_and_started_again_runs_nothing_twice_and_subscriptions_return() {
    for version in VERSIONS {
        alone(async move {
            let mut place = Place::new(Lacks { ids: true, ..Lacks::default() }).await;
            let client = place.connect(version).await;
            let mut events = client.listen(filter()).reopen(QUICK).await.expect("agreed");
            let mut calls = JoinSet::new();
            for n in 0..10 {
                calls.spawn(client.call_tool("hang", json!({ "n": n })).into_future());
            }
            until("they hang", || place.memory.count("hang") == 10).await;
            place.kill();
            while let Some(call) = calls.join_next().await {
                let error = call.expect("no panic").expect_err("its server is dead");
                let below = error.transport().expect("a failure of the transport");
                assert_eq!(below.processed(), Processed::Maybe, "{error:?}");
            }
            client.call_tool("add", json!({ "n": 20 })).await.expect_err("nobody is there");
            tokio::time::sleep(Duration::from_millis(500)).await;
            place.start(Lacks { ids: true, ..Lacks::default() }).await;
            let started = Instant::now();
            resumed(&mut events).await;
            println!("{version}: back after {:?}", started.elapsed());
            changes(&client).await;
            told(&mut events, TOOLS_CHANGED).await;
            client.call_tool("add", json!({ "n": 21 })).await.expect("answered");
            let memory = &place.memory;
            assert_eq!(memory.counts("hang"), (0..10).map(|n| (n, 1)).collect(), "once each");
            assert_eq!(memory.counts("add"), [(21, 1)].into());
            drop(events);
            place.leave(client).await;
        });
    }
}
