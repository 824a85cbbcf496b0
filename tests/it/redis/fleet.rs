//! Eight clients in two processes, one server, one Redis.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snodo_testkit::{Loopback, Reply};
use tokio::process::Command;

use super::refuse;
use super::server::Server;

const GATEWAY: &str = env!("CARGO_BIN_EXE_gateway");

const TTL: Duration = Duration::from_millis(700);

/// When each fetch came, and when it was answered.
type Fetches = Arc<Mutex<Vec<(Instant, Instant)>>>;

/// A server that takes its time, so that whoever misses at once is there at once.
async fn server(fetches: &Fetches) -> Loopback {
    let fetches = Arc::clone(fetches);
    let server = Loopback::serve(move |request| {
        let fetches = Arc::clone(&fetches);
        async move {
            let message = request.json().unwrap_or_default();
            if message["method"] != "tools/list" {
                return refuse(&message);
            }
            let came = Instant::now();
            tokio::time::sleep(Duration::from_millis(100)).await;
            let mut fetches = fetches.lock().expect("no panic");
            let tool = json!({ "name": format!("t{}", fetches.len()), "inputSchema": {} });
            let ttl = u64::try_from(TTL.as_millis()).expect("short");
            let result = json!({ "tools": [tool], "ttlMs": ttl, "cacheScope": "public" });
            fetches.push((came, Instant::now()));
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            Reply::new(200).json(body.to_string())
        }
    });
    server.await.expect("a port")
}

/// Runs one process of the fleet and reads what its clients saw.
async fn gateway(server: String, redis: String, time: Duration) -> Vec<Value> {
    let mut command = Command::new(GATEWAY);
    command.args([server, redis, time.as_millis().to_string()]);
    command.stdin(Stdio::null()).stderr(Stdio::inherit()).kill_on_drop(true);
    let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
    let output = output.expect("in time").expect("it starts");
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

// S-45, CACHE-04, CACHE-06
#[tokio::test]
async fn a_fleet_of_eight_clients_in_two_processes_fetches_once_per_time_to_live() {
    let (redis, fetches) = (Server::start().await, Fetches::default());
    let server = server(&fetches).await;
    let time = 5 * TTL;
    let run = || gateway(server.url(), redis.url(), time);
    let (one, other) = tokio::join!(run(), run());
    let fetches = fetches.lock().expect("no panic").clone();
    assert!(fetches.len() >= 3, "{}", fetches.len());
    for pair in fetches.windows(2) {
        let gap = pair[1].0.saturating_duration_since(pair[0].1);
        assert!(gap >= TTL, "asked again {gap:?} after an answer");
    }
    let clients: Vec<_> = one.iter().chain(&other).collect();
    assert_eq!(clients.len(), 8);
    for client in &clients {
        let seen: Vec<_> = client["seen"].as_array().expect("names").iter().collect();
        let asked = client["asked"].as_u64().expect("a number");
        assert!(asked > seen.len() as u64 && !seen.is_empty(), "{client}");
        // Nobody goes back to what was fetched before.
        let number = |name: &&Value| name.as_str().expect("text")[1..].parse().expect("a number");
        let numbers: Vec<usize> = seen.iter().map(number).collect();
        assert!(numbers.is_sorted_by(|before, after| before < after), "{client}");
    }
    // One of the two did not fetch what both of them saw.
    let saw = |process: &[Value], number: usize| {
        let name = json!(format!("t{number}"));
        process
            .iter()
            .any(|client| client["seen"].as_array().is_some_and(|seen| seen.contains(&name)))
    };
    assert!((0..fetches.len()).any(|number| saw(&one, number) && saw(&other, number)));
}
