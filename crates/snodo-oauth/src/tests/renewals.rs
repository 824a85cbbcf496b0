//! Renewals: before the end of a token, after a refusal, for more scope.

use serde_json::json;
use snodo_http::Errands;
use snodo_transport::Transport;
use snodo_types::Routing;

use super::world::{World, agreeing, request, told};
use crate::{Error, ErrorKind, MemoryStore, internal};

// AUTH-137, AUTH-146, AUTH-147
#[tokio::test]
async fn a_refused_token_is_refreshed_and_the_refresh_token_rotates() {
    let world = World::new().await;
    let oauth = agreeing().also_scopes("a").build();
    for _ in 0..4 {
        world.call(&oauth).await.expect("an answer");
        world.state().access.clear();
    }
    let first = ["register", "authorize", "authorization_code"];
    assert_eq!(world.asked()[..3], first);
    assert_eq!(world.asked()[3..], ["refresh_token", "refresh_token", "refresh_token"]);
    let form = world.last("/token");
    assert_eq!(form["resource"], world.mcp.url());
    assert!(!form.contains_key("scope") && form["client_id"].starts_with("client-"), "{form:?}");
    assert_eq!(world.state().refresh.len(), 1, "each was spent once");
}

// AUTH-143
#[tokio::test]
async fn a_token_that_ends_soon_is_refreshed_before_it_is_refused() {
    let world = World::new().await;
    world.state().expires_in = Some(3600);
    let store = MemoryStore::new();
    let oauth = agreeing().store(store.clone()).build();
    world.call(&oauth).await.expect("an answer");
    let url = world.mcp.url();
    let mut kept = internal::kept(store.clone(), "snodo", &url).await.expect("read").expect("kept");
    assert!(kept.ends.is_some());

    kept.ends = Some(1);
    internal::keep(store.clone(), "snodo", &url, kept).await.expect("kept");
    let later = agreeing().store(store).build();
    let calls: Vec<_> = {
        let transport = world.http(&later).await;
        (0..8).map(|_| tokio::spawn(told(transport.exchange(request())))).collect()
    };
    for call in calls {
        call.await.expect("no panic").expect("an answer");
    }
    assert_eq!(world.asked()[3..], ["refresh_token"]);
    let refused =
        world.mcp.requests().into_iter().filter(|one| one.header("authorization").is_none());
    let refused = refused.filter(|one| one.method == "POST").count();
    assert_eq!(refused, 1, "nothing but the very first call went without a token");
}

// AUTH-145
#[tokio::test]
async fn without_a_refresh_token_the_end_leads_to_a_login() {
    let world = World::new().await;
    world.state().gives_refresh = false;
    let oauth = agreeing().build();
    world.call(&oauth).await.expect("an answer");
    world.state().access.clear();
    world.call(&oauth).await.expect("an answer");
    assert_eq!(world.asked()[3..], ["authorize", "authorization_code"]);
}

// AUTH-147
#[tokio::test]
async fn a_refresh_token_that_is_over_is_forgotten_and_a_person_asked() {
    let world = World::new().await;
    let store = MemoryStore::new();
    let oauth = agreeing().store(store.clone()).build();
    world.call(&oauth).await.expect("an answer");
    world.state().access.clear();
    world.state().refresh.clear();
    world.state().answers = vec![(400, json!({ "error": "invalid_grant" }).to_string())];
    world.call(&oauth).await.expect("an answer");
    assert_eq!(world.asked()[3..], ["refresh_token", "authorize", "authorization_code"]);
    let kept = internal::kept(store, "snodo", &world.mcp.url()).await.expect("read").expect("kept");
    assert!(world.state().refresh.contains_key(&kept.refresh.expect("a new one")));
}

#[tokio::test]
async fn a_server_that_is_down_sends_nobody_to_a_login() {
    let world = World::new().await;
    let oauth = agreeing().build();
    world.call(&oauth).await.expect("an answer");
    world.state().access.clear();
    world.state().answers = vec![(503, String::new())];
    let error = world.call(&oauth).await.expect_err("down");
    assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Unreachable));
    world.call(&oauth).await.expect("up again: the refresh token was not spent");
    assert_eq!(world.asked()[3..], ["refresh_token", "refresh_token"]);
}

// AUTH-143, AUTH-148
#[tokio::test]
async fn a_new_token_that_is_refused_ends_as_an_error_that_names_its_resource() {
    let world = World::new().await;
    let granted = json!({ "access_token": "foreign", "token_type": "Bearer" }).to_string();
    world.state().answers = vec![(200, granted.clone()), (200, granted)];
    let oauth = agreeing().build();
    for _ in 0..3 {
        let error = world.call(&oauth).await.expect_err("refused");
        assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Rejected));
        assert_eq!((error.status(), error.credential_sent()), (Some(401), true));
        assert!(error.message().contains(&world.mcp.url()), "{error}");
    }
    assert_eq!(world.asked(), ["register", "authorize", "authorization_code"]);
}

