//! Machines: assertions that are signed, grants that are changed for others, proofs.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde_json::{Value, json};
use snodo_testkit::{Loopback, Reply};

use super::world::{World, agreeing, form};
use crate::{
    Application, Enterprise, Error, ErrorKind, OAuth, Policy, Registration, Secret, SigningKey,
};

/// Made by `openssl genpkey`; they guard nothing but these tests.
pub(super) const P256: &str = include_str!("keys/p256.pem");
const ED25519_KEY: &str = include_str!("keys/ed25519.pem");
const RSA: &str = include_str!("keys/rsa.pem");
const RSA_PKCS1: &str = include_str!("keys/rsa-pkcs1.pem");
const P384: &str = include_str!("keys/p384.pem");

/// Checks a signature by the public key that goes with it, and gives header and claims.
fn verified(token: &str, public: &Value) -> (Value, Value) {
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("base64url");
    let member = |name: &str| decode(public[name].as_str().expect("a member"));
    let parts: Vec<_> = token.split('.').collect();
    let (content, signature) = (format!("{}.{}", parts[0], parts[1]), decode(parts[2]));
    let content = content.as_bytes();
    match public["kty"].as_str() {
        Some("EC") => {
            let point = [vec![4], member("x"), member("y")].concat();
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(content, &signature)
        }
        Some("OKP") => UnparsedPublicKey::new(&ED25519, member("x")).verify(content, &signature),
        _ => RsaPublicKeyComponents { n: member("n"), e: member("e") }.verify(
            &RSA_PKCS1_2048_8192_SHA256,
            content,
            &signature,
        ),
    }
    .expect("a good signature");
    let json = |text: &str| serde_json::from_slice(&decode(text)).expect("JSON");
    (json(parts[0]), json(parts[1]))
}

/// The public half, as a metadata document has it.
fn public(key: &SigningKey) -> Value {
    let application = Application::new("a").key(key.clone());
    let application = application.metadata_document("https://a.example/c.json").expect("a URL");
    let document = application.to_document([""; 0]).expect("a document");
    assert_eq!(document["token_endpoint_auth_method"], "private_key_jwt");
    document["jwks"]["keys"][0].clone()
}

fn machine(registration: Registration) -> OAuth {
    OAuth::client_credentials(registration).policy(Policy::new().allow_loopback()).build()
}

// AUTH-56, AUTH-160, AUTH-163, AUTH-164, AUTH-106, AUTH-158
#[tokio::test]
async fn a_machine_signs_for_its_token_by_each_kind_of_key() {
    for (pem, algorithm) in
        [(P256, "ES256"), (ED25519_KEY, "EdDSA"), (RSA, "RS256"), (RSA_PKCS1, "RS256")]
    {
        let world = World::new().await;
        world.state().metadata = json!({
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": [algorithm],
        });
        world.state().gives_refresh = false;
        let key = SigningKey::from_pem(pem).expect("a key").with_id("k1");
        assert_eq!(key.algorithm(), algorithm);
        let oauth = machine(Registration::new("c").key(key.clone()));
        world.call(&oauth).await.expect("an answer");
        let asked = world.last("/token");
        assert_eq!(
            asked["client_assertion_type"],
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        );
        assert_eq!(
            (&*asked["grant_type"], &asked["resource"]),
            ("client_credentials", &world.mcp.url())
        );
        assert!(!asked.contains_key("client_id") && !asked.contains_key("client_secret"));
        let (header, claims) = verified(&asked["client_assertion"], &public(&key));
        assert_eq!(header, json!({ "typ": "JWT", "alg": algorithm, "kid": "k1" }));
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!("c"), &json!("c")));
        assert_eq!(claims["aud"], world.server.origin());
        let (from, to) =
            (claims["iat"].as_u64().expect("a time"), claims["exp"].as_u64().expect("a time"));
        assert_eq!(to - from, 300);

        world.state().access.clear();
        world.call(&oauth).await.expect("another token");
        let (_, later) = verified(&world.last("/token")["client_assertion"], &public(&key));
        assert_ne!(later["jti"], claims["jti"]);
        assert_eq!(world.asked(), ["client_credentials", "client_credentials"]);
    }
}

