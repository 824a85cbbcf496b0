//! Servers that mean harm, against a whole client: what each attack comes to, and what it costs.
//!
//! The table of answers that is printed here stands in `docs/reliability.md`, beside the attacks that
//! other tests play.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snodo::http::Http;
use snodo::types::{Cause, SubscriptionFilter};
use snodo::{Client, Error, Event, ProtocolVersion};
use snodo_testkit::{Events, Loopback, Reply, Request};
use snodo_tests::Pipes;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use crate::flood::{acknowledged, alone, answer, memory};

const MILLION: usize = 1_000_000;

/// How much of a flood is written at once.
const BATCH: usize = 1000;

/// What a process may grow by under an attack that has no end. A message may have 1 MiB here.
const GROWTH: u64 = 16 * 1024 * 1024;

const LARGEST: usize = 1024 * 1024;

/// What every call may take; an answer that never ends takes as long.
const DEADLINE: Duration = Duration::from_secs(1);

/// What a busy machine may add to it, in a build for tests: what has come is read before the clock is
/// looked at, up to a hundred and some pieces.
const SLACK: Duration = Duration::from_secs(12);

const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];

/// What a server answers a call with, and what its caller is told.
const ANSWERS: [(&str, &str); 11] = [
    ("a body without an end", "-32000 TooLarge"),
    ("an event without an end", "-32000 TooLarge"),
    ("comments without an end", "-32001 Timeout"),
    ("notifications without an end", "-32001 Timeout"),
    ("a hundred and one headers", "-32000 TooLarge"),
    ("a header of 1 MiB", "-32000 TooLarge"),
    ("arrays within arrays, 400,000 deep", "ok"),
    ("a redirect to another origin", "-32000 Status 307"),
    ("a redirect to a file", "-32000 Status 308"),
    ("a page in place of an answer", "-32000 Malformed"),
    ("a 401 that names another origin", "-32000 Status 401"),
];

#[test]
fn a_million_notifications_cost_no_memory_and_the_next_call_is_answered() {
    let name = "hostile::a_million_notifications_cost_no_memory_and_the_next_call_is_answered";
    let told = alone(name, || async {
        let mut lines = Vec::new();
        for version in VERSIONS {
            let pipes = Pipes::new(|| serve(Harm::Notifications));
            let builder = Client::builder().protocol([version]).timeout(Duration::from_secs(120));
            let client = builder.connect(pipes).await.expect("connected");
            let filter = SubscriptionFilter::new().tools_list_changed();
            let mut events = client.listen(filter).await.expect("agreed");
            let (before, begun) = (memory(), Instant::now());
            client.call_tool("flood", ()).await.expect("it begins");
            client.call_tool("echo", ()).await.expect("answered behind the flood");
            let growth = memory().saturating_sub(before);
            let (mut taken, mut dropped) = (0, 0);
            while taken + dropped < MILLION as u64 {
                match events.next().await {
                    Some(Event::Notification(_)) => taken += 1,
                    Some(Event::Dropped(count)) => dropped += count,
                    other => panic!("{taken} and {dropped}, then {other:?}"),
                }
            }
            let took = begun.elapsed().as_secs_f32();
            let told = format!(
                "{version}: {taken} delivered, {dropped} dropped and counted, {} KiB, {took:.1} s",
                growth / 1024
            );
            assert!(growth < GROWTH, "{told}");
            lines.push(told);
        }
        lines
    });
    println!("{told}");
}

/// A fourth of the default, to be there sooner.
const LIST: usize = 64 * 1024 * 1024;

