//! What is the matter with a server: each step of getting to work with it, looked at by itself.

mod checks;
mod http;
mod report;
mod warnings;

use std::time::{Duration, Instant};

use snodo::dialect::{Era, dialect};
use snodo::types::{DiscoverResult, ErrorObject};
use snodo::{Client, Error, ProtocolVersion, Reply};

pub(crate) use self::report::{Finding, Report, State, Step, Verdict};
pub(crate) use self::warnings::Warnings;
use crate::run;
use crate::settings::Settings;
use crate::target::Target;

/// Looks at a server from the first byte to the end of the connection.
pub(crate) async fn examine(target: &Target, settings: &Settings, warnings: &Warnings) -> Report {
    let mut visit = Visit { target, settings, report: Report::new(target.name()) };
    if !visit.look_at_http().await {
        visit.report.settle();
        return visit.report;
    }
    let probed = visit.probe().await;
    let initialized = visit.initialize().await;
    if probed || initialized {
        visit.work().await;
    } else {
        visit.report.verdict = Verdict::Broken;
    }
    for warning in warnings.take() {
        visit.report.findings.push(Finding::of_warning(&warning));
    }
    visit.report.settle();
    visit.report
}

struct Visit<'v> {
    target: &'v Target,
    settings: &'v Settings,
    report: Report,
}

impl Visit<'_> {
    /// Over HTTP: what is answered to the first message of each era, headers and all; whether
    /// anybody is there.
    async fn look_at_http(&mut self) -> bool {
        match run::http_of(self.target, self.settings) {
            None => true,
            Some(Ok((url, way))) => http::look(&url, &way, self.settings, &mut self.report).await,
            Some(Err(error)) => {
                self.report.fail("address", &error, Duration::ZERO);
                false
            }
        }
    }

    /// Asks `server/discover` in the stateless version; whether the server speaks one.
    async fn probe(&mut self) -> bool {
        let newest = ProtocolVersion::ALL.iter().copied();
        let stateless = newest.filter(|version| dialect(*version).era() != Era::Initialize);
        let Some(version) = stateless.max() else { return false };
        let (opened, took) = timed(self.open([version])).await;
        let client = match opened {
            Ok(client) => client,
            Err(error) => {
                self.report.fail("reach", &error, took);
                return false;
            }
        };
        self.report.steps.push(Step::new("reach", State::Ok, self.reached()).took(took));
        let (answer, took) = timed(client.discover()).await;
        let speaks = self.judge_probe(answer, version, took);
        client.close().await;
        speaks
    }

    fn judge_probe(
        &mut self,
        answer: Result<Reply<DiscoverResult>, Error>,
        version: ProtocolVersion,
        took: Duration,
    ) -> bool {
        let step = |state, words: &str| Step::new("probe", state, words).took(took);
        match answer {
            Ok(reply) => {
                let versions = reply.supported_versions.join(", ");
                let words = format!("server/discover is answered: it speaks {versions}");
                self.report.steps.push(step(State::Ok, &words));
                if !reply.supported_versions.iter().any(|known| known == version.as_str()) {
                    self.report.findings.push(Finding::wrong(
                        format!(
                            "it answers a request of {version}, and does not list that version"
                        ),
                        "list every version that is spoken in `supportedVersions`",
                    ));
                }
                true
            }
            Err(error) if error.transport().is_none() && !error.is_timeout() => {
                let code = error.code();
                let words = format!(
                    "server/discover is refused ({code}: {}): a server of the `initialize` era",
                    error.message()
                );
                self.report.steps.push(step(State::Older, &words));
                if code != ErrorObject::METHOD_NOT_FOUND {
                    self.report.findings.push(Finding::note(
                        format!("an unknown method is refused with {code}, not with -32601"),
                        "answer methods that are not known with -32601",
                    ));
                }
                false
            }
            Err(error) => {
                let state =
                    if error.is_timeout() { "is not answered" } else { "ends the connection" };
                let words = format!("server/discover {state}: {}", error.message());
                self.report.steps.push(step(State::Older, &words));
                self.report.findings.push(Finding::note(
                    format!("a request it does not know {state}, and clients lose time by it"),
                    "answer every request that has an id, unknown ones with -32601",
                ));
                false
            }
        }
    }

    /// Opens a session on a connection of its own; whether the server agrees to one.
    async fn initialize(&mut self) -> bool {
        let older = ProtocolVersion::ALL.iter().copied();
        let older = older.filter(|version| dialect(*version).era() == Era::Initialize);
        let older = older.chain(ProtocolVersion::OLDER.iter().copied());
        let (opened, took) = timed(self.open(older)).await;
        match opened {
            Ok(client) => {
                let session = client.session();
                let id = session.as_ref().and_then(|session| session.id());
                let id = id.map_or("no session id", |_| "a session id");
                let words = format!("initialize is answered: {}, {id}", client.protocol());
                self.report.steps.push(Step::new("initialize", State::Ok, words).took(took));
                client.close().await;
                true
            }
            Err(error) => {
                let modern = self.report.is_ok("probe");
                let state = if modern { State::Newer } else { State::Failed };
                let words =
                    format!("initialize is not answered as it should be: {}", error.message());
                self.report.steps.push(Step::new("initialize", state, words).took(took));
                if !modern {
                    self.report.find_failure(&error);
                }
                false
            }
        }
    }

    /// Connects as any client would, and uses what the server says it has.
    async fn work(&mut self) {
        let (opened, took) = timed(run::connect(self.target, self.settings)).await;
        let client = match opened {
            Ok(connected) => connected.client,
            Err(error) => return self.report.fail("connect", &error, took),
        };
        let era = dialect(client.protocol()).era();
        let words = format!("a client settles on {} ({era})", client.protocol());
        self.report.steps.push(Step::new("connect", State::Ok, words).took(took));
        checks::all(&client, &mut self.report).await;
        let ((), took) = timed(client.close()).await;
        let slow = took > Duration::from_secs(3);
        let state = if slow { State::Failed } else { State::Ok };
        self.report.steps.push(Step::new("close", state, "the connection is ended").took(took));
        if slow {
            self.report.findings.push(Finding::wrong(
                format!("ending the connection takes {:.1} s", took.as_secs_f64()),
                "end when the input ends; over HTTP answer DELETE at once",
            ));
        }
    }

    async fn open(
        &self,
        versions: impl IntoIterator<Item = ProtocolVersion>,
    ) -> Result<Client, Error> {
        let settings =
            Settings { versions: Some(versions.into_iter().collect()), ..self.settings.clone() };
        run::connect(self.target, &settings).await.map(|connected| connected.client)
    }

    fn reached(&self) -> &'static str {
        match run::is_url(self.target) {
            true => "the address can be used",
            false => "the server is started",
        }
    }
}

/// How something ended, and how long it took.
async fn timed<F: IntoFuture>(future: F) -> (F::Output, Duration) {
    let start = Instant::now();
    let done = future.await;
    (done, start.elapsed())
}
