//! nginx before a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use snodo::http::{Http, HttpVersion};
use snodo::types::{Kind, TransportFault};
use snodo::{Client, Error, ProtocolVersion};
use snodo_testkit::{Answers, Peer, Replay, Server, Transcript, check_transport};
use tokio::sync::Notify;

use super::{AUTHORITY, CLIENT, CLIENT_KEY, TLS, Upstream, client, nginx};

/// Passes everything on as it comes, and tells the upstream how it came.
fn passes_on(upstream: &Upstream) -> String {
    let address = upstream.address();
    format!(
        "location / {{
            proxy_pass http://{address}; proxy_buffering off;
            proxy_set_header X-Protocol $server_protocol;
            proxy_set_header X-Connection $connection;
            proxy_set_header X-Client $ssl_client_s_dn;
        }}"
    )
}

fn secured(port: u16) -> Http {
    let url = format!("https://localhost:{port}/mcp");
    Http::new(url).expect("a URL").root_certificates(AUTHORITY).expect("a certificate")
}

#[tokio::test]
async fn behind_tls_and_http2_with_a_private_authority_64_calls_at_once_use_one_connection() {
    let upstream = Upstream::start().await;
    let nginx = nginx(&format!("server {{ {TLS} {} }}", passes_on(&upstream))).await;
    let client = client(secured(nginx.port())).await.expect("it connects");
    let calls: Vec<_> = (0..64)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("echo", json!({})).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.expect("no panic").expect("an answer").text(), "ok");
    }
    assert_eq!(upstream.requests().len(), 64);
    assert_eq!(upstream.values("x-protocol"), ["HTTP/2.0"]);
    assert_eq!(upstream.values("x-connection").len(), 1);
}

// S-12
#[tokio::test]
async fn over_tls_and_http2_the_rules_of_transports_are_kept_too() {
    let peer = Peer::new();
    for answers in [Answers::Json, Answers::Events] {
        let upstream = peer.serve_http(answers).await.expect("a port");
        let address = upstream.origin();
        let location = format!(
            "client_max_body_size 0; http2_max_concurrent_streams 512;
             location / {{
                proxy_pass {address}; proxy_buffering off; proxy_request_buffering off;
             }}"
        );
        let nginx = nginx(&format!("server {{ {TLS} {location} }}")).await;
        let target = secured(nginx.port()).http_version(HttpVersion::Http2);
        check_transport(&target, &peer).await.expect("every rule");
    }
}

