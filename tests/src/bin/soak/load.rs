//! The work: rounds of it, with a rest and a look behind each.

use std::future::IntoFuture as _;
use std::io::BufRead as _;
use std::process::{Child, Command, Stdio as Io};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use snodo::http::Http;
use snodo::stdio::Stdio;
use snodo::types::{SubscriptionFilter, TransportFault};
use snodo::{Builder, Client, Error, Event, ProtocolVersion, Reopen, Restart};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::samples::{Sample, judge};

/// What was done so far.
#[derive(Debug, Default)]
struct Tally {
    calls: AtomicU64,
    /// Given up before they were answered.
    given_up: AtomicU64,
    /// Cut off by a server that went.
    cut: AtomicU64,
    subscriptions: AtomicU64,
    /// Events that did not come, because the server went.
    missed: AtomicU64,
    clients: AtomicU64,
    restarts: AtomicU64,
}

/// A way to one of the servers.
#[derive(Clone)]
enum Way {
    Http(Box<Http>),
    Stdio(Stdio),
}

/// One version over one transport, and the client that stays to the end.
#[derive(Clone)]
struct Lane {
    version: ProtocolVersion,
    way: Way,
    tally: Arc<Tally>,
}

/// Runs for so long; tells what was done and what grew.
pub(crate) fn run(time: Duration) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut server = Behind::start(&own)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let url = format!("http://{}/mcp", server.address()?);
    let http = Http::new(url).map_err(|error| error.to_string())?;
    // What rests between two rounds is closed before the look at it.
    let http = http.pool_idle_timeout(REST / 5).resume_delay(Duration::from_millis(20));
    let stdio = Stdio::new(own).arg("server").arg("stdio");
    let tally = Arc::new(Tally::default());
    let samples = runtime.block_on(rounds(time, &http, &stdio, &tally))?;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let told = format!(
        "{} calls ({} given up, {} cut), {} subscriptions, {} clients, {} restarts in {} s",
        count(&tally.calls),
        count(&tally.given_up),
        count(&tally.cut),
        count(&tally.subscriptions),
        count(&tally.clients),
        count(&tally.restarts),
        time.as_secs(),
    );
    for (few, of, what) in [
        (&tally.cut, &tally.calls, "calls were cut"),
        (&tally.missed, &tally.subscriptions, "events were missed"),
    ] {
        if count(few) * 10 > count(of) {
            return Err(format!("{told}: {} {what}", count(few)));
        }
    }
    match judge(&samples) {
        Ok(grown) => Ok(format!("{told}; {grown}")),
        Err(grown) => Err(format!("{told}; {grown}\n{}", shown(&samples))),
    }
}

async fn rounds(
    time: Duration,
    http: &Http,
    stdio: &Stdio,
    tally: &Arc<Tally>,
) -> Result<Vec<Sample>, String> {
    let mut lanes = Vec::new();
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        for way in [Way::Http(Box::new(http.clone())), Way::Stdio(stdio.clone())] {
            let lane = Lane { version, way, tally: Arc::clone(tally) };
            let client = lane.connect().await.map_err(|error| error.to_string())?;
            lanes.push((lane, client));
        }
    }
    let begun = Instant::now();
    let round = (time / 40).clamp(Duration::from_millis(500), Duration::from_secs(5));
    let mut samples = Vec::new();
    while begun.elapsed() < time {
        let mut working = JoinSet::new();
        for (lane, client) in &lanes {
            let (lane, client) = (lane.clone(), client.clone());
            working.spawn(async move { lane.round(&client, Instant::now() + round).await });
        }
        while let Some(worked) = working.join_next().await {
            worked.map_err(|error| error.to_string())??;
        }
        tokio::time::sleep(REST).await;
        let tasks = Handle::current().metrics().num_alive_tasks();
        samples.push(Sample::take(begun.elapsed(), tasks)?);
    }
    for (_, client) in lanes {
        client.close().await;
    }
    Ok(samples)
}

impl Lane {
    fn builder(&self) -> Builder {
        let restart = Restart::ALWAYS.at_most(1_000_000, Duration::from_secs(1));
        Client::builder().protocol([self.version]).restart(restart)
    }

    async fn connect(&self) -> Result<Client, Error> {
        self.tally.clients.fetch_add(1, Ordering::Relaxed);
        let mut tried = 0;
        loop {
            let connected = match &self.way {
                Way::Http(http) => self.builder().connect((**http).clone()).await,
                Way::Stdio(stdio) => self.builder().connect(stdio.clone()).await,
            };
            match connected {
                // It went just then.
                Err(error) if self.is_cut(&error) && tried < TRIES => tried += 1,
                connected => return connected,
            }
        }
    }

    /// Whether this is what becomes of a call whose server goes.
    fn is_cut(&self, error: &Error) -> bool {
        let fault = error.transport().map(|below| below.fault());
        let cut = matches!(
            fault,
            Some(TransportFault::Closed | TransportFault::Connect | TransportFault::StreamEnded)
        );
        // A call is sent once more where its session is over; on a busy machine two servers may go meanwhile.
        let twice = self.version != ProtocolVersion::V2026_07_28
            && error.transport().and_then(|below| below.status()) == Some(404);
        (cut || twice) && matches!(self.way, Way::Http(_))
    }

