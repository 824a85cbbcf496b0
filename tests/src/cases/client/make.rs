//! What a scripted client connects to.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::json;
use snodo::http::{Credentials, Http};
use snodo::stdio::{Pipe, Stdio};
use snodo::transport::Connect;
use snodo::types::{Roots, TransportError};
use snodo::{Builder, Client, Error, ProtocolVersion};

use super::step::Step;
use super::{Baseline, ClientScript, Heard};
use crate::cases::later::Need;

/// The server of a case, and the options of its clients.
#[derive(Clone)]
pub(crate) struct Target {
    builder: Builder,
    place: Place,
    heard: Heard,
}

#[derive(Clone)]
enum Place {
    Http(Http),
    Process(Watched),
}

/// What a case over HTTP is about, beside its script.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HttpStage {
    /// The server's own stream.
    pub(crate) listens: bool,
    /// Sessions.
    pub(crate) sessions: bool,
}

impl Target {
    /// A server over HTTP.
    pub(crate) fn http(
        script: &ClientScript,
        baseline: Baseline,
        url: &str,
        stage: HttpStage,
    ) -> Result<Self, Need> {
        let unusable = |error: TransportError| Need::unknown(error.to_string());
        let mut http = Http::new(url).map_err(unusable)?;
        for (name, value) in &script.headers {
            http = http.header(name, value).map_err(unusable)?;
        }
        if let Some(bytes) = script.max_message_bytes {
            http = http.max_body_bytes(bytes);
        }
        if let Some(attempts) = script.sse_max_retries {
            http = http.resume_attempts(attempts);
        }
        if let Some(limit) = script.http_timeout() {
            http = http.connect_timeout(limit);
        }
        let mut target = Self::new(script, baseline, Place::Http(http), stage.listens)?;
        if stage.sessions {
            // What the library takes for a lost session on demand only.
            target.builder = target.builder.session_lost_on([400]);
        }
        Ok(target)
    }

    /// The same server, with credentials.
    pub(crate) fn with_credentials(mut self, credentials: impl Credentials) -> Self {
        if let Place::Http(http) = self.place {
            self.place = Place::Http(http.credentials(credentials));
        }
        self
    }

    /// A server process.
    pub(crate) fn process(
        script: &ClientScript,
        baseline: Baseline,
        mut stdio: Stdio,
        listens: bool,
    ) -> Result<Self, Need> {
        if let Some(bytes) = script.max_message_bytes {
            stdio = stdio.max_line_bytes(bytes);
        }
        let place = Place::Process(Watched { stdio, pipes: Arc::default() });
        Self::new(script, baseline, place, listens)
    }

    /// The library opens the server's own stream where somebody wants to be told what comes on it.
    fn new(
        script: &ClientScript,
        baseline: Baseline,
        place: Place,
        listens: bool,
    ) -> Result<Self, Need> {
        let mut builder = builder(script, script.versions(baseline)?);
        let heard = Heard::default();
        if listens || script.listens() {
            let heard = heard.clone();
            builder = builder.on_notification(move |told| heard.note(told.method()));
        }
        Ok(Self { builder, place, heard })
    }

    /// What its clients were told.
    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    pub(crate) async fn connect(&self) -> Result<Client, Error> {
        let builder = self.builder.clone();
        match &self.place {
            Place::Http(http) => builder.connect(http.clone()).await,
            Place::Process(watched) => builder.connect(watched.clone()).await,
        }
    }

    /// How many exchanges wait on all pipes that are left.
    pub(crate) fn pending(&self) -> usize {
        match &self.place {
            Place::Http(_) => 0,
            Place::Process(watched) => watched.pending(),
        }
    }
}

fn builder(script: &ClientScript, versions: Vec<ProtocolVersion>) -> Builder {
    let mut builder = Client::builder().protocol(versions);
    if let Some(timeout) = script.timeout() {
        builder = builder.timeout(timeout);
    }
    if let Some(timeout) = script.probe_timeout() {
        builder = builder.probe_timeout(timeout);
    }
    let mut capabilities = script.capabilities.clone().unwrap_or_else(|| json!({}));
    if script.steps.iter().any(Step::notifies) {
        // Who tells of changes has to have said so.
        capabilities["roots"]["listChanged"] = true.into();
    }
    builder = builder.capabilities(capabilities);
    if let Some(answer) = script.elicit.clone() {
        let pages = answer.clone();
        builder = builder
            .on_form(move |_| std::future::ready(Ok(answer.clone())))
            .on_url(move |_| std::future::ready(Ok(pages.clone())));
    }
    if let Some(known) = script.roots.clone() {
        let mut roots = Roots::new();
        roots.roots = known;
        builder = builder.on_roots(move |_| std::future::ready(Ok(roots.clone())));
    }
    builder
}

/// Starts processes and remembers their pipes, for as long as those live.
#[derive(Clone)]
struct Watched {
    stdio: Stdio,
    pipes: Arc<Mutex<Vec<Weak<Pipe>>>>,
}

impl Watched {
    fn pending(&self) -> usize {
        let pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        pipes.iter().filter_map(Weak::upgrade).map(|pipe| pipe.counts().live_exchanges).sum()
    }
}

impl Connect for Watched {
    type Transport = Arc<Pipe>;

    async fn connect(&self) -> Result<Arc<Pipe>, TransportError> {
        let pipe = Arc::new(self.stdio.connect().await?);
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&pipe));
        Ok(pipe)
    }

    fn target(&self) -> Cow<'_, str> {
        self.stdio.target()
    }
}
