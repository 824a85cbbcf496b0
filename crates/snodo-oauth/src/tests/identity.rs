//! Who the client is: the order of the ways, and what belongs to which server.

use serde_json::json;

use super::world::{REDIRECT, World, agreeing};
use crate::{Application, Error, ErrorKind, MemoryStore, Registration, internal};

const DOCUMENT: &str = "https://agent.example.com:443/client.json";

fn documented() -> Application {
    Application::new("snodo").metadata_document(DOCUMENT).expect("a URL")
}

// AUTH-44, AUTH-45, AUTH-46, AUTH-47, AUTH-50, AUTH-57, AUTH-60, AUTH-61
#[tokio::test]
async fn a_client_id_is_had_in_the_order_of_the_specification() {
    let takes = json!({ "client_id_metadata_document_supported": true });
    for (metadata, configured, expected, registers) in [
        (takes.clone(), true, "configured", false),
        (takes, false, DOCUMENT, false),
        (json!({ "client_id_metadata_document_supported": "true" }), false, "client-1", true),
        (json!({}), true, "configured", false),
        (json!({ "registration_endpoint": null }), true, "configured", false),
    ] {
        let world = World::new().await;
        world.state().metadata = metadata;
        let mut builder = agreeing().application(documented());
        if configured {
            builder = builder.registration(Registration::new("configured"));
        }
        world.call(&builder.build()).await.expect("an answer");
        assert_eq!(world.last("/authorize")["client_id"], expected);
        assert_eq!(world.last("/token")["client_id"], expected);
        assert_eq!(world.asked().contains(&"register".to_owned()), registers);
    }
}

// AUTH-44, AUTH-66
#[tokio::test]
async fn where_no_way_leads_to_a_client_id_the_error_tells_them_all() {
    let world = World::new().await;
    world.state().metadata = json!({ "registration_endpoint": null });
    let error = world.call(&agreeing().application(documented()).build()).await.expect_err("no id");
    let error = Error::within(&error).expect("one of ours");
    assert_eq!(error.kind(), ErrorKind::Identity);
    for part in ["none is configured", "reads no metadata documents", "registers no clients"] {
        assert!(error.message().contains(part), "{error}");
    }
}

// AUTH-49, AUTH-70
#[tokio::test]
async fn a_registration_is_used_again_for_the_same_redirect_uri_alone() {
    let world = World::new().await;
    let store = MemoryStore::new();
    let login = |redirect: &'static str| {
        let person = crate::Unattended::new(redirect);
        let policy = crate::Policy::new().allow_loopback();
        let oauth = crate::OAuth::person(person).policy(policy).store(store.clone()).build();
        let world = &world;
        async move {
            let _ = oauth.sign_out(&world.mcp.url(), &snodo_http::Errands::new()).await;
            world.call(&oauth).await.expect("an answer");
            world.last("/authorize")["client_id"].clone()
        }
    };
    let first = login(REDIRECT).await;
    assert_eq!(login(REDIRECT).await, first);
    assert_ne!(login("http://127.0.0.1:2/callback").await, first);
}

