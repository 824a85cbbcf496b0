//! Ten thousand events at full speed, to a reader that stops for a second.

use std::future::Future;
use std::os::unix::net::UnixStream as StdStream;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snodo::http::Http;
use snodo::stdio::Pipe;
use snodo::types::{Overflow, SubscriptionFilter, TransportError};
use snodo::{Client, Event, ProtocolVersion, Subscription};
use snodo_testkit::{Loopback, Reply, Request};
use snodo_transport::Connect;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::watch;

const EVENTS: u64 = 10_000;

const BUFFER: usize = 64;

/// What a real event weighs beside its name, and what one weighs whose flood would be noticed in
/// the memory of a process.
const LIGHT: usize = 40;
const HEAVY: usize = 2000;

/// What the process may grow by in a flood of 20 MB.
const GROWTH: u64 = 8 * 1024 * 1024;

const RUNS: usize = 5;

/// How often all runs are made anew when the machine was too busy to compare them.
const ATTEMPTS: usize = 5;

/// What is sooner than a turn of a busy machine's scheduler counts as that.
const TURN: Duration = Duration::from_millis(1);

/// So many events a server writes at once.
const BATCH: usize = 16;

const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];

const OVERFLOWS: [Overflow; 2] = [Overflow::DropOldest, Overflow::DropNewest];

/// Set for the run in a process of its own: elsewhere other tests take memory and time.
const ALONE: &str = "SNODO_TESTS_FLOOD";

// S-63
#[test]
fn a_flood_takes_no_more_memory_than_the_buffer_and_every_event_is_accounted_for() {
    let name =
        "flood::a_flood_takes_no_more_memory_than_the_buffer_and_every_event_is_accounted_for";
    let told = alone(name, || async {
        let mut lines = Vec::new();
        for (version, way) in setups() {
            for overflow in OVERFLOWS {
                let measured = measure(version, way, overflow, HEAVY).await;
                let told = format!("{version} {way:?} {overflow:?}: {measured:?}");
                assert!(measured.growth < GROWTH, "{told}");
                lines.push(told);
            }
        }
        lines
    });
    println!("{told}");
}

#[test]
fn a_flood_slows_down_no_other_call() {
    let told = alone("flood::a_flood_slows_down_no_other_call", || async {
        let mut lines = Vec::new();
        for (version, way) in setups() {
            lines.push(format!("{version} {way:?}: {}", compare(version, way).await));
        }
        lines
    });
    println!("{told}");
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Http,
    Pipe,
}

fn setups() -> impl Iterator<Item = (ProtocolVersion, Way)> {
    let both = |version| [(version, Way::Pipe), (version, Way::Http)];
    VERSIONS.into_iter().flat_map(both)
}

/// Runs a test in a process of its own; gives what it told.
pub(crate) fn alone<F: Future<Output = Vec<String>>>(name: &str, test: impl Fn() -> F) -> String {
    if std::env::var_os(ALONE).is_some() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let lines = runtime.expect("a runtime").block_on(test());
        return lines.into_iter().map(|line| format!("{MARK}{line}\n")).collect();
    }
    let run = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{told}{}", String::from_utf8_lossy(&run.stderr));
    let lines: Vec<&str> = told.lines().filter_map(|line| line.split(MARK).nth(1)).collect();
    assert!(!lines.is_empty(), "nothing was measured: {told}");
    lines.join("\n")
}

const MARK: &str = "measured ";

/// Compares calls with and without a flood, each by the median of some runs.
async fn compare(version: ProtocolVersion, way: Way) -> String {
    let mut told = String::new();
    for attempt in 1..=ATTEMPTS {
        let (mut quiet, mut flooded) = (Vec::new(), Vec::new());
        for run in 0..RUNS {
            let measured = measure(version, way, OVERFLOWS[run % 2], LIGHT).await;
            quiet.push(measured.quiet);
            flooded.push(measured.flooded);
        }
        let (quiet, flooded) = (median(quiet), median(flooded));
        told = format!(
            "99 of 100 calls within {quiet:?}, beside a flood within {flooded:?}; attempt {attempt}"
        );
        if flooded <= 2 * quiet.max(TURN) {
            return told;
        }
    }
    panic!("{version} {way:?}: {told}");
}

