//! What is not believed, and where nobody is sent.

use serde_json::{Value, json};

use super::world::{World, agreeing};
use crate::{Builder, Error, ErrorKind, OAuth, Policy, Unattended};

async fn refused(world: &World, builder: Builder) -> ErrorKind {
    let error = world.call(&builder.build()).await.expect_err("refused");
    Error::within(&error).expect("one of ours").kind()
}

// AUTH-23, AUTH-24
#[tokio::test]
async fn metadata_about_another_resource_starts_no_flow() {
    let world = World::new().await;
    world.state().resource = json!({ "resource": "https://evil.example.com/mcp" });
    assert_eq!(refused(&world, agreeing()).await, ErrorKind::Mismatch);
    assert_eq!(world.server.requests().len(), 0);

    world.state().resource = json!({ "resource": world.mcp.origin() });
    assert_eq!(refused(&world, agreeing().require_exact_resource()).await, ErrorKind::Mismatch);
    assert_eq!(world.server.requests().len(), 0);
    world.call(&agreeing().build()).await.expect("an origin covers its paths");
    assert_eq!(world.last("/token")["resource"], world.mcp.origin());
}

// AUTH-20, AUTH-22
#[tokio::test]
async fn a_server_that_names_no_protector_is_not_guessed_at_but_by_a_switch() {
    let world = World::new().await;
    world.state().resource = json!({ "authorization_servers": null });
    assert_eq!(refused(&world, agreeing()).await, ErrorKind::Malformed);
    world.state().resource = json!({ "authorization_servers": [] });
    assert_eq!(
        refused(&world, agreeing().allow_undocumented_servers()).await,
        ErrorKind::Malformed
    );
    assert_eq!(world.server.requests().len(), 0);
}

// AUTH-35, AUTH-38
#[tokio::test]
async fn metadata_of_another_issuer_is_used_for_nothing_and_ends_the_search() {
    let world = World::new().await;
    for issuer in [format!("{}/", world.server.origin()), "https://attacker.example.com".to_owned()]
    {
        world.state().metadata = json!({ "issuer": issuer });
        assert_eq!(refused(&world, agreeing()).await, ErrorKind::Mismatch);
    }
    assert!(world.asked().is_empty());
    let read = world.server.requests();
    assert!(read.iter().all(|one| one.path == "/.well-known/oauth-authorization-server"));

    world.state().metadata = json!({ "issuer": format!("{}/", world.server.origin()) });
    world.call(&agreeing().allow_issuer_slash().build()).await.expect("by the switch");
}

// AUTH-83, AUTH-84
#[tokio::test]
async fn a_server_without_pkce_is_refused_before_anybody_is_sent_there() {
    let world = World::new().await;
    for methods in [Value::Null, json!([]), json!(["plain"])] {
        world.state().metadata = json!({ "code_challenge_methods_supported": methods });
        assert_eq!(refused(&world, agreeing()).await, ErrorKind::Unsupported);
    }
    assert!(!world.asked().contains(&"authorize".to_owned()));
    world.state().metadata = json!({ "code_challenge_methods_supported": null });
    world.call(&agreeing().allow_unadvertised_pkce().build()).await.expect("by the switch");
}

// AUTH-41, AUTH-94, AUTH-96, AUTH-149, AUTH-150
#[tokio::test]
async fn urls_that_a_server_names_are_looked_at_before_they_are_used() {
    for (name, url) in [
        ("token_endpoint", "http://as.example.com/token"),
        ("token_endpoint", "https://169.254.169.254/token"),
        ("registration_endpoint", "file:///etc/passwd"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "http://as.example.com/authorize"),
    ] {
        let world = World::new().await;
        world.state().metadata = json!({ name: url });
        let kind = refused(&world, agreeing()).await;
        let fits = matches!(kind, ErrorKind::Policy)
            || (name.starts_with("reg") && kind == ErrorKind::Identity);
        assert!(fits, "{name} {url}: {kind:?}");
    }
    let world = World::new().await;
    for issuer in ["http://as.example.com", "https://10.0.0.1", "https://as.example.com?x", "as"] {
        world.state().resource = json!({ "authorization_servers": [issuer] });
        let kind = refused(&world, agreeing()).await;
        assert!(matches!(kind, ErrorKind::Policy | ErrorKind::Malformed), "{issuer}: {kind:?}");
    }
    world.state().challenge = "resource_metadata=\"http://169.254.169.254/latest\"".to_owned();
    assert_eq!(refused(&world, agreeing()).await, ErrorKind::Policy);
}

// AUTH-149, AUTH-151
#[tokio::test]
async fn this_machine_is_used_only_where_a_caller_says_so() {
    let world = World::new().await;
    let strict = || OAuth::person(Unattended::new(super::world::REDIRECT));
    assert_eq!(refused(&world, strict()).await, ErrorKind::Policy);
    assert_eq!(
        refused(&world, strict().policy(Policy::new().allow_private_addresses())).await,
        ErrorKind::Policy
    );
    assert_eq!(world.mcp.requests().len(), 2, "nothing but the calls themselves");
}

// AUTH-152
#[tokio::test]
async fn a_redirect_leads_nowhere() {
    use snodo_testkit::{Loopback, Reply};
    let trap = Loopback::serve(|_| async { Reply::new(200).json("{}") }).await.expect("a port");
    let to = trap.url();
    let mcp = Loopback::serve(move |request| {
        let to = to.clone();
        async move {
            match request.method.as_str() {
                "GET" => Reply::new(302).header("location", &to),
                _ => Reply::new(401),
            }
        }
    })
    .await
    .expect("a port");
    let http = snodo_http::Http::new(mcp.url()).expect("a URL").credentials(agreeing().build());
    let transport = snodo_transport::Connect::connect(&http).await.expect("connected");
    let call = snodo_transport::Transport::exchange(&transport, super::world::request());
    let error = super::world::told(call).await.expect_err("no metadata");
    assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Discovery));
    assert_eq!((trap.requests().len(), mcp.requests().len()), (0, 3));
}

// AUTH-16, AUTH-19
#[tokio::test]
async fn a_place_that_has_nothing_leads_to_the_next_and_the_last_failure_is_told() {
    use snodo_testkit::{Loopback, Reply};
    for (first, second, kind) in [
        (404, 404, ErrorKind::Discovery),
        (200, 401, ErrorKind::Discovery),
        (404, 503, ErrorKind::Unreachable),
        (500, 404, ErrorKind::Discovery),
    ] {
        let mcp = Loopback::serve(move |request| async move {
            match request.path.as_str() {
                "/.well-known/oauth-protected-resource/mcp" => Reply::new(first).text("<html>"),
                "/.well-known/oauth-protected-resource" => Reply::new(second),
                _ => Reply::new(401).header("www-authenticate", "Bearer realm=\"never ends"),
            }
        })
        .await
        .expect("a port");
        let http = snodo_http::Http::new(mcp.url()).expect("a URL").credentials(agreeing().build());
        let transport = snodo_transport::Connect::connect(&http).await.expect("connected");
        let call = snodo_transport::Transport::exchange(&transport, super::world::request());
        let error = super::world::told(call).await.expect_err("no metadata");
        assert_eq!(Error::within(&error).map(Error::kind), Some(kind), "{first} {second}");
        assert_eq!(mcp.requests().len(), 3);
    }
}
