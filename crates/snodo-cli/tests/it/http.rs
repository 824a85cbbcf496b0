//! Servers that are reached by a URL.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::{document, snodo};

#[test]
fn headers_reach_a_server_that_is_named_by_its_url() {
    let server = Endpoint::start();
    let url = server.url.as_str();
    let words =
        ["call", url, "echo", "text=hi", "--header", "X-One: 1", "--header", "x-two:  a: b "];
    let (code, said) = document(&words);
    assert_eq!((code, &said["content"][0]["text"]), (0, &json!("over HTTP")), "{said}");
    let heads = server.heads.lock().expect("nobody panicked").clone();
    assert!(!heads.is_empty());
    for head in heads {
        assert!(head.contains("x-one: 1\r\n") && head.contains("x-two: a: b\r\n"), "{head}");
    }
    assert_eq!(snodo(&["ping", url]).code, 0);
}

#[test]
fn a_url_without_a_server_and_a_server_without_a_welcome_end_with_4() {
    let port =
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
    let ran = snodo(&["tools", &format!("http://127.0.0.1:{port}/mcp")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{}", ran.stderr);
    let server = Endpoint::start();
    let (code, told) = document(&["tools", &format!("{}/locked", server.url)]);
    assert_eq!((code, &told["error"]["kind"]), (4, &json!("authorization")), "{told}");
}

#[test]
fn a_server_of_a_version_that_nobody_knows_ends_with_3() {
    let server = Endpoint::start();
    let (code, told) = document(&["tools", &format!("{}/future", server.url)]);
    assert_eq!((code, &told["error"]["data"]["supported"]), (3, &json!(["2099-01-01"])), "{told}");
}

/// A stateless server over HTTP, one message for each connection.
struct Endpoint {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    /// Runs until the test's process ends.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that goes away is no failure of the server.
                let _ = answer(stream, &seen);
            }
        });
        Self { url, heads }
    }
}

fn answer(stream: TcpStream, heads: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let (status, reply) = if head.starts_with("post /locked") {
        ("401 Unauthorized", String::new())
    } else {
        let speaks = if head.starts_with("post /future") { "2099-01-01" } else { "2026-07-28" };
        ("200 OK", reply(&serde_json::from_slice(&body).unwrap_or_default(), speaks).to_string())
    };
    heads.lock().expect("nobody panicked").push(head);
    let mut stream = reader.into_inner();
    let length = reply.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{reply}"
    )
}

fn reply(message: &Value, speaks: &str) -> Value {
    let result = match message["method"].as_str() {
        Some("server/discover") => json!({
            "resultType": "complete", "supportedVersions": [speaks],
            "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private",
        }),
        Some("tools/list") => json!({
            "resultType": "complete", "tools": [{ "name": "echo", "inputSchema": {} }],
            "ttlMs": 0, "cacheScope": "private",
        }),
        _ => json!({
            "resultType": "complete", "content": [{ "type": "text", "text": "over HTTP" }],
        }),
    };
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
}
