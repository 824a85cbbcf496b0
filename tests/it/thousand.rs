//! A thousand servers started and ended, some of them the hard way: nothing is left.

use std::borrow::Cow;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use snodo::stdio::{Pipe, Shutdown, Stdio};
use snodo::transport::Connect;
use snodo::types::TransportError;
use snodo::{Client, ProtocolVersion};
use snodo_tests::cases::process::ChildFiles;
use snodo_tests::open_descriptors;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// How a connection ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The client closes it.
    Closed,
    /// The client is dropped with a call on its way.
    Dropped,
    /// The server exits instead of answering the first request.
    Exits,
    /// The server is killed under a call.
    Killed,
    /// The server ignores the end of its input and `SIGTERM`.
    Stubborn,
}

const ENDS: [End; 5] = [End::Closed, End::Dropped, End::Exits, End::Killed, End::Stubborn];

const CONNECTIONS: usize = 1000;

/// At a time.
const SIDE_BY_SIDE: usize = 8;

const BOUND: Duration = Duration::from_secs(240);

/// Set for the run in a process of its own: elsewhere other tests open descriptors meanwhile.
const ALONE: &str = "SNODO_TESTS_ALONE";

// S-10
#[test]
fn a_thousand_servers_started_and_ended_leave_nothing_behind() {
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let told = runtime.block_on(async { tokio::time::timeout(BOUND, run()).await });
        println!("{}", told.expect("it ends in time"));
        return;
    }
    let name = "thousand::a_thousand_servers_started_and_ended_leave_nothing_behind";
    let run = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("it starts");
    println!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

/// Tells what was done and what was left, which has to be nothing.
async fn run() -> String {
    let silent = json!([{ "rpc": "tools/call", "tool": "never", "do": [] }]);
    let scripts = ENDS.map(|end| match end {
        End::Exits => json!({ "on": [{ "rpc": "initialize", "do": [{ "exit": 3 }] }] }),
        End::Stubborn => json!({ "on_stdin_eof": "ignore", "on_sigterm": "ignore" }),
        End::Closed | End::Dropped | End::Killed => json!({ "on": silent }),
    });
    let files: Vec<Arc<ChildFiles>> = scripts
        .iter()
        .map(|script| Arc::new(ChildFiles::new("thousand", &script.to_string()).expect("files")))
        .collect();
    let (start, descriptors) = (Instant::now(), open_descriptors().expect("a list"));
    let mut running = JoinSet::new();
    let mut counts = [0; ENDS.len()];
    for number in 0..CONNECTIONS {
        if running.len() >= SIDE_BY_SIDE {
            running.join_next().await.expect("one runs").expect("it holds");
        }
        let kind = number % ENDS.len();
        counts[kind] += 1;
        let files = Arc::clone(&files[kind]);
        running.spawn(async move { connect_and_end(ENDS[kind], &files).await });
    }
    while let Some(ended) = running.join_next().await {
        ended.expect("it holds");
    }
    // Those that were only dropped end in the background.
    let left = || {
        let processes: usize = files.iter().map(|files| files.left()).sum();
        let more = open_descriptors().expect("a list").saturating_sub(descriptors);
        (processes, more, Handle::current().metrics().num_alive_tasks())
    };
    let settling = Instant::now();
    while left() != (0, 0, 0) && settling.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let started: usize = files.iter().map(|files| files.started()).sum();
    let ends = ENDS.iter().zip(counts).map(|(end, count)| format!("{count} {end:?}"));
    let ends = ends.collect::<Vec<_>>().join(", ");
    let (processes, more, tasks) = left();
    let took = start.elapsed().as_secs_f32();
    let told = format!(
        "{started} servers in {took:.1} s: {ends}\nleft: {processes} processes, {more} descriptors, {tasks} tasks"
    );
    assert_eq!((started, processes, more, tasks), (CONNECTIONS, 0, 0, 0), "{told}");
    told
}

/// Connects to a server and ends it; what is not as it should be panics.
async fn connect_and_end(end: End, files: &ChildFiles) {
    let waits = Duration::from_millis(50);
    let stdio = files.stdio("legacy").expect("the program");
    let stdio = stdio.shutdown(Shutdown { after_stdin: waits, after_terminate: waits });
    let process = Arc::new(AtomicU32::new(0));
    let server = Known { stdio, process: Arc::clone(&process) };
    let builder = Client::builder().protocol([ProtocolVersion::V2025_11_25]);
    let connected = builder.connect(server).await;
    let client = match (end, connected) {
        (End::Exits, Err(error)) => return assert!(error.is_closed(), "{error}"),
        (_, connected) => connected.expect("it connects"),
    };
    match end {
        End::Closed | End::Exits | End::Stubborn => {
            client.call_tool("echo", ()).await.expect("it answers");
            client.close().await;
        }
        End::Dropped => {
            let calling = client.call_tool("never", ());
            let called = tokio::time::timeout(Duration::from_millis(5), async { calling.await });
            assert!(called.await.is_err(), "nobody answers");
        }
        End::Killed => {
            let calling = {
                let client = client.clone();
                tokio::spawn(async move { client.call_tool("never", ()).await })
            };
            kill(process.load(Ordering::Relaxed)).await;
            let called = calling.await.expect("no panic");
            assert!(called.is_err_and(|error| error.is_closed()), "it tells of the end");
        }
    }
}

async fn kill(process: u32) {
    let process = process.to_string();
    let killed = tokio::process::Command::new("kill").args(["-KILL", &process]).status().await;
    assert!(killed.expect("kill starts").success());
}

/// Tells the id of the process that it starts.
struct Known {
    stdio: Stdio,
    process: Arc<AtomicU32>,
}

impl Connect for Known {
    type Transport = Pipe;

    async fn connect(&self) -> Result<Pipe, TransportError> {
        let pipe = self.stdio.connect().await?;
        self.process.store(pipe.process_id().unwrap_or_default(), Ordering::Relaxed);
        Ok(pipe)
    }

    fn target(&self) -> Cow<'_, str> {
        self.stdio.target()
    }
}