// AUTH-161
#[tokio::test]
async fn a_key_or_a_way_that_the_server_does_not_take_is_not_tried() {
    let world = World::new().await;
    let key = || SigningKey::from_pem(P256).expect("a key");
    for metadata in [
        json!({ "token_endpoint_auth_methods_supported": ["client_secret_basic"] }),
        json!({
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": ["RS256"],
        }),
    ] {
        world.state().metadata = metadata;
        let error =
            world.call(&machine(Registration::new("c").key(key()))).await.expect_err("no way");
        assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Unsupported));
    }
    assert!(world.asked().is_empty());
    for pem in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", P384] {
        assert_eq!(SigningKey::from_pem(pem).expect_err("no key").kind(), ErrorKind::Usage);
    }
}

// AUTH-107, AUTH-159, AUTH-162, AUTH-165, AUTH-166
#[tokio::test]
async fn a_machine_shows_its_secret_registers_nowhere_and_asks_anew_when_its_token_is_over() {
    let world = World::new().await;
    world.state().metadata = json!({ "scopes_supported": ["offline_access"] });
    world.state().challenge = "scope=\"a\"".to_owned();
    let oauth = machine(Registration::new("c").secret("s"));
    world.call(&oauth).await.expect("an answer");
    world.state().access.clear();
    world.state().refresh.clear();
    world.state().gives_refresh = false;
    world.state().answers = vec![(400, r#"{"error":"invalid_grant"}"#.to_owned())];
    world.call(&oauth).await.expect("an answer");
    let asked = world.last("/token");
    assert_eq!((&*asked["grant_type"], &*asked["scope"]), ("client_credentials", "a"));
    let sent = world.server.requests().pop().expect("a request");
    assert_eq!(sent.header("authorization"), Some("Basic Yzpz"));
    assert!(!asked.contains_key("client_id") && !asked.contains_key("client_secret"));
    assert!(!world.asked().contains(&"register".to_owned()));
    let nobody = OAuth::enterprise(
        Enterprise::new("https://idp", "https://idp/t", Registration::new("i"), Secret::new("t")),
        Registration::new("c").issuer("https://elsewhere"),
    );
    let error = world.call(&nobody.policy(Policy::new().allow_loopback()).build()).await;
    let error = error.expect_err("a registration of another server");
    assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Identity));
}

// AUTH-129
#[tokio::test]
async fn a_machine_steps_up_without_anybody() {
    let world = World::new().await;
    world.state().challenge = "scope=\"a\"".to_owned();
    let oauth = machine(Registration::new("c").secret("s"));
    world.call(&oauth).await.expect("an answer");
    world.state().scope = Some("b".to_owned());
    world.call(&oauth).await.expect("an answer");
    assert_eq!(world.last("/token")["scope"], "a b");
}

// AUTH-183, AUTH-184
#[tokio::test]
async fn a_workload_shows_what_its_platform_gave_and_takes_a_no_for_an_answer() {
    let world = World::new().await;
    let assertion = || Secret::new("eyJ.platform.jwt");
    let policy = || Policy::new().allow_loopback();
    let oauth = OAuth::workload(assertion()).client_id("w").policy(policy()).build();
    world.call(&oauth).await.expect("an answer");
    let asked = world.last("/token");
    assert_eq!(asked["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!((&*asked["assertion"], &*asked["client_id"]), ("eyJ.platform.jwt", "w"));
    for code in ["invalid_grant", "invalid_scope", "unauthorized_client"] {
        let world = World::new().await;
        world.state().answers = vec![(400, json!({ "error": code }).to_string())];
        let oauth = OAuth::workload(assertion()).policy(policy()).build();
        let error = world.call(&oauth).await.expect_err("refused");
        let error = Error::within(&error).expect("one of ours");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Refused, Some(code)));
        assert_eq!(world.asked().len(), 1);
        assert!(!world.last("/token").contains_key("client_id"), "nobody said one");
    }
}

/// An identity provider that answers the same each time.
async fn provider(answer: Value) -> Loopback {
    let status = if answer["error"].is_null() { 200 } else { 400 };
    let serve = move |_| std::future::ready(Reply::new(status).json(answer.to_string()));
    Loopback::serve(serve).await.expect("a port")
}

fn enterprise(provider: &Loopback, client: Registration) -> OAuth {
    let token = Secret::new("the.id.token");
    let idp = Enterprise::new(
        "https://idp.example",
        format!("{}/token", provider.origin()),
        client,
        token,
    );
    let registration = Registration::new("c").secret("s");
    OAuth::enterprise(idp, registration).policy(Policy::new().allow_loopback()).build()
}

const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

