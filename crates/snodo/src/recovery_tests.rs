//! Connections that end, and come back.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use snodo_stdio::Pipe;
use snodo_transport::{Abilities, Connect, Exchange, Transport};
use snodo_types::{
    Envelope, Message, Outside, ProtocolVersion, SessionId, SubscriptionFilter, TransportError,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::watch;

use crate::{Client, Event, KeepAlive, Reopen, Restart, State, Verdict};

const V25: ProtocolVersion = ProtocolVersion::V2025_11_25;

/// A server of the initialize era behind something like HTTP. It forgets its sessions on demand.
#[derive(Clone, Default)]
struct Forgetful(Arc<Ledger>);

#[derive(Default)]
struct Ledger {
    session: Mutex<Option<String>>,
    initialized: AtomicUsize,
    asked: AtomicUsize,
    /// Tools that really ran.
    ran: AtomicUsize,
    /// Refuses to open another session.
    full: AtomicUsize,
    /// Cursors that came back in another session than the one they were given in.
    strays: AtomicUsize,
}

impl Forgetful {
    fn forget(&self) {
        *self.0.session.lock().expect("lock") = None;
    }

    fn answer(&self, envelope: &Envelope) -> Message {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        let asked: Value = serde_json::from_str(&envelope.message).expect("JSON");
        let id = envelope.id.expect("a request").into();
        if asked["method"] == "initialize" {
            let number = self.0.initialized.fetch_add(1, Ordering::SeqCst) + 1;
            if self.0.full.load(Ordering::SeqCst) > 0 && number > 1 {
                let error = snodo_types::ErrorObject::new(-32603, "no room for another session");
                return Message::error(Some(&id), &error);
            }
            let session = format!("s{number}");
            *self.0.session.lock().expect("lock") = Some(session.clone());
            let result = json!({
                "protocolVersion": V25.as_str(), "capabilities": {}, "serverInfo": { "name": "f", "version": "1" }
            });
            let outside = Outside { session: SessionId::new(&session), ..Outside::default() };
            return Message::result(&id, &result.to_string()).with_outside(outside);
        }
        let known = self.0.session.lock().expect("lock").clone();
        if known.is_none() || known.as_deref() != envelope.routing.value("Mcp-Session-Id") {
            let error = snodo_types::ErrorObject::new(-32001, "session not found");
            let outside = Outside { status: Some(404), ..Outside::default() };
            return Message::error(Some(&id), &error).with_outside(outside);
        }
        if asked["method"] == "tools/list" {
            return Message::result(
                &id,
                &self.page(&known, &asked["params"]["cursor"]).to_string(),
            );
        }
        self.0.ran.fetch_add(1, Ordering::SeqCst);
        Message::result(&id, r#"{"content":[]}"#)
    }

    /// One of three pages, whose cursors name the session they are of.
    fn page(&self, session: &Option<String>, cursor: &Value) -> Value {
        let session = session.as_deref().unwrap_or_default();
        let (of, page) =
            cursor.as_str().and_then(|it| it.split_once('/')).unwrap_or((session, "1"));
        if of != session {
            self.0.strays.fetch_add(1, Ordering::SeqCst);
        }
        let tools = json!([{ "name": page, "inputSchema": { "type": "object" } }]);
        match page {
            "1" => json!({ "tools": tools, "nextCursor": format!("{session}/2") }),
            "2" => json!({ "tools": tools, "nextCursor": format!("{session}/3") }),
            _ => json!({ "tools": tools }),
        }
    }
}

impl Transport for Forgetful {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let server = self.clone();
        Exchange::generate(move |sender| async move {
            // The answer takes a moment, so that several callers wait at once.
            tokio::time::sleep(Duration::from_millis(10)).await;
            let incoming = match envelope.id {
                Some(_) => snodo_transport::Incoming::Message(server.answer(&envelope)),
                None => snodo_transport::Incoming::Sent,
            };
            sender.send(incoming).await;
            Ok(())
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { own_stream: true, routing: true, ..Abilities::default() }
    }
}

impl Connect for Forgetful {
    type Transport = Self;

    async fn connect(&self) -> Result<Self, TransportError> {
        Ok(self.clone())
    }
}

async fn session(server: &Forgetful) -> Client {
    let client = Client::builder().protocol([V25]).connect(server.clone()).await;
    client.expect("a session")
}

// HTTPL-15, HTTPL-21
#[tokio::test(start_paused = true)]
async fn a_lost_session_is_renewed_once_for_all_who_call_and_each_call_runs_once() {
    let server = Forgetful::default();
    let client = session(&server).await;
    let mut changes = client.state_changes();
    server.forget();
    let calls: Vec<_> =
        (0..50).map(|_| tokio::spawn(client.call_tool("x", ()).into_future())).collect();
    for call in calls {
        call.await.expect("no panic").expect("answered");
    }
    assert_eq!(server.0.initialized.load(Ordering::SeqCst), 2);
    assert_eq!(server.0.ran.load(Ordering::SeqCst), 50, "no call ran twice");
    assert_eq!(
        client.session().and_then(|session| session.id().map(str::to_owned)).as_deref(),
        Some("s2")
    );
    assert_eq!(changes.next().await, Some(State::Connected));
}

// HTTPL-21
#[tokio::test(start_paused = true)]
async fn who_waited_while_a_renewal_failed_shares_its_failure() {
    let server = Forgetful::default();
    let client = session(&server).await;
    server.0.full.store(1, Ordering::SeqCst);
    server.forget();
    let calls: Vec<_> =
        (0..20).map(|_| tokio::spawn(client.call_tool("x", ()).into_future())).collect();
    for call in calls {
        let error = call.await.expect("no panic").expect_err("no session");
        assert!(
            error.message().contains("no room") && error.message().contains("session not found"),
            "{error}"
        );
    }
    assert_eq!(server.0.initialized.load(Ordering::SeqCst), 2, "one attempt for all");
    assert_eq!((server.0.ran.load(Ordering::SeqCst), client.state()), (0, State::Lost));
}

// PAG-07
#[tokio::test(start_paused = true)]
async fn no_cursor_goes_into_another_session_and_a_whole_list_begins_anew_in_it() {
    // Noticed by the list itself, and by another call before it.
    for noticed in [false, true] {
        let server = Forgetful::default();
        let client = session(&server).await;
        let mut pages = client.list_tools().pages();
        let first = pages.next().await.expect("a page").expect("read");
        server.forget();
        if noticed {
            client.call_tool("x", ()).await.expect("in a new session");
        }
        pages.next().await.expect("an end").expect_err("the session is over");
        assert!(pages.next().await.is_none());
        let cursor = first.next_cursor.as_deref().expect("a cursor");
        assert_eq!(cursor, "s1/2");
        client.list_page(crate::ListKind::TOOLS, None).await.expect("from the beginning");

        let mut list = client.list_tools().into_future();
        tokio::time::timeout(Duration::from_millis(25), &mut list).await.expect_err("page three");
        server.forget();
        if noticed {
            client.call_tool("x", ()).await.expect("in a new session");
        }
        let names: Vec<_> = list.await.expect("a list").into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["1", "2", "3"], "whole, and nothing twice");
        assert_eq!(server.0.strays.load(Ordering::SeqCst), 0, "{noticed}");
        assert_eq!(server.0.initialized.load(Ordering::SeqCst), 3, "{noticed}");
    }
}

// PAG-07
#[tokio::test(start_paused = true)]
async fn a_page_that_is_asked_for_by_hand_with_a_cursor_is_not_asked_for_in_another_session() {
    let server = Forgetful::default();
    let client = session(&server).await;
    let page = || client.list_page(crate::ListKind::TOOLS, Some("s1/2"));
    assert_eq!(page().await.expect("read").items[0].name, "2");
    server.forget();
    let error = page().await.expect_err("the session is over");
    assert_eq!(error.message(), "session not found");
    assert_eq!(server.0.strays.load(Ordering::SeqCst), 0);
    assert_eq!(
        (server.0.initialized.load(Ordering::SeqCst), client.state()),
        (2, State::Connected)
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_forgets_every_session_at_once_gets_one_renewal_a_call() {
    let server = Forgetful::default();
    let client = session(&server).await;
    server.forget();
    let call = client.call_tool("x", ()).into_future();
    let forgetting = async {
        tokio::time::sleep(Duration::from_millis(35)).await;
        server.forget();
    };
    let (outcome, ()) = tokio::join!(call, forgetting);
    outcome.expect_err("lost again");
    assert_eq!(server.0.initialized.load(Ordering::SeqCst), 2);
}

/// A server process over a pipe, as often as it is started.
#[derive(Clone)]
struct Mortal {
    version: ProtocolVersion,
    starts: Arc<AtomicUsize>,
    /// A new value ends the processes of before.
    life: Arc<watch::Sender<usize>>,
    /// Those that are started now read, and say nothing.
    mute: Arc<AtomicBool>,
}

impl Mortal {
    fn new(version: ProtocolVersion) -> Self {
        Self {
            version,
            starts: Arc::default(),
            life: Arc::new(watch::Sender::new(0)),
            mute: Arc::default(),
        }
    }

    fn kill(&self) {
        self.life.send_modify(|lives| *lives += 1);
    }
}

impl Connect for Mortal {
    type Transport = Pipe;

    async fn connect(&self) -> Result<Pipe, TransportError> {
        let (near, far) = tokio::io::duplex(64 * 1024);
        self.starts.fetch_add(1, Ordering::SeqCst);
        let mut life = self.life.subscribe();
        let (version, mute) = (self.version, Arc::clone(&self.mute));
        tokio::spawn(async move {
            tokio::select! {
                () = serve(far, version, mute) => {}
                _ = life.changed() => {}
            }
        });
        let (reader, writer) = tokio::io::split(near);
        Ok(Pipe::new(reader, writer))
    }
}

/// Answers everything but `hang`, acknowledges subscriptions, and tells of a change behind each call.
async fn serve(far: DuplexStream, version: ProtocolVersion, mute: Arc<AtomicBool>) {
    let (reader, mut writer) = tokio::io::split(far);
    let mut lines = BufReader::new(reader).lines();
    let mut listening = None;
    while let Ok(Some(line)) = lines.next_line().await {
        if mute.load(Ordering::SeqCst) {
            continue;
        }
        let asked: Value = serde_json::from_str(&line).expect("JSON");
        let mut told = Vec::new();
        let result = match asked["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": version.as_str(),
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "m", "version": "1" }
            }),
            Some("subscriptions/listen") => {
                listening = Some(asked["id"].clone());
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": asked["id"] });
                let params =
                    json!({ "notifications": asked["params"]["notifications"], "_meta": meta });
                told.push(json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params }));
                Value::Null
            }
            Some("tools/call") if asked["params"]["name"] == "hang" => Value::Null,
            Some("tools/call") => {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": listening });
                let params = if listening.is_some() { json!({ "_meta": meta }) } else { json!({}) };
                told.push(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params }));
                json!({ "content": [] })
            }
            _ => json!({}),
        };
        if !result.is_null() && !asked["id"].is_null() {
            told.push(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
        }
        for message in told {
            if writer.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

async fn mortal(server: &Mortal, restart: Restart) -> Client {
    let builder = Client::builder().protocol([server.version]).restart(restart);
    builder.connect(server.clone()).await.expect("connected")
}

/// Gives the client's reader the time to notice.
async fn settle() {
    tokio::time::sleep(Duration::from_secs(2)).await;
}

// STDIO-11, STDIO-15, INIT-21
#[tokio::test(start_paused = true)]
async fn an_ended_server_is_started_for_the_next_call_and_what_was_under_way_fails_once() {
    for version in [ProtocolVersion::V2026_07_28, V25] {
        let server = Mortal::new(version);
        let client = mortal(&server, Restart::ALWAYS).await;
        let hanging = tokio::spawn(client.call_tool("hang", ()).into_future());
        settle().await;
        server.kill();
        let error = hanging.await.expect("no panic").expect_err("it may have run");
        assert!(error.is_closed(), "{error}");
        assert_eq!((server.starts.load(Ordering::SeqCst), client.state()), (1, State::Lost));
        client.call_tool("x", ()).await.expect("on a new process");
        assert_eq!((server.starts.load(Ordering::SeqCst), client.state()), (2, State::Connected));
        assert_eq!(client.protocol(), version);
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_option_an_ended_server_stays_ended_and_a_limit_is_kept() {
    let server = Mortal::new(V25);
    let client = mortal(&server, Restart::NEVER).await;
    server.kill();
    settle().await;
    assert!(client.call_tool("x", ()).await.expect_err("over").is_closed());
    assert_eq!(server.starts.load(Ordering::SeqCst), 1);

    let server = Mortal::new(V25);
    let client = mortal(&server, Restart::ALWAYS.at_most(1, Duration::from_secs(60))).await;
    for (round, started) in [(0, 2), (1, 2)] {
        server.kill();
        settle().await;
        assert_eq!(client.call_tool("x", ()).await.is_ok(), round == 0);
        assert_eq!(server.starts.load(Ordering::SeqCst), started);
    }
}

// STDIO-12, SUB-12, SUB-13
#[tokio::test(start_paused = true)]
async fn a_subscription_comes_back_with_the_process_and_says_so() {
    for version in [ProtocolVersion::V2026_07_28, V25] {
        let server = Mortal::new(version);
        let client = mortal(&server, Restart::ALWAYS).await;
        let mut events =
            client.listen(SubscriptionFilter::new().tools_list_changed()).await.expect("agreed");
        client.call_tool("x", ()).await.expect("answered");
        assert!(matches!(events.next().await, Some(Event::Notification(_))), "{version}");
        server.kill();
        let event = events.next().await;
        assert!(
            matches!(event, Some(Event::Resumed { may_have_missed: true, .. })),
            "{version}: {event:?}"
        );
        client.call_tool("x", ()).await.expect("answered");
        assert!(matches!(events.next().await, Some(Event::Notification(_))), "{version}");
        assert_eq!(server.starts.load(Ordering::SeqCst), 2, "{version}");
    }
}

// S-06, S-64
#[tokio::test(start_paused = true)]
async fn a_subscription_that_waits_to_come_back_hears_at_once_that_its_client_is_closed() {
    for version in [ProtocolVersion::V2026_07_28, V25] {
        let server = Mortal::new(version);
        let client = mortal(&server, Restart::ALWAYS).await;
        let patient = Reopen::after(Duration::from_secs(600), Duration::from_secs(600));
        let listening = client.listen(SubscriptionFilter::new().tools_list_changed());
        let mut events = listening.reopen(patient).await.expect("agreed");
        server.kill();
        let reading = tokio::spawn(async move { (events.next().await, events.next().await) });
        settle().await;
        assert!(!reading.is_finished(), "{version}: it waits");
        client.close().await;
        let closed = tokio::time::Instant::now();
        let (event, behind) = reading.await.expect("no panic");
        assert!(matches!(event, Some(Event::Closed(_))), "{version}: {event:?}");
        assert!(behind.is_none() && closed.elapsed() < Duration::from_secs(1), "{version}");
        assert_eq!(server.starts.load(Ordering::SeqCst), 1, "{version}");
    }
}

// S-64
#[tokio::test(start_paused = true)]
async fn without_the_option_a_subscription_ends_with_its_process() {
    for version in [ProtocolVersion::V2026_07_28, V25] {
        let server = Mortal::new(version);
        let client = mortal(&server, Restart::NEVER).await;
        let mut events =
            client.listen(SubscriptionFilter::new().tools_list_changed()).await.expect("agreed");
        server.kill();
        assert!(matches!(events.next().await, Some(Event::Closed(_))), "{version}");
        assert!(events.next().await.is_none(), "nothing follows");
    }
}

// INIT-18
#[tokio::test(start_paused = true)]
async fn a_server_without_a_sign_of_life_is_given_up_after_so_many_and_may_be_started_again() {
    for version in [ProtocolVersion::V2026_07_28, V25] {
        let server = Mortal::new(version);
        let keep_alive = KeepAlive::every(Duration::from_secs(10)).failures(2);
        let builder = Client::builder().protocol([version]).timeout(None).restart(Restart::ALWAYS);
        let client =
            builder.keep_alive(keep_alive).connect(server.clone()).await.expect("connected");
        tokio::time::sleep(Duration::from_secs(25)).await;
        assert_eq!(client.state(), State::Connected);
        server.mute.store(true, Ordering::SeqCst);
        let begun = tokio::time::Instant::now();
        let error = client.call_tool("x", ()).await.expect_err("nobody answers");
        assert!(error.is_closed(), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(45), "{:?}", begun.elapsed());
        assert_eq!(client.state(), State::Lost);
        server.mute.store(false, Ordering::SeqCst);
        client.call_tool("x", ()).await.expect("on a new process");
        assert_eq!(server.starts.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn keeping_alive_does_not_keep_a_client() {
    let server = Mortal::new(V25);
    let keep_alive = KeepAlive::every(Duration::from_secs(10));
    let client =
        Client::builder().protocol([V25]).keep_alive(keep_alive).connect(server.clone()).await;
    let core = Arc::downgrade(client.expect("connected").core());
    settle().await;
    assert!(core.upgrade().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_question_under_way_keeps_no_client_that_everybody_else_has_left() {
    for version in [ProtocolVersion::V2026_07_28, V25] {
        let server = Mortal::new(version);
        let keep_alive = KeepAlive::every(Duration::from_secs(600));
        let builder = Client::builder().protocol([version]).keep_alive(keep_alive);
        let client = builder.connect(server.clone()).await.expect("connected");
        let core = Arc::downgrade(client.core());
        server.mute.store(true, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(610)).await;
        drop(client);
        assert!(core.upgrade().is_some(), "the question waits for its answer");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(core.upgrade().is_none(), "{version}");
    }
}

/// One who still holds the client hears what the question comes to.
#[tokio::test(start_paused = true)]
async fn a_subscription_alone_keeps_the_question_going() {
    let server = Mortal::new(ProtocolVersion::V2026_07_28);
    let keep_alive = KeepAlive::every(Duration::from_secs(10));
    let builder = Client::builder().protocol([server.version]).keep_alive(keep_alive);
    let client = builder.connect(server.clone()).await.expect("connected");
    let events = client.listen(SubscriptionFilter::new().tools_list_changed());
    let mut events = events.await.expect("acknowledged");
    drop(client);
    server.mute.store(true, Ordering::SeqCst);
    let ended = tokio::time::timeout(Duration::from_secs(25), events.next()).await;
    assert!(matches!(ended, Ok(Some(Event::Closed(_)))), "{ended:?}");
}

// VER-10
#[tokio::test(start_paused = true)]
async fn a_kept_verdict_spares_the_question() {
    let server = Forgetful::default();
    let verdict = session(&server).await.verdict();
    let saved = serde_json::to_string(&verdict).expect("text");
    let server = Forgetful::default();
    let verdict: Verdict = serde_json::from_str(&saved).expect("a verdict");
    let client =
        Client::builder().verdict(verdict).connect(server.clone()).await.expect("connected");
    assert_eq!((client.protocol(), server.0.initialized.load(Ordering::SeqCst)), (V25, 1));
    assert_eq!(server.0.asked.load(Ordering::SeqCst), 1, "initialize alone");
}

// VER-10
#[tokio::test(start_paused = true)]
async fn a_verdict_that_proves_wrong_is_revised_and_the_call_runs_once() {
    let server = Forgetful::default();
    let verdict: Verdict = serde_json::from_value(json!("2026-07-28")).expect("a verdict");
    let client =
        Client::builder().verdict(verdict).connect(server.clone()).await.expect("believed");
    assert_eq!(server.0.asked.load(Ordering::SeqCst), 0, "nothing is sent");
    client.call_tool("x", ()).await.expect("answered");
    assert_eq!((client.protocol(), server.0.ran.load(Ordering::SeqCst)), (V25, 1));
    let wrong: Verdict = serde_json::from_value(json!("2025-06-18")).expect("a verdict");
    let client = Client::builder().verdict(wrong).connect(Forgetful::default()).await;
    assert_eq!(client.expect("asked after all").protocol(), V25);
}

/// A stateless server behind something like HTTP, whose first answer to each method is cut off.
#[derive(Clone, Default)]
struct Cutting(Arc<Mutex<Vec<(String, u64)>>>);

impl Cutting {
    fn times(&self, method: &str) -> usize {
        self.0.lock().expect("lock").iter().filter(|(asked, _)| asked == method).count()
    }
}

impl Transport for Cutting {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let asked: Value = serde_json::from_str(&envelope.message).expect("JSON");
        let (method, id) =
            (asked["method"].as_str().expect("a method").to_owned(), envelope.id.expect("an id"));
        self.0.lock().expect("lock").push((method.clone(), id));
        if self.times(&method) == 1 {
            let cut = snodo_types::TransportFault::StreamEnded;
            return Exchange::failed(TransportError::new(cut, "the stream ended"));
        }
        Exchange::ready(Message::result(&id.into(), r#"{"tools":[],"content":[],"contents":[]}"#))
    }

    fn abilities(&self) -> Abilities {
        Abilities { own_stream: true, routing: true, ..Abilities::default() }
    }
}

impl Connect for Cutting {
    type Transport = Self;

    async fn connect(&self) -> Result<Self, TransportError> {
        Ok(self.clone())
    }
}

// HTTP-09, HTTP-21, HTTP-22
#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_asked_for_again_only_where_that_does_no_harm() {
    let server = Cutting::default();
    let builder = || Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let client = builder().connect(server.clone()).await.expect("connected");
    client.list_tools().await.expect("asked again");
    client.read_resource("file:///a").await.expect("asked again");
    let ids: Vec<u64> = server.0.lock().expect("lock").iter().map(|(_, id)| *id).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "each under an id of its own: {ids:?}");

    let schema = json!({ "type": "object" });
    let mut tool = snodo_types::Tool::new("pay", schema);
    tool.annotations = Some(json!({ "idempotentHint": true }).into());
    let error = client.call_tool(&tool, ()).await.expect_err("cut off");
    assert!(!error.may_be_repeated(), "it may have run: {error}");
    assert_eq!(server.times("tools/call"), 1);

    let server = Cutting::default();
    let client =
        builder().repeat_idempotent_tools().connect(server.clone()).await.expect("connected");
    client.call_tool("pay", ()).await.expect_err("by name nothing is known of it");
    let server = Cutting::default();
    let client =
        builder().repeat_idempotent_tools().connect(server.clone()).await.expect("connected");
    client.call_tool(&tool, ()).await.expect("asked again");
    assert_eq!(server.times("tools/call"), 2);
}
