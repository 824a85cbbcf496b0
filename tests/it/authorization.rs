//! A client with credentials of its own, as a program has it: what goes out, and whose time a login takes.

use std::time::Duration;

use http::header::LOCATION;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use snodo_http::Http;
use snodo_oauth::{
    CLIENT_CREDENTIALS, Departure, ENTERPRISE, Error, OAuth, Person, Policy, Registration, Visit,
};
use snodo_testkit::{Loopback, Reply, Request};

use crate::script::{session, stateless};

/// An MCP server and its authorization server at one place. Tokens are good for ever.
async fn guarded() -> Loopback {
    let server = Loopback::serve(|request: Request| async move {
        let origin = format!("http://{}", request.header("host").unwrap_or_default());
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        match path {
            "/.well-known/oauth-protected-resource/mcp" => {
                let document = json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [origin] });
                Reply::new(200).json(document.to_string())
            }
            "/.well-known/oauth-authorization-server" => {
                Reply::new(200).json(published(&origin).to_string())
            }
            "/authorize" => {
                let state = query.split('&').find(|pair| pair.starts_with("state="));
                let to = format!("{REDIRECT}?code=c&{}", state.unwrap_or_default());
                Reply::new(302).header("location", &to)
            }
            "/token" => Reply::new(200).json(r#"{"access_token":"t","token_type":"Bearer"}"#),
            _ if request.header("authorization") != Some("Bearer t") => {
                Reply::new(401).header("www-authenticate", "Bearer")
            }
            _ => answer(&request),
        }
    });
    server.await.expect("a port")
}

fn published(origin: &str) -> Value {
    json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    })
}

fn answer(request: &Request) -> Reply {
    let message = request.json().unwrap_or_default();
    let result = match request.rpc().as_deref() {
        Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": {} }),
        Some("tools/list") => json!({ "tools": [] }),
        _ => return Reply::new(202),
    };
    let said = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    Reply::new(200).json(said.to_string())
}

fn local() -> Policy {
    Policy::new().allow_loopback()
}

// AUTH-157
#[tokio::test]
async fn what_a_machine_was_let_in_by_is_declared_with_every_request() {
    for extension in [CLIENT_CREDENTIALS, ENTERPRISE] {
        let server = guarded().await;
        let oauth = OAuth::client_credentials(Registration::new("c").secret("s"));
        let http =
            Http::new(server.url()).expect("a URL").credentials(oauth.policy(local()).build());
        let declared = json!({ "extensions": { extension: {} }, "roots": {} });
        let client = stateless().capabilities(&declared).connect(http).await.expect("a client");
        for _ in 0..2 {
            client.list_tools().await.expect("a list");
        }
        let requests = server.requests();
        let sent: Vec<_> = requests.iter().filter(|sent| sent.rpc().is_some()).collect();
        // The one that was refused among them.
        assert_eq!(sent.len(), 3);
        for request in sent {
            let meta = &request.json().expect("JSON")["params"]["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], declared);
        }
    }
}

/// A person who takes four minutes before they look at the page.
struct Slow;

impl Person for Slow {
    async fn prepare(&self, _before: Option<&str>) -> Result<Visit, Error> {
        Ok(Visit::new(REDIRECT, |departure: Departure| async move {
            // All else waits for this: nothing is under way that a clock could jump over.
            tokio::time::pause();
            tokio::time::sleep(Duration::from_secs(240)).await;
            tokio::time::resume();
            let Departure { url, errands, .. } = departure;
            let page = errands.send(Method::GET, &url, HeaderMap::new(), Vec::new()).await?;
            Ok(page.headers()[LOCATION].to_str().expect("a URL").to_owned())
        }))
    }
}

#[tokio::test]
async fn a_login_takes_none_of_the_time_of_the_call_that_waits_for_it() {
    for builder in [stateless(), session()] {
        let server = guarded().await;
        let application = Registration::new("c");
        let oauth = OAuth::person(Slow).registration(application).policy(local()).build();
        let http = Http::new(server.url()).expect("a URL").credentials(oauth);
        let client = builder.timeout(Duration::from_secs(30)).connect(http).await;
        let client = client.expect("opening a session waits too");
        client.list_tools().await.expect("a list");
    }
}

const REDIRECT: &str = "http://127.0.0.1:1/callback";
