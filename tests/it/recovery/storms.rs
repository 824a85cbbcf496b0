//! Servers that die again and again under load.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::json;
use snodo::types::{Processed, SubscriptionFilter};
use snodo::{Client, Error, Event, Reopen, Restart, Subscription};
use tokio::task::{JoinHandle, JoinSet};

use super::ledger::{Book, Ledger, PATIENCE, until};
use super::server::Lacks;
use super::sessions::Place;
use super::{VERSIONS, alone};

/// How long a storm lasts.
const STORM: Duration = Duration::from_secs(2);

/// What became of each call.
type Outcomes = Vec<(u64, Result<(), Error>)>;

/// Callers that call until they are told to stop, each call with a number of its own.
struct Callers {
    stop: Arc<AtomicBool>,
    running: JoinSet<Outcomes>,
}

impl Callers {
    fn start(client: &Client) -> Self {
        let (stop, number) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut running = JoinSet::new();
        for _ in 0..4 {
            let (client, stop, number) = (client.clone(), Arc::clone(&stop), Arc::clone(&number));
            running.spawn(async move {
                let mut outcomes = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let n = number.fetch_add(1, Ordering::Relaxed);
                    let call = client.call_tool("add", json!({ "n": n })).await;
                    // A server that is away answers at once: do not run in circles.
                    if call.is_err() {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    outcomes.push((n, call.map(drop)));
                }
                outcomes
            });
        }
        Self { stop, running }
    }

    async fn stop(self) -> Outcomes {
        self.stop.store(true, Ordering::Relaxed);
        self.running.join_all().await.into_iter().flatten().collect()
    }
}

/// Compares what the callers were told with what was done; tells how much that was.
fn check(outcomes: &Outcomes, ledger: &impl Ledger) -> String {
    let done = ledger.counts("add");
    let answered = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    for (n, outcome) in outcomes {
        let times = done.get(n).copied().unwrap_or_default();
        match outcome {
            Ok(()) => assert_eq!(times, 1, "call {n} was answered"),
            Err(error) => {
                assert!(times <= 1, "call {n} ran {times} times: {error:?}");
                if error.transport().is_some_and(|why| why.processed() == Processed::No) {
                    assert_eq!(times, 0, "call {n} is said not to have run: {error:?}");
                }
            }
        }
    }
    assert!(answered > 10, "only {answered} of {} calls were answered", outcomes.len());
    format!("{answered} of {} calls answered, none twice", outcomes.len())
}

/// Reads a subscription; counts what was told, how often it came back, and whether it is over.
#[derive(Debug, Default)]
struct Heard {
    told: AtomicU64,
    resumed: AtomicU64,
    over: OnceLock<String>,
}

fn read(mut events: Subscription) -> (Arc<Heard>, JoinHandle<()>) {
    let heard = Arc::new(Heard::default());
    let counts = Arc::clone(&heard);
    let reading = tokio::spawn(async move {
        while let Some(event) = events.next().await {
            match event {
                Event::Notification(_) => counts.told.fetch_add(1, Ordering::Relaxed),
                Event::Resumed { .. } => counts.resumed.fetch_add(1, Ordering::Relaxed),
                Event::Closed(reason) => u64::from(counts.over.set(format!("{reason:?}")).is_err()),
                _ => 0,
            };
        }
    });
    (heard, reading)
}

/// Changes something until that is told.
async fn hears(client: &Client, heard: &Heard) {
    let (before, begin) = (heard.told.load(Ordering::Relaxed), Instant::now());
    while heard.told.load(Ordering::Relaxed) == before {
        let silent = begin.elapsed() > PATIENCE || heard.over.get().is_some();
        assert!(!silent, "it hears nothing any more: {heard:?}");
        let _ = client.call_tool("change", ()).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn filter() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_list_changed()
}

// STDIO-11, STDIO-12, STDIO-15
#[test]
fn a_process_killed_again_and_again_runs_no_call_twice_and_its_subscription_returns() {
    for version in VERSIONS {
        alone(async move {
            let book = Book::new();
            let restart = Restart::ALWAYS.at_most(100_000, Duration::from_secs(1));
            let builder = Client::builder().protocol([version]).restart(restart);
            let client = builder.connect(book.stdio()).await.expect("connected");
            let (heard, reading) = read(client.listen(filter()).await.expect("agreed"));
            let (callers, begin) = (Callers::start(&client), Instant::now());
            while begin.elapsed() < STORM {
                tokio::time::sleep(Duration::from_millis(80)).await;
                book.kill().await;
            }
            hears(&client, &heard).await;
            let told = check(&callers.stop().await, &book);
            println!("{version}: {told}; {} processes, {heard:?}", book.processes().len());
            assert!(heard.resumed.load(Ordering::Relaxed) > 0);
            reading.abort();
            client.close().await;
            drop(client);
            until("no process is left", || book.left().is_empty()).await;
        });
    }
}

// HTTPL-21
#[test]
fn a_server_over_http_killed_again_and_again_runs_no_call_twice_and_subscriptions_return() {
    for version in VERSIONS {
        alone(async move {
            let lacks = Lacks { ids: true, ..Lacks::default() };
            let mut place = Place::new(lacks).await;
            let client = place.connect(version).await;
            let quick = Reopen::after(Duration::from_millis(10), Duration::from_millis(100));
            let listening = client.listen(filter()).reopen(quick);
            let (heard, reading) = read(listening.await.expect("agreed"));
            let (callers, begin) = (Callers::start(&client), Instant::now());
            while begin.elapsed() < STORM {
                tokio::time::sleep(Duration::from_millis(80)).await;
                place.kill();
                tokio::time::sleep(Duration::from_millis(5)).await;
                place.start(lacks).await;
            }
            hears(&client, &heard).await;
            let told = check(&callers.stop().await, &*place.memory);
            println!("{version}: {told}; {heard:?}");
            assert!(heard.resumed.load(Ordering::Relaxed) > 0);
            reading.abort();
            drop(reading.await);
            place.leave(client).await;
        });
    }
}
