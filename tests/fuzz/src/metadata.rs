//! Metadata of strangers: who protects a server, and where a person and a token request are sent because of it.
//!
//! The input is what the servers say. A whole login runs over it by the public way, [`snodo_oauth::OAuth`] as the credentials
//! of a transport; a service in place of sockets answers, and remembers what was asked.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response, Uri};
use http_body::{Body, Frame};
use serde_json::{Value, json};
use snodo_http::{Http, RequestBody};
use snodo_oauth::{Error, OAuth, Policy, Unattended};
use snodo_transport::{Connect, Incoming, Transport};
use snodo_types::{Envelope, steers};
use tower::service_fn;

/// A login over documents that may say anything is over after a few requests. Each goes to a public place over TLS, the
/// metadata is looked for where the rules say, and a person, a registration and a code go only where a document says that is
/// about this server and of the issuer that it was asked from. What is wrong is told in a line that steers no terminal.
///
/// # Panics
///
/// Where it is otherwise.
pub fn check(input: &[u8]) {
    let world = Arc::new(World::new(input));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let told = runtime.block_on(log_in(&world));
    world.judge(told);
}

/// One call to a server that wants a token; why it came to nothing.
async fn log_in(world: &Arc<World>) -> Option<String> {
    let policy = Policy::new().max_bytes(MOST);
    let oauth = OAuth::person(Unattended::new(REDIRECT)).policy(policy).build();
    let servers = Arc::clone(world);
    let service = service_fn(move |request: Request<RequestBody>| {
        let answer = servers.answer(&request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let http = Http::new(SERVER).expect("a URL").service(service).credentials(oauth);
    let transport = http.connect().await.expect("connecting sends nothing");
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#.to_owned();
    let mut exchange = transport.exchange(Envelope::request(1, text));
    let mut ended = None;
    while let Some(item) = exchange.next().await {
        match item {
            Ok(Incoming::Message(_)) => ended = Some(None),
            Ok(_) => {}
            Err(error) => {
                let why = Error::within(&error).map(ToString::to_string);
                ended = Some(Some(why.unwrap_or_else(|| error.to_string())));
            }
        }
    }
    ended.expect("an exchange ends with an answer or a reason")
}

/// What the servers say, and what they were asked.
struct World {
    /// Where the server says that its metadata is.
    named: Option<String>,
    /// The documents, in the order in which they are given away.
    documents: Vec<(u16, String)>,
    /// What is added to the answer of the page.
    adds: &'static str,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    /// The places of metadata, and what stood there.
    places: Vec<(String, u16, String)>,
    /// The pages that a person was sent to, without what was added; and where clients were registered and codes spent.
    pages: Vec<String>,
    registered: Vec<String>,
    spent: Vec<String>,
    others: Vec<String>,
    /// How often the server itself was asked, and whether it got a token.
    calls: usize,
    let_in: bool,
}

impl World {
    /// Reads what the servers say out of an input: texts with a zero byte between, or choices of what is nearly right.
    fn new(input: &[u8]) -> Self {
        let (choice, rest) =
            input.split_first().map_or((0, input), |(choice, rest)| (*choice, rest));
        let named = NAMED[usize::from(choice / 2) % NAMED.len()].map(str::to_owned);
        let adds = ADDS[usize::from(choice / 32) % ADDS.len()];
        let documents = if choice % 2 == 0 {
            let texts = rest.split(|byte| *byte == 0);
            texts.map(|text| (200, String::from_utf8_lossy(text).into_owned())).collect()
        } else {
            let mut bytes = rest.iter().copied();
            let mut next = move || usize::from(bytes.next().unwrap_or_default());
            (0..6).map(|_| nearly(&mut next)).collect()
        };
        Self { named, documents, adds, asked: Mutex::default() }
    }

    fn answer(&self, request: &Request<RequestBody>) -> Response<Whole> {
        let mut asked = self.asked.lock().expect("no panic");
        let uri = request.uri().to_string();
        let sent = String::from_utf8_lossy(request.body().bytes());
        let token = request.headers().get("authorization");
        if uri == SERVER {
            asked.calls += 1;
            asked.let_in = token.is_some_and(|token| token == "Bearer t0ken");
            if asked.let_in {
                return reply(200, &json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string());
            }
            return self.refusal();
        }
        assert!(!token.is_some_and(|token| token.as_bytes().ends_with(b"t0ken")), "{uri} has it");
        check_place(&uri);
        if request.method() == Method::POST && sent.starts_with('{') {
            asked.registered.push(uri);
            return reply(201, r#"{"client_id":"c"}"#);
        }
        if request.method() == Method::POST {
            asked.spent.push(uri);
            return reply(200, r#"{"access_token":"t0ken","token_type":"Bearer"}"#);
        }
        if let Some((page, state)) = departure(&uri) {
            asked.pages.push(page.to_owned());
            let location = format!("{REDIRECT}?code=s3cret&state={state}{}", self.adds);
            let response = Response::builder().status(302).header("location", location);
            return response.body(Whole(None)).expect("a response");
        }
        if !uri.contains("/.well-known/") && self.named.as_ref() != Some(&uri) {
            asked.others.push(uri);
            return reply(404, "");
        }
        let at = asked.places.len();
        let (status, text) = self.documents.get(at).cloned().unwrap_or((404, String::new()));
        asked.places.push((uri, status, text.clone()));
        reply(status, &text)
    }

    fn refusal(&self) -> Response<Whole> {
        let named = self.named.as_ref().map(|named| format!(" resource_metadata=\"{named}\""));
        let challenge = format!("Bearer{}", named.unwrap_or_default());
        let response = Response::builder().status(401).header("www-authenticate", challenge);
        response.body(Whole(None)).expect("a response")
    }

    fn judge(&self, told: Option<String>) {
        let asked = self.asked.lock().expect("no panic");
        assert_eq!(told.is_none(), asked.let_in, "{told:?}");
        if let Some(told) = &told {
            assert!(!told.chars().any(steers), "{told:?}");
            assert!(!told.contains("t0ken") && !told.contains("s3cret"), "{told:?}");
            assert!(told.len() <= 3 * MOST, "{} bytes of an error", told.len());
        }
        assert!(asked.others.is_empty(), "{:?}", asked.others);
        assert!(asked.calls <= 2 && asked.places.len() <= 2 + 3, "{:?}", asked.places);
        let [pages, registered, spent] = [&asked.pages, &asked.registered, &asked.spent];
        assert!([pages, registered, spent].iter().all(|asked| asked.len() <= 1));
        let meant = self.meant(&asked.places);
        let Some(server) = meant else {
            assert!(registered.is_empty() && pages.is_empty() && spent.is_empty());
            return;
        };
        let endpoint = |name: &str| server[name].as_str().unwrap_or_default();
        for (asked, name) in [
            (registered, "registration_endpoint"),
            (pages, "authorization_endpoint"),
            (spent, "token_endpoint"),
        ] {
            let meant = endpoint(name).split_once('#').map_or(endpoint(name), |(url, _)| url);
            assert!(asked.iter().all(|url| is_same(url, meant)), "{asked:?} for {meant:?}");
        }
        // The mark of the issuer is looked at where it is there, and has to be where it was announced.
        let says = server["authorization_response_iss_parameter_supported"] == json!(true);
        let right = match self.adds {
            "" => !says,
            adds => adds == RIGHT && server["issuer"] == json!("https://as.example"),
        };
        assert!(spent.is_empty() || right, "{:?} with {}", self.adds, server["issuer"]);
    }

    /// The document that a login goes by, found out slowly.
    fn meant(&self, places: &[(String, u16, String)]) -> Option<Value> {
        let own: &[&str] = match &self.named {
            Some(named) => &[named],
            None => &[WELL_KNOWN_PATH, WELL_KNOWN],
        };
        let mut places = places.iter();
        let mut issuer = None;
        for expected in own {
            let (uri, status, text) = places.next()?;
            assert!(is_same(uri, expected), "{uri} where {expected} was to be asked");
            let Some(document) = object(*status, text) else { continue };
            let servers = document["authorization_servers"].as_array().cloned().unwrap_or_default();
            let servers = servers.iter().filter_map(Value::as_str);
            let first = servers.filter(|issuer| !issuer.is_empty()).map(str::to_owned).next();
            match (document["resource"].as_str().filter(|text| !text.is_empty()), first) {
                (None, _) => continue,
                (Some(resource), _) if !covers(resource) => return None,
                (Some(_), None) => continue,
                (Some(_), Some(first)) => issuer = Some(first),
            }
            break;
        }
        let issuer = issuer?;
        for (uri, status, text) in places {
            let (base, path) = split(&issuer);
            let path = path.trim_end_matches('/');
            let known = ["oauth-authorization-server", "openid-configuration"];
            let mut candidates: Vec<_> =
                known.iter().map(|known| format!("{base}/.well-known/{known}{path}")).collect();
            candidates.push(format!("{base}{path}/.well-known/openid-configuration"));
            assert!(candidates.iter().any(|one| is_same(uri, one)), "{uri} for {issuer}");
            let Some(document) = object(*status, text) else { continue };
            let named = document["issuer"].as_str().filter(|text| !text.is_empty());
            let token = document["token_endpoint"].as_str().filter(|text| !text.is_empty());
            let (Some(named), Some(_)) = (named, token) else { continue };
            return (named == issuer).then_some(document);
        }
        None
    }
}

/// The object that a document is, if it may be one.
fn object(status: u16, text: &str) -> Option<Value> {
    let fits = status == 200 && text.len() <= MOST;
    let document: Value = fits.then(|| serde_json::from_str(text).ok())??;
    document.is_object().then_some(document)
}

/// Whether an identifier is that of the server, or of something that it is part of.
fn covers(identifier: &str) -> bool {
    let Some((scheme, rest)) = identifier.split_once("://") else { return false };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = host.to_ascii_lowercase();
    let port = host.strip_prefix("mcp.example");
    let port =
        port.and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_prefix(':') });
    let here = port.is_some_and(|port| port.is_empty() || port.parse() == Ok(443_u16));
    let leads = matches!(path.trim_end_matches('/'), "" | "/mcp");
    scheme.eq_ignore_ascii_case("https") && here && leads
}

/// Scheme and host, and the path.
fn split(url: &str) -> (&str, &str) {
    let behind = url.find("://").map_or(0, |at| at + 3);
    let end = url[behind..].find('/').map_or(url.len(), |at| behind + at);
    url.split_at(end)
}

/// Whether two texts are one URL, as far as the way to the service changes one: case of the scheme and the host, and the
/// slash of an empty path.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        let uri = url.parse::<Uri>().ok()?;
        let host = uri.host()?.to_ascii_lowercase();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Some((uri.scheme()?.clone(), host, uri.port_u16().unwrap_or(443), path.to_owned()))
    };
    plain(one).is_some() && plain(one) == plain(other)
}

/// Panics where a URL leads into somebody's own network, or can be listened to.
fn check_place(url: &str) {
    let uri: Uri = url.parse().expect("a URL");
    assert_eq!(uri.scheme_str(), Some("https"), "{url}");
    let host = uri.host().expect("a host").trim_matches(['[', ']']).to_ascii_lowercase();
    assert_ne!(host, "localhost");
    let own = match host.parse() {
        Err(_) => false,
        Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        Ok(IpAddr::V6(v6)) => {
            let v4 = v6.to_ipv4().is_some_and(|v4| v4.is_loopback() || v4.is_private());
            v4 || v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()
        }
    };
    assert!(!own, "{url}");
}

/// The page that a person was sent to, and the state that they bring back.
fn departure(uri: &str) -> Option<(&str, &str)> {
    let at = uri.find("response_type=code&client_id=")?;
    let state = uri[at..].split_once("&state=")?.1;
    Some((&uri[..at - 1], state.split('&').next()?))
}

/// A document that is right, or wrong in few places.
fn nearly(next: &mut impl FnMut() -> usize) -> (u16, String) {
    let mut pick = |from: &[&str]| from[next() % from.len()].to_owned();
    let servers = [pick(ISSUERS), pick(ISSUERS)];
    let mut document = json!({
        "resource": pick(RESOURCES),
        "authorization_servers": servers,
        "issuer": pick(ISSUERS),
        "token_endpoint": pick(ENDPOINTS),
        "authorization_endpoint": pick(ENDPOINTS),
        "registration_endpoint": pick(ENDPOINTS),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    });
    match next() % 16 {
        12 => document["authorization_response_iss_parameter_supported"] = json!(true),
        13 => document["token_endpoint"] = json!(7),
        14 => document["padding"] = json!("x".repeat(MOST)),
        15 => document["authorization_servers"] = json!("https://as.example"),
        _ => {}
    }
    let status = [200, 200, 200, 200, 200, 404, 500, 302][next() % 8];
    (status, document.to_string())
}

fn reply(status: u16, text: &str) -> Response<Whole> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Whole(Some(Bytes::copy_from_slice(text.as_bytes())))).expect("a response")
}

