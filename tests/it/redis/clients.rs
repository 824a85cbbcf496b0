//! Clients that share a Redis, and lose it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use snodo::http::Http;
use snodo::types::Kept;
use snodo::{Cache, Client, ListKind, ProtocolVersion};
use snodo_testkit::{Loopback, Reply};
use tokio::sync::Notify;

use super::counting;
use super::server::Server;
use crate::logs::Log;

/// A client as another process would have it: with a cache of its own on the same Redis.
async fn client(server: &Loopback, redis: &Server, token: &str) -> Client {
    let http = Http::new(server.url()).and_then(|http| http.bearer(token)).expect("a server");
    let cache = Cache::shared(redis.store());
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]).cache(cache);
    builder.connect(http).await.expect("connected")
}

async fn list(client: &Client) -> (String, Option<Kept>) {
    let page = client.list_page(ListKind::TOOLS, None).await.expect("a page");
    (page.items[0].name.clone(), page.kept())
}

// S-45, CACHE-08
#[tokio::test]
async fn what_is_public_answers_every_process_and_what_is_private_stays_in_its_own() {
    let redis = Server::start().await;
    let (public, _) = counting(json!({ "ttlMs": 60_000, "cacheScope": "public" })).await;
    let (one, other) = (client(&public, &redis, "a").await, client(&public, &redis, "b").await);
    assert_eq!(list(&one).await, ("t0".to_owned(), None));
    assert_eq!(list(&other).await, ("t0".to_owned(), Some(Kept::Fresh)));

    let (private, _) = counting(json!({ "ttlMs": 60_000, "cacheScope": "private" })).await;
    let (one, other) = (client(&private, &redis, "a").await, client(&private, &redis, "a").await);
    assert_eq!((list(&one).await.0, list(&other).await.0), ("t0".to_owned(), "t1".to_owned()));
    assert_eq!((list(&one).await.0, list(&other).await.0), ("t0".to_owned(), "t1".to_owned()));
}

// S-45, CACHE-09
#[tokio::test]
async fn what_one_process_hears_is_stale_for_all() {
    let redis = Server::start().await;
    let (tell, told) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (telling, count) = (Arc::clone(&tell), Arc::clone(&told));
    let server = Loopback::serve(move |request| {
        let (telling, count) = (Arc::clone(&telling), Arc::clone(&count));
        async move {
            let message = request.json().unwrap_or_default();
            if message["method"] == "tools/list" {
                let tool = json!({ "name": format!("t{}", count.fetch_add(1, Ordering::SeqCst)), "inputSchema": {} });
                let result = json!({ "tools": [tool], "ttlMs": 60_000, "cacheScope": "public" });
                let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                return Reply::new(200).json(body.to_string());
            }
            Reply::new(200).stream(|events| async move {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
                let filter = message["params"]["notifications"].clone();
                let say = |method: &str, mut params: serde_json::Value| {
                    params["_meta"] = meta.clone();
                    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
                };
                let acknowledged = json!({ "notifications": filter });
                events
                    .message(&say("notifications/subscriptions/acknowledged", acknowledged))
                    .await;
                telling.notified().await;
                events.message(&say("notifications/tools/list_changed", json!({}))).await;
                std::future::pending::<()>().await;
            })
        }
    });
    let server = server.await.expect("a port");
    let (one, other) = (client(&server, &redis, "a").await, client(&server, &redis, "b").await);
    let filter = snodo::types::SubscriptionFilter::new().tools_list_changed();
    let mut events = one.listen(filter).await.expect("acknowledged");
    assert_eq!((list(&one).await.0, list(&other).await.0), ("t0".to_owned(), "t0".to_owned()));
    tell.notify_one();
    assert!(matches!(events.next().await, Some(snodo::Event::Notification(_))));
    // Its own process knows at once; the others when Redis has heard of it.
    assert_eq!(list(&one).await.0, "t1");
    assert_eq!(list(&other).await, ("t1".to_owned(), Some(Kept::Fresh)));
}

// S-45
#[tokio::test]
async fn calls_go_on_without_a_redis_that_is_lost_under_way_and_one_warning_is_all_it_costs() {
    let mut redis = Server::start().await;
    let (held, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (holding, going) = (Arc::clone(&held), Arc::clone(&go));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = Loopback::serve(move |request| {
        let (holding, going) = (Arc::clone(&holding), Arc::clone(&going));
        let number = count.fetch_add(1, Ordering::SeqCst);
        async move {
            if number == 0 {
                holding.notify_one();
                going.notified().await;
            }
            let message = request.json().unwrap_or_default();
            let tool = json!({ "name": format!("t{number}"), "inputSchema": {} });
            let result = json!({ "tools": [tool], "ttlMs": 60_000, "cacheScope": "public" });
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            Reply::new(200).json(body.to_string())
        }
    });
    let server = server.await.expect("a port");
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let warned = || {
        let warnings = log.warnings();
        warnings.iter().filter(|warning| warning.contains("calls go on without it")).count()
    };
    let client = client(&server, &redis, "a").await;
    let first = list(&client);
    let lose = async {
        held.notified().await;
        redis.kill().await;
        go.notify_one();
    };
    let (answer, ()) = tokio::join!(first, lose);
    assert_eq!(answer, ("t0".to_owned(), None));
    for number in 1..20 {
        assert_eq!(list(&client).await, (format!("t{number}"), None));
    }
    assert_eq!(warned(), 1, "{:?}", log.warnings());
    assert!(redis.begin().await);
    // It is left alone for a second after it failed; then what is fetched is kept again.
    let back = async {
        while list(&client).await.1.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), back).await.expect("it is used again");
    assert_eq!(warned(), 1);
}
