//! The rules that every transport has to keep.

use snodo_testkit::{Peer, check_transport};

use crate::server::Server;

// S-12
#[tokio::test]
async fn web_socket_keeps_the_rules_of_transports() {
    let peer = Peer::new();
    let served = peer.clone();
    let server = Server::start(move |heard, say| served.clone().serve(heard, say)).await;
    check_transport(&server.target(), &peer).await.expect("every rule");
}

// S-12
#[test]
fn it_depends_on_the_seam_the_words_and_its_own_io_alone() {
    let manifest = include_str!("../../Cargo.toml");
    let (_, rest) = manifest.split_once("[dependencies]\n").expect("dependencies");
    let (dependencies, _) = rest.split_once("\n[").expect("another table");
    let names: Vec<_> = dependencies.lines().filter_map(|line| line.split(" =").next()).collect();
    let expected = "futures-util snodo-transport snodo-types tokio tokio-tungstenite";
    assert_eq!(names.join(" ").trim(), expected);
}