/// A body of one piece.
struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

const SERVER: &str = "https://mcp.example/mcp";
const WELL_KNOWN: &str = "https://mcp.example/.well-known/oauth-protected-resource";
const WELL_KNOWN_PATH: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
const REDIRECT: &str = "http://127.0.0.1:1/callback";
const RIGHT: &str = "&iss=https%3A%2F%2Fas.example";
/// The most bytes of a document here.
const MOST: usize = 1024;

/// Where the server says that its metadata is: nowhere, mostly.
const NAMED: &[Option<&str>] = &[
    None,
    None,
    Some("https://mcp.example/doc.json"),
    Some("https://elsewhere.example/doc.json"),
    Some("http://mcp.example/doc.json"),
    Some("https://10.0.0.1/doc.json"),
    Some("https://[::ffff:169.254.169.254]/doc.json"),
    Some("file:///etc/passwd"),
];

const ADDS: &[&str] =
    &["", RIGHT, "&iss=https%3A%2F%2Fas.example%2F", "&iss=https%3A%2F%2Fevil.example"];

const ISSUERS: &[&str] = &[
    "https://as.example",
    "https://as.example",
    "https://as.example",
    "https://as.example/",
    "https://AS.example",
    "https://as.example:443",
    "https://as.example/tenant",
    "https://evil.example",
    "http://as.example",
    "https://as.example?x",
    "https://as.example@evil.example",
    "https://127.0.0.1",
    "https://localhost",
    "",
    "\u{202e}elpmaxe.sa//:sptth\u{1b}[2J",
    "https://[::1]",
];

