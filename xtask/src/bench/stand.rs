//! The stand of tests/bench: built, started, and asked.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cells::Transport;
use super::options::Build;
use crate::shell;

/// A client library on the stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Driver {
    pub(super) name: &'static str,
    package: &'static str,
    variant: &'static str,
    /// How much of the operations it gets, so that a round takes each about as long.
    pub(super) weight: f64,
    pub(super) http_only: bool,
    /// The profile of tests/bench that it is built in, and the server with it.
    pub(super) profile: &'static str,
}

const fn driver(name: &'static str, package: &'static str, weight: f64) -> Driver {
    Driver { name, package, variant: "", weight, http_only: false, profile: RELEASE }
}

/// All that may be asked for; the first two and `rmcp` are what the bars are about.
pub(super) const DRIVERS: &[Driver] = &[
    driver("raw", "driver-raw", 1.0),
    driver("snodo", "driver-snodo", 1.0),
    driver("rmcp", "driver-rmcp", 0.3),
    driver("tower", "driver-tower", 0.3),
    driver("lean", "driver-lean", 1.0),
    Driver { variant: "scan", ..driver("lean-scan", "driver-lean", 1.0) },
    Driver { variant: "pooled", http_only: true, ..driver("rmcp-pooled", "driver-rmcp", 0.3) },
];

/// What is run when nobody names drivers.
pub(super) const USUAL: &[&str] = &["raw", "snodo", "rmcp"];

/// The drivers of these names.
pub(super) fn drivers(names: &[String]) -> Result<Vec<Driver>, String> {
    let find = |name: &String| {
        let found = DRIVERS.iter().find(|driver| driver.name == name);
        let known: Vec<_> = DRIVERS.iter().map(|driver| driver.name).collect();
        found.copied().ok_or_else(|| format!("no driver `{name}`; there are {}", known.join(", ")))
    };
    names.iter().map(find).collect()
}

/// As users build what has to be fast: optimized as a whole.
pub(super) const RELEASE: &str = "release";
/// Each crate by itself, which is built in half the time and counts a few instructions more.
pub(super) const GATE: &str = "gate";

/// Builds the server and these drivers, each by itself: else features of one's dependencies would leak into another's.
pub(super) fn build(drivers: &[Driver], build: Build) -> Result<(), String> {
    if build == Build::AsItIs {
        return Ok(());
    }
    let with_server =
        |driver: &Driver| [("mcp-sink", driver.profile), (driver.package, driver.profile)];
    let mut packages: Vec<_> = drivers.iter().flat_map(with_server).collect();
    packages.sort_unstable();
    packages.dedup();
    for (package, profile) in packages {
        let arguments = ["build", "--quiet", "--profile", profile, "--locked"];
        let target = ["--manifest-path", MANIFEST, "--target-dir", TARGET, "--package", package];
        shell::output("cargo", &[&arguments[..], &target].concat())?;
    }
    Ok(())
}

/// Where client and server run.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// A program and its arguments in front of the command: one core for both.
    pin: Vec<String>,
}

impl Place {
    /// One core for client and server: on a virtual machine a wake-up across cores costs more than most operations here,
    /// and comes and goes. Without `taskset` both run where they like.
    pub(super) fn pinned() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let pin = ["taskset".to_owned(), "-c".to_owned(), (cores - 1).to_string()];
        let works = Command::new(&pin[0]).args(&pin[1..]).arg("true").status();
        if works.is_ok_and(|status| status.success()) {
            Self { pin: pin.to_vec() }
        } else {
            println!("no `taskset` here: client and server are not pinned to one core");
            Self::default()
        }
    }
}

/// A server over HTTP, ended with this.
#[derive(Debug)]
pub(super) struct Sink {
    child: Child,
    url: String,
}

