//! Lists of servers that do not know where to stop, or stop in the middle.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::secrets::Log;
use super::{Call, Peer, once, session, settle, stateless, timed};
use crate::types::{Cause, Kind, Tool};
use crate::{Client, ListKind};

/// A peer whose pages are these, whatever cursor it is asked for.
fn pages(pages: impl IntoIterator<Item = Value>) -> Peer {
    let pages: Vec<Value> = pages.into_iter().collect();
    let next = Arc::new(AtomicUsize::new(0));
    Peer::new(move |call: Call| {
        let page = pages.get(next.fetch_add(1, Ordering::SeqCst)).cloned();
        async move {
            match page {
                Some(page) if page.get("code").is_some() => call.refuse(page).await,
                Some(page) => call.answer(page).await,
                None => pending().await,
            }
            Ok(())
        }
    })
}

fn page(tools: &[&str], next: Value) -> Value {
    let tools: Vec<_> = tools
        .iter()
        .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
        .collect();
    json!({ "tools": tools, "nextCursor": next })
}

async fn connect(peer: &Peer) -> Client {
    stateless().connect(peer.clone()).await.expect("connected")
}

fn cursors(peer: &Peer) -> Vec<Option<Value>> {
    peer.sent().iter().map(|sent| sent["params"].get("cursor").cloned()).collect()
}

// S-33, PAG-01, PAG-02, PAG-03, PAG-04
#[tokio::test(start_paused = true)]
async fn an_empty_cursor_an_empty_page_and_odd_letters_are_followed_to_the_end() {
    let odd = "\u{0}\"\\é\u{10ffff}";
    let peer = pages([
        page(&["a"], json!("")),
        page(&[], json!(odd)),
        page(&["b"], json!("5")),
        page(&["c"], Value::Null),
    ]);
    let client = connect(&peer).await;
    let names: Vec<_> =
        client.list_tools().await.expect("tools").into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(cursors(&peer), [None, Some(json!("")), Some(json!(odd)), Some(json!("5"))]);
}

// PAG-02, PAG-04
#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_no_text_is_an_error_and_not_the_end_of_the_list() {
    for cursor in [json!(5), json!({}), json!(["a"]), json!(false)] {
        let peer = pages([page(&["a"], cursor.clone()), page(&["b"], Value::Null)]);
        let client = connect(&peer).await;
        let error = client.list_tools().await.expect_err("it goes on");
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{cursor}");
        assert!(matches!(error.cause(), Some(Cause::Decode(_))), "{error:?}");
        assert!(error.to_string().starts_with("tools/list at the peer: "), "{error}");
    }
}

// S-35, PAG-06
#[tokio::test(start_paused = true)]
async fn a_cursor_that_comes_back_or_a_list_without_end_is_given_up_with_the_cursor() {
    let round = || page(&["a"], json!("c1"));
    let peer = pages([round(), page(&["b"], json!("c2")), round()]);
    let error = connect(&peer).await.list_tools().await.expect_err("a loop");
    assert_eq!((error.kind(), error.code(), peer.sent().len()), (Kind::Transport, -32000, 3));
    assert!(matches!(error.cause(), Some(Cause::RepeatedCursor { cursor }) if cursor == "c1"));

    let endless = || pages((0..5000).map(|number| page(&["a"], json!(format!("c{number}")))));
    let peer = endless();
    let client = stateless().max_pages(3).connect(peer.clone()).await.expect("connected");
    let error = client.list_tools().await.expect_err("no end");
    assert_eq!((error.code(), peer.sent().len()), (-32000, 3));
    assert!(
        matches!(error.cause(), Some(Cause::PageLimit { cursor, limit: 3 }) if cursor == "c2"),
        "{error:?}"
    );
    let peer = endless();
    connect(&peer).await.list_tools().await.expect_err("no end");
    assert_eq!(peer.sent().len(), 1000);
}

#[tokio::test(start_paused = true)]
async fn a_list_may_take_as_much_as_is_allowed_and_no_more() {
    let two = || pages([page(&["a"], json!("c1")), json!({ "tools": [] })]);
    let whole = |bytes| async move {
        let client = stateless().max_list_bytes(bytes).connect(two()).await.expect("connected");
        client.list_tools().await
    };
    let text =
        page(&["a"], json!("c1")).to_string().len() + json!({ "tools": [] }).to_string().len();
    let least = text + size_of::<Tool>();
    assert_eq!(whole(least).await.expect("it fits").len(), 1);
    let error = whole(least - 1).await.expect_err("a byte too much");
    assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000));
    assert!(matches!(error.cause(), Some(Cause::ListLimit { limit }) if *limit == least - 1));
    assert!(error.to_string().starts_with("tools/list at the peer: "), "{error}");
}

