//! What is shown: each flow from a server that knows nobody.

use std::future::Future;
use std::pin::Pin;
use std::slice::from_ref;
use std::time::{Duration, Instant};

use serde_json::json;
use snodo::{Client, ProtocolVersion};
use snodo_oauth::{Application, Error, ErrorKind, LoopbackListener};

use crate::machines;
use crate::world::{World, call, call_at_once, expect};

type Done = Result<(), String>;

type Flow = fn(World) -> Pin<Box<dyn Future<Output = Done>>>;

pub(crate) const FLOWS: &[(&str, Flow)] = &[
    ("login", |world| Box::pin(login(world))),
    ("session", |world| Box::pin(session(world))),
    ("refused", |world| Box::pin(refused(world))),
    ("private-authority", |world| Box::pin(private_authority(world))),
    ("rotation", |world| Box::pin(rotation(world))),
    ("before-end", |world| Box::pin(before_end(world))),
    ("withdrawn", |world| Box::pin(withdrawn(world))),
    ("step-up", |world| Box::pin(step_up(world))),
    ("sign-out", |world| Box::pin(sign_out(world))),
    ("document", |world| Box::pin(document(world))),
    ("possession", |world| Box::pin(possession(world))),
    ("machine-keys", |world| Box::pin(machines::keys(world))),
    ("machine-secret", |world| Box::pin(machines::secret(world))),
];

/// Many first calls at once, one login.
async fn login(mut world: World) -> Done {
    let client = world.client(world.person().build()).await?;
    call_at_once(from_ref(&client), 8).await?;
    world.expect(&["registered", LOGIN, CODE]).await?;
    expect("pages that were opened", world.browser.opened(), 1)
}

/// The same where a session is opened first.
async fn session(mut world: World) -> Done {
    let client = world.client_at(world.person().build(), ProtocolVersion::V2025_11_25).await?;
    call(&client, "read").await?;
    client.close().await;
    world.expect(&["registered", LOGIN, CODE]).await
}

/// A person who says no is not asked again by the next call.
async fn refused(mut world: World) -> Done {
    world.browser.refuse();
    let client = world.client(world.person().build()).await?;
    for _ in 0..2 {
        let error = client.call_tool("read", json!({})).await.err().ok_or("it was let in")?;
        let kind = Error::within(&error).map(|error| error.kind());
        expect("the kind of error", kind, Some(ErrorKind::Declined))?;
    }
    world.expect(&["registered"]).await?;
    expect("pages that were opened", world.browser.opened(), 1)
}

/// Who does not know the private authority sends nobody anything.
async fn private_authority(mut world: World) -> Done {
    let http = snodo::http::Http::new(&world.servers.mcp).map_err(|error| error.to_string())?;
    let http = http.credentials(world.person().build());
    let client = Client::builder().protocol([ProtocolVersion::V2026_07_28]).connect(http).await;
    let client = client.map_err(|error| error.to_string())?;
    let error = client.list_tools().await.err().ok_or("it was let in")?;
    let cause = format!("{:?}", error.cause());
    expect("a fault of TLS in the cause", cause.contains("Tls"), true)?;
    world.expect(&[]).await
}

/// Two processes share a file; a token that ended is refreshed once, and its refresh token is spent.
async fn rotation(mut world: World) -> Done {
    let clients =
        [world.client(world.person().build()).await?, world.client(world.person().build()).await?];
    for client in &clients {
        call(client, "read").await?;
    }
    world.expect(&["registered", LOGIN, CODE]).await?;
    for _ in 0..3 {
        let before = world.end_token().await?;
        call_at_once(&clients, 8).await?;
        world.expect(&[REFRESH]).await?;
        let after = world.kept().await?;
        expect("the same refresh token", after.refresh == before.refresh, false)?;
        expect("the spent token is good", world.is_refreshable(&before).await?, false)?;
        expect("the new token is good", world.is_refreshable(&after).await?, true)?;
    }
    expect("pages that were opened", world.browser.opened(), 1)
}

