//! The listener that a browser comes back to.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use snodo_http::Errands;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::{Departure, Error, ErrorKind, LoopbackListener, Paste, Person, Secret};

/// A listener that has sent somebody away.
struct Gone {
    redirect: String,
    opened: Arc<Mutex<Vec<String>>>,
    back: JoinHandle<Result<String, Error>>,
}

impl Gone {
    async fn with(
        change: impl FnOnce(LoopbackListener) -> LoopbackListener,
        before: Option<&str>,
    ) -> Self {
        let opened = Arc::<Mutex<Vec<String>>>::default();
        let open = {
            let opened = opened.clone();
            move |url: &str| {
                opened.lock().expect("not poisoned").push(url.to_owned());
                Ok(())
            }
        };
        let visit = change(LoopbackListener::new(open)).prepare(before).await.expect("a listener");
        let redirect = visit.redirect.clone();
        let (url, state) = ("https://as/authorize".to_owned(), Secret::new("st"));
        let back = tokio::spawn((visit.go)(Departure { url, state, errands: Errands::new() }));
        Self { redirect, opened, back }
    }

    async fn new() -> Self {
        Self::with(|listener| listener, None).await
    }

    fn port(&self) -> u16 {
        let (_, rest) = self.redirect.rsplit_once(':').expect("a port");
        rest.split('/').next().expect("a port").parse().expect("a number")
    }

    async fn ask(&self, host: &str, text: &str) -> String {
        let mut stream = TcpStream::connect((host, self.port())).await.expect("somebody listens");
        stream.write_all(text.as_bytes()).await.expect("written");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    async fn get(&self, target: &str) -> String {
        self.ask("127.0.0.1", &format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n")).await
    }
}

// AUTH-93
#[tokio::test]
async fn only_the_right_state_on_the_one_path_ends_a_login_and_the_page_repeats_nothing() {
    let gone = Gone::new().await;
    assert!(gone.redirect.starts_with("http://127.0.0.1:") && gone.redirect.ends_with("/callback"));
    let _idle = TcpStream::connect(("127.0.0.1", gone.port())).await.expect("a connection ahead");
    for (target, status) in [
        ("/favicon.ico", "404"),
        ("/callback", "400"),
        ("/callback?code=evil", "400"),
        ("/callback?code=evil&state=other", "400"),
        ("/callback/?state=st", "404"),
        ("/other?code=evil&state=st", "404"),
    ] {
        let answer = gone.get(target).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{target}: {answer}");
        assert!(!answer.contains("evil"), "{answer}");
    }
    let post = "POST /callback?state=st HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
    assert!(gone.ask("127.0.0.1", post).await.starts_with("HTTP/1.1 405"));
    assert!(!gone.back.is_finished());
    let page = gone.get("/callback?code=c%26&iss=https%3A%2F%2Fas&state=st").await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("no-store"), "{page}");
    assert!(!page.contains("c%26") && !page.contains("https"), "{page}");
    let port = gone.port();
    assert_eq!(*gone.opened.lock().expect("not poisoned"), ["https://as/authorize"]);
    let back = gone.back.await.expect("no panic").expect("an answer");
    assert_eq!(back, "code=c%26&iss=https%3A%2F%2Fas&state=st");
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err(), "one use");
}

// AUTH-93
#[tokio::test]
async fn both_kinds_of_loopback_address_are_listened_at_and_no_other() {
    let gone = Gone::with(LoopbackListener::localhost, None).await;
    assert!(gone.redirect.starts_with("http://localhost:"), "{}", gone.redirect);
    let other = TcpListener::bind(("0.0.0.0", 0)).expect("a port").local_addr().expect("bound");
    assert_ne!(other.port(), gone.port());
    if TcpListener::bind("[::1]:0").is_ok() {
        let page = gone.ask("::1", "GET /callback?state=st&code=6 HTTP/1.1\r\n\r\n").await;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    } else {
        gone.get("/callback?state=st&code=6").await;
    }
    assert_eq!(gone.back.await.expect("no panic").expect("an answer"), "state=st&code=6");
}

// AUTH-59, AUTH-70
#[tokio::test]
async fn a_port_that_a_server_knows_is_taken_again_if_it_is_free() {
    let first = Gone::new().await;
    let known = first.redirect.clone();
    let elsewhere = Gone::with(|listener| listener, Some(&known)).await;
    assert_ne!(elsewhere.redirect, known, "somebody listens there");
    first.back.abort();
    let _ = first.back.await;
    let again = Gone::with(|listener| listener, Some(&known)).await;
    assert_eq!(again.redirect, known);
    let other =
        Gone::with(|listener| listener.path("/cb"), Some("http://127.0.0.1:1/callback")).await;
    assert!(other.redirect.ends_with("/cb"), "not one of ours");
    assert_eq!(
        LoopbackListener::new(|_: &str| Ok(())).redirect_uri(None),
        "http://127.0.0.1/callback"
    );
}

#[tokio::test]
async fn a_head_that_never_ends_is_given_up() {
    let gone = Gone::new().await;
    let endless = format!("GET /callback?state=st&code={} HTTP/1.1\r\n\r\n", "x".repeat(70_000));
    let answer = gone.ask("127.0.0.1", &endless).await;
    assert_eq!(answer, "");
    assert!(!gone.back.is_finished());
    gone.back.abort();
}

#[tokio::test]
async fn a_browser_that_cannot_be_opened_ends_the_login() {
    let listener = LoopbackListener::new(|_: &str| Err(std::io::Error::other("no display")));
    let visit = listener.prepare(None).await.expect("a listener");
    let (url, state) = ("https://as/".to_owned(), Secret::new("st"));
    let gone = (visit.go)(Departure { url, state, errands: Errands::new() }).await;
    let error = gone.expect_err("no browser");
    assert_eq!(error.kind(), ErrorKind::Person);
    assert!(error.message().contains("no display"));
}

#[tokio::test]
async fn an_answer_may_be_carried_over_by_hand() {
    let paste = Paste::new(|url: String| async move { Ok(format!("{url}#seen")) })
        .redirect("http://localhost/x");
    let visit = paste.prepare(None).await.expect("ready");
    assert_eq!(visit.redirect, "http://localhost/x");
    let (url, state) = ("https://as/".to_owned(), Secret::new("st"));
    let back = (visit.go)(Departure { url, state, errands: Errands::new() }).await;
    assert_eq!(back.expect("pasted"), "https://as/#seen");
}
