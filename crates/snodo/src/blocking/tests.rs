//! The verbs that wait, against servers in this process and peers in memory.

use std::future::pending;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_transport::Abilities;
use snodo_types::{CallToolResult, SubscriptionFilter, Tool};

use super::Client;
use crate::tests::{Call, Peer, SESSION, session, stateless, text};
use crate::{Closed, Event, ListKind, direct};

fn echo() -> direct::Server {
    direct::Server::new("demo", "0.1.0").tool("echo", json!({}), |args: Value, _| async move {
        Ok(CallToolResult::from_text(args["text"].as_str().unwrap_or_default()))
    })
}

#[test]
fn verbs_wait_for_a_server_in_this_process() {
    let client = Client::open(crate::Client::direct(echo())).expect("a client");
    assert_eq!(client.call_tool("echo", json!({ "text": "hi" })).wait().expect("ok").text(), "hi");
    let tools: Vec<Tool> = client.list_tools().wait().expect("a list");
    assert_eq!(tools.len(), 1);
    let page = client.list_page(ListKind::TOOLS, None).wait().expect("a page");
    assert_eq!((page.items.len(), client.protocol()), (1, client.as_async().protocol()));
    assert!(client.discover().wait().expect("discovered").supports("2026-07-28"));
    assert_eq!(client.server().info(), client.as_async().server().info());
}

#[test]
fn an_answer_that_comes_from_another_thread_is_waited_for() {
    let peer = Peer::new(|call: Call| async move {
        if !call.greet().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
            call.answer(text("late")).await;
        }
        Ok(())
    });
    let client = Client::open(session().connect(peer.clone())).expect("a session");
    assert_eq!(client.protocol(), SESSION);
    let clone = client.clone();
    let other = std::thread::spawn(move || clone.call_tool("t", ()).wait().expect("ok").text());
    assert_eq!(client.call_tool("t", ()).wait().expect("ok").text(), "late");
    assert_eq!(other.join().expect("no panic"), "late");
    client.close();
    assert_eq!(peer.closed().len(), 1);
}

#[test]
fn options_are_those_of_the_request() {
    let client = Client::open(stateless().connect(Peer::new(|_| pending()))).expect("a client");
    let call = client.call_tool("slow", ()).with(|call| call.timeout(Duration::from_millis(10)));
    assert!(call.wait().expect_err("nobody answers").is_timeout());
}

#[tokio::test]
async fn within_async_code_it_works_and_nothing_panics() {
    let client = Client::open(crate::Client::direct(echo())).expect("a client");
    assert_eq!(client.call_tool("echo", json!({ "text": "hi" })).wait().expect("ok").text(), "hi");
    drop(client);
}

#[test]
fn what_the_client_calls_in_its_own_thread_may_wait_for_it() {
    let peer = Peer::new(|call: Call| async move {
        if !call.greet().await {
            // The clock too is kept by the client's one thread.
            tokio::time::sleep(Duration::from_millis(20)).await;
            call.answer(text("there")).await;
        }
        Ok(())
    });
    let (slot, (tell, told)) = (Arc::new(OnceLock::<Client>::new()), mpsc::channel());
    let asked = Arc::clone(&slot);
    let builder = session().on_notification(move |_| {
        let client = asked.get().expect("it is connected");
        let answer = client.call_tool("t", ()).wait().map(|reply| reply.text());
        // The test may be over.
        let _ = tell.send(answer);
    });
    let client = Client::open(builder.connect(peer.clone())).expect("a session");
    assert_eq!(client.call_tool("t", ()).wait().expect("ok").text(), "there");
    slot.set(client).expect("the only one");
    peer.say(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} }));
    let answer = told.recv_timeout(Duration::from_secs(20)).expect("the handler came to its end");
    assert_eq!(answer.expect("answered"), "there");
    // The client holds the function, which holds the client.
    slot.get().expect("set").close();
}

// S-60, S-64
#[test]
fn events_are_a_loop_and_leaving_it_tells_the_server() {
    let listening = Abilities { own_stream: true, listen: true, ..Abilities::default() };
    let peer = Peer::with(listening, |call: Call| async move {
        let about = json!({ "io.modelcontextprotocol/subscriptionId": call.id });
        let said = |method: &str, mut params: Value| {
            params["_meta"] = about.clone();
            json!({ "jsonrpc": "2.0", "method": method, "params": params })
        };
        let agreed = call.message["params"]["notifications"].clone();
        let agreed = json!({ "notifications": agreed });
        call.say(said("notifications/subscriptions/acknowledged", agreed)).await;
        call.say(said("notifications/tools/list_changed", json!({}))).await;
        if call.message["params"]["notifications"].get("promptsListChanged").is_some() {
            return Ok(());
        }
        pending::<()>().await;
        Ok(())
    });
    let client = Client::open(stateless().connect(peer.clone())).expect("a client");

    let filter = SubscriptionFilter::new().tools_list_changed();
    let mut events = client.listen(filter.clone(), |listen| listen.max_buffer(4)).expect("agreed");
    let Some(Event::Notification(told)) = events.next() else { panic!("an event") };
    assert_eq!(told.method(), "notifications/tools/list_changed");
    assert_eq!(peer.alive().1, 1);
    drop(events);
    assert_eq!(peer.alive().1, 0, "its stream is closed");

    let filter = filter.prompts_list_changed();
    let once = |listen: crate::Listen| listen.reopen(crate::Reopen::NEVER);
    let all: Vec<_> = client.listen(filter, once).expect("agreed").collect();
    assert!(matches!(all.last(), Some(Event::Closed(Closed::Failed(_)))), "{all:?}");
    assert_eq!(all.len(), 2);
}
