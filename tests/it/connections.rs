//! What a connection is: its ids, its clocks, how long it lives and how it ends.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::Client;
use snodo_http::Http;
use snodo_stdio::Stdio;
use snodo_testkit::{Loopback, Reply, Request};
use snodo_tests::Pipes;
use snodo_transport::{Abilities, Connect, Exchange, Transport, from_fn};
use snodo_types::{
    Cause, Envelope, Icon, Implementation, Kind, Message, ProtocolVersion, SubscriptionFilter,
    TransportError,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::Instant;

use crate::script::{Far, session, stateless};

/// Answers everything with `{}` and keeps what it got.
fn recorder() -> (impl Connect, Arc<Mutex<Vec<Value>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&seen);
    let transport = from_fn(move |envelope: Envelope| {
        let message = serde_json::from_str(&envelope.message).expect("JSON");
        keep.lock().expect("no panic").push(message);
        async move { Ok(envelope.id.map(|id| Message::result(&id.into(), "{}"))) }
    });
    (transport, seen)
}

// S-01, BASE-03, INIT-14
#[tokio::test]
async fn clones_and_tasks_share_a_client_and_no_id_is_used_twice() {
    let (transport, seen) = recorder();
    let client = stateless().connect(transport).await.expect("a client");
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.request("com.example/x", ()).await.map(drop) })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic").expect("an answer");
    }
    let seen = seen.lock().expect("no panic");
    let ids: BTreeSet<_> = seen.iter().filter_map(|message| message["id"].as_u64()).collect();
    assert_eq!((seen.len(), ids.len()), (200, 200));
}

// S-13
#[tokio::test]
async fn an_empty_set_of_versions_is_refused_before_anything_is_opened() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let target = Pipes::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        tokio::io::duplex(64).0
    });
    let error = Client::builder().protocol([]).connect(target).await.expect_err("no version");
    assert_eq!((error.code(), opened.load(Ordering::SeqCst)), (-32602, 0));
}

// S-14, CAN-06
#[tokio::test(start_paused = true)]
async fn the_clocks_have_their_defaults_and_can_be_set() {
    let silent = || from_fn(|_| pending());
    let client = stateless().connect(silent()).await.expect("a client");
    let begin = Instant::now();
    let error = client.request("com.example/x", ()).await.expect_err("silence");
    assert_eq!((begin.elapsed(), error.code()), (Duration::from_secs(30), -32001));

    let begin = Instant::now();
    let request = client.request("com.example/x", ()).timeout(Duration::from_secs(2));
    assert!(request.await.expect_err("silence").is_timeout());
    assert_eq!(begin.elapsed(), Duration::from_secs(2));

    let for_ever = client.request("com.example/x", ()).timeout(None);
    let day = Duration::from_secs(86_400);
    assert!(tokio::time::timeout(day, for_ever).await.is_err(), "it still waits");

    let short = stateless().timeout(Duration::from_millis(5)).connect(silent()).await;
    let begin = Instant::now();
    short.expect("a client").list_tools().await.expect_err("silence");
    assert_eq!(begin.elapsed(), Duration::from_millis(5));
}

// S-14, S-35, PAG-06
#[tokio::test]
async fn a_list_without_end_is_given_up_after_as_many_pages_as_are_allowed() {
    let pages = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&pages);
    let endless = from_fn(move |envelope: Envelope| {
        let page = count.fetch_add(1, Ordering::SeqCst) + 1;
        let result = json!({ "tools": [], "nextCursor": page.to_string() }).to_string();
        async move { Ok(envelope.id.map(|id| Message::result(&id.into(), &result))) }
    });
    let client = stateless().max_pages(3).connect(endless).await.expect("a client");
    let error = client.list_tools().await.expect_err("no end");
    assert_eq!((error.code(), pages.load(Ordering::SeqCst)), (-32000, 3));
    assert!(
        matches!(error.cause(), Some(Cause::PageLimit { cursor, limit: 3, .. }) if cursor == "3"),
        "{error:?}"
    );
}

// S-24, META-01
#[tokio::test]
async fn who_the_client_is_goes_with_every_stateless_request() {
    let (transport, seen) = recorder();
    let info = Implementation::new("agent", "1.4.0")
        .with_title("The Agent")
        .with_website_url("https://agent.example");
    let builder = stateless().client_info(info).capabilities(json!({ "roots": {} }));
    let client = builder.connect(transport).await.expect("a client");
    client.call_tool("x", ()).await.expect("an answer");
    client.request("com.example/x", ()).await.expect("an answer");
    for message in seen.lock().expect("no panic").iter() {
        let meta = &message["params"]["_meta"];
        let expected = json!({
            "name": "agent", "version": "1.4.0",
            "title": "The Agent", "websiteUrl": "https://agent.example",
        });
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"], expected);
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({ "roots": {} }));
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    }
}

// INIT-11
#[tokio::test]
async fn who_the_client_is_is_told_whole_before_the_version_is_known() {
    let info = Implementation::new("agent", "1.4.0")
        .with_title("The Agent")
        .with_description("It acts.")
        .with_website_url("https://agent.example")
        .with_icons([Icon::new("https://agent.example/a.png")]);
    let (_client, far) = Far::open(session().client_info(info)).await;
    let expected = json!({
        "name": "agent", "version": "1.4.0", "title": "The Agent", "description": "It acts.",
        "websiteUrl": "https://agent.example",
        "icons": [{ "src": "https://agent.example/a.png" }],
    });
    assert_eq!(far.initialize["params"]["clientInfo"], expected);
}