#[test]
fn a_million_tools_are_given_up_at_the_limit() {
    let told = alone("hostile::a_million_tools_are_given_up_at_the_limit", || async {
        let pipes = Pipes::new(|| serve(Harm::Tools));
        let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
        let client = builder.max_list_bytes(LIST).connect(pipes).await.expect("connected");
        let (before, begun) = (memory(), Instant::now());
        let error = client.list_tools().await.expect_err("it is too long");
        let growth = memory().saturating_sub(before) / 1024 / 1024;
        let Some(Cause::ListLimit { limit }) = error.cause() else { panic!("{error:?}") };
        assert_eq!((error.code(), *limit), (-32000, LIST));
        // As much again, and more, for what an allocator adds to small pieces.
        assert!(growth < 192, "{growth} MiB");
        client.call_tool("echo", ()).await.expect("the connection is as it was");
        vec![format!("{growth} MiB, {:.1} s", begun.elapsed().as_secs_f32())]
    });
    println!("{told}");
}

#[test]
fn whatever_a_server_answers_with_its_caller_is_told_and_the_next_call_is_answered() {
    let name =
        "hostile::whatever_a_server_answers_with_its_caller_is_told_and_the_next_call_is_answered";
    let told = alone(name, || async {
        let mut text =
            String::from("| a call is answered with | the caller is told |\n|---|---|\n");
        let mut others = Vec::new();
        for (attack, expected) in ANSWERS {
            for version in VERSIONS {
                let told = attacked(attack, version).await;
                if told != expected {
                    others.push(format!("{attack}, {version}: {told}"));
                }
            }
            writeln!(text, "| {attack} | {expected} |").expect("a string takes it");
        }
        assert!(others.is_empty(), "{}", others.join("\n"));
        let written = include_str!("../../docs/reliability.md");
        assert!(written.contains(&text), "docs/reliability.md shows another table than\n{text}");
        text.lines().map(str::to_owned).collect()
    });
    println!("{told}");
}

/// What the caller of a call is told that is answered so.
async fn attacked(attack: &'static str, version: ProtocolVersion) -> String {
    let other = Arc::new(Loopback::serve(|_| async { Reply::new(200) }).await.expect("a port"));
    let origin = other.origin();
    let server = Loopback::serve(move |request| {
        let origin = origin.clone();
        async move { reply(attack, &request, &origin) }
    });
    let server = server.await.expect("a port");
    let http = Http::new(server.url()).expect("a URL").bearer("s3cret").expect("a token");
    let builder = Client::builder().protocol([version]).timeout(DEADLINE);
    let client = builder.connect(http.max_body_bytes(LARGEST)).await.expect("connected");
    let (before, begun) = (memory(), Instant::now());
    let told = match client.call_tool("harm", ()).await {
        Ok(_) => "ok".to_owned(),
        Err(error) => short(&error),
    };
    let (growth, took) = (memory().saturating_sub(before), begun.elapsed());
    assert!(growth < GROWTH, "{attack}, {version}: {} KiB", growth / 1024);
    assert!(took < DEADLINE + SLACK, "{attack}, {version}: {took:?}");
    client.call_tool("echo", ()).await.expect("answered");
    let strayed = other.requests();
    assert!(strayed.is_empty() && other.connections() == 0, "{attack}: {strayed:?}");
    told
}

fn short(error: &Error) -> String {
    match error.transport() {
        Some(below) => match below.status() {
            Some(status) => format!("{} {:?} {status}", error.code(), below.fault()),
            None => format!("{} {:?}", error.code(), below.fault()),
        },
        None if error.is_timeout() => format!("{} Timeout", error.code()),
        None => format!("{} {:?}", error.code(), error.cause()),
    }
}

