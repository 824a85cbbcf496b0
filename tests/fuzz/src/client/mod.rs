//! A whole client against any server, in a time that is simulated.
//!
//! The input is a program for both sides: what the client does, and what the server says to each thing that it hears. It
//! runs over a byte pipe, over a transport whose exchanges have streams of their own, and over HTTP without sockets.

mod http;
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use snodo::types::SubscriptionFilter;
use snodo::{Client, HandlerError, ProtocolVersion};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use self::server::World;
use crate::head;

/// Every call ends once and within its deadline, no id is used twice, no request is cancelled twice, nothing is sent
/// behind the end, and nothing is left.
///
/// # Panics
///
/// Where it is otherwise.
pub fn check(input: &[u8]) {
    let ([plan, versions, steps], rest) = head::<3>(input);
    let (steps, script) = rest.split_at(rest.len().min(2 * (usize::from(steps % 8) + 1)));
    let world = World::new(script.to_vec());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(run(&world, plan, versions, steps));
    world.judge();
}

async fn run(world: &Arc<World>, plan: u8, versions: u8, steps: &[u8]) {
    let versions = match versions % 3 {
        0 => vec![ProtocolVersion::V2026_07_28],
        1 => vec![ProtocolVersion::V2025_11_25],
        _ => ProtocolVersion::ALL.to_vec(),
    };
    let patience = Duration::from_secs(u64::from(plan / 3 % 32));
    let builder = Client::builder().protocol(versions).timeout(TIMEOUT).max_pages(3);
    let builder = builder.on_form(move |form| async move {
        sleep(patience).await;
        if patience.is_zero() { Err(HandlerError::new("no")) } else { form.accept(json!({})) }
    });
    let began = Instant::now();
    let connected = match plan % 3 {
        0 => builder.connect(world.pipes()).await,
        1 => builder.connect(world.streams()).await,
        _ => builder.connect(http::to(world)).await,
    };
    assert!(began.elapsed() <= CONNECTED, "connecting took {:?}", began.elapsed());
    if let Ok(client) = connected {
        drive(world, client, steps).await;
    }
    // Long enough for whatever was left to show itself.
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0, "tasks are left");
}

/// Does one step after the other, each beside those before it, and closes.
async fn drive(world: &Arc<World>, client: Client, steps: &[u8]) {
    let told = Arc::new(AtomicUsize::new(0));
    let mut running: Vec<JoinHandle<()>> = Vec::new();
    for step in steps.chunks(2) {
        let (what, how) = (step[0], step.get(1).copied().unwrap_or_default());
        let (client, told) = (client.clone(), Arc::clone(&told));
        let time = Duration::from_millis(u64::from(how) * 100);
        match what % 6 {
            0 => running.push(tokio::spawn(call(client, time, DEADLINE, told))),
            1 => running.push(tokio::spawn(call(client, 4 * time, time, told))),
            2 => running.push(tokio::spawn(async move {
                // A list has no deadline of its own: what bounds it is its pages and the pauses of each.
                let listed = timeout(LISTED, client.list_tools().into_future()).await;
                assert!(listed.is_ok(), "a list without end");
            })),
            3 => running.push(tokio::spawn(async move {
                // Given up on the way, or over before.
                let _ = timeout(time, client.call_tool("dropped", ()).into_future()).await;
            })),
            4 => running.push(tokio::spawn(listen(client, time))),
            _ => sleep(time).await,
        }
    }
    let (began, closing) = (Instant::now(), client.clone());
    closing.close().await;
    assert!(began.elapsed() <= CLOSED, "closing took {:?}", began.elapsed());
    world.close();
    client.call_tool("late", ()).await.expect_err("it is closed");
    drop((client, closing));
    for task in running {
        task.await.expect("what a step asserts");
    }
    let before = told.load(Ordering::Relaxed);
    sleep(DEADLINE).await;
    assert_eq!(told.load(Ordering::Relaxed), before, "progress of calls that are over");
}

/// A call that is over within its deadline, whatever comes.
async fn call(client: Client, time: Duration, deadline: Duration, told: Arc<AtomicUsize>) {
    let began = Instant::now();
    let request = client.call_tool("any", json!({ "a": 1 })).deadline(deadline).timeout(time);
    let request = request.reset_timeout_on_progress().progress(move |_| {
        told.fetch_add(1, Ordering::Relaxed);
    });
    // The answer may be anything.
    let _ = request.await;
    let took = began.elapsed();
    assert!(took <= deadline + Duration::from_millis(10), "a call took {took:?}");
}

/// Listens for a while.
async fn listen(client: Client, time: Duration) {
    let listening = async {
        let filter = SubscriptionFilter::new().tools_list_changed();
        let Ok(mut events) = client.listen(filter).await else { return };
        drop(client);
        while events.next().await.is_some() {}
    };
    // Dropping the subscription is how it ends.
    let _ = timeout(time, listening).await;
}

const TIMEOUT: Duration = Duration::from_secs(5);
const DEADLINE: Duration = Duration::from_secs(40);
/// A probe, a second connection and `initialize` there, each with its pauses, and what ends the first politely.
const CONNECTED: Duration = Duration::from_secs(60);
const CLOSED: Duration = Duration::from_millis(5_010);
/// Three pages; each may stand for ten minutes while questions are being answered.
const LISTED: Duration = Duration::from_secs(3 * 610);
