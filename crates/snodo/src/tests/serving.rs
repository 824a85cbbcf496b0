//! The server's own questions, in the initialize era.

use std::future::{IntoFuture, pending};
use std::sync::Arc;

use serde_json::{Value, json};
use snodo_transport::{Abilities, Incoming};
use snodo_types::{CreateMessageResult, ElicitResult, Roots, SubscriptionFilter, TransportError};

use super::far::question_of;
use super::secrets::Log;
use super::{Call, Far, Peer, SECOND, form, session, settle, stateless, text};
use crate::{Builder, Event, HandlerError};

/// Answers a form with a name.
pub(super) fn ada() -> Builder {
    session().on_form(|form| async move { form.accept(json!({ "name": "Ada" })) })
}

fn ping(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn roots() -> Value {
    json!({ "method": "roots/list" })
}

fn sampling() -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": "hi" } }],
            "maxTokens": 5
        }
    })
}

// S-59, SRV-01, SRV-02
#[tokio::test(start_paused = true)]
async fn forms_roots_and_models_answer_over_a_pipe_under_the_server_s_own_ids() {
    let builder = ada()
        .on_roots(|_| async { Ok(Roots::new().with("file:///work", "work")) })
        .on_sampling(|asked| async move {
            let count = asked.params().messages.len();
            Ok(CreateMessageResult::new("m", crate::types::Content::text(format!("{count}"))))
        });
    let (client, mut far) = Far::open(builder).await;
    far.ask(1, &form()).await;
    let answer = far.read().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"], json!({ "action": "accept", "content": { "name": "Ada" } }));
    let mut odd = question_of(0, &roots());
    odd["id"] = json!("one");
    far.say(odd).await;
    let answer = far.read().await;
    assert_eq!(answer["id"], "one");
    assert_eq!(answer["result"]["roots"], json!([{ "uri": "file:///work", "name": "work" }]));
    far.ask(9_007_199_254_740_993, &sampling()).await;
    let answer = far.read().await;
    assert_eq!(answer["id"], 9_007_199_254_740_993_u64);
    assert_eq!(answer["result"]["content"], json!({ "type": "text", "text": "1" }));
    assert!(answer["result"].get("resultType").is_none());
    drop(client);
}

// S-59, SRV-02, SRV-03, SRV-09
#[tokio::test(start_paused = true)]
async fn what_nobody_answers_is_refused_by_its_kind_of_fault() {
    let (_client, mut far) = Far::open(ada()).await;
    let mut url = form();
    url["params"]["mode"] = "url".into();
    url["params"]["url"] = "https://example.com".into();
    let table = [
        (roots(), -32601),
        (sampling(), -32601),
        (json!({ "method": "no/such" }), -32601),
        (url, -32602),
        (json!({ "method": "elicitation/create" }), -32602),
        (json!({ "method": "elicitation/create", "params": [] }), -32602),
        (json!({ "method": "elicitation/create", "params": { "message": "?" } }), -32602),
    ];
    for (id, (question, code)) in table.into_iter().enumerate() {
        far.ask(id as u64, &question).await;
        let answer = far.read().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(id), &json!(code)),
            "{question}"
        );
    }
}

// S-59, SRV-05
#[tokio::test(start_paused = true)]
async fn a_handler_that_fails_answers_without_its_reason_and_a_refusing_user_with_a_code() {
    let builder = session()
        .on_form(|_| async { Err(HandlerError::new("the vault is locked")) })
        .on_sampling(|_| async { Err(HandlerError::rejected()) });
    let (_client, mut far) = Far::open(builder).await;
    far.ask(1, &form()).await;
    let answer = far.read().await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(!answer.to_string().contains("vault"), "{answer}");
    far.ask(2, &sampling()).await;
    assert_eq!(far.read().await["error"]["code"], -1);
}

// S-57, S-59
#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_is_an_error_for_the_server_and_the_connection_lives() {
    let builder = session().on_form(|form| async move {
        assert!(form.message().is_empty(), "a handler's mistake");
        form.decline()
    });
    let (client, mut far) = Far::open(builder).await;
    far.ask(1, &form()).await;
    let answer = far.read().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)));
    far.say(ping(2)).await;
    assert_eq!(far.read().await["result"], json!({}));
    drop(client);
}

