//! Sessions that a server forgets, over HTTP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use snodo::http::Http;
use snodo::types::SubscriptionFilter;
use snodo::{Builder, Client, Error, Event, ProtocolVersion, Reopen, State, Subscription};
use snodo_tests::Proxy;
use tokio::task::JoinSet;

use super::ledger::{Ledger, Memory, until};
use super::server::{Lacks, Life};
use super::{Elsewhere, SLACK, TOOLS_CHANGED, alone, next, resumed, told};

const VERSION: ProtocolVersion = ProtocolVersion::V2025_11_25;

const URI: &str = "zoo://counter";

/// A server behind a proxy, both on a runtime of their own, and what any server there did.
pub(super) struct Place {
    pub(super) memory: Arc<Memory>,
    pub(super) proxy: Proxy,
    pub(super) life: Option<Life>,
    pub(super) elsewhere: Elsewhere,
}

impl Place {
    pub(super) async fn new(lacks: Lacks) -> Self {
        let (elsewhere, memory) = (Elsewhere::new(), Arc::new(Memory::default()));
        let remembering = Arc::clone(&memory);
        let built = elsewhere.run(async move {
            let life = Life::start(&remembering, lacks).await;
            let proxy = Proxy::to(life.address()).await.expect("a port");
            (life, proxy)
        });
        let (life, proxy) = built.await;
        Self { memory, proxy, life: Some(life), elsewhere }
    }

    /// Kills the server; nobody answers at its address until another is started.
    pub(super) fn kill(&mut self) {
        self.proxy.lead_to(None);
        self.life = None;
    }

    pub(super) async fn start(&mut self, lacks: Lacks) {
        let memory = Arc::clone(&self.memory);
        let life = self.elsewhere.run(async move { Life::start(&memory, lacks).await }).await;
        self.proxy.lead_to(life.address());
        self.life = Some(life);
    }

    pub(super) fn forget(&self) {
        self.life.as_ref().expect("it lives").forget();
    }

    pub(super) async fn connect(&self, version: ProtocolVersion) -> Client {
        self.connect_with(Client::builder().protocol([version])).await
    }

    pub(super) async fn connect_with(&self, builder: Builder) -> Client {
        let url = format!("http://{}/mcp", self.proxy.address());
        // A stream that breaks is taken up soon, and given up soon.
        let http = Http::new(url).expect("a URL");
        let http = http.resume_delay(Duration::from_millis(20)).resume_attempts(2);
        builder.timeout(Duration::from_secs(20)).connect(http).await.expect("connected")
    }

    /// Ends a client; nothing of it is left at the server.
    pub(super) async fn leave(self, client: Client) {
        client.close().await;
        drop(client);
        until("no connection is left", || self.proxy.open() == 0).await;
    }
}

fn filter() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed()
}

async fn listen(client: &Client) -> Subscription {
    let events = client.listen(filter().resource(URI)).await.expect("agreed");
    assert_eq!(events.accepted(), &filter().resource(URI));
    events
}

/// Both events that one call causes.
async fn changes(client: &Client, events: &mut Subscription) {
    client.call_tool("change", ()).await.expect("answered");
    told(events, TOOLS_CHANGED).await;
    told(events, "notifications/resources/updated").await;
}

pub(super) async fn call(client: Client, tool: &str, n: u64) -> Result<(), Error> {
    client.call_tool(tool, json!({ "n": n })).await.map(drop)
}

