//! Rounds of input: what is kept, what is refused, and by whom.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use snodo_types::ElicitResult;

use super::{Call, Peer, SECOND, asks, form, session, stateless, text};
use crate::types::{Cause, InputResponses, Kind, Outcome};
use crate::{Builder, Error, HandlerError};

/// A stateless peer that answers each request with the next of these.
fn script(answers: impl IntoIterator<Item = Value>) -> Peer {
    let answers = Arc::new(std::sync::Mutex::new(answers.into_iter().collect::<Vec<_>>()));
    Peer::new(move |call: Call| {
        let answers = Arc::clone(&answers);
        async move {
            let next = answers.lock().expect("no panic").remove(0);
            call.answer(next).await;
            Ok(())
        }
    })
}

fn page(url: &str) -> Value {
    json!({ "method": "elicitation/create", "params": { "mode": "url", "message": "Open", "url": url } })
}

fn ada() -> Builder {
    stateless().on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
}

fn failed_handler(error: &Error) -> (&str, &str) {
    assert_eq!((error.kind(), error.code()), (Kind::Execution, -32603), "{error:?}");
    match error.cause() {
        Some(Cause::InputHandler { id, reason, .. }) => (id, reason),
        cause => panic!("{cause:?}"),
    }
}

// S-54, MRTR-06, MRTR-07, MRTR-08
#[tokio::test(start_paused = true)]
async fn a_state_goes_back_byte_for_byte_whatever_stands_in_it_and_never_an_older_one() {
    let odd = "\u{0}\u{1f}\"\\/\u{7f}\u{2028}\u{10ffff} {\"a\":1}\n\r\t é";
    let peer = script([
        asks(json!({ "q": form() }), Some(odd)),
        asks(json!({ "q": form() }), Some("")),
        asks(json!({ "q": form() }), None),
        text("done"),
    ]);
    let client = ada().connect(peer.clone()).await.expect("connected");
    client.call_tool("book", json!({ "seat": 4 })).await.expect("answered");
    let states: Vec<_> =
        peer.sent().iter().map(|sent| sent["params"].get("requestState").cloned()).collect();
    assert_eq!(states, [None, Some(json!(odd)), Some(json!("")), None]);
    let mut ids: Vec<_> = peer.sent().iter().map(|sent| sent["id"].as_u64()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    for sent in peer.sent() {
        assert_eq!(sent["params"]["arguments"], json!({ "seat": 4 }));
    }
}

// S-57, MRTR-07, MRTR-08
#[tokio::test(start_paused = true)]
async fn a_state_that_is_no_text_cannot_be_echoed_and_nothing_runs() {
    for state in [json!(5), json!({ "token": "hush-hush" }), json!(["x"]), json!(true)] {
        let mut round = asks(json!({ "q": form() }), None);
        round["requestState"] = state.clone();
        let peer = script([round, text("done")]);
        let client = stateless().on_form(|_| async { panic!("it runs") });
        let client = client.connect(peer.clone()).await.expect("connected");
        let error = client.call_tool("book", ()).await.expect_err("malformed");
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{state}");
        assert!(matches!(error.cause(), Some(Cause::MalformedInput { .. })), "{error:?}");
        assert_eq!(peer.sent().len(), 1, "{state}");
        assert!(!format!("{error} {error:?}").contains("hush-hush"), "{error:?}");
    }
}

// S-56, ELI-06, ELI-08
#[tokio::test(start_paused = true)]
async fn an_accepted_form_without_its_content_is_no_answer_nor_a_refused_one_with_some() {
    let accepted = stateless().on_form(|_| async { Ok(ElicitResult::consent()) });
    let declined = stateless().on_form(|_| async {
        let mut result = ElicitResult::decline();
        result.content = Some(json!({ "name": "Ada" }).into());
        Ok(result)
    });
    for builder in [accepted, declined] {
        let peer = script([asks(json!({ "q": form() }), None), text("done")]);
        let client = builder.connect(peer.clone()).await.expect("connected");
        let error = client.call_tool("book", ()).await.expect_err("no answer");
        assert_eq!(failed_handler(&error).0, "q");
        assert_eq!(peer.sent().len(), 1);
    }
}

// S-54, ELI-10, ELI-18, SAFE-04
#[tokio::test(start_paused = true)]
async fn a_page_that_may_not_be_opened_stops_the_round_before_any_handler_runs() {
    for url in ["http://example.com/", "javascript:alert(1)", "file:///etc/passwd", "", "https://"]
    {
        let ran = Arc::new(AtomicUsize::new(0));
        let (forms, pages) = (Arc::clone(&ran), Arc::clone(&ran));
        let client = stateless()
            .on_form(move |form| {
                forms.fetch_add(1, Ordering::SeqCst);
                async move { form.decline() }
            })
            .on_url(move |_| {
                pages.fetch_add(1, Ordering::SeqCst);
                async { Ok(ElicitResult::consent()) }
            });
        let peer = script([asks(json!({ "1": form(), "2": page(url) }), Some("s")), text("done")]);
        let client = client.connect(peer.clone()).await.expect("connected");
        let error = client.call_tool("book", ()).await.expect_err("it may not be opened");
        assert_eq!(ran.load(Ordering::SeqCst), 0, "{url:?} {error:?}");
        assert!(matches!(error.cause(), Some(Cause::MalformedInput { .. })), "{error:?}");
        assert_eq!(peer.sent().len(), 1, "{url:?}");
    }
}

// S-54
#[tokio::test(start_paused = true)]
async fn handlers_run_one_at_a_time_in_the_order_of_the_ids_characters() {
    let running = Arc::new(AtomicUsize::new(0));
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (count, seen) = (Arc::clone(&running), Arc::clone(&order));
    let client = stateless().on_form(move |form| {
        let (count, seen) = (Arc::clone(&count), Arc::clone(&seen));
        async move {
            assert_eq!(count.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
            seen.lock().expect("no panic").push(form.message().to_owned());
            tokio::time::sleep(SECOND).await;
            count.fetch_sub(1, Ordering::SeqCst);
            form.decline()
        }
    });
    let ids = ["2", "10", "", "Z", "a", "é", "\u{10000}", "\u{ffff}", "1\u{0}"];
    let mut questions = json!({});
    for id in ids {
        questions[id] = form();
        questions[id]["params"]["message"] = id.into();
    }
    let peer = script([asks(questions, None), text("done")]);
    let client = client.connect(peer.clone()).await.expect("connected");
    client.call_tool("book", ()).await.expect("answered");
    let mut sorted: Vec<_> = ids.iter().map(ToString::to_string).collect();
    sorted.sort();
    assert_eq!(*order.lock().expect("no panic"), sorted);
    let answers = &peer.sent()[1]["params"]["inputResponses"];
    assert_eq!(answers.as_object().expect("answers").len(), ids.len());
}

// S-56
#[tokio::test(start_paused = true)]
async fn a_handler_that_fails_is_the_last_one_asked() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let client = stateless().on_form(move |form| {
        let nth = count.fetch_add(1, Ordering::SeqCst);
        async move { if nth == 1 { Err(HandlerError::new("no more")) } else { form.decline() } }
    });
    let peer = script([asks(json!({ "a": form(), "b": form(), "c": form() }), None)]);
    let client = client.connect(peer).await.expect("connected");
    let error = client.call_tool("book", ()).await.expect_err("it failed");
    assert_eq!((failed_handler(&error), ran.load(Ordering::SeqCst)), (("b", "no more"), 2));
}

// S-02, S-58
#[tokio::test(start_paused = true)]
async fn a_question_left_to_the_caller_is_answered_by_hand_without_any_handler() {
    let round = || asks(json!({ "q": form() }), Some("s"));
    let peer = script([round(), round(), text("done")]);
    let client = stateless().on_form(|_| async { panic!("it runs") });
    let client = client.connect(peer.clone()).await.expect("connected");
    let asked = match client.call_tool("book", ()).leave_input().outcome().await.expect("asked") {
        Outcome::InputRequired(asked) => asked,
        Outcome::Complete(reply) => panic!("{reply:?}"),
    };
    let error = client.call_tool("book", ()).leave_input().await.expect_err("asked");
    assert!(matches!(error.cause(), Some(Cause::InputRequired(_))), "{error:?}");
    let answers = InputResponses::new().with("q", &ElicitResult::accept(json!({ "name": "Ada" })));
    let reply = client.call_tool("book", ()).answer(&asked, answers).await.expect("answered");
    assert_eq!(reply.text(), "done");
    let sent = &peer.sent()[2]["params"];
    assert_eq!(
        (&sent["requestState"], &sent["inputResponses"]["q"]["action"]),
        (&json!("s"), &json!("accept"))
    );
}

/// A server that wants a page opened before it answers `consents` more times.
fn wants_a_page(consents: usize, own_stream: bool) -> Peer {
    let left = Arc::new(AtomicUsize::new(consents));
    let act = move |call: Call| {
        let left = Arc::clone(&left);
        async move {
            if call.greet().await {
                return Ok(());
            }
            let take = |left: usize| left.checked_sub(1);
            if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
                call.answer(text("done")).await;
                return Ok(());
            }
            let wanted = json!({ "mode": "url", "elicitationId": "e", "url": "https://example.com/", "message": "Open" });
            let error = json!({ "code": -32042, "message": "open it", "data": { "elicitations": [wanted] } });
            call.refuse(error).await;
            Ok(())
        }
    };
    if own_stream { Peer::own_stream(act) } else { Peer::new(act) }
}

