//! Nothing that is shown holds a secret.

use serde_json::json;

use super::world::{World, agreeing};
use crate::{
    Application, Enterprise, Error, MemoryStore, OAuth, Registration, Secret, SigningKey, Visit,
};

// AUTH-79, AUTH-144
#[tokio::test]
async fn what_is_shown_holds_no_secret() {
    let world = World::new().await;
    let store = MemoryStore::new();
    let registration = Registration::new("c").secret("s3cret");
    let provider = Enterprise::new(
        "https://idp",
        "https://idp/token",
        registration.clone(),
        Secret::new("s3cret"),
    );
    let builder = agreeing().registration(registration.clone()).store(store.clone());
    let mut shown = format!("{builder:?} {registration:?} {provider:?} {store:?}");
    let oauth = builder.build();
    world.call(&oauth).await.expect("an answer");
    shown.push_str(&format!(
        "{oauth:?} {:?}",
        Visit::new("x", |_| async { Err(Error::person("s")) })
    ));
    for secret in ["s3cret", "access-", "refresh-"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

// AUTH-79, AUTH-100, AUTH-154
#[tokio::test]
async fn an_error_holds_nothing_of_an_answer_but_what_is_for_people() {
    let answers = [
        (200, json!({ "access_token": "s3cret" })),
        (200, json!({ "access_token": "s3cret", "token_type": "s3cret" })),
        (400, json!({ "error": "invalid_grant", "hint": "s3cret" })),
        (500, json!({ "token": "s3cret" })),
    ];
    for (status, body) in answers {
        let world = World::new().await;
        world.state().answers = vec![(status, body.to_string())];
        let error = world.call(&agreeing().build()).await.expect_err("refused");
        assert!(!format!("{error:?} {error}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn a_key_shows_its_kind_alone() {
    let key = SigningKey::from_pem(super::machines::P256).expect("a key").with_id("k1");
    let shown = format!("{key:?}");
    assert!(shown.contains("ES256") && shown.contains("k1") && shown.len() < 100, "{shown}");
    let application = Application::new("a").key(key);
    let oauth = OAuth::client_credentials(Registration::new("c")).application(application);
    assert!(!format!("{oauth:?}").contains("PRIVATE"));
}
