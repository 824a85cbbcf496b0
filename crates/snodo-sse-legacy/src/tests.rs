//! The transport against servers that speak it, on the loopback interface.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snodo_http::Http;
use snodo_testkit::{Loopback, Peer, Reply, Request, check_transport};
use snodo_transport::{Connect, Incoming, Transport};
use snodo_types::{Message, Routing, TransportFault};
use tokio::sync::mpsc;

use super::SseLegacy;

/// The peer behind an event stream and an endpoint for each of its connections.
#[derive(Clone, Default)]
struct Server {
    peer: Peer,
    sessions: Arc<Mutex<HashMap<String, mpsc::Sender<String>>>>,
}

impl Server {
    async fn start(&self) -> io::Result<Loopback> {
        let server = self.clone();
        Loopback::serve(move |request| server.clone().answer(request)).await
    }

    async fn answer(self, request: Request) -> Reply {
        if request.method == "GET" {
            return self.stream();
        }
        let session = request.path.split('=').next_back().unwrap_or_default().to_owned();
        let heard = self.sessions.lock().expect("no panic").get(&session).cloned();
        match heard {
            Some(heard) if heard.send(request.body).await.is_ok() => {
                Reply::new(202).text("Accepted")
            }
            _ => Reply::new(404).text("no such session"),
        }
    }

    fn stream(self) -> Reply {
        let (hear, heard) = mpsc::channel(64);
        let (say, mut said) = mpsc::channel::<String>(64);
        let session = {
            let mut sessions = self.sessions.lock().expect("no panic");
            let session = sessions.len().to_string();
            sessions.insert(session.clone(), hear);
            session
        };
        Reply::new(200).stream(|events| async move {
            events.raw(": hello\n\n").await;
            events.raw(format!("event: endpoint\ndata: /messages?session={session}\n\n")).await;
            let serving = self.peer.serve(heard, say);
            let telling = async {
                while let Some(text) = said.recv().await {
                    events.message(&text).await;
                }
            };
            tokio::select! {
                () = serving => {}
                () = telling => {}
            }
        })
    }
}

fn target(server: &Loopback) -> SseLegacy {
    SseLegacy::new(Http::new(format!("{}/sse", server.origin())).expect("a URL"))
}

/// A server that answers GET so, and takes everything else.
async fn streaming(reply: impl Fn() -> Reply + Clone + Send + Sync + 'static) -> Loopback {
    let serve = move |request: Request| {
        let reply = if request.method == "GET" { reply() } else { Reply::new(202) };
        async move { reply }
    };
    Loopback::serve(serve).await.expect("a port")
}

// S-12
#[tokio::test]
async fn it_keeps_the_rules_of_transports() {
    let server = Server::default();
    let listening = server.start().await.expect("a port");
    check_transport(&target(&listening), &server.peer).await.expect("every rule");
}

#[tokio::test]
async fn headers_go_with_the_stream_and_with_each_message() {
    let server = Server::default();
    let listening = server.start().await.expect("a port");
    let http = Http::new(format!("{}/sse?key=k", listening.origin())).expect("a URL");
    let http =
        http.header("x-tenant", "blue").expect("a header").bearer("secret").expect("a token");
    let transport = SseLegacy::new(http).connect().await.expect("a connection");
    let mut envelope: snodo_types::Envelope = Message::request(&1.into(), "echo", None).into();
    envelope.routing = Routing::new().with("x-request-id", "r1");
    let mut exchange = transport.exchange(envelope);
    while let Some(next) = exchange.next().await {
        next.expect("an answer");
    }
    let requests = listening.requests();
    assert_eq!(requests[0].path, "/sse?key=k");
    assert_eq!(requests[1].path, "/messages?session=0");
    assert_eq!(requests[1].header("x-request-id"), Some("r1"));
    for request in &requests {
        assert_eq!(request.header("x-tenant"), Some("blue"));
        assert_eq!(request.header("authorization"), Some("Bearer secret"));
    }
    assert_eq!(requests[0].header("accept"), Some("text/event-stream"));
}

#[tokio::test]
async fn an_endpoint_on_another_server_gets_nothing() {
    let elsewhere = streaming(|| Reply::new(405)).await;
    let endpoint = format!("event: endpoint\ndata: {}/messages\n\n", elsewhere.origin());
    let server = streaming(move || {
        let endpoint = endpoint.clone();
        Reply::new(200).stream(|events| async move {
            events.raw(endpoint).await;
            std::future::pending().await
        })
    })
    .await;
    let error = target(&server).connect().await.expect_err("refused");
    assert_eq!(error.fault(), TransportFault::Usage);
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn what_is_no_such_server_is_told_from_one_that_is_slow() {
    let json = streaming(|| Reply::new(200).json("{}")).await;
    let error = target(&json).connect().await.expect_err("no stream");
    assert_eq!((error.fault(), error.status()), (TransportFault::Malformed, Some(200)));

    let gone = streaming(|| Reply::new(404).text("nothing here")).await;
    let error = target(&gone).connect().await.expect_err("no stream");
    assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(404)));

    let ends = streaming(|| Reply::new(200).stream(|_| async {})).await;
    let error = target(&ends).connect().await.expect_err("no endpoint");
    assert_eq!(error.fault(), TransportFault::StreamEnded);

    let silent = streaming(|| {
        Reply::new(200).stream(|events| async move {
            events.raw(": nothing else\n\n").await;
            std::future::pending().await
        })
    })
    .await;
    let slow = target(&silent).endpoint_timeout(Duration::from_millis(20));
    let error = slow.connect().await.expect_err("no endpoint");
    assert_eq!(error.fault(), TransportFault::Timeout);

    let mute = streaming(Reply::hang).await;
    let slow = target(&mute).endpoint_timeout(Duration::from_millis(20));
    let error = slow.connect().await.expect_err("no answer");
    assert_eq!(error.fault(), TransportFault::Timeout);
}

#[tokio::test]
async fn a_message_that_is_not_taken_fails_its_own_exchange_alone() {
    let server = Server::default();
    let listening = server.start().await.expect("a port");
    let transport = target(&listening).connect().await.expect("a connection");
    let hear = server.sessions.lock().expect("no panic").remove("0");
    let mut refused = transport.exchange(Message::request(&1.into(), "echo", None).into());
    let Some(Err(error)) = refused.next().await else { panic!("a failure") };
    assert_eq!((error.fault(), error.status()), (TransportFault::Status, Some(404)));
    server.sessions.lock().expect("no panic").insert("0".to_owned(), hear.expect("a session"));
    let mut taken = transport.exchange(Message::request(&2.into(), "echo", None).into());
    assert!(matches!(taken.next().await, Some(Ok(_))));
}

#[tokio::test]
async fn a_server_that_takes_a_message_late_holds_up_no_other() {
    let server = Server::default();
    let slow = server.clone();
    let listening = Loopback::serve(move |request| {
        let server = slow.clone();
        async move {
            let holds = request.rpc().is_some_and(|method| method == "hold");
            let reply = server.answer(request).await;
            if holds {
                std::future::pending::<()>().await;
            }
            reply
        }
    })
    .await
    .expect("a port");
    let transport = target(&listening).connect().await.expect("a connection");
    let mut held = transport.exchange(Message::request(&1.into(), "hold", None).into());
    let mut echoed = transport.exchange(Message::request(&2.into(), "echo", None).into());
    let (held, ()) = tokio::join!(held.next(), async {
        assert!(matches!(echoed.next().await, Some(Ok(Incoming::Message(_)))));
        server.peer.release(1);
    });
    assert!(matches!(held, Some(Ok(Incoming::Message(_)))), "though its post was never answered");
}
