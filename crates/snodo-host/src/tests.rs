//! Hosts of servers in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::direct::Server;
use snodo::stdio::Stdio;
use snodo::types::{CallToolResult, Kind, SubscriptionFilter};
use snodo::{Client, Error, Event, ProtocolVersion};
use snodo_config::Config;

use crate::{Host, Limits};

fn server(tools: &[&'static str]) -> Server {
    tools.iter().copied().fold(Server::new("s", "1"), |server, name| {
        server.tool(name, json!({ "type": "object" }), move |_: Value, _| async move {
            Ok(CallToolResult::from_text(name))
        })
    })
}

async fn client(tools: &[&'static str]) -> Client {
    Client::direct(server(tools)).await.expect("in process")
}

fn missing(program: &str) -> Stdio {
    Stdio::new(program)
}

#[tokio::test]
async fn one_server_that_is_away_hides_no_other() {
    let config = br#"{ "servers": { "odd": 7, "off": { "command": "x", "disabled": true } } }"#;
    let config = Config::parse(config, |_| None).expect("a configuration");
    let host = Host::builder()
        .client("a", client(&["t"]).await)
        .server("gone", missing("snodo-no-such-program"))
        .config(&config)
        .client("b", client(&["t", "u"]).await)
        .connect()
        .await;
    let told: Vec<_> = host.members().iter().map(|m| (m.name(), m.client().is_ok())).collect();
    assert_eq!(told, [("a", true), ("gone", false), ("odd", false), ("b", true)]);
    let tools = host.list_tools().await;
    let names: Vec<_> = tools.items().iter().map(|tool| (tool.server(), tool.name())).collect();
    assert_eq!(names, [("a", "a__t"), ("b", "b__t"), ("b", "b__u")]);
    let missing: Vec<_> = tools.missing().iter().map(|missing| missing.server()).collect();
    assert_eq!(missing, ["gone", "odd"]);
    assert!(tools.missing()[0].error().to_string().contains("gone"), "{:?}", tools.missing());
    assert!(tools.missing()[1].error().to_string().contains("an object"), "{:?}", tools.missing());
}

#[tokio::test]
async fn a_call_finds_its_server_whether_or_not_its_tool_was_listed() {
    let host = Host::builder()
        .client("my server", client(&["t__x"]).await)
        .client("my_server", client(&["only here"]).await)
        .server("gone", missing("snodo-no-such-program"))
        .connect()
        .await;
    let call = async |name| host.call_tool(name, ()).await.map(|reply| reply.text().clone());
    assert_eq!(call("my_server__t__x").await.expect("the first"), "t__x");
    assert_eq!(call("my_server-2__only here").await.expect("the second"), "only here");
    host.list_tools().await;
    assert_eq!(call("my_server__t__x").await.expect("the first"), "t__x");
    for unknown in ["t", "nobody__t", "my_server__", "__t", ""] {
        assert!(call(unknown).await.is_err(), "{unknown}");
    }
    let gone = call("gone__t").await.expect_err("it is away");
    assert_eq!(gone.kind(), Kind::Transport, "{gone}");
}

#[tokio::test(start_paused = true)]
async fn a_server_gets_no_more_calls_at_once_than_it_may() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&most);
    let slow = Server::new("s", "1").tool("t", json!({ "type": "object" }), move |_: Value, _| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&counted));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(CallToolResult::from_text("done"))
        }
    });
    let host = Host::builder()
        .client("slow", Client::direct(slow).await.expect("in process"))
        .limits_for_all(Limits::default().calls_at_once(9))
        .limits("slow", Limits::default().calls_at_once(2))
        .connect()
        .await;
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { host.call_tool("slow__t", ()).await.map(drop) })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic").expect("an answer");
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_too_long_to_connect_is_given_up() {
    let host = Host::builder()
        .server("deaf", missing("cat"))
        .limits("deaf", Limits::default().connect_within(Duration::from_millis(1)))
        .connect()
        .await;
    let error: Error = host.members()[0].client().expect_err("it says nothing");
    assert!(error.is_timeout(), "{error}");
}

#[tokio::test]
async fn a_list_longer_than_its_limit_is_cut_and_that_is_told() {
    let host = Host::builder()
        .client("a", client(&["1", "2", "3"]).await)
        .limits("a", Limits::default().items(2))
        .connect()
        .await;
    let tools = host.list_tools().await;
    assert_eq!((tools.items().len(), tools.missing().len()), (2, 1));
    assert!(tools.missing()[0].error().message().contains("more than 2"));
    // A server without prompts is not missing.
    let prompts = host.list_prompts().await;
    assert_eq!((prompts.items().len(), prompts.missing().len()), (0, 0));
}

#[tokio::test]
async fn changes_of_all_servers_come_in_one_stream() {
    let version = ProtocolVersion::V2025_11_25;
    let host = Host::builder()
        .options(Client::builder().protocol([version]))
        .server("north", talker(version))
        .server("gone", missing("snodo-no-such-program"))
        .server("south", talker(version))
        .connect()
        .await;
    let mut changes = host.listen(SubscriptionFilter::new().tools_list_changed()).await;
    assert_eq!(changes.servers().collect::<Vec<_>>(), ["north", "south"]);
    assert_eq!(changes.missing()[0].server(), "gone");
    for server in ["south", "north"] {
        host.call_tool(&format!("{server}__tell"), ()).await.expect("an answer");
        let change = changes.next().await.expect("both are open");
        assert_eq!(change.server(), server);
        let Event::Notification(told) = change.into_event() else { panic!("a notification") };
        assert_eq!(told.method(), "notifications/tools/list_changed");
    }
    host.call_tool("north__leave", ()).await.expect_err("it is gone");
    let change = changes.next().await.expect("the end of it");
    assert_eq!((change.server(), matches!(change.event(), Event::Closed(_))), ("north", true));
    assert_eq!(changes.servers().collect::<Vec<_>>(), ["south"]);
    host.close().await;
}

/// A server whose tool `tell` causes an event, and whose tool `leave` ends it.
fn talker(version: ProtocolVersion) -> Stdio {
    let script = r#"while read -r line; do
        id=${line#*'"id":'}; id=${id%%[,\}]*}
        case $line in
        *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"'"$1"'",
            "capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}' | tr -d '\n'; echo;;
        *'"leave"'*) exit 3;;
        *'"tools/call"'*) echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
            echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[]}}';;
        esac
    done"#;
    Stdio::new("sh").args(["-c", script, "sh", version.as_str()])
}