// AUTH-167, AUTH-168, AUTH-169, AUTH-170, AUTH-171, AUTH-172, AUTH-173, AUTH-174, AUTH-175
#[tokio::test]
async fn a_sign_on_is_changed_for_a_grant_and_the_grant_for_a_token() {
    let world = World::new().await;
    world.state().challenge = "scope=\"a b\"".to_owned();
    let granted = json!({ "issued_token_type": ID_JAG, "access_token": "grant", "token_type": "N_A", "expires_in": 300 });
    let idp = provider(granted).await;
    let oauth = enterprise(&idp, Registration::new("at-idp"));
    world.call(&oauth).await.expect("an answer");
    let first = form(&idp.requests()[0].body);
    let expected = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", ID_JAG),
        ("audience", &world.server.origin()),
        ("resource", &world.mcp.url()),
        ("subject_token", "the.id.token"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("scope", "a b"),
        ("client_id", "at-idp"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(first.into_iter().collect::<Vec<_>>(), {
        let mut sorted = expected.to_vec();
        sorted.sort();
        sorted
    });
    let second = world.last("/token");
    assert_eq!(second["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!((&*second["assertion"], &second["resource"]), ("grant", &world.mcp.url()));
    assert_eq!(
        world.server.requests().pop().expect("asked").header("authorization"),
        Some("Basic Yzpz")
    );
    assert!(!world.asked().contains(&"authorize".to_owned()));
    let sent: Vec<_> = world
        .mcp
        .requests()
        .iter()
        .filter_map(|one| one.header("authorization").map(str::to_owned))
        .collect();
    assert!(sent.iter().all(|value| !value.contains("grant")), "{sent:?}");

    // The grant lives: only its second half is done again.
    world.state().access.clear();
    world.state().refresh.clear();
    world.state().answers = vec![(400, r#"{"error":"invalid_grant"}"#.to_owned())];
    world.call(&oauth).await.expect("an answer");
    assert_eq!(idp.requests().len(), 1);
}

// AUTH-169, AUTH-172, AUTH-174
#[tokio::test]
async fn a_provider_that_says_no_or_something_else_is_told() {
    let world = World::new().await;
    for (answer, kind) in [
        (json!({ "error": "invalid_grant" }), ErrorKind::Refused),
        (json!({ "access_token": "x", "token_type": "N_A" }), ErrorKind::Malformed),
        (json!({ "issued_token_type": ID_JAG, "token_type": "N_A" }), ErrorKind::Malformed),
    ] {
        let idp = provider(answer).await;
        let error = world.call(&enterprise(&idp, Registration::new("i").secret("p"))).await;
        let error = error.expect_err("no grant");
        assert_eq!(Error::within(&error).map(Error::kind), Some(kind));
        assert_eq!(idp.requests()[0].header("authorization"), Some("Basic aTpw"));
    }
    assert!(world.asked().is_empty());
    world.state().metadata = json!({ "grant_types_supported": ["authorization_code"] });
    let idp = provider(json!({})).await;
    let error = world.call(&enterprise(&idp, Registration::new("i"))).await.expect_err("no way");
    assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Unsupported));
    assert_eq!(idp.requests().len(), 0);
}

/// Two servers that want proofs, each with a nonce of its own.
struct Proving {
    mcp: Loopback,
    server: Loopback,
    proofs: Arc<Mutex<Vec<(Value, Value)>>>,
}

impl Proving {
    async fn new() -> Self {
        let proofs = Arc::<Mutex<Vec<(Value, Value)>>>::default();
        let origin = Arc::<Mutex<String>>::default();
        let read = |proofs: &Arc<Mutex<Vec<_>>>, request: &snodo_testkit::Request| {
            let count = request
                .headers
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case("dpop"))
                .count();
            assert!(count <= 1, "one proof");
            let proof = request.header("dpop")?;
            let header = URL_SAFE_NO_PAD.decode(proof.split('.').next()?).ok()?;
            let header: Value = serde_json::from_slice(&header).ok()?;
            let read = verified(proof, &header["jwk"]);
            proofs.lock().expect("not poisoned").push(read.clone());
            Some(read.1)
        };
        let (log, own) = (proofs.clone(), origin.clone());
        let server = Loopback::serve(move |request| {
            let origin = own.lock().expect("not poisoned").clone();
            let reply = match request.path.as_str() {
                "/token" => match read(&log, &request) {
                    Some(claims) if claims["nonce"] == "as-1" => Reply::new(200)
                        .json(json!({ "access_token": "bound", "token_type": "DPoP" }).to_string()),
                    _ => Reply::new(400)
                        .header("dpop-nonce", "as-1")
                        .json(r#"{"error":"use_dpop_nonce"}"#),
                },
                path if path.starts_with("/authorize") => {
                    let asked = form(path.split_once('?').expect("a query").1);
                    Reply::new(302)
                        .header("location", &format!("x?code=c&state={}", asked["state"]))
                }
                "/register" => Reply::new(201).json(r#"{"client_id":"c"}"#),
                _ => Reply::new(200).json(
                    json!({
                        "issuer": origin,
                        "authorization_endpoint": format!("{origin}/authorize"),
                        "token_endpoint": format!("{origin}/token"),
                        "registration_endpoint": format!("{origin}/register"),
                        "response_types_supported": ["code"],
                        "code_challenge_methods_supported": ["S256"],
                        "dpop_signing_alg_values_supported": ["RS256", "ES256"],
                    })
                    .to_string(),
                ),
            };
            std::future::ready(reply)
        })
        .await
        .expect("a port");
        *origin.lock().expect("not poisoned") = server.origin();
        let (log, issuer) = (proofs.clone(), server.origin());
        let mcp_origin = Arc::<Mutex<String>>::default();
        let own = mcp_origin.clone();
        let mcp = Loopback::serve(move |request| {
            let origin = own.lock().expect("not poisoned").clone();
            let refused = |challenge: &str| Reply::new(401).header("www-authenticate", challenge);
            let reply = if request.method == "GET" {
                Reply::new(200).json(
                    json!({ "resource": origin, "authorization_servers": [issuer] }).to_string(),
                )
            } else if request.header("authorization") != Some("DPoP bound") {
                refused("DPoP algs=\"ES256\"")
            } else {
                match read(&log, &request) {
                    Some(claims) if claims["nonce"] == "rs-1" => {
                        Reply::new(200).json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
                    }
                    _ => refused("DPoP error=\"use_dpop_nonce\"").header("dpop-nonce", "rs-1"),
                }
            };
            std::future::ready(reply)
        })
        .await
        .expect("a port");
        *mcp_origin.lock().expect("not poisoned") = mcp.origin();
        Self { mcp, server, proofs }
    }

    async fn call(&self, oauth: &OAuth) {
        let http = snodo_http::Http::new(self.mcp.url()).expect("a URL").credentials(oauth.clone());
        let transport = snodo_transport::Connect::connect(&http).await.expect("connected");
        let exchange = snodo_transport::Transport::exchange(&transport, super::world::request());
        super::world::told(exchange).await.expect("an answer");
    }
}

// AUTH-09, AUTH-178, AUTH-179, AUTH-180, AUTH-181, AUTH-182
#[tokio::test]
async fn every_request_with_a_bound_token_proves_it_anew_with_the_nonce_of_its_server() {
    let world = Proving::new().await;
    let oauth = agreeing().proof_of_possession().build();
    world.call(&oauth).await;
    world.call(&oauth).await;
    let proofs = world.proofs.lock().expect("not poisoned").clone();
    let shown: Vec<_> =
        proofs.iter().map(|(_, claims)| (claims["htu"].clone(), claims["nonce"].clone())).collect();
    let (token, mcp) = (json!(format!("{}/token", world.server.origin())), json!(world.mcp.url()));
    assert_eq!(
        shown,
        [
            (token.clone(), Value::Null),
            (token, json!("as-1")),
            (mcp.clone(), Value::Null),
            (mcp.clone(), json!("rs-1")),
            (mcp, json!("rs-1")),
        ]
    );
    let mut ids: Vec<_> = proofs.iter().map(|(_, claims)| claims["jti"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), proofs.len());
    assert!(proofs.iter().all(|(header, _)| header["jwk"] == proofs[0].0["jwk"]), "one key");
    let grants = world.server.requests().into_iter().filter(|one| one.path == "/token").count();
    assert_eq!(grants, 2, "a nonce is no new login");
}

// CACHE-08, CACHE-14
#[test]
fn another_token_is_another_caller_and_another_proof_is_not() {
    use http::{HeaderMap, HeaderValue};
    use snodo_http::Credentials as _;

    let oauth = OAuth::person(crate::LoopbackListener::new(crate::SystemBrowser));
    let oauth = oauth.application(Application::new("Agent")).build();
    let caller = |token: &'static str, proof: &'static str| {
        let mut sent = HeaderMap::new();
        sent.insert("authorization", HeaderValue::from_static(token));
        sent.insert("dpop", HeaderValue::from_static(proof));
        oauth.caller(&sent)
    };
    assert_eq!(caller("DPoP a", "1"), caller("DPoP a", "2"));
    assert_ne!(caller("DPoP a", "1"), caller("DPoP b", "1"));
    assert!(caller("DPoP a", "1").is_some());
}
