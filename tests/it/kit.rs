//! The rules that every transport has to keep, tried on each.

/// The worked transport of the documentation of `snodo-transport`.
#[expect(dead_code, reason = "what its `main` needs")]
#[path = "../../crates/snodo-transport/examples/queues.rs"]
mod queues;

use std::net::Ipv4Addr;

use snodo_direct::Direct;
use snodo_http::Http;
use snodo_stdio::{Stdio, Streams};
use snodo_testkit::{Answers, Peer, check_transport};
use snodo_tests::{PeerRuntime, Pipes};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use queues::Queues;

#[tokio::test]
async fn a_byte_pipe_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let server = peer.clone();
    let pipes = Pipes::new(move || {
        let (near, far) = tokio::io::duplex(64 * 1024);
        // It ends with the pipe.
        tokio::spawn(server.clone().serve_pipe(far));
        near
    });
    check_transport(&pipes, &peer).await.expect("every rule");
}

#[tokio::test]
async fn a_narrow_pipe_keeps_them_too() {
    let peer = Peer::new();
    let server = peer.clone();
    let pipes = Pipes::new(move || {
        let (near, far) = tokio::io::duplex(251);
        tokio::spawn(server.clone().serve_pipe(far));
        near
    });
    check_transport(&pipes, &peer).await.expect("every rule");
}

// STDIO-17
#[tokio::test]
async fn a_child_process_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = peer.clone();
    let serving = tokio::spawn(async move {
        let mut pipes = JoinSet::new();
        while let Ok((socket, _)) = listener.accept().await {
            pipes.spawn(server.clone().serve_pipe(socket));
        }
    });
    let child = Stdio::new(env!("CARGO_BIN_EXE_relay")).arg(port.to_string());
    check_transport(&child, &peer).await.expect("every rule");
    serving.abort();
}

#[tokio::test]
async fn http_with_json_bodies_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let server = peer.serve_http(Answers::Json).await.expect("a port");
    let target = Http::new(server.url()).expect("a URL");
    check_transport(&target, &peer).await.expect("every rule");
}

#[tokio::test]
async fn http_with_event_streams_keeps_them_too() {
    let peer = Peer::new();
    let server = peer.serve_http(Answers::Events).await.expect("a port");
    let target = Http::new(server.url()).expect("a URL");
    check_transport(&target, &peer).await.expect("every rule");
}

// S-12
#[cfg(unix)]
#[tokio::test]
async fn http_over_a_unix_socket_keeps_them_too() {
    let peer = Peer::new();
    let server = peer.serve_http(Answers::Json).await.expect("a port");
    let address = server.origin().trim_start_matches("http://").to_owned();
    let path = std::env::temp_dir().join(format!("snodo-kit-{}.sock", std::process::id()));
    let listener = tokio::net::UnixListener::bind(&path).expect("a socket");
    let passing = tokio::spawn(async move {
        let mut sockets = JoinSet::new();
        while let Ok((mut near, _)) = listener.accept().await {
            let address = address.clone();
            sockets.spawn(async move {
                let mut far = TcpStream::connect(address).await?;
                tokio::io::copy_bidirectional(&mut near, &mut far).await
            });
        }
    });
    let target = Http::new("http://localhost/mcp").expect("a URL").unix_socket(&path);
    let kept = check_transport(&target, &peer).await;
    passing.abort();
    std::fs::remove_file(&path).expect("removed");
    kept.expect("every rule");
}

// STDIO-13
#[tokio::test]
async fn streams_of_a_socket_keep_the_rules_of_transports() {
    let peer = Peer::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = peer.clone();
    let serving = tokio::spawn(async move {
        let mut sockets = JoinSet::new();
        while let Ok((socket, _)) = listener.accept().await {
            sockets.spawn(server.clone().serve_pipe(socket));
        }
    });
    let streams = Streams::new(move || TcpStream::connect(address));
    check_transport(&streams, &peer).await.expect("every rule");
    serving.abort();
}

#[tokio::test]
async fn a_server_in_this_process_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let target = Direct::new(PeerRuntime(peer.clone()));
    check_transport(&target, &peer).await.expect("every rule");
}

#[tokio::test]
async fn the_worked_transport_of_the_documentation_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let server = peer.clone();
    let runtime = Handle::current();
    let target = Queues::new(move |requests, answers| {
        let (heard, hearing) = mpsc::channel(64);
        let (say, mut said) = mpsc::channel(64);
        let serving = runtime.spawn(server.clone().serve(hearing, say));
        let reading = std::thread::spawn(move || {
            while let Some(text) = said.blocking_recv() {
                if answers.send(text).is_err() {
                    return;
                }
            }
        });
        for request in requests {
            if heard.blocking_send(request).is_err() {
                break;
            }
        }
        serving.abort();
        reading.join().expect("no panic");
    });
    check_transport(&target, &peer).await.expect("every rule");
}
