//! An MCP server and the authorization server that protects it, both as strict as real ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use snodo_http::Http;
use snodo_testkit::{Loopback, Reply, Request};
use snodo_transport::{Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, TransportError};

use crate::form::pairs;
use crate::random::sha256;
use crate::{Builder, OAuth, Policy, Unattended};

pub(super) struct World {
    pub(super) mcp: Loopback,
    pub(super) server: Loopback,
    state: Arc<Mutex<State>>,
}

/// What the servers know, and how they behave.
pub(super) struct State {
    /// Members that replace those of the documents; `null` takes one away.
    pub(super) resource: Value,
    pub(super) metadata: Value,
    /// Behind `Bearer`.
    pub(super) challenge: String,
    /// What a token has to have; a lack is told as this.
    pub(super) scope: Option<String>,
    pub(super) expires_in: Option<u64>,
    pub(super) gives_refresh: bool,
    /// What the token endpoint answers instead, as often as it is there.
    pub(super) answers: Vec<(u16, String)>,
    /// What is added to the answer of the page.
    pub(super) adds: String,
    /// Tokens and their scopes.
    pub(super) access: BTreeMap<String, String>,
    pub(super) refresh: BTreeMap<String, String>,
    /// Codes: what was asked for with them.
    codes: BTreeMap<String, BTreeMap<String, String>>,
    next: usize,
}

impl World {
    pub(super) async fn new() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let origins: Arc<Mutex<[String; 2]>> = Arc::default();
        let serve = |role: fn(&mut State, &Request, &[String; 2]) -> Reply| {
            let (state, origins) = (state.clone(), origins.clone());
            Loopback::serve(move |request| {
                let origins = origins.lock().expect("not poisoned").clone();
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                std::future::ready(role(&mut state, &request, &origins))
            })
        };
        let mcp = serve(State::mcp).await.expect("a port");
        let server = serve(State::server).await.expect("a port");
        *origins.lock().expect("not poisoned") = [mcp.origin(), server.origin()];
        Self { mcp, server, state }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the authorization server was asked, in short: `register`, `authorize`, the grants.
    pub(super) fn asked(&self) -> Vec<String> {
        let name = |request: &Request| match path(request) {
            "/token" => form(&request.body).remove("grant_type").unwrap_or_default(),
            path => path.trim_start_matches('/').to_owned(),
        };
        let requests = self.server.requests();
        requests.iter().map(name).filter(|name| !name.starts_with(".well-known")).collect()
    }

    /// What a page or an endpoint was asked, the last time.
    pub(super) fn last(&self, wanted: &str) -> BTreeMap<String, String> {
        let requests = self.server.requests();
        let found = requests.iter().rfind(|request| path(request) == wanted);
        let found = found.unwrap_or_else(|| panic!("nobody asked {wanted}"));
        match found.path.split_once('?') {
            Some((_, query)) => form(query),
            None => form(&found.body),
        }
    }

    /// A client of the MCP server.
    pub(super) async fn http(&self, oauth: &OAuth) -> impl Transport + use<> {
        let http = Http::new(self.mcp.url()).expect("a URL").credentials(oauth.clone());
        http.connect().await.expect("connecting sends nothing")
    }

    /// One request to the MCP server.
    pub(super) async fn call(&self, oauth: &OAuth) -> Result<(), TransportError> {
        told(self.http(oauth).await.exchange(request())).await
    }
}

/// A person who agrees to everything, and a policy that lets this machine be used.
pub(super) fn agreeing() -> Builder {
    OAuth::person(Unattended::new(REDIRECT)).policy(Policy::new().allow_loopback())
}

pub(super) const REDIRECT: &str = "http://127.0.0.1:1/callback";