fn reply(attack: &str, request: &Request, other: &str) -> Reply {
    let asked = request.json().unwrap_or_default();
    if asked["params"]["name"] != "harm" {
        return match answer(&asked) {
            Some(answer) => Reply::new(200).json(answer.to_string()),
            None if request.method == "GET" => Reply::new(405),
            None => Reply::new(202),
        };
    }
    let json = || Reply::new(200).header("Content-Type", "application/json");
    let events = Reply::new(200);
    let notice =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    match attack {
        "a body without an end" => json().pieces(|body| again(body, "{\"a\":[", "[1,2],")),
        "an event without an end" => events.stream(|body| again(body, "data: {\"a\":\"", "xxxx")),
        "comments without an end" => events.stream(|body| again(body, "", ": x\n\n")),
        "notifications without an end" => {
            let event = format!("data: {notice}\n\n");
            events.stream(move |body| async move { again(body, "", &event).await })
        }
        "a hundred and one headers" => {
            (0..101).fold(json(), |reply, at| reply.header(&format!("x-{at}"), "x"))
        }
        "a header of 1 MiB" => json().header("x-long", &"x".repeat(LARGEST)),
        "arrays within arrays, 400,000 deep" => {
            let (open, close) = ("[".repeat(400_000), "]".repeat(400_000));
            let deep = r#"{"content":[],"resultType":"complete","_meta":{"x":"#;
            let id = &asked["id"];
            Reply::new(200)
                .json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{deep}{open}{close}}}}}}}"#))
        }
        "a redirect to another origin" => {
            Reply::new(307).header("Location", &format!("{other}/mcp"))
        }
        "a redirect to a file" => Reply::new(308).header("Location", "file:///etc/passwd"),
        "a page in place of an answer" => {
            Reply::new(200).header("Content-Type", "text/html").text("<h1>\u{1b}[2JLog in</h1>")
        }
        "a 401 that names another origin" => {
            let place = format!("{other}/.well-known/oauth-protected-resource");
            let challenge = format!("Bearer resource_metadata=\"{place}\"");
            Reply::new(401).header("WWW-Authenticate", &challenge)
        }
        other => panic!("no attack is called {other}"),
    }
}

/// Says the same until nobody hears it.
async fn again(body: Events, first: &str, words: &str) {
    let words = words.repeat(64 * 1024 / words.len());
    body.raw(first).await;
    loop {
        body.raw(words.clone()).await;
    }
}

#[derive(Clone, Copy)]
enum Harm {
    Notifications,
    Tools,
}

/// A server at the other end of a pipe.
fn serve(harm: Harm) -> DuplexStream {
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let (reader, mut writer) = tokio::io::split(far);
        let mut lines = BufReader::new(reader).lines();
        let mut subscription = None;
        while let Ok(Some(line)) = lines.next_line().await {
            let asked: Value = serde_json::from_str(&line).expect("JSON");
            let text = match asked["method"].as_str() {
                Some("subscriptions/listen") => {
                    subscription = Some(asked["id"].clone());
                    Some(acknowledged(&asked))
                }
                Some("tools/list") => Some(page(&asked)),
                _ => answer(&asked).map(|answer| answer.to_string()),
            };
            let Some(text) = text else { continue };
            if writer.write_all(format!("{text}\n").as_bytes()).await.is_err() {
                return;
            }
            if matches!(harm, Harm::Notifications) && asked["params"]["name"] == "flood" {
                let batch = notice(subscription.as_ref()).repeat(BATCH);
                for _ in 0..MILLION / BATCH {
                    if writer.write_all(batch.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        }
    });
    near
}

fn notice(subscription: Option<&Value>) -> String {
    let mut told = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    if let Some(id) = subscription {
        told["params"] = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
    }
    format!("{told}\n")
}

/// Ten thousand tools, and a cursor that leads to as many more until there are a million.
fn page(asked: &Value) -> String {
    let cursor = asked["params"]["cursor"].as_str().unwrap_or("0");
    let first: usize = cursor.parse().expect("a number");
    let tools: Vec<Value> = (first..first + MILLION / 100)
        .map(|number| json!({ "name": format!("t{number}"), "inputSchema": { "type": "object" } }))
        .collect();
    let next = first + tools.len();
    let mut result = json!({ "tools": tools, "resultType": "complete" });
    if next < MILLION {
        result["nextCursor"] = next.to_string().into();
    }
    json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string()
}