/// A token that lives for four seconds is renewed after two, and no call is refused for it.
async fn before_end(mut world: World) -> Done {
    world.servers.wish(json!({ "wish": "lifetime", "seconds": 4 })).await?;
    let client = world.client(world.person().build()).await?;
    call(&client, "read").await?;
    world.expect(&["registered", LOGIN, CODE]).await?;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(4) {
        call(&client, "read").await?;
        let log = world.servers.log().await?;
        if !log.is_empty() {
            return expect("what happened", log, [REFRESH]);
        }
        // The servers' clock is the system's.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the token was not renewed before its end".to_owned())
}

/// A person took back what they agreed to: they are asked again, by the client id that is there.
async fn withdrawn(mut world: World) -> Done {
    let client = world.client(world.person().build()).await?;
    call(&client, "read").await?;
    world.expect(&["registered", LOGIN, CODE]).await?;
    let kept = world.end_token().await?;
    world.servers.wish(json!({ "wish": "withdraw", "token": kept.refresh })).await?;
    call(&client, "read").await?;
    world.expect(&["refused refresh_token: invalid_grant", LOGIN, CODE]).await
}

/// More scope is asked for with what was asked for before.
async fn step_up(mut world: World) -> Done {
    let client = world.client(world.person().build()).await?;
    call(&client, "read").await?;
    world.expect(&["registered", LOGIN, CODE]).await?;
    call(&client, "write").await?;
    call(&client, "read").await?;
    world.expect(&["authorized mcp:read offline_access mcp:write", CODE]).await?;
    world.end_token().await?;
    call(&client, "write").await?;
    world.expect(&[REFRESH]).await
}

/// The server is told that nobody uses the tokens any more; the next call logs in.
async fn sign_out(mut world: World) -> Done {
    let oauth = world.person().build();
    let client = world.client(oauth.clone()).await?;
    call(&client, "read").await?;
    world.expect(&["registered", LOGIN, CODE]).await?;
    let before = world.kept().await?;
    let done = oauth.sign_out(&world.servers.mcp, &world.errands()?).await;
    done.map_err(|error| error.to_string())?;
    world.expect(&["revoked"]).await?;
    expect("the revoked token is good", world.is_refreshable(&before).await?, false)?;
    expect("something is kept", world.kept().await.is_ok(), false)?;
    call(&client, "read").await?;
    // The registration is used again.
    world.expect(&[LOGIN, CODE]).await
}

/// The client id is the URL of a document, which the server fetches; the client signs by its key.
async fn document(mut world: World) -> Done {
    let url = world.servers.mcp.replace("/mcp", "/client.json");
    let key = world.servers.key("ES256").map_err(|error| error.to_string())?;
    let application = Application::new("Agent").metadata_document(&url);
    let application = application.map_err(|error| error.to_string())?.key(key);
    let redirect = LoopbackListener::new(world.browser.clone()).redirect_uri(None);
    let document = application.to_document([redirect]);
    world.servers.wish(json!({ "wish": "document", "document": document })).await?;
    let client = world.client(world.person().application(application).build()).await?;
    call(&client, "read").await?;
    world.expect(&[LOGIN, CODE]).await
}

/// The token is bound to a key, and both servers want nonces.
async fn possession(mut world: World) -> Done {
    world.servers.wish(json!({ "wish": "nonce", "nonce": "first" })).await?;
    let client = world.client(world.person().proof_of_possession().build()).await?;
    call(&client, "read").await?;
    let wants = "refused authorization_code: use_dpop_nonce";
    world.expect(&["registered", LOGIN, wants, CODE]).await?;
    world.servers.wish(json!({ "wish": "nonce", "nonce": "second" })).await?;
    call_at_once(from_ref(&client), 4).await?;
    world.end_token().await?;
    call(&client, "read").await?;
    world.expect(&[REFRESH]).await
}

const LOGIN: &str = "authorized mcp:read offline_access";
const CODE: &str = "gave authorization_code";
const REFRESH: &str = "gave refresh_token";
