//! Servers on wires, and what goes wrong with what they say, byte by byte.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::{Fault, Server};
use crate::{Answers, Replay, Transcript};

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;

fn server() -> Server<Replay> {
    let text = "> {\"id\":\"$a\",\"method\":\"ping\"}\n< {\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"result\":{}}";
    Server::new(Replay::new(&Transcript::parse("t", text).expect("a transcript")))
}

/// What comes over a pipe after a ping, until the pipe ends or nothing comes any more.
async fn over_a_pipe(server: &Server<Replay>) -> (String, bool) {
    let mut pipe = server.open();
    pipe.write_all(format!("{PING}\n").as_bytes()).await.expect("room");
    let mut heard = Vec::new();
    loop {
        let read = tokio::time::timeout(Duration::from_secs(60), pipe.read_buf(&mut heard)).await;
        match read {
            Ok(Ok(0) | Err(_)) => return (String::from_utf8(heard).expect("text"), true),
            Ok(Ok(_)) => {}
            Err(_) => return (String::from_utf8(heard).expect("text"), false),
        }
    }
}

/// What comes over HTTP after a ping, until the connection ends.
async fn over_http(server: &Server<Replay>, answers: Answers) -> String {
    let listening = server.http(answers).await.expect("a port");
    let address = listening.origin().trim_start_matches("http://").to_owned();
    let mut socket = TcpStream::connect(address).await.expect("a connection");
    let head = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n\r\n", PING.len());
    socket.write_all(format!("{head}{PING}").as_bytes()).await.expect("written");
    let mut heard = Vec::new();
    let ends = |heard: &[u8]| {
        let text = String::from_utf8_lossy(heard);
        text.ends_with("\r\n0\r\n\r\n")
            || (text.contains("Content-Length")
                && text.contains("\r\n\r\n")
                && (text.ends_with('}') || text.ends_with('>')))
    };
    while !ends(&heard) {
        match socket.read_buf(&mut heard).await {
            Ok(0) | Err(_) => heard.extend(b"[broken]"),
            Ok(_) => continue,
        }
        break;
    }
    String::from_utf8(heard).expect("text")
}

#[tokio::test(start_paused = true)]
async fn on_a_pipe_each_fault_is_what_it_is_called() {
    let heard = async |fault: Fault| over_a_pipe(&server().fault(fault)).await;
    assert_eq!(over_a_pipe(&server()).await, (format!("{PONG}\n"), false));
    assert_eq!(heard(Fault::duplicate()).await.0, format!("{PONG}\n{PONG}\n"));
    assert_eq!(heard(Fault::junk("Hello")).await.0, format!("Hello\n{PONG}\n"));
    assert_eq!(heard(Fault::cut_after(10)).await, (PONG[..10].to_owned(), true));
    assert_eq!(heard(Fault::cut_after(0)).await, (String::new(), true));
    assert_eq!(heard(Fault::cut_after(0).on("other")).await, (format!("{PONG}\n"), false));
    assert_eq!(heard(Fault::status(502, "")).await.0, format!("{PONG}\n"));

    let begun = Instant::now();
    let slow = Fault::slow(1, Duration::from_millis(100));
    assert_eq!(heard(slow).await.0, format!("{PONG}\n"));
    let took = begun.elapsed() - Duration::from_secs(60);
    assert_eq!(took.as_millis() / 100, PONG.len() as u128 + 1);
}