// SRV-14, ERR-09
#[tokio::test(start_paused = true)]
async fn a_page_that_an_error_asks_for_is_opened_and_the_call_repeated_once() {
    let consents = || session().on_url(|_| async { Ok(ElicitResult::consent()) });
    let declines = session().on_url(|_| async { Ok(ElicitResult::decline()) });
    let fails = session().on_url(|_| async { Err(HandlerError::new("no")) });
    let table = [
        (consents(), 1, Ok("done"), 2),
        (consents(), 2, Err(-32042), 2),
        (declines, 1, Err(-32042), 1),
        (fails, 1, Err(-32042), 1),
        (session(), 1, Err(-32042), 1),
    ];
    for own_stream in [true, false] {
        for (builder, wanted, outcome, calls) in table.clone() {
            let peer = wants_a_page(wanted, own_stream);
            let client = builder.connect(peer.clone()).await.expect("a session");
            let result = client.call_tool("x", ()).await;
            let said = result.map(|reply| reply.text().to_string()).map_err(|error| error.code());
            assert_eq!(said.as_deref().map_err(|code| *code), outcome);
            let methods = peer.methods();
            assert_eq!(methods.iter().filter(|method| *method == "tools/call").count(), calls);
        }
    }
}

// S-39, SRV-14
#[tokio::test(start_paused = true)]
async fn a_user_who_never_consents_is_bounded_by_the_deadline_alone() {
    let peer = wants_a_page(1, true);
    let client = session().on_url(|_| pending()).connect(peer).await.expect("a session");
    let call = client.call_tool("x", ()).deadline(90 * SECOND);
    let (waited, result) = super::timed(call.into_future()).await;
    assert_eq!(waited, 90 * SECOND);
    assert!(result.expect_err("too late").is_timeout());
}
