//! What comes back only where the caller says so: kept verdicts, other statuses, tools that may run
//! twice.

use std::time::{Duration, Instant};

use serde_json::json;
use snodo::types::{SubscriptionFilter, Tool};
use snodo::{Client, ProtocolVersion, Request, State, Verdict};
use tokio::task::JoinSet;

use super::ledger::{Book, Ledger, until};
use super::server::Lacks;
use super::sessions::{Place, call};
use super::{SLACK, TOOLS_CHANGED, alone, resumed, told};

const MODERN: ProtocolVersion = ProtocolVersion::V2026_07_28;
const OLDER: ProtocolVersion = ProtocolVersion::V2025_11_25;

fn kept(version: ProtocolVersion) -> Verdict {
    serde_json::from_value(json!(version.as_str())).expect("a version")
}

/// Calls at the same time, each with a number of its own; all are answered.
async fn calls(client: &Client, count: u64) {
    let mut calls = JoinSet::new();
    for n in 0..count {
        calls.spawn(call(client.clone(), "add", n));
    }
    for answered in calls.join_all().await {
        answered.expect("answered");
    }
}

// VER-10
#[test]
fn a_kept_verdict_that_is_wrong_over_http_is_noticed_by_the_first_calls_and_each_runs_once() {
    alone(async {
        // It was replaced by an older one since.
        let place = Place::new(Lacks { stateless: true, ..Lacks::default() }).await;
        let client = place.connect_with(Client::builder().verdict(kept(MODERN))).await;
        assert_eq!(client.protocol(), MODERN, "believed, and nothing asked");
        let begun = Instant::now();
        calls(&client, 20).await;
        assert!(begun.elapsed() < SLACK, "{:?}", begun.elapsed());
        assert_eq!((client.protocol(), client.verdict()), (OLDER, kept(OLDER)));
        let memory = &place.memory;
        assert_eq!(memory.counts("add"), (0..20).map(|n| (n, 1)).collect(), "once each");
        assert_eq!((memory.count("initialize"), client.state()), (1, State::Connected));
        place.leave(client).await;

        // It was replaced by a newer one since.
        let place = Place::new(Lacks { sessions: true, ..Lacks::default() }).await;
        let client = place.connect_with(Client::builder().verdict(kept(OLDER))).await;
        assert_eq!((client.protocol(), client.verdict()), (MODERN, kept(MODERN)));
        calls(&client, 20).await;
        let memory = &place.memory;
        assert_eq!(memory.counts("add"), (0..20).map(|n| (n, 1)).collect(), "once each");
        assert_eq!(memory.count("refuse"), 1, "asked for a session once");
        place.leave(client).await;
    });
}

// VER-10
#[test]
fn a_kept_verdict_that_is_wrong_of_a_process_is_noticed_and_the_process_replaced() {
    for (era, believed, right) in [("old", MODERN, OLDER), ("modern", OLDER, MODERN)] {
        alone(async move {
            let book = Book::new();
            let builder = Client::builder().verdict(kept(believed));
            let client = builder.connect(book.stdio_of(era)).await.expect("connected");
            let begun = Instant::now();
            calls(&client, 10).await;
            assert!(begun.elapsed() < SLACK + Duration::from_secs(1), "{:?}", begun.elapsed());
            assert_eq!((client.protocol(), client.verdict()), (right, kept(right)));
            assert_eq!(book.counts("add"), (0..10).map(|n| (n, 1)).collect(), "{era}: once each");
            // An older one ends at the first call, and once more at the question.
            let (starts, sessions) = if era == "old" { (3, 1) } else { (2, 0) };
            assert_eq!((book.processes().len(), book.count("initialize")), (starts, sessions));
            until("one process is left", || book.left().len() == 1).await;
            client.close().await;
            drop(client);
            until("no process is left", || book.left().is_empty()).await;
        });
    }
}