// S-33
#[tokio::test(start_paused = true)]
async fn an_error_on_page_three_ends_the_list_and_the_pages_before_it_were_given() {
    let broken = || {
        pages([
            page(&["a"], json!("1")),
            page(&["b"], json!("2")),
            json!({ "code": -32603, "message": "page three is gone" }),
            page(&["d"], Value::Null),
        ])
    };
    let error = connect(&broken()).await.list_tools().await.expect_err("page three");
    assert_eq!((error.kind(), error.message()), (Kind::Execution, "page three is gone"));

    let peer = broken();
    let mut pages = connect(&peer).await.list_tools().pages();
    for name in ["a", "b"] {
        let page = pages.next().await.expect("a page").expect("read");
        assert_eq!(page.items[0].name, name);
    }
    assert!(pages.next().await.expect("an end").is_err());
    assert!(pages.next().await.is_none() && pages.next().await.is_none());
    assert_eq!(peer.sent().len(), 3, "nothing is asked behind the end");
}

// S-33
#[tokio::test(start_paused = true)]
async fn a_page_that_is_waited_for_in_pieces_is_asked_for_once() {
    let peer = Peer::new(|call: Call| async move {
        tokio::time::sleep(super::SECOND).await;
        call.answer(page(&["a"], Value::Null)).await;
        Ok(())
    });
    let client = connect(&peer).await;
    let mut pages = client.list_tools().pages();
    for _ in 0..5 {
        let next = tokio::time::timeout(super::SECOND / 4, pages.next());
        if let Ok(Some(page)) = next.await {
            assert_eq!(page.expect("read").items.len(), 1);
            break;
        }
    }
    assert!(pages.next().await.is_none());
    assert_eq!((peer.sent().len(), peer.given_up().len()), (1, 0));
}

// S-33, CAN-02
#[tokio::test(start_paused = true)]
async fn a_list_that_is_dropped_between_pages_sends_nothing_and_within_one_gives_it_up() {
    let peer = pages([page(&["a"], json!("1"))]);
    let client = connect(&peer).await;
    let mut between = client.list_tools().pages();
    between.next().await.expect("a page").expect("read");
    assert!(once(&mut Box::pin(between.next())).await.is_pending());
    drop(between);
    settle().await;
    assert_eq!((peer.sent().len(), peer.given_up().len(), peer.alive()), (2, 1, (1, 0)));

    let peer = pages([page(&["a"], json!("1"))]);
    let client = connect(&peer).await;
    let mut between = client.list_tools().pages();
    between.next().await.expect("a page").expect("read");
    drop(between);
    settle().await;
    assert_eq!((peer.sent().len(), peer.given_up().len()), (1, 0));
}

// S-33
#[tokio::test(start_paused = true)]
async fn each_page_has_the_whole_timeout() {
    let slow = || {
        let next = Arc::new(AtomicUsize::new(0));
        Peer::new(move |call: Call| {
            let number = next.fetch_add(1, Ordering::SeqCst);
            async move {
                tokio::time::sleep(3 * super::SECOND).await;
                let more = if number < 3 { json!(number.to_string()) } else { Value::Null };
                call.answer(page(&["a"], more)).await;
                Ok(())
            }
        })
    };
    let list = connect(&slow()).await.list_tools().timeout(4 * super::SECOND);
    let (waited, tools) = timed(list.into_future()).await;
    assert_eq!((waited, tools.expect("tools").len()), (12 * super::SECOND, 4));
    let list = connect(&slow()).await.list_tools().timeout(2 * super::SECOND);
    assert!(list.await.expect_err("too slow").is_timeout());
}

// S-33, S-34
#[tokio::test(start_paused = true)]
async fn broken_items_are_left_out_and_counted_and_never_lose_the_list() {
    let tools = json!([
        { "name": "a", "inputSchema": { "type": "object" } },
        7, null, {}, { "name": 5, "inputSchema": {} }, "x",
        { "name": "b", "inputSchema": { "type": "object" }, "x-own": [1] }
    ]);
    let peer = pages([json!({ "tools": tools, "x-page": 1 }), json!({ "tools": {} }), json!({})]);
    let client = connect(&peer).await;
    let (log, _guard) = Log::catch();
    let page = client.list_page(ListKind::TOOLS, None).await.expect("a page");
    assert_eq!(log.text().matches("left out of the list").count(), 5, "{}", log.text());
    let names: Vec<_> = page.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names, page.left_out.count()), (vec!["a", "b"], 5));
    assert!(page.raw().contains("x-page") && page.raw().contains("x-own"));
    let error = client.list_tools().await.expect_err("no list");
    assert!(matches!(error.cause(), Some(Cause::Decode(_))), "{error:?}");
}

// S-33, S-34
#[tokio::test(start_paused = true)]
async fn a_server_of_the_initialize_era_is_asked_for_pages_without_metadata() {
    let peer = Peer::new(|call: Call| async move {
        if !call.greet().await {
            call.answer(json!({ "prompts": [] })).await;
        }
        Ok(())
    });
    let client = session().connect(peer.clone()).await.expect("a session");
    client.list_prompts().await.expect("prompts");
    client.list_page(ListKind::PROMPTS, Some("")).await.expect("a page");
    let sent = peer.sent();
    assert!(sent[2].get("params").is_none(), "{}", sent[2]);
    assert_eq!(sent[3]["params"], json!({ "cursor": "" }));
}
