//! Reaching a server.

use std::path::PathBuf;
use std::time::Duration;

use snodo::direct::Direct;
use snodo::http::Http;
use snodo::stdio::{Environment, Stdio};
use snodo::transport::Connect;
use snodo::{Builder, Client, Error};
use snodo_config::Server;
use snodo_host::Way;
use snodo_sse_legacy::SseLegacy;
use snodo_testkit::{Recorder, Replay};

use crate::login;
use crate::settings::Settings;
use crate::tap::{Tap, Wire};
use crate::target::Target;
use crate::{demo, interact};

/// A client, and what is to be done when it is closed.
pub(crate) struct Connected {
    pub(crate) client: Client,
    /// Writes down what was recorded.
    pub(crate) tape: Option<Tape>,
}

/// A recording that is to be written to its file.
pub(crate) struct Tape {
    path: PathBuf,
    text: Box<dyn Fn() -> String + Send>,
}

impl Tape {
    /// Writes the file.
    ///
    /// # Errors
    ///
    /// It cannot be written (usage).
    pub(crate) fn save(&self) -> Result<(), Error> {
        let written = std::fs::write(&self.path, (self.text)());
        written.map_err(|error| Error::usage(format!("{}: {error}", self.path.display())))
    }
}

/// Connects as the settings say.
///
/// # Errors
///
/// See [`Builder::connect`](snodo::Builder::connect); an option that does not go with the target
/// is refused (usage).
pub(crate) async fn connect(target: &Target, settings: &Settings) -> Result<Connected, Error> {
    let mut builder = Client::builder()
        .timeout(settings.timeout)
        .probe_timeout(settings.timeout.min(LONGEST_PROBE));
    if let Some(versions) = &settings.versions {
        builder = builder.protocol(versions.iter().copied());
    }
    if settings.terminal.asks {
        builder = interact::install(builder, settings.terminal.errors);
    }
    match target {
        Target::Command(program, args) | Target::Word(_, program, args) => {
            settings.open(builder, settings.process(Stdio::new(program).args(args)), None).await
        }
        Target::Demo if settings.wire == Wire::Hidden && settings.record.is_none() => {
            let client = builder.direct(demo::server()).await?;
            Ok(Connected { client, tape: None })
        }
        Target::Demo => settings.open(builder, Direct::new(demo::server()), None).await,
        Target::Named(name, server) => match Way::to(server)? {
            Way::Http(http) => {
                let http = settings.request(*http, url_of(server))?;
                settings.open(builder, http, Some(name)).await
            }
            Way::Sse(http) => {
                let http = settings.request(*http, url_of(server))?;
                settings.open(builder, SseLegacy::new(http), Some(name)).await
            }
            Way::Stdio(stdio) => settings.open(builder, settings.process(stdio), Some(name)).await,
            _ => Err(Error::usage("servers of this kind are not known here")),
        },
        Target::Replay(path) => {
            let replay = Replay::load(path)
                .map_err(|error| Error::usage(format!("{}: {error}", path.display())))?;
            let name = path.display().to_string();
            settings.open(builder, replay, Some(&name)).await
        }
        Target::Url(url) => {
            settings.open(builder, settings.request(Http::new(url)?, Some(url))?, None).await
        }
    }
}

impl Settings {
    async fn open(
        &self,
        builder: Builder,
        to: impl Connect,
        name: Option<&str>,
    ) -> Result<Connected, Error> {
        let mut to = Tap::new(to, self.wire);
        if let Some(name) = name {
            to = to.named(name);
        }
        let Some(path) = &self.record else {
            return Ok(Connected { client: builder.connect(to).await?, tape: None });
        };
        let recorder = Recorder::new(to);
        // A shorter value is no secret, and stands in every second message.
        let values = self.variables.iter().chain(&self.headers).map(|(_, value)| value);
        for secret in values.filter(|value| value.len() >= SHORTEST_SECRET) {
            recorder.hide_text(secret);
        }
        let recorded = recorder.clone();
        let tape = Tape { path: path.clone(), text: Box::new(move || recorded.text()) };
        match builder.connect(recorder).await {
            Ok(client) => Ok(Connected { client, tape: Some(tape) }),
            Err(error) => {
                // A failure is worth a recording too.
                tape.save()?;
                Err(error)
            }
        }
    }

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

    /// The endpoint with the headers that were asked for, and with what a login left.
    fn request(&self, mut server: Http, url: Option<&str>) -> Result<Http, Error> {
        for (name, value) in &self.headers {
            server = server.header(name, value)?;
        }
        let named = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        match url.filter(|_| !named).and_then(|url| login::credentials(self, url)) {
            Some(credentials) => Ok(server.credentials(credentials)),
            None => Ok(server),
        }
    }
}

/// The URL of a server that has one and no credential of its own.
fn url_of(server: &Server) -> Option<&str> {
    let (Server::Http(http) | Server::Sse(http)) = server else { return None };
    let own = http.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    (!own).then_some(http.url())
}

/// Whether a server is reached by a URL.
pub(crate) fn is_url(target: &Target) -> bool {
    match target {
        Target::Url(_) => true,
        Target::Named(_, server) => matches!(server, Server::Http(_) | Server::Sse(_)),
        _ => false,
    }
}

/// The URL of a target that has one, and the way there without a login.
pub(crate) fn http_of(
    target: &Target,
    settings: &Settings,
) -> Option<Result<(String, Http), Error>> {
    let (url, http) = match target {
        Target::Url(url) => (url.as_str(), Http::new(url).map_err(Error::from)),
        Target::Named(_, server @ Server::Http(http)) => {
            let way = Way::to(server).map(|way| match way {
                Way::Http(http) => Ok(*http),
                _ => Err(Error::usage("it is no URL")),
            });
            (http.url(), way.and_then(|way| way))
        }
        _ => return None,
    };
    let http = http.and_then(|http| settings.request(http, None));
    Some(http.map(|http| (url.to_owned(), http)))
}

/// Refuses options that mean nothing for the target, since they were meant.
///
/// # Errors
///
/// There is such an option (usage).
pub(crate) fn check(target: &Target, settings: &Settings) -> Result<(), Error> {
    let process = settings.inherit_environment || !settings.variables.is_empty();
    let is_url = is_url(target);
    match target {
        Target::Replay(path) if !path.is_file() => {
            Err(Error::usage(format!("there is no recording {}", path.display())))
        }
        Target::Demo | Target::Replay(_) if process || !settings.headers.is_empty() => {
            Err(Error::usage("--env, --inherit-env and --header mean nothing to this server"))
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

/// How long a value has to be to be hidden in a recording for where it stood alone.
const SHORTEST_SECRET: usize = 6;