// S-59, INIT-17, SRV-02
#[tokio::test(start_paused = true)]
async fn pings_are_answered_while_a_handler_hangs() {
    let (_client, mut far) = Far::open(session().on_form(|_| pending())).await;
    far.ask(1, &form()).await;
    far.say(ping(2)).await;
    assert_eq!(far.read().await, json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
}

// S-59, SRV-02
#[tokio::test(start_paused = true)]
async fn a_burst_of_pings_is_answered_one_by_one() {
    let (_client, mut far) = Far::open(session()).await;
    let burst: Vec<_> = (0..200).map(ping).collect();
    far.say_all(&burst).await;
    for id in 0..200 {
        assert_eq!(far.read().await["id"], id);
    }
}

// S-10, S-59, SRV-11
#[tokio::test(start_paused = true)]
async fn past_the_most_questions_at_once_the_next_is_refused_and_room_comes_back() {
    let builder = session().max_server_requests(2).on_form(|form| async move {
        tokio::time::sleep(SECOND).await;
        form.decline()
    });
    let (_client, mut far) = Far::open(builder).await;
    far.say_all(&[question_of(1, &form()), question_of(2, &form()), question_of(3, &form())]).await;
    let refused = far.read().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-32603)));
    let mut answered = [far.read().await["id"].clone(), far.read().await["id"].clone()];
    answered.sort_by_key(ToString::to_string);
    assert_eq!(answered, [json!(1), json!(2)]);
    far.ask(4, &form()).await;
    assert_eq!(far.read().await["result"]["action"], "decline");
}

// S-59, SRV-16, SRV-17, CAN-09, CAN-10
#[tokio::test(start_paused = true)]
async fn a_question_that_the_server_gives_up_stops_its_handler_and_is_not_answered() {
    let (log, _catching) = Log::catch();
    let guard = Arc::new(());
    let held = Arc::clone(&guard);
    let builder = session().on_form(move |_| {
        let held = Arc::clone(&held);
        async move {
            pending::<()>().await;
            drop(held);
            Ok(ElicitResult::cancel())
        }
    });
    let (_client, mut far) = Far::open(builder).await;
    far.ask(7, &form()).await;
    settle().await;
    assert_eq!(Arc::strong_count(&guard), 3);
    let cancelled = |params: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    far.say_all(&[
        cancelled(json!({})),
        cancelled(json!({ "requestId": "7" })),
        cancelled(json!({ "requestId": 8 })),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }),
    ])
    .await;
    settle().await;
    assert_eq!(Arc::strong_count(&guard), 3);
    far.say(cancelled(json!({ "requestId": 7, "reason": "enough\u{1b}[2J" }))).await;
    settle().await;
    assert_eq!(Arc::strong_count(&guard), 2);
    let told = log.text();
    assert!(told.contains("enough") && !told.contains('\u{1b}'), "{told}");
    assert!(far.is_silent().await);
}

/// Answers a tool call only once its own question was answered.
fn asks_first(answers: Arc<tokio::sync::Notify>) -> impl Fn(Call) -> super::peer::Acting {
    move |call| {
        let answers = Arc::clone(&answers);
        Box::pin(async move {
            if call.method == "=" {
                answers.notify_one();
            }
            if call.greet().await {
                return Ok(());
            }
            for line in 0..100 {
                call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": line } })).await;
            }
            call.say(question_of(1, &form())).await;
            answers.notified().await;
            call.answer(text("asked and answered")).await;
            Ok::<(), TransportError>(())
        })
    }
}

// S-59, HTTPL-03
#[tokio::test(start_paused = true)]
async fn on_a_call_s_own_stream_a_question_behind_a_flood_of_logs_is_answered() {
    let peer = Peer::own_stream(asks_first(Arc::default()));
    let client = ada().connect(peer.clone()).await.expect("a session");
    let reply = client.call_tool("ask", ()).await.expect("answered");
    assert_eq!(reply.text(), "asked and answered");
    assert_eq!(peer.answers()[0]["result"]["content"], json!({ "name": "Ada" }));
}

// S-59
#[tokio::test(start_paused = true)]
async fn in_the_caller_s_task_a_question_is_answered_beside_its_call() {
    let abilities = Abilities { same_task: true, own_stream: true, ..Abilities::default() };
    let peer = Peer::with(abilities, asks_first(Arc::default()));
    let client = ada().connect(peer.clone()).await.expect("a session");
    let reply = client.call_tool("ask", ()).await.expect("answered");
    assert_eq!(reply.text(), "asked and answered");
}