#[tokio::test(start_paused = true)]
async fn faults_add_up() {
    let server = server()
        .fault(Fault::delay(Duration::from_secs(2)))
        .fault(Fault::junk("1"))
        .fault(Fault::junk("2"))
        .fault(Fault::cut_after(7));
    let begun = Instant::now();
    assert_eq!(over_a_pipe(&server).await, ("1\n2\n{\"j".to_owned(), true));
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn over_http_each_fault_is_what_it_is_called() {
    let heard = async |fault: Fault, answers| over_http(&server().fault(fault), answers).await;
    let json = over_http(&server(), Answers::Json).await;
    assert!(json.contains("Content-Type: application/json") && json.ends_with(PONG), "{json}");
    let events = over_http(&server(), Answers::Events).await;
    assert!(events.contains("Content-Type: text/event-stream"), "{events}");
    assert!(events.contains(&format!("event: message\ndata: {PONG}\n\n")), "{events}");

    let text = heard(Fault::duplicate(), Answers::Json).await;
    assert_eq!(text.matches(PONG).count(), 2, "{text}");
    assert!(text.contains("text/event-stream"), "{text}");
    let text = heard(Fault::junk("Hello"), Answers::Events).await;
    assert!(text.contains("data: Hello\n\nevent: message\ndata: {"), "{text}");
    let text = heard(Fault::content_type("text/html"), Answers::Json).await;
    assert!(text.contains("Content-Type: text/html\r\n") && text.ends_with(PONG), "{text}");
    let text = heard(Fault::status(502, "<h1>no</h1>"), Answers::Json).await;
    assert!(text.starts_with("HTTP/1.1 502 ") && text.ends_with("<h1>no</h1>"), "{text}");
    for answers in [Answers::Json, Answers::Events] {
        let text = heard(Fault::cut_after(9), answers).await;
        assert!(text.ends_with("[broken]") && text.contains("\r\n9\r\n"), "{text}");
        assert_eq!(heard(Fault::cut_after(0), answers).await, "[broken]");
        let slow = Fault::slow(20, Duration::from_millis(1));
        let text = heard(slow, answers).await;
        assert!(text.matches("\r\n14\r\n").count() > 0 && text.ends_with("0\r\n\r\n"), "{text}");
    }
}

#[tokio::test]
async fn over_http_a_connection_belongs_to_its_session() {
    let text = concat!(
        "> {\"id\":\"$a\",\"method\":\"server/discover\"}\n</404 on \"$a\" {\"jsonrpc\":\"2.0\",\"id\":\"$a\",\"error\":{\"code\":-32601,\"message\":\"\"}}\n",
        "> reopens\n",
        "> {\"id\":\"$b\",\"method\":\"initialize\"}\n@ session s1\n< {\"jsonrpc\":\"2.0\",\"id\":\"$b\",\"result\":{}}\n",
        "> {\"id\":\"$c\",\"method\":\"ping\"}\n< {\"jsonrpc\":\"2.0\",\"id\":\"$c\",\"result\":{}}\n",
    );
    let transcript = Transcript::parse("t", text).expect("a transcript");
    let server = Server::new(Replay::new(&transcript));
    let listening = server.http(Answers::Json).await.expect("a port");
    let ask = async |method: &str, headers: &str| {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\"}}");
        let address = listening.origin().trim_start_matches("http://").to_owned();
        let mut socket = TcpStream::connect(address).await.expect("a connection");
        let verb = if method.is_empty() { "DELETE" } else { "POST" };
        let head =
            format!("{verb} /mcp HTTP/1.1\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        socket.write_all(format!("{head}{body}").as_bytes()).await.expect("written");
        let mut heard = [0; 4096];
        let length = socket.read(&mut heard).await.expect("bytes");
        String::from_utf8_lossy(&heard[..length]).into_owned()
    };
    assert!(ask("server/discover", "").await.starts_with("HTTP/1.1 404 "));
    let opened = ask("initialize", "").await;
    assert!(opened.contains("Mcp-Session-Id: s1\r\n"), "{opened}");
    assert!(ask("ping", "Mcp-Session-Id: s2\r\n").await.starts_with("HTTP/1.1 404 "));
    assert!(ask("ping", "mcp-session-id: s1\r\n").await.starts_with("HTTP/1.1 200 "));
    assert!(ask("", "mcp-session-id: s1\r\n").await.starts_with("HTTP/1.1 200 "));
    assert!(ask("ping", "mcp-session-id: s1\r\n").await.starts_with("HTTP/1.1 404 "));
    server.served().finish().expect("every line");
}