#[derive(Debug)]
struct Measured {
    /// Within this 99 of 100 calls were answered, before the flood and beside it.
    quiet: Duration,
    flooded: Duration,
    /// By how many bytes the process grew.
    growth: u64,
    /// How many events were delivered.
    #[expect(dead_code, reason = "it is shown")]
    delivered: u64,
}

async fn measure(
    version: ProtocolVersion,
    way: Way,
    overflow: Overflow,
    weight: usize,
) -> Measured {
    let client = match way {
        Way::Http => over_http(version, weight).await,
        Way::Pipe => over_a_pipe(version, weight).await,
    };
    let filter = SubscriptionFilter::new().tools_list_changed();
    let listening = client.listen(filter).max_buffer(BUFFER).overflow(overflow);
    let mut events = listening.await.expect("agreed");
    calls(&client, Duration::from_millis(100)).await;
    let quiet = p99(calls(&client, Duration::from_secs(1)).await);
    let before = memory();
    client.call_tool("flood", ()).await.expect("it begins");
    // For this second nobody reads the events.
    let flooded = p99(calls(&client, Duration::from_secs(1)).await);
    let growth = memory().saturating_sub(before);
    let delivered = count(&mut events, overflow).await;
    Measured { quiet, flooded, growth, delivered }
}

/// Reads until all that was sent is delivered or dropped; tells how much was delivered.
async fn count(events: &mut Subscription, overflow: Overflow) -> u64 {
    let (mut taken, mut dropped, mut last) = (0, 0, None);
    while taken + dropped < EVENTS {
        let next = tokio::time::timeout(Duration::from_secs(10), events.next()).await;
        match next.unwrap_or_else(|_| panic!("{taken} delivered, {dropped} dropped, no more")) {
            Some(Event::Notification(told)) => {
                let params: Value = told.params().expect("parameters");
                let number = params["n"].as_u64().expect("a number");
                assert!(last.is_none_or(|last| last < number), "{number} behind {last:?}");
                (taken, last) = (taken + 1, Some(number));
            }
            Some(Event::Dropped(count)) => dropped += count,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(taken + dropped, EVENTS);
    assert!(dropped > 0 && taken >= BUFFER as u64, "{taken} delivered, {dropped} dropped");
    if overflow == Overflow::DropOldest {
        assert_eq!(last, Some(EVENTS - 1), "the newest are kept");
    }
    taken
}

/// Calls one after the other for so long; how long each took.
async fn calls(client: &Client, time: Duration) -> Vec<Duration> {
    let (begin, mut times) = (Instant::now(), Vec::new());
    while begin.elapsed() < time {
        let start = Instant::now();
        client.call_tool("echo", ()).await.expect("answered");
        times.push(start.elapsed());
    }
    times
}

fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() * 99 / 100]
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The resident bytes of this process.
pub(crate) fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// Runs a server on a thread of its own.
fn beside<F: Future<Output = ()>>(server: impl FnOnce() -> F + Send + 'static) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(server());
    });
}

/// What a server says to a request; nothing to what needs more.
pub(crate) fn answer(asked: &Value) -> Option<Value> {
    let result = match asked["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "flood", "version": "1" },
        }),
        "tools/call" => json!({ "content": [], "resultType": "complete" }),
        _ => return None,
    };
    Some(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
}