// HTTP-10, SUB-02
#[tokio::test]
async fn a_stateless_client_posts_and_does_nothing_else() {
    let server = Loopback::serve(|request| async move {
        let id = request.json().unwrap_or_default()["id"].clone();
        let result = match request.rpc().as_deref() {
            Some("server/discover") => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} })
            }
            Some("tools/list") => json!({ "tools": [] }),
            _ => json!({}),
        };
        Reply::new(200).json(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
    });
    let server = server.await.expect("a port");
    let http = Http::new(server.url()).expect("a URL");
    let client = Client::builder().on_notification(drop).connect(http).await.expect("a client");
    client.list_tools().await.expect("a list");
    // An answer that is no stream acknowledges nothing.
    let error = client.listen(SubscriptionFilter::new().tools_list_changed()).await;
    assert_eq!(error.expect_err("over at once").kind(), Kind::Transport);
    client.close().await;
    let seen: Vec<_> = server.requests().iter().map(|r| (r.method.clone(), r.rpc())).collect();
    let posted = ["server/discover", "tools/list", "subscriptions/listen"];
    let posted = posted.map(|method| ("POST".to_owned(), Some(method.to_owned())));
    assert_eq!(seen, posted);
}

/// A transport on which nothing can be said that has no answer.
struct Asking;

impl Transport for Asking {
    fn exchange(&self, _: Envelope) -> Exchange {
        panic!("nothing may be sent")
    }

    fn abilities(&self) -> Abilities {
        Abilities { notify: false, ..Abilities::default() }
    }
}

impl Connect for Asking {
    type Transport = Self;

    async fn connect(&self) -> Result<Self, TransportError> {
        Ok(Self)
    }
}

// S-21
#[tokio::test]
async fn a_transport_without_notifications_cannot_open_a_session() {
    let builder = Client::builder().protocol([ProtocolVersion::V2025_11_25]);
    let error = builder.connect(Asking).await.expect_err("no session");
    assert_eq!((error.code(), error.kind()), (-32602, Kind::Protocol));
}

// S-06
#[tokio::test]
async fn closing_waits_for_a_server_that_does_not_answer_no_longer_than_the_timeout() {
    let server = Loopback::serve(|request| async move {
        let id = request.json().unwrap_or_default()["id"].clone();
        match (request.method.as_str(), request.rpc().as_deref()) {
            ("DELETE", _) => Reply::hang(),
            (_, Some("initialize")) => {
                let result = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
                let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                Reply::new(200).header("Mcp-Session-Id", "s").json(body.to_string())
            }
            _ => Reply::new(202),
        }
    });
    let server = server.await.expect("a port");
    let builder =
        Client::builder().protocol([ProtocolVersion::V2025_11_25]).timeout(Duration::from_secs(1));
    let client = builder.connect(Http::new(server.url()).expect("a URL")).await.expect("a client");
    let begin = Instant::now();
    client.close().await;
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    let deleted: Vec<Request> =
        server.requests().into_iter().filter(|r| r.method == "DELETE").collect();
    assert_eq!(deleted.len(), 1);
    client.close().await;
    let error = client.ping().await.expect_err("it is closed");
    assert_eq!((error.code(), error.kind()), (-32000, Kind::Transport));
    assert_eq!(server.requests().len(), 3, "nothing is sent after the end");
}

// S-10
#[tokio::test]
async fn a_connection_ends_when_the_last_clone_and_the_last_call_are_gone() {
    let (near, far) = tokio::io::duplex(4096);
    let near = Mutex::new(Some(near));
    let target = Pipes::new(move || near.lock().expect("no panic").take().expect("one connection"));
    let client = stateless().connect(target).await.expect("a client");
    let (read, mut write) = tokio::io::split(far);
    let mut lines = BufReader::new(read).lines();

    let clone = client.clone();
    drop(client);
    let call = tokio::spawn(clone.request("com.example/x", ()).into_future());
    drop(clone);
    let asked: Value =
        serde_json::from_str(&lines.next_line().await.expect("bytes").expect("a line"))
            .expect("JSON");
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} });
    write.write_all(format!("{answer}\n").as_bytes()).await.expect("the pipe is open");
    call.await.expect("no panic").expect("an answer");
    assert_eq!(lines.next_line().await.expect("an orderly end"), None);
}

// S-07, S-17, VER-05
#[tokio::test]
async fn a_process_that_ends_at_the_probe_is_started_again() {
    let client = Client::connect(Stdio::new(OLD_SERVER)).await.expect("a client");
    assert_eq!(client.protocol(), ProtocolVersion::V2025_06_18);
    assert_eq!(client.server().info().map(|info| info.name.as_str()), Some("old-server"));
    let reply = client.call_tool("echo", json!({ "message": "hi" })).await.expect("an answer");
    assert_eq!(reply.text(), "hi");
    client.close().await;
}

// S-05
#[tokio::test]
async fn a_process_that_is_none_cannot_be_connected_to() {
    let error = Client::connect(Stdio::new("/there/is/no/such/program")).await.expect_err("none");
    assert_eq!((error.code(), error.kind()), (-32000, Kind::Transport));
}

/// Built with these tests.
pub(crate) const OLD_SERVER: &str = env!("CARGO_BIN_EXE_old-server");