// S-57, S-59
#[tokio::test(start_paused = true)]
async fn in_the_caller_s_task_a_handler_that_panics_is_an_error_for_the_server_alone() {
    let abilities = Abilities { same_task: true, own_stream: true, ..Abilities::default() };
    let peer = Peer::with(abilities, asks_first(Arc::default()));
    let client = session().on_form(|_| async { panic!("a handler's mistake") });
    let client = client.connect(peer.clone()).await.expect("a session");
    let called = tokio::spawn(client.call_tool("ask", ()).into_future()).await;
    assert_eq!(called.expect("no panic").expect("answered").text(), "asked and answered");
    assert_eq!(peer.answers()[0]["error"]["code"], -32603);
}

// S-59
#[tokio::test(start_paused = true)]
async fn an_answer_is_sent_although_the_call_that_asked_is_over() {
    let peer = Peer::own_stream(|call| async move {
        if !call.greet().await {
            call.say(question_of(1, &form())).await;
            call.answer(text("never mind")).await;
        }
        Ok(())
    });
    let builder = session().on_form(|form| async move {
        tokio::time::sleep(SECOND).await;
        form.decline()
    });
    let client = builder.connect(peer.clone()).await.expect("a session");
    client.call_tool("ask", ()).await.expect("answered");
    assert_eq!(peer.answers(), Vec::<Value>::new());
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!(peer.answers()[0]["result"], json!({ "action": "decline" }));
}

// BASE-05, BASE-06, HTTP-03, ERR-05
#[tokio::test(start_paused = true)]
async fn a_stateless_peer_that_asks_of_its_own_accord_gets_no_answer() {
    async fn act(call: Call) -> Result<(), TransportError> {
        call.say(ping(1)).await;
        call.say(question_of(2, &form())).await;
        call.answer(text("done")).await;
        Ok(())
    }
    for peer in [Peer::new(act), Peer::own_stream(act)] {
        let client = stateless().on_form(|form| async move { form.decline() });
        let client = client.connect(peer.clone()).await.expect("connected");
        peer.say(ping(3));
        peer.say(question_of(4, &form()));
        client.call_tool("ask", ()).await.expect("answered");
        settle().await;
        assert_eq!(peer.answers(), Vec::<Value>::new());
    }
}

// S-59, HTTPL-03, HTTPL-05
#[tokio::test(start_paused = true)]
async fn the_first_word_of_the_server_s_own_stream_is_heard_though_no_head_came() {
    let act = |call: Call| async move {
        call.greet().await;
        Ok(())
    };
    let peer = Peer::own_stream(act).without_head();
    peer.say(ping(1));
    let (waited, client) = super::timed(ada().connect(peer.clone())).await;
    let _client = client.expect("a session");
    settle().await;
    assert_eq!(peer.answers(), [json!({ "jsonrpc": "2.0", "id": 1, "result": {} })]);
    assert_eq!(waited, std::time::Duration::ZERO);
}

// S-59
#[tokio::test(start_paused = true)]
async fn a_server_that_never_stops_talking_lets_every_other_task_run() {
    let act = |call: Call| async move {
        if call.method == "tools/call" {
            for _ in 0..FLOOD {
                call.say(json!({ "jsonrpc": "2.0", "method": "notifications/message" })).await;
            }
            call.answer(text("at last")).await;
        }
        call.greet().await;
        Ok(())
    };
    let peer = Peer::own_stream(act);
    let client = ada().connect(peer.clone()).await.expect("a session");
    peer.flood(FLOOD);
    peer.say(ping(1));
    settle().await;
    assert!((100..FLOOD).contains(&peer.unasked_count()), "it is read, and not to its end");
    let mut call = client.call_tool("loud", ()).into_future();
    for _ in 0..20 {
        assert!(super::once(&mut call).await.is_pending());
    }
    drop(call);
    drop(client);
    settle().await;
    assert_eq!(peer.alive(), (0, 0));
}

/// More than anybody reads in one go.
const FLOOD: usize = 100_000;

#[tokio::test(start_paused = true)]
async fn a_listener_is_told_that_the_server_s_own_stream_was_opened_anew() {
    let peer = Peer::own_stream(|call: Call| async move {
        call.greet().await;
        Ok::<(), TransportError>(())
    });
    let client = session().connect(peer.clone()).await.expect("a session");
    let events = client.listen(SubscriptionFilter::new().tools_list_changed());
    let mut events = events.await.expect("a subscription");
    peer.unasked(Incoming::Sent);
    let event = events.next().await;
    assert!(matches!(event, Some(Event::Resumed { may_have_missed: true, .. })), "{event:?}");
    assert_eq!(peer.connections(), 1, "the session goes on");
}
