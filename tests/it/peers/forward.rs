//! Forward proxies: tinyproxy and microsocks.

use serde_json::json;
use snodo::http::Http;
use snodo::types::TransportFault;
use snodo::{Client, Error};

use super::{AUTHORITY, Program, TLS, Upstream, client, nginx};

/// tinyproxy, which lets whoever knows the password anywhere.
async fn tinyproxy(more: &str) -> Program {
    let configuration = format!(
        "Port @PORT@\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\nLogFile \"@FOLDER@/log\"\n{more}\n"
    );
    let files = [("tinyproxy.conf", configuration.as_str())];
    Program::start("tinyproxy", &files, &["-d", "-c", "@FOLDER@/tinyproxy.conf"]).await
}

async fn microsocks(more: &[&str]) -> Program {
    let arguments = [&["-i", "127.0.0.1", "-p", "@PORT@"], more].concat();
    Program::start("microsocks", &[], &arguments).await
}

/// An MCP server behind nginx, over TLS.
async fn secured(upstream: &Upstream) -> Program {
    let address = upstream.address();
    let pass = format!(
        "location / {{ proxy_pass http://{address};
            proxy_set_header X-Protocol $server_protocol; proxy_set_header X-Connection $connection; }}"
    );
    nginx(&format!("server {{ {TLS} {pass} }}")).await
}

fn plain_http(upstream: &Upstream) -> Http {
    Http::new(format!("http://{}/mcp", upstream.address())).expect("a URL")
}

fn https(server: &Program) -> Http {
    let url = format!("https://localhost:{}/mcp", server.port());
    Http::new(url).expect("a URL").root_certificates(AUTHORITY).expect("a certificate")
}

async fn over(http: Http, proxy: &str) -> Client {
    client(http.proxy(proxy).expect("a proxy")).await.expect("nothing is sent")
}

async fn calls(client: &Client) -> Result<(), Error> {
    for _ in 0..5 {
        client.call_tool("echo", json!({})).await?;
    }
    Ok(())
}

#[tokio::test]
async fn tinyproxy_sends_plain_requests_on_and_opens_tunnels_for_the_rest() {
    let upstream = Upstream::start().await;
    let server = secured(&upstream).await;
    let tinyproxy = tinyproxy("").await;
    let proxy = format!("http://127.0.0.1:{}", tinyproxy.port());
    calls(&over(plain_http(&upstream), &proxy).await).await.expect("answers");
    let via = upstream.requests()[0].header("via").map(str::to_owned);
    assert!(via.is_some_and(|via| via.contains("tinyproxy")));

    calls(&over(https(&server), &proxy).await).await.expect("answers");
    assert_eq!(upstream.requests().len(), 10);
    assert_eq!(upstream.values("x-protocol"), ["HTTP/2.0"], "the proxy sees none of it");
    assert_eq!(upstream.values("x-connection").len(), 1);
}

#[tokio::test]
async fn tinyproxy_wants_a_password_and_forbids_ports() {
    let upstream = Upstream::start().await;
    let server = secured(&upstream).await;
    let tinyproxy = tinyproxy("BasicAuth ada s3cret\nConnectPort 443").await;
    let port = tinyproxy.port();
    let good = format!("http://ada:s3cret@127.0.0.1:{port}");
    calls(&over(plain_http(&upstream), &good).await).await.expect("answers");
    let authorized =
        upstream.requests().iter().any(|it| it.header("proxy-authorization").is_some());
    assert!(!authorized, "the server never hears of it");

    let error = calls(&over(https(&server), &good).await).await.expect_err("not this port");
    assert_eq!(error.transport().map(|below| below.fault()), Some(TransportFault::Connect));
    assert!(error.message().contains("403") && !error.message().contains("s3cret"), "{error}");

    let bad = format!("http://ada:wr0ng@127.0.0.1:{port}");
    let error = calls(&over(plain_http(&upstream), &bad).await).await.expect_err("wrong");
    let status = error.transport().and_then(|below| below.status());
    assert!(matches!(status, Some(401 | 407)), "{error}");
    assert!(!format!("{error} {error:?}").contains("wr0ng"), "{error}");
    assert_eq!(upstream.requests().len(), 5);
}

#[tokio::test]
async fn microsocks_connects_by_name_and_by_address_for_who_knows_the_password() {
    let upstream = Upstream::start().await;
    let server = secured(&upstream).await;
    let open = microsocks(&[]).await;
    for scheme in ["socks5", "socks5h"] {
        let proxy = format!("{scheme}://127.0.0.1:{}", open.port());
        calls(&over(plain_http(&upstream), &proxy).await).await.expect("answers");
        calls(&over(https(&server), &proxy).await).await.expect("answers");
    }
    assert_eq!(upstream.requests().len(), 20);

    let closed = microsocks(&["-u", "ada", "-P", "s3cret"]).await;
    let port = closed.port();
    let good = format!("socks5h://ada:s3cret@127.0.0.1:{port}");
    calls(&over(https(&server), &good).await).await.expect("answers");
    for bad in
        [format!("socks5h://ada:wr0ng@127.0.0.1:{port}"), format!("socks5://127.0.0.1:{port}")]
    {
        let error = calls(&over(https(&server), &bad).await).await.expect_err("no password");
        assert_eq!(error.transport().map(|below| below.fault()), Some(TransportFault::Connect));
        assert!(error.message().contains("password"), "{error}");
        assert!(!error.message().contains("wr0ng"), "{error}");
    }
}