// HTTPL-15, HTTPL-21
#[test]
fn a_session_that_is_lost_by_another_status_is_renewed_where_that_was_named() {
    for status in [400, 401] {
        alone(async move {
            let lacks = Lacks { not_found: Some(status), ids: true, ..Lacks::default() };
            let place = Place::new(lacks).await;
            let builder = Client::builder().protocol([OLDER]).session_lost_on([status]);
            let client = place.connect_with(builder).await;
            let listening = client.listen(SubscriptionFilter::new().tools_list_changed());
            let mut events = listening.await.expect("agreed");
            place.forget();
            let forgotten = Instant::now();
            calls(&client, 30).await;
            assert!(forgotten.elapsed() < SLACK, "{:?}", forgotten.elapsed());
            resumed(&mut events).await;
            client.call_tool("change", ()).await.expect("answered");
            told(&mut events, TOOLS_CHANGED).await;
            let memory = &place.memory;
            assert_eq!(memory.counts("add"), (0..30).map(|n| (n, 1)).collect(), "once each");
            assert_eq!(memory.count("initialize"), 2, "one renewal for all");
            assert_eq!(client.state(), State::Connected);
            drop(events);
            place.leave(client).await;
        });
    }
}

#[test]
fn a_session_that_is_lost_by_another_status_stays_lost_where_that_was_not_named() {
    for (status, named) in [(400, 401), (401, 400)] {
        alone(async move {
            let place = Place::new(Lacks { not_found: Some(status), ..Lacks::default() }).await;
            let builder = Client::builder().protocol([OLDER]).session_lost_on([named]);
            let client = place.connect_with(builder).await;
            place.forget();
            for n in 0..3 {
                let error = call(client.clone(), "add", n).await.expect_err("it was forgotten");
                assert!(error.to_string().contains("ession"), "{error}");
            }
            assert_eq!((place.memory.count("initialize"), place.memory.count("add")), (1, 0));
            place.leave(client).await;
        });
    }
}

fn tool(name: &str, idempotent: bool) -> Tool {
    let mut tool = Tool::new(name, json!({ "type": "object" }));
    tool.annotations = Some(json!({ "idempotentHint": idempotent }).into());
    tool
}

// HTTP-09
#[test]
fn the_call_of_a_tool_that_was_cut_is_made_again_only_where_tool_and_caller_allow_it() {
    for (repeats, idempotent, by_name) in
        [(true, true, false), (true, false, false), (false, true, false), (true, true, true)]
    {
        alone(async move {
            let place = Place::new(Lacks::default()).await;
            let builder = Client::builder().protocol([MODERN]);
            let builder = if repeats { builder.repeat_idempotent_tools() } else { builder };
            let client = place.connect_with(builder).await;
            let (tool, arguments) = (tool("slow", idempotent), json!({ "n": 1 }));
            let ask = || -> Request<_> {
                match by_name {
                    true => client.call_tool("slow", &arguments),
                    false => client.call_tool(&tool, &arguments),
                }
            };
            place.proxy.cut_behind("\"progress\":1");
            let outcome = ask().await;
            let entries = place.memory.entries();
            let ids: Vec<_> =
                entries.iter().filter(|e| e["did"] == "slow").map(|e| &e["id"]).collect();
            if repeats && idempotent && !by_name {
                outcome.expect("answered at last");
                assert!(ids.len() == 2 && ids[0] != ids[1], "once more, under a new id: {ids:?}");
            } else {
                let error = outcome.expect_err("it was cut");
                assert!(!error.may_be_repeated(), "it may have run: {error:?}");
                assert_eq!(ids.len(), 1, "{repeats} {idempotent} {by_name}");
            }
            place.leave(client).await;
        });
    }
}

#[test]
fn the_call_of_a_tool_that_is_cut_again_is_given_up_and_the_caller_may_go_on() {
    alone(async {
        let place = Place::new(Lacks::default()).await;
        let builder = Client::builder().protocol([MODERN]).repeat_idempotent_tools();
        let client = place.connect_with(builder).await;
        let hanging = client.call_tool(&tool("hang", true), json!({ "n": 1 })).into_future();
        let cutting = async {
            for times in 1..=2 {
                until("it came", || place.memory.count("hang") == times).await;
                place.proxy.cut();
            }
        };
        let (outcome, ()) = tokio::join!(hanging, cutting);
        let error = outcome.expect_err("cut twice");
        assert!(error.may_be_repeated(), "the caller said so: {error:?}");
        assert_eq!(place.memory.counts("hang"), [(1, 2)].into());
        place.leave(client).await;
    });
}
