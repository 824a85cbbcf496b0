//! Proxies, as far as a test can play them; real ones are among the integration tests.

use snodo_transport::Connect as _;
use snodo_types::{Processed, TransportFault};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::http2_server::{Deed, Http2Server};
use super::server::{Act, Server, json, plain, soon, write};
use super::{connect, failure, result};
use crate::{Http, HttpVersion, Proxies};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn far(url: &str) -> Http {
    Http::new(url).expect("a URL")
}

#[tokio::test]
async fn an_http_proxy_is_asked_for_the_whole_url_and_its_connection_is_used_again() {
    let proxy = Server::start(|_| json(RESULT)).await;
    let over = format!("http://user:p%40ss@{}", proxy.address());
    let http = far("http://mcp.invalid:9/mcp?q=1").proxy(&over).expect("a proxy");
    let layered = http.clone().layer(tower::layer::util::Identity::new());
    for http in [http, layered] {
        let transport = connect(http).await;
        result(&transport, 1).await;
        result(&transport, 1).await;
    }
    let seen = proxy.seen();
    assert_eq!((seen.len(), proxy.accepted()), (4, 2));
    for seen in seen {
        assert_eq!(seen.line, "POST http://mcp.invalid:9/mcp?q=1 HTTP/1.1");
        assert_eq!(seen.header("host"), Some("mcp.invalid:9"));
        assert_eq!(seen.header("proxy-authorization"), Some("Basic dXNlcjpwQHNz"));
    }
}

#[tokio::test]
async fn errands_go_over_the_proxy_too() {
    let proxy = Server::start(|_| json(RESULT)).await;
    let over = format!("http://u:p@{}", proxy.address());
    let errands = far("http://mcp.invalid/").proxy(&over).expect("a proxy").errands();
    let (get, none) = (http::Method::GET, http::HeaderMap::new());
    errands.send(get, "http://as.invalid/doc", none, Vec::new()).await.expect("an answer");
    assert_eq!(proxy.seen()[0].line, "GET http://as.invalid/doc HTTP/1.1");
    assert_eq!(proxy.seen()[0].header("proxy-authorization"), Some("Basic dTpw"));
}

#[tokio::test]
async fn a_proxy_that_refuses_is_told_apart_from_the_server() {
    let refusal = plain("407 Proxy Authentication Required", "who?");
    let proxy = Server::scripted(vec![refusal]).await;
    let over = format!("http://{}", proxy.address());
    let http = far("http://mcp.invalid/").proxy(&over).expect("a proxy");
    let error = soon(failure(&connect(http.clone()).await, 1)).await;
    assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(407)));
    assert!(error.message().contains("a proxy wants credentials"), "{error}");

    // What the proxy is not to read goes through a tunnel.
    let error = connect(http.http_version(HttpVersion::Http2)).await;
    let error = soon(failure(&error, 1)).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Connect, Processed::No));
    assert_eq!(error.status(), None, "it is the proxy's");
    assert!(error.message().contains("407") && error.message().contains(&over), "{error}");
    assert_eq!(proxy.seen()[1].line, "CONNECT mcp.invalid:80 HTTP/1.1");
    assert_eq!(proxy.seen()[1].header("host"), Some("mcp.invalid:80"));
}

/// Answers CONNECT and then moves bytes to and from another server.
async fn tunnel_to(port: u16) -> Server {
    Server::after(
        move |mut tcp: TcpStream| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(tcp.read_u8().await.ok()?);
            }
            assert!(head.starts_with(b"CONNECT mcp.invalid:80 HTTP/1.1\r\n"));
            tcp.write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n").await.ok()?;
            let mut server = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
            let _ = tokio::io::copy_bidirectional(&mut tcp, &mut server).await;
            None
        },
        |_| Vec::new(),
    )
    .await
}

#[tokio::test]
async fn through_a_tunnel_the_server_is_spoken_to_itself() {
    let server = Http2Server::start(9, |_| Deed::Answer(RESULT.to_owned())).await;
    let port = server.url()["http://127.0.0.1:".len()..].split('/').next().expect("a port").parse();
    let proxy = tunnel_to(port.expect("digits")).await;
    let over = format!("http://{}", proxy.address());
    let http = far("http://mcp.invalid/mcp").proxy(&over).expect("a proxy");
    let transport = connect(http.http_version(HttpVersion::Http2)).await;
    for _ in 0..3 {
        soon(result(&transport, 1)).await;
    }
    assert_eq!((server.seen().len(), proxy.accepted()), (3, 1));
    assert_eq!(server.seen()[0].uri(), "http://mcp.invalid/mcp");
}

/// A SOCKS5 proxy that wants this said and answers so, and then is the server itself.
async fn socks(steps: Vec<(&'static [u8], &'static [u8])>) -> Server {
    Server::after(
        move |mut tcp: TcpStream| {
            let steps = steps.clone();
            async move {
                for (expected, answer) in steps {
                    let mut heard = vec![0; expected.len()];
                    tcp.read_exact(&mut heard).await.ok()?;
                    assert_eq!(heard, expected);
                    tcp.write_all(answer).await.ok()?;
                }
                Some(tcp)
            }
        },
        |_| json(RESULT),
    )
    .await
}

const HELLO: (&[u8], &[u8]) = (b"\x05\x01\x00", b"\x05\x00");
const BY_NAME: &[u8] = b"\x05\x01\x00\x03\x0bmcp.invalid\x00\x50";

