//! A server on rmcp at the other end of a pipe in memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp_in_process::{Calculator, in_process};
use serde_json::json;
use snodo::{Client, ProtocolVersion};

async fn connect(version: ProtocolVersion) -> Client {
    let builder = Client::builder().protocol([version]);
    builder.connect(in_process(Calculator)).await.expect("a client")
}

#[tokio::test]
async fn a_client_speaks_to_a_server_on_rmcp_in_one_process_in_each_version() {
    for version in [ProtocolVersion::V2025_11_25, ProtocolVersion::V2026_07_28] {
        let client = connect(version).await;
        assert_eq!(client.protocol(), version);
        let tools = client.list_tools().await.expect("tools");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["add", "slow"]);
        let sum = client.call_tool("add", json!({ "a": 2, "b": 3 })).await.expect("a sum");
        assert_eq!(sum.text(), "5");
        let error = client.call_tool("fly", ()).await.expect_err("no such tool");
        assert_eq!((error.code(), error.message()), (-32602, "no such tool: fly"));
        client.close().await;
    }
}

#[tokio::test]
async fn what_the_server_tells_on_the_way_comes_in_order() {
    let client = connect(ProtocolVersion::V2026_07_28).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let reply = client
        .call_tool("slow", json!({ "steps": 5 }))
        .progress(move |progress| telling.lock().expect("no panic").push(progress.progress))
        .await
        .expect("an answer");
    assert_eq!(reply.text(), "done");
    assert_eq!(*told.lock().expect("no panic"), [1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_the_others_alone() {
    let client = connect(ProtocolVersion::V2026_07_28).await;
    let slow = client.call_tool("slow", json!({ "steps": 1_000_000_000 }));
    assert!(tokio::time::timeout(Duration::from_millis(20), slow).await.is_err());
    let sum = client.call_tool("add", json!({ "a": 1, "b": 1 })).await.expect("a sum");
    assert_eq!(sum.text(), "2");
}

#[test]
fn the_example_prints_what_its_first_lines_say() {
    let source = include_str!("../../src/main.rs");
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    let mut lines = docs.map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.by_ref().find(|line| *line == "```text").expect("what it prints");
    let promised: String =
        lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_rmcp-in-process"));
    let output = { program }.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).expect("text"), promised);
}
