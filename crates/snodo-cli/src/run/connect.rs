//! Reaching a server.

use std::time::Duration;

use snodo::http::Http;
use snodo::stdio::{Environment, Stdio};
use snodo::{Client, Error};

use crate::demo;
use crate::settings::Settings;
use crate::target::Target;

/// Connects as the settings say.
///
/// # Errors
///
/// See [`Builder::connect`](snodo::Builder::connect); an option that does not go with the target
/// is refused (usage).
pub(crate) async fn connect(target: &Target, settings: &Settings) -> Result<Client, Error> {
    let mut builder = Client::builder()
        .timeout(settings.timeout)
        .probe_timeout(settings.timeout.min(LONGEST_PROBE));
    if let Some(versions) = &settings.versions {
        builder = builder.protocol(versions.iter().copied());
    }
    match target {
        Target::Command(program, args) => {
            let mut server = Stdio::new(program).args(args);
            if settings.inherit_environment {
                server = server.environment(Environment::Inherit);
            }
            for (name, value) in &settings.variables {
                server = server.env(name, value);
            }
            builder.connect(server).await
        }
        Target::Demo => builder.direct(demo::server()).await,
        Target::Url(url) => {
            let mut server = Http::new(url)?;
            for (name, value) in &settings.headers {
                server = server.header(name, value)?;
            }
            builder.connect(server).await
        }
    }
}

/// Refuses options that mean nothing for the target, since they were meant.
///
/// # Errors
///
/// There is such an option (usage).
pub(crate) fn check(target: &Target, settings: &Settings) -> Result<(), Error> {
    let process = settings.inherit_environment || !settings.variables.is_empty();
    match target {
        Target::Command(..) if !settings.headers.is_empty() => {
            Err(Error::usage("--header goes with a server that is reached by a URL"))
        }
        Target::Url(_) if process => {
            Err(Error::usage("--env and --inherit-env go with a server that is started"))
        }
        Target::Demo if process || !settings.headers.is_empty() => {
            Err(Error::usage("--env, --inherit-env and --header mean nothing to the demo"))
        }
        _ => Ok(()),
    }
}

/// The library's own patience with a server that may be an old one.
const LONGEST_PROBE: Duration = Duration::from_secs(10);
