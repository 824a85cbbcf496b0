//! Reaching a server.

use std::time::Duration;

use snodo::http::Http;
use snodo::stdio::{Environment, Stdio};
use snodo::{Client, Error};
use snodo_config::Server;
use snodo_host::Way;

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
        Target::Command(program, args) | Target::Word(_, program, args) => {
            builder.connect(settings.process(Stdio::new(program).args(args))).await
        }
        Target::Demo => builder.direct(demo::server()).await,
        Target::Named(name, server) => {
            let way = match Way::to(server)? {
                Way::Http(server) => Way::Http(Box::new(settings.request(*server)?)),
                Way::Stdio(server) => Way::Stdio(settings.process(server)),
                other => other,
            };
            way.connect(name, builder).await
        }
        Target::Url(url) => builder.connect(settings.request(Http::new(url)?)?).await,
    }
}

impl Settings {
    /// The process with the environment that was asked for.
    fn process(&self, mut server: Stdio) -> Stdio {
        if self.inherit_environment {
            server = server.environment(Environment::Inherit);
        }
        for (name, value) in &self.variables {
            server = server.env(name, value);
        }
        server
    }

    /// The endpoint with the headers that were asked for.
    fn request(&self, mut server: Http) -> Result<Http, Error> {
        for (name, value) in &self.headers {
            server = server.header(name, value)?;
        }
        Ok(server)
    }
}

/// Refuses options that mean nothing for the target, since they were meant.
///
/// # Errors
///
/// There is such an option (usage).
pub(crate) fn check(target: &Target, settings: &Settings) -> Result<(), Error> {
    let process = settings.inherit_environment || !settings.variables.is_empty();
    let is_url = match target {
        Target::Url(_) => true,
        Target::Named(_, server) => matches!(server, Server::Http(_)),
        _ => false,
    };
    match target {
        Target::Demo if process || !settings.headers.is_empty() => {
            Err(Error::usage("--env, --inherit-env and --header mean nothing to the demo"))
        }
        _ if is_url && process => {
            Err(Error::usage("--env and --inherit-env go with a server that is started"))
        }
        _ if !is_url && !settings.headers.is_empty() => {
            Err(Error::usage("--header goes with a server that is reached by a URL"))
        }
        _ => Ok(()),
    }
}

/// The library's own patience with a server that may be an old one.
const LONGEST_PROBE: Duration = Duration::from_secs(10);