// AUTH-49
#[tokio::test]
async fn a_client_that_its_server_forgot_registers_once_more_and_not_again() {
    for (refusals, logins) in [(1, 2), (2, 2)] {
        let world = World::new().await;
        let oauth = agreeing().build();
        world.state().answers = vec![(401, r#"{"error":"invalid_client"}"#.to_owned()); refusals];
        let called = world.call(&oauth).await;
        assert_eq!(called.is_ok(), refusals == 1, "{called:?}");
        let count = |what: &str| world.asked().iter().filter(|asked| *asked == what).count();
        assert_eq!((count("register"), count("authorize")), (logins, logins));
    }
}

// AUTH-71, AUTH-72, AUTH-75, AUTH-76
#[tokio::test]
async fn a_configured_client_stays_with_the_server_it_was_first_used_at() {
    let (world, other) = (World::new().await, World::new().await);
    let store = MemoryStore::new();
    let bound = || Registration::new("pre").issuer(world.server.origin());
    for registration in [Registration::new("pre"), bound()] {
        let oauth = || agreeing().registration(registration.clone()).store(store.clone()).build();
        world.state().resource = json!({});
        world.call(&oauth()).await.expect("an answer");
        world.state().resource = json!({ "authorization_servers": [other.server.origin()] });
        world.state().access.clear();
        let error = world.call(&oauth()).await.expect_err("it belongs elsewhere");
        let error = Error::within(&error).expect("one of ours");
        assert_eq!(error.kind(), ErrorKind::Identity);
        for issuer in [world.server.origin(), other.server.origin()] {
            assert!(error.message().contains(&issuer), "{error}");
        }
        assert!(other.asked().is_empty());
    }
}

// AUTH-58
#[tokio::test]
async fn a_metadata_document_is_the_client_id_at_every_server() {
    let (world, other) = (World::new().await, World::new().await);
    for world in [&world, &other] {
        world.state().metadata = json!({ "client_id_metadata_document_supported": true });
    }
    let oauth = agreeing().application(documented()).build();
    world.call(&oauth).await.expect("an answer");
    world.state().resource = json!({ "authorization_servers": [other.server.origin()] });
    let carried = world.state().access.keys().next().cloned().expect("a token");
    // The other server's first token has the same name as the first of this one.
    assert_eq!(carried, "access-2");
    world.state().access.clear();
    other.state().grant("");
    world.state().access.insert("access-3".to_owned(), String::new());
    world.call(&oauth).await.expect("an answer");
    assert_eq!(other.last("/authorize")["client_id"], DOCUMENT);
    assert_eq!(other.asked(), ["authorize", "authorization_code"]);
}

// AUTH-26
#[tokio::test]
async fn of_several_servers_one_that_is_known_is_used_else_the_first_or_the_caller_s() {
    let (world, other) = (World::new().await, World::new().await);
    let both = json!({ "authorization_servers": [world.server.origin(), other.server.origin()] });
    world.state().resource = both;
    world.state().access.insert("access-2".to_owned(), String::new());
    let issuer = other.server.origin();
    let known = agreeing().registration(Registration::new("c").issuer(&issuer)).build();
    world.call(&known).await.expect("an answer");
    assert_eq!((world.asked().len(), other.asked().len()), (0, 2));
    let chosen = agreeing()
        .choose_server(move |servers| servers.iter().position(|server| *server == issuer))
        .build();
    world.state().access.insert("access-5".to_owned(), String::new());
    let _ = world.call(&chosen).await;
    assert_eq!((world.asked().len(), other.asked().len()), (0, 5));
    let first = agreeing().build();
    world.call(&first).await.expect("an answer");
    assert_eq!(world.asked().len(), 3);
}

// AUTH-72, AUTH-77
#[tokio::test]
async fn tokens_of_one_server_are_not_sent_to_another() {
    let (world, other) = (World::new().await, World::new().await);
    let oauth = agreeing().build();
    world.call(&oauth).await.expect("an answer");
    other.call(&oauth).await.expect("an answer");
    let token = world.state().access.keys().next().cloned().expect("a token");
    let first = &other.mcp.requests()[0];
    assert_eq!(first.header("authorization"), None);
    // Both name their tokens alike; the clients do not share them.
    assert_eq!(world.asked(), other.asked());
    assert!(world.state().access.contains_key(&token));
}

#[tokio::test]
async fn tokens_of_another_client_than_the_configured_one_are_not_used() {
    let world = World::new().await;
    let store = MemoryStore::new();
    world.call(&agreeing().store(store.clone()).build()).await.expect("an answer");
    let configured = agreeing().store(store.clone()).registration(Registration::new("pre")).build();
    world.call(&configured).await.expect("an answer");
    assert_eq!(world.last("/authorize")["client_id"], "pre");
    let kept = internal::kept(store, "snodo", &world.mcp.url()).await.expect("read").expect("kept");
    assert_eq!(kept.client, "pre");
}