// AUTH-128, AUTH-130, AUTH-131, AUTH-133
#[tokio::test]
async fn a_lack_of_scope_leads_to_a_login_for_all_that_was_asked_for_and_more() {
    let world = World::new().await;
    world.state().challenge = "scope=\"read\"".to_owned();
    let oauth = agreeing().build();
    world.call(&oauth).await.expect("an answer");
    world.state().scope = Some("write".to_owned());
    world.call(&oauth).await.expect("an answer");
    assert_eq!(world.last("/authorize")["scope"], "read write");
    assert_eq!(world.asked()[3..], ["authorize", "authorization_code"]);
}

// AUTH-134, AUTH-135, AUTH-136
#[tokio::test]
async fn scope_that_was_granted_and_does_not_help_is_not_asked_for_again() {
    let world = World::new().await;
    world.state().scope = Some("never".to_owned());
    let granted = |n: usize, scope: &str| {
        (
            200,
            json!({ "access_token": format!("t{n}"), "token_type": "Bearer", "scope": scope })
                .to_string(),
        )
    };
    for n in 0..9 {
        world.state().access.insert(format!("t{n}"), "a".to_owned());
    }
    // What the server says that it grants.
    world.state().answers = vec![granted(0, "a"), granted(1, "a never")];
    let oauth = agreeing().build();
    let error = world.call(&oauth).await.expect_err("no use");
    assert_eq!(Error::within(&error).map(Error::kind), Some(ErrorKind::Rejected), "{error}");
    let logins = |world: &World| world.asked().iter().filter(|asked| *asked == "authorize").count();
    assert_eq!(logins(&world), 2);

    // One that grants less each time is asked three times in all for each request.
    world.state().answers = (2..9).map(|n| granted(n, "a")).collect();
    let oauth = agreeing().build();
    for (call, expected) in [(0, 3), (1, 4), (2, 4)] {
        let before = logins(&world);
        world.call(&oauth).await.expect_err("no use");
        assert!(logins(&world) - before <= expected, "{call}");
    }
    assert!(logins(&world) <= 2 + 4, "{:?}", world.asked());
}

// AUTH-27, AUTH-42, AUTH-73, AUTH-74, AUTH-78
#[tokio::test]
async fn a_server_that_moved_is_followed_and_nothing_of_the_old_one_goes_to_the_new() {
    let (world, other) = (World::new().await, World::new().await);
    let oauth = agreeing().build();
    world.call(&oauth).await.expect("an answer");
    let old_client = world.last("/authorize")["client_id"].clone();
    world.state().resource = json!({ "authorization_servers": [other.server.origin()] });
    world.state().access.clear();
    // The new one registers under other names.
    other.state().grant("");
    let new_token = format!("access-{}", 4);
    world.state().access.insert(new_token, String::new());
    world.call(&oauth).await.expect("an answer");
    assert_eq!(world.asked(), ["register", "authorize", "authorization_code"]);
    assert_eq!(other.asked(), ["register", "authorize", "authorization_code"]);
    for request in other.server.requests() {
        let text = format!("{} {}", request.path, request.body);
        assert!(!text.contains(&old_client) && !text.contains("refresh-"), "{text}");
    }
}

// AUTH-13
#[tokio::test]
async fn the_end_of_a_session_asks_nobody() {
    let world = World::new().await;
    let oauth = agreeing().build();
    let routing = || Routing::new().with("Mcp-Session-Id", "s");
    let transport = world.http(&oauth).await;
    transport.close(routing(), std::time::Duration::from_secs(5)).await;
    assert!(world.asked().is_empty());

    world.call(&oauth).await.expect("an answer");
    world.state().access.clear();
    world.http(&oauth).await.close(routing(), std::time::Duration::from_secs(5)).await;
    assert_eq!(world.asked()[3..], ["refresh_token"]);
}

#[tokio::test]
async fn signing_out_revokes_and_forgets() {
    let world = World::new().await;
    let store = MemoryStore::new();
    let oauth = agreeing().store(store.clone()).build();
    world.call(&oauth).await.expect("an answer");
    let refresh = world.state().refresh.keys().next().cloned().expect("a refresh token");
    oauth.sign_out(&world.mcp.url(), &Errands::new()).await.expect("revoked");
    let form = world.last("/revoke");
    assert_eq!((&form["token"], &*form["token_type_hint"]), (&refresh, "refresh_token"));
    assert!(world.state().refresh.is_empty());
    let kept = internal::kept(store, "snodo", &world.mcp.url()).await.expect("read");
    assert!(kept.is_none());
    world.call(&oauth).await.expect("an answer");
    assert_eq!(world.asked()[4..], ["authorize", "authorization_code"]);
}
