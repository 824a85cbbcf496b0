//! Requests beside the messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use snodo_types::{TransportError, TransportFault};
use tokio::sync::Notify;

use super::server::{Act, Seen, Server, json, plain, soon};
use super::{connect, http, result};
use crate::{Asked, Credentials, Errands};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

async fn get(errands: &Errands, url: &str) -> Result<(StatusCode, String), TransportError> {
    let answer = errands.send(Method::GET, url, HeaderMap::new(), Vec::new()).await?;
    let status = answer.status();
    Ok((status, String::from_utf8(answer.into_body()).expect("text")))
}

/// Gets its token from elsewhere.
struct Remote(String);

impl Credentials for Remote {
    async fn authorize(&self, asked: Asked<'_>) -> Result<HeaderMap, TransportError> {
        let form = b"grant=x".to_vec();
        let answer = asked.errands.send(Method::POST, &self.0, HeaderMap::new(), form).await?;
        let token = String::from_utf8(answer.into_body()).expect("text").parse().expect("a value");
        Ok(HeaderMap::from_iter([(http::header::AUTHORIZATION, token)]))
    }
}

// S-11
#[tokio::test]
async fn credentials_run_errands_that_carry_nothing_of_the_messages() {
    let other = Server::scripted(vec![plain("200 OK", "Bearer t")]).await;
    let server = Server::scripted(vec![json(RESULT)]).await;
    let http = http(&server).header("x-key", "s3cret").expect("a header");
    let url = format!("{}?q=1#f", other.url().replace("/mcp", "/Token//x"));
    soon(result(&connect(http.credentials(Remote(url))).await, 1)).await;
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer t"));
    let errand = &other.seen()[0];
    assert_eq!((&*errand.line, &*errand.body), ("POST /Token//x?q=1 HTTP/1.1", "grant=x"));
    assert_eq!(errand.headers.keys().collect::<Vec<_>>(), ["content-length", "host"]);
}

// AUTH-152
#[tokio::test]
async fn every_status_is_an_answer_and_a_redirect_is_not_followed() {
    let server = Server::start(|seen: &Seen| match seen.line.split(' ').nth(1) {
        Some("/a") => plain("307 Temporary Redirect\r\nlocation: /b", "there"),
        _ => plain("404 Not Found", "none"),
    })
    .await;
    let url = server.url();
    let errands = Errands::new();
    let moved = soon(get(&errands, &url.replace("/mcp", "/a"))).await.expect("an answer");
    assert_eq!(moved, (StatusCode::TEMPORARY_REDIRECT, "there".to_owned()));
    let missing = soon(get(&errands, &url)).await.expect("an answer");
    assert_eq!(missing, (StatusCode::NOT_FOUND, "none".to_owned()));
    assert_eq!(server.seen().len(), 2);
}

// AUTH-151, AUTH-153
#[tokio::test]
async fn an_address_that_is_not_allowed_is_not_connected_to() {
    let server = Server::scripted(vec![plain("200 OK", "")]).await;
    let asked = Arc::new(AtomicU16::new(0));
    let count = asked.clone();
    let errands = Errands::new().addresses(move |address| {
        count.fetch_add(1, Ordering::Relaxed);
        !address.is_loopback()
    });
    let by_name = server.url().replace("127.0.0.1", "localhost");
    for url in [server.url(), by_name] {
        let error = soon(get(&errands, &url)).await.expect_err("refused");
        assert_eq!(error.fault(), TransportFault::Connect, "{error}");
    }
    assert_eq!(server.accepted(), 0);
    assert!(asked.load(Ordering::Relaxed) >= 2);
    let all = Errands::new().addresses(|address| address.is_loopback());
    assert!(soon(get(&all, &server.url())).await.is_ok());
}

// AUTH-154
#[tokio::test]
async fn an_errand_has_limits_on_size_and_time() {
    let big = "x".repeat(1001);
    let server = Server::scripted(vec![plain("200 OK", &big)]).await;
    let error = soon(get(&Errands::new().max_body_bytes(1000), &server.url())).await;
    assert_eq!(error.expect_err("too large").fault(), TransportFault::TooLarge);

    let silent = Server::scripted(vec![vec![Act::Wait(Arc::new(Notify::new()))]]).await;
    let errands = Errands::new().timeout(Duration::from_millis(50));
    let error = soon(get(&errands, &silent.url())).await.expect_err("silence");
    assert_eq!(error.fault(), TransportFault::Timeout);
}