pub(super) fn request() -> Envelope {
    Envelope::request(1, r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#.to_owned())
}

/// How an exchange ended.
pub(super) async fn told(mut exchange: Exchange) -> Result<(), TransportError> {
    let mut answered = false;
    while let Some(item) = exchange.next().await {
        answered |= matches!(item?, Incoming::Message(_));
    }
    assert!(answered, "an exchange ends with its answer");
    Ok(())
}

impl State {
    /// A token that was given out before.
    pub(super) fn grant(&mut self, scope: &str) -> Value {
        self.next += 1;
        let (access, refresh) = (format!("access-{}", self.next), format!("refresh-{}", self.next));
        self.access.insert(access.clone(), scope.to_owned());
        let mut answer = json!({ "access_token": access, "token_type": "Bearer", "scope": scope });
        if let Some(seconds) = self.expires_in {
            answer["expires_in"] = json!(seconds);
        }
        if self.gives_refresh {
            self.refresh.insert(refresh.clone(), scope.to_owned());
            answer["refresh_token"] = json!(refresh);
        }
        answer
    }

    fn mcp(&mut self, request: &Request, [mcp, server]: &[String; 2]) -> Reply {
        if path(request).starts_with("/.well-known/") {
            let document = json!({
                "resource": format!("{mcp}/mcp"),
                "authorization_servers": [server],
            });
            return document_of(document, &self.resource);
        }
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let granted = token.and_then(|token| self.access.get(token));
        let lacks = |scope: &String| {
            granted.is_some_and(|granted| {
                !scope.split(' ').all(|one| granted.split(' ').any(|had| had == one))
            })
        };
        match (granted, &self.scope) {
            (None, _) => {
                Reply::new(401).header("www-authenticate", &format!("Bearer {}", self.challenge))
            }
            (_, Some(scope)) if lacks(scope) => {
                let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
                Reply::new(403).header("www-authenticate", &challenge)
            }
            _ => Reply::new(200).json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        }
    }

    fn server(&mut self, request: &Request, [_, server]: &[String; 2]) -> Reply {
        match path(request) {
            "/.well-known/oauth-authorization-server" => {
                let document = json!({
                    "issuer": server,
                    "authorization_endpoint": format!("{server}/authorize"),
                    "token_endpoint": format!("{server}/token"),
                    "registration_endpoint": format!("{server}/register"),
                    "revocation_endpoint": format!("{server}/revoke"),
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                });
                document_of(document, &self.metadata)
            }
            "/register" => {
                self.next += 1;
                let id = format!("client-{}", self.next);
                Reply::new(201).json(json!({ "client_id": id }).to_string())
            }
            "/authorize" => self.page(request),
            "/token" => self.token(&form(&request.body)),
            "/revoke" => {
                let revoked = form(&request.body).remove("token").unwrap_or_default();
                self.refresh.remove(&revoked);
                self.access.clear();
                Reply::new(200)
            }
            _ => Reply::new(404),
        }
    }

    fn page(&mut self, request: &Request) -> Reply {
        let (_, query) = request.path.split_once('?').expect("a query");
        let asked = form(query);
        self.next += 1;
        let code = format!("code-{}", self.next);
        let location =
            format!("{}?code={code}&state={}{}", asked["redirect_uri"], asked["state"], self.adds);
        self.codes.insert(code, asked);
        Reply::new(302).header("location", &location)
    }

    fn token(&mut self, form: &BTreeMap<String, String>) -> Reply {
        if !self.answers.is_empty() {
            let (status, body) = self.answers.remove(0);
            return Reply::new(status).json(body);
        }
        let field = |name: &str| form.get(name).map(String::as_str);
        let scope = match field("grant_type") {
            Some("authorization_code") => {
                let code = self.codes.remove(field("code").unwrap_or_default());
                let verified = sha256(field("code_verifier").unwrap_or_default());
                let fits = |asked: &BTreeMap<String, String>| {
                    asked["code_challenge"] == verified
                        && Some(&*asked["redirect_uri"]) == field("redirect_uri")
                        && Some(&*asked["resource"]) == field("resource")
                        && field("client_id").is_none_or(|client| client == asked["client_id"])
                };
                code.filter(fits).map(|mut asked| asked.remove("scope").unwrap_or_default())
            }
            // Good for one use.
            Some("refresh_token") => {
                self.refresh.remove(field("refresh_token").unwrap_or_default())
            }
            _ => Some(field("scope").unwrap_or_default().to_owned()),
        };
        match scope {
            Some(scope) => Reply::new(200).json(self.grant(&scope).to_string()),
            None => Reply::new(400).json(json!({ "error": "invalid_grant" }).to_string()),
        }
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            resource: json!({}),
            metadata: json!({}),
            challenge: String::new(),
            scope: None,
            expires_in: None,
            gives_refresh: true,
            answers: Vec::new(),
            adds: String::new(),
            access: BTreeMap::new(),
            refresh: BTreeMap::new(),
            codes: BTreeMap::new(),
            next: 0,
        }
    }
}

fn document_of(mut document: Value, changes: &Value) -> Reply {
    for (name, value) in changes.as_object().expect("an object") {
        document[name] = value.clone();
    }
    let members = document.as_object_mut().expect("an object");
    members.retain(|_, value| !value.is_null());
    Reply::new(200).json(document.to_string())
}

pub(super) fn path(request: &Request) -> &str {
    request.path.split('?').next().unwrap_or_default()
}

pub(super) fn form(text: &str) -> BTreeMap<String, String> {
    pairs(text).map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}
