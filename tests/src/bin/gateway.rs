//! One process of a fleet: four clients that ask for the tools of one server again and again, with
//! one cache on one Redis.
//!
//! `gateway SERVER REDIS MILLISECONDS` prints a line of JSON for each client: the names of the tools
//! that it saw, in order, each once; and how often it asked.

#![expect(clippy::print_stdout, reason = "what it saw is what it prints")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snodo::http::Http;
use snodo::{Cache, Client, ProtocolVersion};
use snodo_cache_redis::Redis;

#[tokio::main]
async fn main() {
    let [server, redis, time] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .expect("gateway SERVER REDIS MILLISECONDS");
    let time = Duration::from_millis(time.parse().expect("a number"));
    // However slow the machine is: another one fetches only if this process is gone.
    let store = Redis::new(redis).expect("a URL").claim_for(Duration::from_secs(60));
    let cache = Cache::shared(store);
    let clients: Vec<_> =
        (0..4).map(|_| tokio::spawn(ask(server.clone(), cache.clone(), time))).collect();
    for client in clients {
        println!("{}", client.await.expect("no panic"));
    }
}

async fn ask(server: String, cache: Cache, time: Duration) -> Value {
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]).cache(cache);
    let client = builder.connect(Http::new(server).expect("a URL")).await.expect("connected");
    let (start, mut asked) = (Instant::now(), 0);
    let mut seen: Vec<String> = Vec::new();
    while start.elapsed() < time {
        let name = client.list_tools().await.expect("tools").remove(0).name;
        asked += 1;
        if seen.last() != Some(&name) {
            seen.push(name);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    json!({ "seen": seen, "asked": asked })
}
