//! Programs that are let in for themselves.

use snodo_oauth::{OAuth, Registration};

use crate::world::{World, call};

/// By a key, with each algorithm; more scope is asked for where it is wanted.
pub(crate) async fn keys(mut world: World) -> Result<(), String> {
    for algorithm in ["ES256", "EdDSA", "RS256"] {
        let key = world.servers.key(algorithm).map_err(|error| error.to_string())?;
        let registration = Registration::new("machine").key(key);
        let policy = snodo_oauth::Policy::new().allow_loopback();
        // Without the file: each begins with nothing.
        let oauth = OAuth::client_credentials(registration).policy(policy).build();
        let client = world.client(oauth).await?;
        call(&client, "read").await?;
        world.expect(&[GAVE]).await.map_err(|why| format!("{algorithm}: {why}"))?;
        call(&client, "write").await?;
        call(&client, "read").await?;
        world.expect(&[GAVE]).await?;
    }
    Ok(())
}

/// By a secret that the encoding of forms changes in every sign.
pub(crate) async fn secret(mut world: World) -> Result<(), String> {
    let registration = Registration::new("machine:secret").secret("a:b+c/d%e&f=g");
    let oauth = world.settled(OAuth::client_credentials(registration)).build();
    let client = world.client(oauth).await?;
    call(&client, "read").await?;
    world.expect(&[GAVE]).await
}

const GAVE: &str = "gave client_credentials";
