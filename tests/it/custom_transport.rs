//! The smallest transport there is. A larger one, by a stranger, is `tests/custom-transport`.

use serde_json::{Value, json};
use snodo::Client;
use snodo_testkit::{Peer, check_transport};
use snodo_types::ProtocolVersion;

// S-12
#[tokio::test]
async fn a_function_is_a_transport_too() {
    let peer = Peer::new();
    let server = peer.clone();
    let transport = snodo_transport::from_fn(move |envelope| {
        let server = server.clone();
        async move { server.reply(envelope.message).await }
    });
    check_transport(&transport, &peer).await.expect("every rule");
    let builder = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
    let client = builder.connect(transport).await.expect("a client");
    let echoed = client.request("echo", json!({ "a": 1 })).await.expect("an answer");
    let echoed: Value = serde_json::from_str(echoed.raw()).expect("JSON");
    assert_eq!(echoed["a"], 1);
}