pub(crate) fn acknowledged(asked: &Value) -> String {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": asked["id"] });
    let params = json!({ "notifications": asked["params"]["notifications"], "_meta": meta });
    let method = "notifications/subscriptions/acknowledged";
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// All events as text; without a subscription they are for the whole session.
fn events_of(subscription: Option<&Value>, weight: usize) -> Vec<String> {
    let mut params = json!({ "weight": "x".repeat(weight) });
    if let Some(id) = subscription {
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    }
    let method = "notifications/tools/list_changed";
    let event = |number: u64| {
        params["n"] = number.into();
        json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
    };
    (0..EVENTS).map(event).collect()
}

fn is_flood(asked: &Value) -> bool {
    asked["method"] == "tools/call" && asked["params"]["name"] == "flood"
}

/// A target that is one socket.
struct Socket(Mutex<Option<StdStream>>);

impl Connect for Socket {
    type Transport = Pipe;

    async fn connect(&self) -> Result<Pipe, TransportError> {
        let near = self.0.lock().expect("no panic").take().expect("one connection");
        let (reader, writer) = UnixStream::from_std(near).expect("a socket").into_split();
        Ok(Pipe::new(reader, writer))
    }
}

async fn over_a_pipe(version: ProtocolVersion, weight: usize) -> Client {
    let (near, far) = StdStream::pair().expect("two ends");
    for end in [&near, &far] {
        end.set_nonblocking(true).expect("a socket");
    }
    beside(move || async move {
        serve_pipe(UnixStream::from_std(far).expect("a socket"), weight).await;
    });
    let target = Socket(Mutex::new(Some(near)));
    Client::builder().protocol([version]).connect(target).await.expect("connected")
}

/// Answers between the events of a flood, as a server does that writes from several tasks.
async fn serve_pipe(far: UnixStream, weight: usize) {
    let (reader, writer) = far.into_split();
    let writer = Arc::new(tokio::sync::Mutex::new(writer));
    let mut lines = BufReader::new(reader).lines();
    let mut flood = events_of(None, weight);
    while let Ok(Some(line)) = lines.next_line().await {
        let asked: Value = serde_json::from_str(&line).expect("JSON");
        let mut text = answer(&asked).map(|answer| format!("{answer}\n"));
        if asked["method"] == "subscriptions/listen" {
            flood = events_of(Some(&asked["id"]), weight);
            text = Some(format!("{}\n", acknowledged(&asked)));
        }
        if let Some(text) = text
            && writer.lock().await.write_all(text.as_bytes()).await.is_err()
        {
            return;
        }
        if is_flood(&asked) {
            let (writer, flood) = (Arc::clone(&writer), std::mem::take(&mut flood));
            tokio::spawn(async move {
                for lines in flood.chunks(BATCH) {
                    let text = lines.join("\n") + "\n";
                    if writer.lock().await.write_all(text.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    }
}

async fn over_http(version: ProtocolVersion, weight: usize) -> Client {
    let (tell, address) = tokio::sync::oneshot::channel();
    beside(move || async move {
        let floods = Arc::new(watch::Sender::new(false));
        let server = Loopback::serve(move |request| {
            let floods = Arc::clone(&floods);
            async move { reply(&request, &floods, weight) }
        });
        let server = server.await.expect("a port");
        tell.send(server.url()).expect("somebody connects");
        // It ends with the process, which is made for this test alone.
        std::future::pending().await
    });
    let http = Http::new(address.await.expect("a server")).expect("a URL");
    Client::builder().protocol([version]).connect(http).await.expect("connected")
}

fn reply(request: &Request, floods: &watch::Sender<bool>, weight: usize) -> Reply {
    let asked = request.json().unwrap_or_default();
    let listens = asked["method"] == "subscriptions/listen";
    if request.method == "GET" || listens {
        let flood = events_of(listens.then_some(&asked["id"]), weight);
        let mut begins = floods.subscribe();
        return Reply::new(200).stream(move |events| async move {
            if listens {
                events.message(&acknowledged(&asked)).await;
            }
            let begun = begins.wait_for(|floods| *floods).await.is_ok();
            for lines in flood.chunks(BATCH).filter(|_| begun) {
                let batch: String = lines.iter().map(|line| format!("data: {line}\n\n")).collect();
                events.raw(batch).await;
            }
            drop(flood);
            std::future::pending().await
        });
    }
    if is_flood(&asked) {
        floods.send_replace(true);
    }
    match answer(&asked) {
        Some(answer) => Reply::new(200).json(answer.to_string()),
        None => Reply::new(202),
    }
}
