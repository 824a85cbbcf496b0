//! Kept results over HTTP, where credentials say who asks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use snodo::http::{Http, RefusedToken, TokenProvider, Tokens, Verdict};
use snodo::types::{Kept, TransportError};
use snodo::{Cache, Client, ListKind, ProtocolVersion};
use snodo_testkit::{Loopback, Reply};

/// A server whose list names the token that it was asked with, and how many lists there were. A
/// token that ends in `-old` is refused.
async fn server(scope: &'static str) -> Loopback {
    let given = Arc::new(AtomicUsize::new(0));
    let server = Loopback::serve(move |request| {
        let given = Arc::clone(&given);
        async move {
            let token = request.header("authorization").unwrap_or("nobody").to_owned();
            if token.ends_with("-old") {
                let challenge = "Bearer error=\"invalid_token\"";
                return Reply::new(401).header("WWW-Authenticate", challenge);
            }
            let message = request.json().unwrap_or_default();
            let number = given.fetch_add(1, Ordering::SeqCst);
            let name = format!("{} {number}", token.trim_start_matches("Bearer "));
            let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
            let result = json!({ "tools": [tool], "ttlMs": 60_000, "cacheScope": scope });
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            Reply::new(200).json(body.to_string())
        }
    });
    server.await.expect("a port")
}

/// A token that a test may change; a refused one is refreshed to the same user's newest.
#[derive(Clone)]
struct User {
    name: &'static str,
    token: Arc<Mutex<String>>,
    refreshed: Arc<AtomicUsize>,
}

impl User {
    fn new(name: &'static str) -> Self {
        let token = Arc::new(Mutex::new(format!("{name}-0")));
        Self { name, token, refreshed: Arc::default() }
    }

    /// From now on the server refuses the token.
    fn expire(&self) {
        *self.token.lock().expect("no panic") = format!("{}-old", self.name);
    }
}

impl TokenProvider for User {
    async fn token(&self, _: &str) -> Result<Option<String>, TransportError> {
        tokio::task::yield_now().await;
        Ok(Some(self.token.lock().expect("no panic").clone()))
    }

    async fn refresh(&self, _: RefusedToken<'_>) -> Result<Verdict, TransportError> {
        let number = self.refreshed.fetch_add(1, Ordering::SeqCst) + 1;
        *self.token.lock().expect("no panic") = format!("{}-{number}", self.name);
        Ok(Verdict::Retry)
    }
}

async fn client(server: &Loopback, cache: &Cache, user: &User) -> Client {
    let http = Http::new(server.url()).expect("a URL").credentials(Tokens::new(user.clone()));
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    builder.cache(cache.clone()).connect(http).await.expect("connected")
}

/// The list's own word, and whether it was kept.
async fn list(client: &Client) -> (String, bool) {
    let page = client.list_page(ListKind::TOOLS, None).await.expect("a page");
    (page.items[0].name.clone(), page.kept() == Some(Kept::Fresh))
}

fn own(name: &str) -> (String, bool) {
    (name.to_owned(), true)
}

fn new(name: &str) -> (String, bool) {
    (name.to_owned(), false)
}

// S-45, CACHE-08, CACHE-14
#[tokio::test]
async fn two_credentials_never_share_what_is_private_through_every_refresh_between() {
    let server = server("private").await;
    let cache = Cache::memory();
    let (ada, bob) = (User::new("ada"), User::new("bob"));
    let (of_ada, of_bob) =
        (client(&server, &cache, &ada).await, client(&server, &cache, &bob).await);
    assert_eq!((list(&of_ada).await, list(&of_bob).await), (new("ada-0 0"), new("bob-0 1")));
    assert_eq!((list(&of_ada).await, list(&of_bob).await), (own("ada-0 0"), own("bob-0 1")));

    // Ada's token is refused in the middle of a call; what comes is kept for the token that worked.
    ada.expire();
    assert_eq!(list(&of_ada).await, new("ada-1 2"));
    assert_eq!((list(&of_ada).await, list(&of_bob).await), (own("ada-1 2"), own("bob-0 1")));
    // Nothing was kept for the one that was refused, and the older one has what it had.
    *ada.token.lock().expect("no panic") = "ada-0".to_owned();
    assert_eq!(list(&of_ada).await, own("ada-0 0"));

    // One client whose provider changes its user is two callers, and a client of the same token is
    // the same one.
    bob.expire();
    assert_eq!(list(&of_bob).await, new("bob-1 3"));
    *bob.token.lock().expect("no panic") = "ada-1".to_owned();
    assert_eq!(list(&of_bob).await, own("ada-1 2"));
    let also_bob = User { token: Arc::new(Mutex::new("bob-1".to_owned())), ..bob.clone() };
    assert_eq!(list(&client(&server, &cache, &also_bob).await).await, own("bob-1 3"));

    // All together, with refreshes under way: everybody sees his own and nothing else.
    let mut asking = tokio::task::JoinSet::new();
    for number in 0..40 {
        let user = User::new(if number % 2 == 0 { "ada" } else { "bob" });
        let (name, client) = (user.name, client(&server, &cache, &user).await);
        if number % 3 == 0 {
            user.expire();
        }
        asking.spawn(async move { (name, list(&client).await.0) });
    }
    while let Some(asked) = asking.join_next().await {
        let (name, said) = asked.expect("no panic");
        assert!(said.starts_with(name), "{name} is told {said}");
    }
}

// S-45, CACHE-08
#[tokio::test]
async fn what_is_public_is_shared_by_all_who_ask_one_url() {
    let server = server("public").await;
    let cache = Cache::memory();
    let (ada, bob) = (User::new("ada"), User::new("bob"));
    assert_eq!(list(&client(&server, &cache, &ada).await).await, new("ada-0 0"));
    bob.expire();
    assert_eq!(list(&client(&server, &cache, &bob).await).await, own("ada-0 0"));
    assert_eq!(bob.refreshed.load(Ordering::SeqCst), 0, "nobody had to ask for that");
    // A tenant of its own, or a query, is another server; so is another name.
    let builder = || Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let tenant = Http::new(server.url()).and_then(|http| http.header("x-tenant", "blue"));
    let query = Http::new(format!("{}?tenant=blue", server.url()));
    for (http, number) in [(tenant, 1), (query, 2)] {
        let client = builder().cache(cache.clone()).connect(http.expect("a server")).await;
        assert_eq!(list(&client.expect("connected")).await, new(&format!("nobody {number}")));
    }
    let named = cache.server("another");
    assert_eq!(list(&client(&server, &named, &ada).await).await, new("ada-0 3"));
}

// CACHE-14
#[tokio::test]
async fn a_caller_that_the_host_names_keeps_what_is_his_through_a_refresh() {
    let server = server("private").await;
    let cache = Cache::memory();
    let (ada, bob) = (User::new("ada"), User::new("bob"));
    let of_ada = client(&server, &cache.clone().caller("ada"), &ada).await;
    let of_bob = client(&server, &cache.caller("bob"), &bob).await;
    assert_eq!((list(&of_ada).await, list(&of_bob).await), (new("ada-0 0"), new("bob-0 1")));
    ada.expire();
    assert_eq!((list(&of_ada).await, list(&of_bob).await), (own("ada-0 0"), own("bob-0 1")));
    assert_eq!(ada.refreshed.load(Ordering::SeqCst), 0);
}
