//! The rules that every transport has to keep, tried on each.

use snodo_direct::Direct;
use snodo_http::Http;
use snodo_testkit::{Peer, check_transport};
use snodo_tests::{PeerRuntime, Pipes};

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

#[tokio::test]
async fn http_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let server = peer.serve_http().await.expect("a port");
    let target = Http::new(server.url()).expect("a URL");
    check_transport(&target, &peer).await.expect("every rule");
}

#[tokio::test]
async fn a_server_in_this_process_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let target = Direct::new(PeerRuntime(peer.clone()));
    check_transport(&target, &peer).await.expect("every rule");
}