#[tokio::test]
async fn a_socks_proxy_is_given_a_name_or_an_address() {
    let done: &[u8] = b"\x05\x00\x00\x01\x01\x02\x03\x04\x00\x50";
    let done_by_name: &[u8] = b"\x05\x00\x00\x03\x03abc\x00\x50";
    for (scheme, url, request, answer) in [
        ("socks5h", "http://mcp.invalid/mcp", BY_NAME, done),
        (
            "socks5h",
            "http://10.1.2.3/mcp",
            b"\x05\x01\x00\x01\x0a\x01\x02\x03\x00\x50",
            done_by_name,
        ),
        ("socks5", "http://10.1.2.3/mcp", b"\x05\x01\x00\x01\x0a\x01\x02\x03\x00\x50", done),
        (
            "socks5",
            "http://[2001:db8::1]:8/mcp",
            b"\x05\x01\x00\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x08",
            done,
        ),
    ] {
        let proxy = socks(vec![HELLO, (request, answer)]).await;
        let http = far(url).proxy(&format!("{scheme}://{}", proxy.address())).expect("a proxy");
        let transport = connect(http).await;
        soon(result(&transport, 1)).await;
        soon(result(&transport, 1)).await;
        assert_eq!((proxy.seen()[1].line.as_str(), proxy.accepted()), ("POST /mcp HTTP/1.1", 1));
    }
}

#[tokio::test]
async fn a_socks_proxy_is_told_who_asks_where_it_wants_that_and_its_refusal_is_told() {
    let login: (&[u8], &[u8]) = (b"\x05\x02\x00\x02", b"\x05\x02");
    let done: &[u8] = b"\x05\x00\x00\x01\0\0\0\0\0\0";
    let good: (&[u8], &[u8]) = (b"\x01\x02me\x03p:w", b"\x01\x00");
    let bad: (&[u8], &[u8]) = (good.0, b"\x01\x01");
    for (steps, userinfo, mention) in [
        (vec![login, good, (BY_NAME, done)], "me:p%3Aw@", None),
        (vec![login, bad], "me:p%3Aw@", Some("password")),
        (vec![(HELLO.0, b"\x05\xff".as_slice())], "", Some("wants a user name")),
        (vec![HELLO, (BY_NAME, b"\x05\x05\0\x01")], "", Some("the host refused")),
        (vec![HELLO, (BY_NAME, b"\x05\x02\0\x01")], "", Some("rules")),
        (vec![(HELLO.0, b"HT")], "", Some("does not speak SOCKS5")),
    ] {
        let proxy = socks(steps).await;
        let over = format!("socks5h://{userinfo}{}", proxy.address());
        let http = far("http://mcp.invalid/").proxy(&over).expect("a proxy");
        let transport = connect(http).await;
        let Some(mention) = mention else {
            soon(result(&transport, 1)).await;
            continue;
        };
        let error = soon(failure(&transport, 1)).await;
        assert_eq!((error.fault(), error.processed()), (TransportFault::Connect, Processed::No));
        assert!(error.message().contains(mention), "{error}");
        assert!(!error.message().contains("p:w") && !error.message().contains("p%3Aw"), "{error}");
    }
}

#[tokio::test]
async fn loopback_is_spared_and_proxies_can_be_left_alone() {
    let proxy = Server::start(|_| vec![write("no"), Act::Close]).await;
    let server = Server::start(|_| json(RESULT)).await;
    let all = Proxies::none().http(&format!("http://{}", proxy.address())).expect("a proxy");
    for proxies in [all, Proxies::none()] {
        let transport = connect(far(&server.url()).proxies(proxies)).await;
        result(&transport, 1).await;
    }
    assert_eq!(proxy.accepted(), 0);
}

#[tokio::test]
async fn an_unreachable_proxy_is_named() {
    let proxy = Server::start(|_| json(RESULT)).await;
    let over = format!("http://{}", proxy.address());
    drop(proxy);
    tokio::task::yield_now().await;
    let http = far("http://mcp.invalid/").proxy(&over).expect("a proxy");
    let error = failure(&connect(http).await, 1).await;
    assert_eq!(error.fault(), TransportFault::Connect);
    assert!(error.message().contains(&over), "{error}");
    assert!(far("http://h/").proxy("ftp://p").is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_is_reached_over_a_unix_socket_by_its_name() {
    let folder = std::env::temp_dir().join(format!("snodo-http-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("mcp.sock");
    let _ = std::fs::remove_file(&path);
    let listener = tokio::net::UnixListener::bind(&path).expect("a socket");
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut heard = Vec::new();
        for _ in 0..2 {
            heard.clear();
            while !heard.ends_with(br#""method":"x"}"#) {
                heard.push(stream.read_u8().await.expect("a request"));
            }
            let length = RESULT.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{RESULT}");
            stream.write_all(head.as_bytes()).await.expect("it is read");
        }
        String::from_utf8(heard).expect("text")
    });
    let http = far("http://app.invalid/mcp").unix_socket(&path);
    assert_eq!(http.origin(), None, "many servers may have the name");
    let transport = connect(http.clone()).await;
    soon(result(&transport, 1)).await;
    soon(result(&transport, 1)).await;
    let heard = soon(serving).await.expect("no panic");
    assert!(heard.starts_with("POST /mcp HTTP/1.1\r\nhost: app.invalid\r\n"), "{heard}");
    std::fs::remove_dir_all(&folder).expect("it is ours");
    let error = failure(&connect(http.pool_idle(0)).await, 1).await;
    assert_eq!(error.fault(), TransportFault::Connect);
    assert!(error.message().contains("mcp.sock"), "{error}");
}