    /// Works until then, with the client that stays and with others that do not.
    async fn round(&self, client: &Client, end: Instant) -> Result<(), String> {
        let mut working = JoinSet::new();
        for _ in 0..SIDE_BY_SIDE {
            let (lane, client) = (self.clone(), client.clone());
            working.spawn(async move { lane.calls(&client, end).await });
        }
        let (lane, listener) = (self.clone(), client.clone());
        working.spawn(async move { lane.listens(&listener, end).await });
        let lane = self.clone();
        working.spawn(async move { lane.comes_and_goes(end).await });
        while let Some(worked) = working.join_next().await {
            worked.map_err(|error| error.to_string())??;
        }
        if let Way::Stdio(_) = self.way {
            let left = client.call_tool("leave", ()).await;
            left.err().filter(Error::is_closed).ok_or("it did not leave")?;
            self.tally.restarts.fetch_add(1, Ordering::Relaxed);
            self.counted(client.call_tool("echo", ()).await.map(drop))?;
        }
        Ok(())
    }

    async fn calls(&self, client: &Client, end: Instant) -> Result<(), String> {
        let mut number = 0;
        while Instant::now() < end {
            number += 1;
            match number % 64 {
                1 => {
                    let hanging = client.call_tool("hang", ()).into_future();
                    let dropped = tokio::time::timeout(Duration::from_millis(1), hanging).await;
                    self.tally.given_up.fetch_add(1, Ordering::Relaxed);
                    if let Ok(ended) = dropped {
                        self.counted(ended.map(drop))?;
                    }
                }
                2 => {
                    let hanging = client.call_tool("hang", ()).timeout(Duration::from_millis(2));
                    match hanging.await {
                        Err(error) if error.is_timeout() => {
                            self.tally.given_up.fetch_add(1, Ordering::Relaxed);
                        }
                        ended => self.counted(ended.map(drop))?,
                    }
                }
                3..8 => {
                    self.counted(client.call_tool("echo", ()).progress(drop).await.map(drop))?
                }
                _ => self.counted(client.call_tool("echo", ()).await.map(drop))?,
            }
        }
        Ok(())
    }

    /// Counts a call. One that failed for anything but a server that went ends the whole.
    fn counted(&self, called: Result<(), Error>) -> Result<(), String> {
        self.tally.calls.fetch_add(1, Ordering::Relaxed);
        match called {
            Ok(()) => Ok(()),
            Err(error) if self.is_cut(&error) => {
                self.tally.cut.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(format!("{}: {error:?}", self.version)),
        }
    }

    /// Subscribes, has something told, and lets go.
    async fn listens(&self, client: &Client, end: Instant) -> Result<(), String> {
        while Instant::now() < end {
            let filter = SubscriptionFilter::new().tools_list_changed();
            let patient = Reopen::after(Duration::from_millis(20), Duration::from_millis(200));
            let mut events = match client.listen(filter).reopen(patient).await {
                Ok(events) => events,
                Err(error) if self.is_cut(&error) => continue,
                Err(error) => return Err(format!("{}: listening: {error:?}", self.version)),
            };
            self.tally.subscriptions.fetch_add(1, Ordering::Relaxed);
            self.counted(client.call_tool("change", ()).await.map(drop))?;
            match tokio::time::timeout(HEARD, events.next()).await {
                Ok(Some(Event::Notification(_) | Event::Resumed { .. } | Event::Dropped(_))) => {}
                // Between two servers there is nobody to tell it.
                Err(_) if matches!(self.way, Way::Http(_)) => {
                    self.tally.missed.fetch_add(1, Ordering::Relaxed);
                }
                other => return Err(format!("{}: nothing was told: {other:?}", self.version)),
            }
        }
        Ok(())
    }

    /// Clients that are made, used a little and closed, or only dropped.
    async fn comes_and_goes(&self, end: Instant) -> Result<(), String> {
        let mut number = 0;
        while Instant::now() < end {
            let client = self.connect().await.map_err(|error| format!("connecting: {error:?}"))?;
            for _ in 0..BRIEFLY {
                self.counted(client.call_tool("echo", ()).await.map(drop))?;
            }
            number += 1;
            if number % 2 == 0 {
                client.close().await;
            }
        }
        Ok(())
    }
}

/// The server behind HTTP: a process, which ends with this value.
struct Behind(Child);

impl Behind {
    fn start(program: &std::path::Path) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(["server", "http"]).stdin(Io::piped()).stdout(Io::piped());
        command.spawn().map(Self).map_err(|error| error.to_string())
    }

    fn address(&mut self) -> Result<String, String> {
        let output = self.0.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        let read = std::io::BufReader::new(output).read_line(&mut line);
        read.map_err(|error| error.to_string())?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shown(samples: &[Sample]) -> String {
    let line = |sample: &Sample| {
        let Sample { at, memory, descriptors, tasks } = sample;
        format!("{:8.1} s {memory:8} KiB {descriptors:4} {tasks:4}", at.as_secs_f32())
    };
    samples.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Calls of one client at a time.
const SIDE_BY_SIDE: usize = 4;

/// How often a client is made anew whose server went as it was made: on a busy machine that happens again and again.
const TRIES: usize = 20;

/// Calls of a client that does not stay.
const BRIEFLY: usize = 20;

/// Behind each round.
const REST: Duration = Duration::from_millis(250);

/// How long an event is waited for.
const HEARD: Duration = Duration::from_secs(3);
