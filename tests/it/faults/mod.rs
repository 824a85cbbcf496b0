//! What goes wrong beneath a client, in the middle of each thing that it does.
//!
//! The tables that are printed here stand in `docs/reliability.md`: a cell is what the client's
//! caller is told. Each cell has a client, a server and a runtime of its own; what is left behind it
//! is part of what it shows.

mod process;
mod web;
mod wire;

use std::fmt::Write as _;
use std::future::Future;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use snodo::types::SubscriptionFilter;
use snodo::{Builder, Client, Closed, Error, Event, ProtocolVersion, Subscription};
use snodo_tests::open_descriptors;
use tokio::runtime::Handle;

use crate::endings;

/// What a client does when the fault meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// It asks the first question.
    Connect,
    /// It waits for the result of a tool.
    Call,
    /// The same, and progress has been told.
    Progress,
    /// Its handler answers what the server asked in the middle of a call.
    Input,
    /// It listens, and the server has agreed.
    Listen,
    /// It closes.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Modern,
    Legacy,
}

/// A row of a table: what goes wrong.
trait Fault: Copy + Send + Sync + 'static {
    /// All of them, in the order of the table.
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    /// Whether this can happen there at all.
    fn applies(self, doing: Doing, era: Era) -> bool;

    /// What the caller is told. What is wrong with the cell itself is an error.
    fn play(self, doing: Doing, era: Era) -> impl Future<Output = Result<String, String>>;
}

const ALL: [Doing; 6] =
    [Doing::Connect, Doing::Call, Doing::Progress, Doing::Input, Doing::Listen, Doing::Close];

/// What every request may take, and `close` at most.
const DEADLINE: Duration = Duration::from_secs(2);

/// What a busy machine may add to it.
const SLACK: Duration = Duration::from_secs(3);

/// How long the person takes who answers.
const THOUGHT: Duration = Duration::from_millis(300);

/// Behind a cell all has to be gone within this.
const SETTLED: Duration = Duration::from_secs(5);

const AT_A_TIME: usize = 12;

/// Set for the run in a process of its own: elsewhere other tests open descriptors meanwhile.
const ALONE: &str = "SNODO_TESTS_FAULTS";

// S-05, S-10
#[test]
fn whatever_goes_wrong_and_when_the_caller_is_told_in_time_and_nothing_is_left() {
    if std::env::var_os(ALONE).is_some() {
        let (tables, told, more) = run();
        println!("{}\n{told}", tables.join("\n"));
        assert_eq!(more, 0, "descriptors are left");
        let written = include_str!("../../../docs/reliability.md");
        for table in tables {
            assert!(written.contains(&table), "the page shows another table than\n{table}");
        }
        return;
    }
    let name =
        "faults::whatever_goes_wrong_and_when_the_caller_is_told_in_time_and_nothing_is_left";
    let run = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("it starts");
    println!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

/// The tables, a line about the whole, and how many descriptors are left.
fn run() -> (Vec<String>, String, usize) {
    wire::servers();
    let (begun, descriptors) = (Instant::now(), open_descriptors().expect("a list"));
    let mut tables = Vec::new();
    let mut cells = 0;
    for era in [Era::Modern, Era::Legacy] {
        let (stdio, http) = (measure::<process::Fault>(era), measure::<web::Fault>(era));
        cells += stdio.len() + http.len();
        tables.push(table("stdio", era, &stdio));
        tables.push(table("HTTP", era, &http));
    }
    let closing = Instant::now();
    let more = || open_descriptors().expect("a list").saturating_sub(descriptors);
    while more() > 0 && closing.elapsed() < SETTLED {
        std::thread::sleep(Duration::from_millis(20));
    }
    let more = more();
    let took = begun.elapsed().as_secs_f32();
    let told = format!("{cells} cells in {took:.1} s; left: {more} descriptors");
    (tables, told, more)
}

/// A cell by its place, and what it showed; nothing where it makes no sense.
type Cell = (&'static str, Doing, Option<String>);

/// Plays all cells, some at a time.
fn measure<F: Fault>(era: Era) -> Vec<Cell> {
    let places = F::ALL.iter().flat_map(|fault| ALL.map(|doing| (*fault, doing)));
    let (sensible, senseless): (Vec<_>, Vec<_>) =
        places.partition(|(fault, doing)| fault.applies(*doing, era));
    let senseless = senseless.into_iter().map(|(fault, doing)| (fault.name(), doing, None));
    let cells: Vec<Cell> = senseless.collect();
    let (waiting, cells) = (Mutex::new(sensible), Mutex::new(cells));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                let next = || waiting.lock().expect("no panic").pop();
                while let Some((fault, doing)) = next() {
                    let told = on_a_runtime(fault.play(doing, era));
                    let cell = (fault.name(), doing, Some(told));
                    cells.lock().expect("no panic").push(cell);
                }
            });
        }
    });
    cells.into_inner().expect("no panic")
}