/// What a server asks on a stream of its own, on which it said nothing before.
const ASKING: &str = r#"
@ abilities notify listen routing own_stream
> {"id":"$open","method":"initialize"}
@ session s1
< {"jsonrpc":"2.0","id":"$open","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
> {"method":"notifications/initialized"}
> GET
> {"id":"$book","method":"tools/call","params":{"name":"book"}}
< {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}
> {"id":"q1","result":{"action":"accept"}}
< {"jsonrpc":"2.0","id":"$book","result":{"content":[{"type":"text","text":"booked"}]}}
"#;

// nginx keeps the head of a response back over HTTP/2 until something follows it.
#[tokio::test]
async fn a_stream_whose_head_is_kept_back_holds_up_nobody_and_is_heard() {
    let replay = Replay::new(&Transcript::parse("asking", ASKING).expect("a transcript"));
    let upstream = Server::new(replay.clone()).http(Answers::Json).await.expect("a port");
    let location =
        format!("location / {{ proxy_pass {}; proxy_buffering off; }}", upstream.origin());
    let nginx = nginx(&format!("server {{ {TLS} {location} }}")).await;
    let builder = Client::builder()
        .protocol([ProtocolVersion::V2025_11_25])
        .on_form(|form| async move { form.accept(json!({ "name": "Ada" })) });
    let connecting = builder.connect(secured(nginx.port()).http_version(HttpVersion::Http2));
    let connected = tokio::time::timeout(Duration::from_secs(10), connecting).await;
    let client = connected.expect("in time").expect("it connects");
    let booked = client.call_tool("book", json!({})).await.expect("an answer");
    assert_eq!(booked.text(), "booked");
    client.close().await;
    replay.finish().expect("every line");
}

#[tokio::test]
async fn an_authority_that_nobody_knows_is_refused() {
    let upstream = Upstream::start().await;
    let nginx = nginx(&format!("server {{ {TLS} {} }}", passes_on(&upstream))).await;
    let url = format!("https://localhost:{}/mcp", nginx.port());
    let client = client(Http::new(url).expect("a URL")).await.expect("nothing is sent");
    let error = client.call_tool("echo", json!({})).await.expect_err("an unknown authority");
    assert_eq!(error.transport().map(|below| below.fault()), Some(TransportFault::Tls));
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn a_client_certificate_is_shown_over_either_version_and_missed_where_it_is_not() {
    let upstream = Upstream::start().await;
    let verify = "ssl_client_certificate @FOLDER@/ca.pem; ssl_verify_client on;";
    let nginx = nginx(&format!("server {{ {TLS} {verify} {} }}", passes_on(&upstream))).await;
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let http = secured(nginx.port()).http_version(version);
        let http = http.client_certificate(CLIENT, CLIENT_KEY).expect("a certificate");
        let client = client(http).await.expect("it connects");
        client.call_tool("echo", json!({})).await.expect("an answer");
    }
    assert_eq!(upstream.values("x-client"), ["CN=snodo test client"]);
    assert_eq!(upstream.values("x-protocol"), ["HTTP/1.1", "HTTP/2.0"]);
    let client = client(secured(nginx.port())).await.expect("nothing is sent");
    let error = client.call_tool("echo", json!({})).await.expect_err("nobody");
    assert!(error.message().contains("No required SSL certificate was sent"), "{error}");
    assert_eq!(upstream.requests().len(), 2);
}

/// Calls `steps`, and lets it go on once progress has come, or at once.
async fn steps(http: Http, upstream: &Upstream, waits: bool) -> Result<u32, Error> {
    let client = client(http).await?;
    let (told, count) = (Arc::new(Notify::new()), Arc::new(AtomicU32::new(0)));
    let (tell, counts) = (Arc::clone(&told), Arc::clone(&count));
    let call = client.call_tool("steps", json!({})).progress(move |_| {
        counts.fetch_add(1, Ordering::SeqCst);
        tell.notify_one();
    });
    let go = async {
        if waits {
            told.notified().await;
        }
        upstream.go();
    };
    let (reply, ()) = tokio::join!(call, go);
    assert_eq!(reply?.text(), "done");
    Ok(count.load(Ordering::SeqCst))
}

#[tokio::test]
async fn progress_comes_at_once_where_nothing_is_buffered_and_late_where_all_is() {
    let upstream = Upstream::start().await;
    let (plain, address) = (passes_on(&upstream), upstream.address());
    let through = nginx(&format!("server {{ {TLS} {plain} }}")).await;
    let come = steps(secured(through.port()), &upstream, true).await.expect("an answer");
    assert_eq!(come, 1);
    let buffers = format!("server {{ {TLS} location / {{ proxy_pass http://{address}; }} }}");
    let buffering = nginx(&buffers).await;
    let come = steps(secured(buffering.port()), &upstream, false).await.expect("an answer");
    assert_eq!(come, 1);
}

fn plain(location: &str) -> String {
    format!("server {{ listen 127.0.0.1:@PORT@; {location} }}")
}

async fn failure(url: String, tool: &str) -> Error {
    let client = client(Http::new(url).expect("a URL")).await.expect("nothing is sent");
    client.call_tool(tool, json!({})).await.expect_err("a failure")
}

/// The status, and a message that says it in short and without markup.
fn check_page(error: &Error, status: u16, mention: &str) {
    assert_eq!(error.transport().and_then(|below| below.status()), Some(status), "{error}");
    assert_eq!(error.kind(), Kind::Transport);
    let shown = error.to_string();
    assert!(shown.contains(mention) && !shown.contains('<'), "{shown}");
    assert!(shown.chars().count() < 400, "{shown}");
}

#[tokio::test]
async fn a_proxy_that_gives_up_waiting_is_told_and_its_page_is_not_dumped() {
    let upstream = Upstream::start().await;
    let address = upstream.address();
    let location =
        format!("location / {{ proxy_pass http://{address}; proxy_read_timeout 500ms; }}");
    let nginx = nginx(&plain(&location)).await;
    let error = failure(nginx.url(), "hang").await;
    check_page(&error, 504, "a proxy gave up waiting for the server behind it");
    let error = failure(nginx.url(), "steps").await;
    let fault = error.transport().map(|below| below.fault());
    let cut = [TransportFault::Closed, TransportFault::StreamEnded].map(Some);
    assert!(cut.contains(&fault), "the stream is cut off: {error}");
    // A tool is never called twice for it.
    assert_eq!(upstream.requests().len(), 2);
}

#[tokio::test]
async fn a_proxy_without_a_server_behind_it_is_told() {
    let upstream = Upstream::start().await;
    let location = format!("location / {{ proxy_pass http://{}; }}", upstream.address());
    let nginx = nginx(&plain(&location)).await;
    drop(upstream);
    check_page(&failure(nginx.url(), "echo").await, 502, "a proxy does not reach the server");
}

#[tokio::test]
async fn how_long_to_wait_is_told() {
    let limited = "location / { add_header Retry-After 7 always; return 503; }";
    let nginx = nginx(&plain(limited)).await;
    let error = failure(nginx.url(), "echo").await;
    check_page(&error, 503, "503 Service Temporarily Unavailable");
    let wait = error.transport().and_then(|below| below.retry_after());
    assert_eq!(wait, Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn a_list_that_comes_too_soon_is_put_off_and_a_tool_is_not() {
    let upstream = Upstream::start().await;
    let address = upstream.address();
    let limits = format!(
        "limit_req_zone $binary_remote_addr zone=one:1m rate=60r/m; limit_req_status 429;
         server {{ listen 127.0.0.1:@PORT@; limit_req zone=one; error_page 429 = @later;
            location @later {{ add_header Retry-After 2 always; return 429; }}
            location / {{ proxy_pass http://{address}; }} }}"
    );
    let nginx = nginx(&limits).await;
    let client = client(Http::new(nginx.url()).expect("a URL")).await.expect("nothing is sent");
    client.list_tools().await.expect("the first");
    client.list_tools().await.expect("the second, when its time has come");
    assert_eq!(upstream.requests().len(), 2);
    let calls = [client.call_tool("echo", json!({})), client.call_tool("echo", json!({}))];
    let [first, second] = calls;
    let outcomes = [first.await, second.await];
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    let waits: Vec<_> = refused.filter_map(|it| it.transport()?.retry_after()).collect();
    assert!(!waits.is_empty() && waits.iter().all(|wait| wait.as_secs() == 2), "{outcomes:?}");
}

#[tokio::test]
async fn a_slash_that_is_missing_is_led_to_and_another_host_is_not() {
    let upstream = Upstream::start().await;
    let address = upstream.address();
    let locations = format!(
        "location = /mcp {{ return 308 $scheme://$http_host/mcp/; }}
         location = /away {{ return 307 http://elsewhere.invalid/mcp; }}
         location / {{ proxy_pass http://{address}; }}"
    );
    let nginx = nginx(&plain(&locations)).await;
    let client = client(Http::new(nginx.url()).expect("a URL")).await.expect("nothing is sent");
    client.call_tool("echo", json!({})).await.expect("an answer");
    assert_eq!(upstream.requests()[0].path, "/mcp/");
    let error = failure(nginx.url().replace("/mcp", "/away"), "echo").await;
    assert!(error.message().contains("moved to http://elsewhere.invalid ("), "{error}");
}

#[tokio::test]
async fn a_server_that_ends_its_connections_after_ten_requests_costs_no_call() {
    let upstream = Upstream::start().await;
    let few = "keepalive_requests 10;";
    let nginx = nginx(&format!("server {{ {TLS} {few} {} }}", passes_on(&upstream))).await;
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let client =
            client(secured(nginx.port()).http_version(version)).await.expect("it connects");
        for _ in 0..60 {
            client.call_tool("echo", json!({})).await.expect("an answer");
        }
    }
    assert_eq!(upstream.requests().len(), 120);
    assert!(upstream.values("x-connection").len() >= 12);
}

#[tokio::test]
async fn what_nginx_packs_is_unpacked_and_a_stream_is_not_held_up_by_it() {
    let upstream = Upstream::start().await;
    let gzip = "gzip on; gzip_proxied any; gzip_types application/json text/event-stream;
        gzip_min_length 1; gunzip off;";
    let address = upstream.address();
    let location = format!("location / {{ proxy_pass http://{address}; proxy_buffering off; }}");
    let nginx = nginx(&plain(&format!("{gzip} {location}"))).await;
    let http = || Http::new(nginx.url()).expect("a URL").compression();
    let client = client(http()).await.expect("nothing is sent");
    let reply = client.call_tool("heavy", json!({})).await.expect("an answer");
    assert_eq!(reply.text().len(), 81_000);
    let asked = upstream.requests()[0].header("accept-encoding").map(str::to_owned);
    assert_eq!(asked.as_deref(), Some("gzip, br, zstd"));
    let come = steps(http(), &upstream, true).await.expect("an answer");
    assert_eq!(come, 1);
}
