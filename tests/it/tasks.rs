//! Tasks over HTTP: what stands beside their messages.

use serde_json::json;
use snodo_http::Http;
use snodo_tasks::TaskClient;
use snodo_testkit::{Loopback, Reply, Request};
use snodo_types::InputResponses;

use crate::script::{session, stateless};

/// A server of either era that has tasks and answers everything that is asked of one.
async fn server() -> Loopback {
    let server = Loopback::serve(|request| async move {
        let result = match (request.method.as_str(), request.rpc().as_deref()) {
            ("POST", Some("initialize")) => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tasks": { "requests": { "tools": { "call": {} } } } },
            }),
            ("POST", Some("tasks/get" | "tasks/cancel" | "tasks/update")) => json!({
                "taskId": request.json().unwrap_or_default()["params"]["taskId"],
                "status": "working",
                "createdAt": "1970-01-01T00:00:00Z",
                "lastUpdatedAt": "1970-01-01T00:00:00Z",
                "ttl": null,
                "ttlMs": null,
            }),
            ("POST", _) => return Reply::new(202),
            _ => return Reply::new(405),
        };
        let id = request.json().unwrap_or_default()["id"].clone();
        Reply::new(200).json(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
    });
    server.await.expect("a port")
}

fn routed(requests: &[Request]) -> Vec<(Option<&str>, Option<&str>)> {
    requests.iter().map(|sent| (sent.header("mcp-method"), sent.header("mcp-name"))).collect()
}

// HDR-09, TASK-25
#[tokio::test]
async fn requests_about_a_task_are_routed_by_its_id() {
    for (id, header) in [("t-1", "t-1"), ("\u{e9} 1", "=?base64?w6kgMQ==?=")] {
        let server = server().await;
        let target = Http::new(server.url()).expect("a URL");
        let client = stateless().connect(target).await.expect("a client");
        let tasks = TaskClient::new(&client);
        let task = tasks.task(id).expect("a version with tasks");
        tasks.get(&task).await.expect("its state");
        let answers = InputResponses::new().with("q", &json!({ "action": "cancel" }));
        tasks.update(&task, answers).await.expect("taken");
        tasks.cancel(&task).await.expect("taken");
        let methods = ["tasks/get", "tasks/update", "tasks/cancel"];
        let expected = methods.map(|method| (Some(method), Some(header)));
        assert_eq!(routed(&server.requests()), expected);
    }
}

// HTTPL-19
#[tokio::test]
async fn in_the_initialize_era_nothing_is_routed() {
    let server = server().await;
    let target = Http::new(server.url()).expect("a URL");
    let client = session().connect(target).await.expect("a client");
    let tasks = TaskClient::new(&client);
    let task = tasks.task("t-1").expect("a version with tasks");
    tasks.get(&task).await.expect("its state");
    tasks.cancel(&task).await.expect("taken");
    let sent = server.requests();
    assert!(sent.iter().filter_map(Request::rpc).any(|method| method == "tasks/get"));
    assert!(routed(&sent).iter().all(|beside| *beside == (None, None)), "{sent:?}");
}