impl Sink {
    pub(super) fn start(
        place: &Place,
        profile: &str,
        transport: Transport,
        pages: u32,
    ) -> Result<Self, String> {
        let reply = if transport == Transport::Sse { "sse" } else { "json" };
        let mut line = place.pin.clone();
        line.extend([
            binary("mcp-sink", profile),
            "http".to_owned(),
            "--reply".to_owned(),
            reply.to_owned(),
        ]);
        line.extend(paging(pages));
        let mut child = Command::new(&line[0])
            .args(&line[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("mcp-sink does not start: {error}"))?;
        let mut said = String::new();
        let read = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut said));
        let address = said.trim().strip_prefix("listening ").map(str::to_owned);
        match (read, address) {
            (Some(Ok(_)), Some(address)) => {
                Ok(Self { child, url: format!("http://{address}/mcp") })
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                Err(format!("mcp-sink says {said:?}"))
            }
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One run of a driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) driver: Driver,
    pub(super) transport: Transport,
    pub(super) op: &'a str,
    pub(super) mode: &'a str,
    pub(super) count: u32,
    pub(super) pages: u32,
    pub(super) protocol: &'a str,
    pub(super) sink: Option<&'a Sink>,
    pub(super) more: &'a [&'a str],
}

impl Run<'_> {
    /// The line that the driver prints.
    pub(super) fn measure(&self, place: &Place) -> Result<Value, String> {
        self.start(place.pin.clone())
    }

    /// How many instructions the client process ran.
    pub(super) fn instructions(&self) -> Result<u64, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let out = env::temp_dir().join(format!("bench-{}-{number}.callgrind", std::process::id()));
        let file = format!("--callgrind-out-file={}", out.display());
        let wrap = ["valgrind", "--tool=callgrind", "-q", &file].map(str::to_owned).to_vec();
        let done = self.start(wrap);
        let text = fs::read_to_string(&out).unwrap_or_default();
        let _ = fs::remove_file(&out);
        done?;
        let total = text.lines().find_map(|line| {
            let total = line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:"))?;
            total.split_whitespace().next()?.parse().ok()
        });
        total.ok_or_else(|| "callgrind left no total".to_owned())
    }

    fn start(&self, mut line: Vec<String>) -> Result<Value, String> {
        let profile = self.driver.profile;
        line.push(binary(self.driver.package, profile));
        let transport = if self.transport == Transport::Stdio { "stdio" } else { "http" };
        let count = self.count.to_string();
        let own = ["--transport", transport, "--op", self.op, "--mode", self.mode];
        line.extend(own.map(str::to_owned));
        line.extend(["--count", &count, "--protocol", self.protocol].map(str::to_owned));
        match self.sink {
            Some(sink) => line.extend(["--url".to_owned(), sink.url.clone()]),
            None => {
                let server =
                    [vec![binary("mcp-sink", profile), "stdio".to_owned()], paging(self.pages)];
                line.extend(["--server".to_owned(), server.concat().join(" ")]);
            }
        }
        if !self.driver.variant.is_empty() {
            line.extend(["--variant", self.driver.variant].map(str::to_owned));
        }
        line.extend(self.more.iter().map(|word| (*word).to_owned()));
        let mut child = Command::new(&line[0])
            .args(&line[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("`{}` does not start: {error}", line[0]))?;
        let in_time = wait(&mut child);
        let mut said = String::new();
        // One line is less than a pipe holds: the child was not held up by it.
        if let Some(stdout) = child.stdout.take() {
            let _ = BufReader::new(stdout).read_line(&mut said);
        }
        in_time?;
        let value: Value =
            serde_json::from_str(&said).map_err(|_| format!("it says {:?}", said.trim()))?;
        match value["error"].as_str() {
            Some(error) => Err(error.chars().take(200).collect()),
            None => Ok(value),
        }
    }
}

fn wait(child: &mut Child) -> Result<(), String> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return Ok(()),
            Ok(None) if start.elapsed() < LIMIT => std::thread::sleep(POLL),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no end within {LIMIT:?}"));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn paging(pages: u32) -> Vec<String> {
    if pages < 2 {
        return Vec::new();
    }
    vec!["--pages".to_owned(), pages.to_string(), "--per-page".to_owned(), "100".to_owned()]
}

fn binary(package: &str, profile: &str) -> String {
    let path: PathBuf = shell::root().join(TARGET).join(profile).join(package);
    path.to_string_lossy().into_owned()
}

/// Where cargo builds the stand.
pub(super) const TARGET: &str = "target/bench";
pub(super) const MANIFEST: &str = "tests/bench/Cargo.toml";
const LIMIT: Duration = Duration::from_secs(240);
const POLL: Duration = Duration::from_millis(5);