const RESOURCES: &[&str] = &[
    "https://mcp.example/mcp",
    "https://mcp.example/mcp",
    "https://mcp.example",
    "https://MCP.example:443/",
    "https://mcp.example/mcp/",
    "https://mcp.example/mc",
    "https://mcp.example/mcp/x",
    "https://evil.example/mcp",
    "http://mcp.example/mcp",
    "https://mcp.example/mcp#x",
    "https://mcp.example/mcp?x",
    "",
];

const ENDPOINTS: &[&str] = &[
    "https://as.example/e",
    "https://as.example/e?a=b",
    "https://elsewhere.example",
    "https://AS.example/e#f",
    "http://as.example/e",
    "https://192.168.0.1/e",
    "https://localhost/e",
    "https://u:p@as.example/e",
    "javascript://as.example/%0aalert(1)",
    "https://as.example/e e",
    "\u{1b}[2J",
    "",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn logged_in(documents: &[&str]) -> bool {
        let input = [&[0][..], documents.join("\0").as_bytes()].concat();
        let world = Arc::new(World::new(&input));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let told = runtime.expect("a runtime").block_on(log_in(&world));
        let let_in = told.is_none();
        world.judge(told);
        let_in
    }

    #[test]
    fn a_login_goes_by_documents_that_are_right_and_by_no_others() {
        let resource = r#"{"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"]}"#;
        let server = r#"{"issuer":"https://as.example","token_endpoint":"https://as.example/t","authorization_endpoint":"https://as.example/a","registration_endpoint":"https://as.example/r","code_challenge_methods_supported":["S256"]}"#;
        assert!(logged_in(&[resource, server]));
        assert!(logged_in(&["[]", resource, "7", server]));
        assert!(!logged_in(&[&resource.replace("/mcp\"", "/other\""), server]));
        assert!(!logged_in(&[
            resource,
            &server.replace("as.example\",\"token", "as.example/\",\"token")
        ]));
        assert!(!logged_in(&[
            resource,
            &server.replace("https://as.example/t", "http://as.example/t")
        ]));
    }
}