/// Plays a cell and waits for its tasks to end.
fn on_a_runtime(cell: impl Future<Output = Result<String, String>>) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let told = cell.await.unwrap_or_else(|fault| format!("FAULT {fault}"));
        let tasks = || Handle::current().metrics().num_alive_tasks();
        match settled(|| tasks() == 0).await {
            true => told,
            false => format!("{told}, {} tasks are LEFT", tasks()),
        }
    })
}

/// Whether something comes true soon.
async fn settled(holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > SETTLED {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

fn builder(era: Era) -> Builder {
    let version = match era {
        Era::Modern => ProtocolVersion::V2026_07_28,
        Era::Legacy => ProtocolVersion::V2025_11_25,
    };
    Client::builder().protocol([version]).timeout(DEADLINE).on_form(|form| async move {
        tokio::time::sleep(THOUGHT).await;
        form.accept(serde_json::json!({ "name": "Ada" }))
    })
}

fn changes() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed()
}

/// What became of something that has a deadline.
async fn timed<T>(done: impl Future<Output = Result<T, Error>>) -> Result<String, String> {
    let begun = Instant::now();
    let ended = done.await;
    let took = begun.elapsed();
    let Err(error) = ended else { return in_time(took, "ok") };
    let told = endings::told(&error);
    match error.is_timeout() && error.transport().is_none() {
        true if took < DEADLINE => Err(format!("{told} after {took:?} already")),
        true if took > DEADLINE + THOUGHT + SLACK => Err(format!("{told} after {took:?} only")),
        true => Ok(told),
        false => in_time(took, &told),
    }
}

/// What comes before the deadline does not wait for it.
fn in_time(took: Duration, told: &str) -> Result<String, String> {
    if took < DEADLINE { Ok(told.to_owned()) } else { Err(format!("{told} after {took:?} only")) }
}

async fn calls_with_progress(client: &Client) -> Result<String, String> {
    let (tell, mut told) = tokio::sync::mpsc::channel(8);
    let call = client.call_tool("struck", ());
    let ended = timed(async { call.progress(move |_| _ = tell.try_send(())).await }).await;
    told.try_recv().map_err(|_| "no progress was told".to_owned())?;
    ended
}

/// The first thing that a subscription tells.
async fn hears(events: &mut Subscription) -> String {
    match tokio::time::timeout(DEADLINE, events.next()).await {
        Err(_) => "waits".to_owned(),
        Ok(Some(Event::Closed(Closed::Failed(error)))) => endings::told(&error),
        Ok(Some(Event::Notification(_))) => "told".to_owned(),
        Ok(Some(Event::Resumed { may_have_missed: true, .. })) => "resumed".to_owned(),
        Ok(other) => format!("{other:?}"),
    }
}

async fn closes(client: &Client) -> Result<String, String> {
    let begun = Instant::now();
    client.close().await;
    let took = begun.elapsed();
    if took < DEADLINE + SLACK { Ok("ended".to_owned()) } else { Err(format!("after {took:?}")) }
}

fn table(transport: &str, era: Era, cells: &[Cell]) -> String {
    let version = match era {
        Era::Modern => "2026-07-28",
        Era::Legacy => "2025-11-25",
    };
    let mut text = format!("| {transport}, {version} |");
    for doing in ["connect", "call", "progress", "input round", "listen", "close"] {
        write!(text, " {doing} |").expect("a string takes it");
    }
    text.push_str("\n|---|---|---|---|---|---|---|\n");
    let mut names: Vec<&str> = Vec::new();
    let order: &[&str] = match transport {
        "stdio" => &process::Fault::ALL.iter().map(|fault| fault.name()).collect::<Vec<_>>(),
        _ => &web::Fault::ALL.iter().map(|fault| fault.name()).collect::<Vec<_>>(),
    };
    names.extend(order);
    for name in names {
        write!(text, "| {name} |").expect("a string takes it");
        for doing in ALL {
            let cell = cells.iter().find(|cell| (cell.0, cell.1) == (name, doing));
            let told = cell.and_then(|cell| cell.2.as_deref()).unwrap_or("–");
            write!(text, " {told} |").expect("a string takes it");
        }
        text.push('\n');
    }
    text
}