// HTTPL-15, HTTPL-21, SRV-20
#[test]
fn a_forgotten_session_is_renewed_once_and_everything_stands_again() {
    alone(async {
        let place = Place::new(Lacks::default()).await;
        let client = place.connect(VERSION).await;
        let mut events = listen(&client).await;
        changes(&client, &mut events).await;
        let hanging = tokio::spawn(call(client.clone(), "hang", 1000));
        until("it hangs", || place.memory.count("hang") == 1).await;

        place.forget();
        let forgotten = Instant::now();
        let mut calls = JoinSet::new();
        for n in 0..30 {
            calls.spawn(call(client.clone(), "add", n));
        }
        for answered in calls.join_all().await {
            answered.expect("in the new session");
        }
        assert!(forgotten.elapsed() < SLACK, "{:?}", forgotten.elapsed());
        resumed(&mut events).await;
        assert!(forgotten.elapsed() < Duration::from_millis(500) + SLACK);
        changes(&client, &mut events).await;

        let memory = &place.memory;
        assert_eq!(memory.counts("add"), (0..30).map(|n| (n, 1)).collect(), "once each");
        assert_eq!(memory.count("initialize"), 2, "one renewal for all");
        assert_eq!((memory.count("stream"), memory.count("watch")), (2, 2));
        assert_eq!((memory.count("hang"), client.state()), (1, State::Connected));
        hanging.abort();
        drop((hanging.await, events));
        until("it is watched no more", || place.memory.count("unwatch") == 1).await;
        place.leave(client).await;
    });
}

/// Nobody calls: the end of the server's own stream is what tells.
#[test]
fn a_subscription_alone_notices_that_its_session_is_gone() {
    alone(async {
        let place = Place::new(Lacks { ids: true, ..Lacks::default() }).await;
        let client = place.connect(VERSION).await;
        let mut events = listen(&client).await;
        place.forget();
        resumed(&mut events).await;
        changes(&client, &mut events).await;
        assert_eq!(place.memory.count("initialize"), 2);
        drop(events);
        place.leave(client).await;
    });
}

#[test]
fn a_renewal_given_up_half_way_still_brings_the_subscription_back() {
    alone(async {
        let place = Place::new(Lacks { haste: true, ..Lacks::default() }).await;
        let client = place.connect(VERSION).await;
        let mut events = listen(&client).await;
        let session = || client.session().and_then(|session| session.id().map(str::to_owned));
        let before = session();
        place.forget();
        // Dropped when the new session is there, while the stream is still being opened.
        let calling = call(client.clone(), "add", 1);
        tokio::select! {
            () = until("a new session", || session() != before) => {}
            _ = calling => panic!("the call was too fast for this test"),
        }
        resumed(&mut events).await;
        changes(&client, &mut events).await;
        assert_eq!(place.memory.count("initialize"), 2, "the session that was begun is used");
        drop(events);
        place.leave(client).await;
    });
}

#[test]
fn a_subscription_that_is_not_to_come_back_is_over_with_its_session() {
    alone(async {
        let place = Place::new(Lacks::default()).await;
        let client = place.connect(VERSION).await;
        let mut events = client.listen(filter()).reopen(Reopen::NEVER).await.expect("agreed");
        place.forget();
        call(client.clone(), "add", 1).await.expect("in the new session");
        let event = next(&mut events).await;
        assert!(matches!(event, Event::Closed(_)), "{event:?}");
        assert!(events.next().await.is_none());
        drop(events);
        place.leave(client).await;
    });
}

/// 405 to GET says that there is no such stream, which is no reason to ask for new sessions.
#[test]
fn without_a_stream_of_the_server_s_own_nothing_is_accepted_and_nothing_is_renewed() {
    alone(async {
        let mut place = Place::new(Lacks { stream: true, ..Lacks::default() }).await;
        let client = place.connect(VERSION).await;
        let mut events = client.listen(filter().resource(URI)).await.expect("nothing is agreed to");
        assert_eq!(events.accepted(), &SubscriptionFilter::new());
        let silent = tokio::time::timeout(Duration::from_millis(1500), events.next()).await;
        assert!(silent.is_err(), "{silent:?}");
        assert_eq!((place.memory.count("initialize"), place.memory.count("watch")), (1, 0));
        drop(events);
        client.close().await;

        // One that had a stream and comes back without it.
        place.start(Lacks::default()).await;
        let client = place.connect(VERSION).await;
        let mut events = listen(&client).await;
        place.kill();
        place.start(Lacks { stream: true, ..Lacks::default() }).await;
        let event = next(&mut events).await;
        assert!(matches!(event, Event::Closed(_)), "{event:?}");
        drop(events);
        call(client.clone(), "add", 1).await.expect("calls go on");
        let sessions = place.memory.count("initialize");
        assert!(sessions <= 5, "two clients, and few attempts to come back: {sessions} sessions");
        place.leave(client).await;
    });
}
