//! A server over HTTP/2 that does what a test wants with each request.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Connection, SendResponse};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, Notify};
use tokio::task::JoinSet;

/// What a server does about a request.
#[derive(Clone)]
pub(super) enum Deed {
    /// Answers with JSON.
    Answer(String),
    /// Answers once so many requests wait.
    Gather(Arc<Barrier>, String),
    /// Sends an event, and holds the stream until the client gives it up, and tells so.
    Hold(String, Arc<Notify>),
    /// Answers, and takes no further requests over this connection.
    Leave(String),
    /// Says that it has not looked at the request.
    Refuse,
    /// Breaks the connection.
    Vanish,
}

pub(super) struct Http2Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request<()>>>>,
    accepted: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    hung_up: Arc<Notify>,
    /// Ends with the server.
    _tasks: JoinSet<()>,
}

pub(super) type Bytestream = Box<dyn Duplex>;

pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// What each new connection goes through before HTTP.
#[derive(Clone)]
pub(super) enum Door {
    Plain,
    #[cfg(feature = "tls")]
    Tls(tokio_rustls::TlsAcceptor),
}

impl Http2Server {
    pub(super) async fn start(
        most: u32,
        deeds: impl Fn(&str) -> Deed + Send + Sync + 'static,
    ) -> Self {
        Self::behind(Door::Plain, most, deeds).await
    }

    /// Takes so many requests at once over a connection, and does by their bodies.
    pub(super) async fn behind(
        door: Door,
        most: u32,
        deeds: impl Fn(&str) -> Deed + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let seen = Arc::<Mutex<Vec<Request<()>>>>::default();
        let (accepted, open) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let hung_up = Arc::new(Notify::new());
        let deeds = Arc::new(deeds);
        let mut tasks = JoinSet::new();
        tasks.spawn({
            let (seen, accepted, open) = (seen.clone(), accepted.clone(), open.clone());
            let hung_up = hung_up.clone();
            async move {
                let mut connections = JoinSet::new();
                loop {
                    let (tcp, _) = listener.accept().await.expect("a connection");
                    accepted.fetch_add(1, Ordering::SeqCst);
                    open.fetch_add(1, Ordering::SeqCst);
                    let (seen, deeds, door) = (seen.clone(), deeds.clone(), door.clone());
                    let (open, hung_up) = (open.clone(), hung_up.clone());
                    connections.spawn(async move {
                        let stream: Bytestream = match door {
                            Door::Plain => Box::new(tcp),
                            #[cfg(feature = "tls")]
                            Door::Tls(acceptor) => {
                                Box::new(acceptor.accept(tcp).await.expect("TLS"))
                            }
                        };
                        serve(stream, most, seen, &*deeds).await;
                        open.fetch_sub(1, Ordering::SeqCst);
                        hung_up.notify_waiters();
                    });
                }
            }
        });
        Self { address, seen, accepted, open, hung_up, _tasks: tasks }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp?q=1", self.address)
    }

    #[cfg(feature = "tls")]
    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The heads of all requests.
    pub(super) fn seen(&self) -> Vec<Request<()>> {
        self.seen.lock().expect("not poisoned").clone()
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Waits until so many connections are open and no more.
    pub(super) async fn open_is(&self, wanted: usize) {
        loop {
            let change = self.hung_up.notified();
            if self.open.load(Ordering::SeqCst) == wanted {
                return;
            }
            change.await;
        }
    }
}

async fn serve(
    stream: Bytestream,
    most: u32,
    seen: Arc<Mutex<Vec<Request<()>>>>,
    deeds: &(dyn Fn(&str) -> Deed + Send + Sync),
) {
    let handshake = h2::server::Builder::new().max_concurrent_streams(most).handshake(stream);
    let Ok(mut connection): Result<Connection<_, Bytes>, _> = handshake.await else { return };
    let mut streams = JoinSet::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (head, mut body) = request.into_parts();
        // The connection has to be driven while its body is read.
        let text = tokio::select! {
            text = text(&mut body) => text,
            _ = std::future::poll_fn(|cx| connection.poll_closed(cx)) => return,
        };
        seen.lock().expect("not poisoned").push(Request::from_parts(head, ()));
        match deeds(&text) {
            Deed::Vanish => return,
            Deed::Leave(answer) => {
                connection.graceful_shutdown();
                streams.spawn(carry_out(Deed::Answer(answer), respond));
            }
            deed => drop(streams.spawn(carry_out(deed, respond))),
        }
    }
    while streams.join_next().await.is_some() {}
}

async fn carry_out(deed: Deed, mut respond: SendResponse<Bytes>) {
    let json = |text: String, respond: &mut SendResponse<Bytes>| {
        let head = Response::builder().header("content-type", "application/json");
        let head = head.body(()).expect("a head");
        let mut stream = respond.send_response(head, false).expect("it waits");
        stream.send_data(Bytes::from(text), true).expect("it waits");
    };
    match deed {
        Deed::Answer(text) => json(text, &mut respond),
        Deed::Gather(barrier, text) => {
            barrier.wait().await;
            json(text, &mut respond);
        }
        Deed::Hold(event, gone) => {
            let head = Response::builder().header("content-type", "text/event-stream");
            let mut stream =
                respond.send_response(head.body(()).expect("a head"), false).expect("it waits");
            stream.send_data(Bytes::from(event), false).expect("it waits");
            let _ = std::future::poll_fn(|cx| stream.poll_reset(cx)).await;
            gone.notify_one();
        }
        Deed::Refuse => respond.send_reset(h2::Reason::REFUSED_STREAM),
        Deed::Leave(_) | Deed::Vanish => unreachable!("done by the connection"),
    }
}

async fn text(body: &mut RecvStream) -> String {
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = body.data().await {
        let _ = body.flow_control().release_capacity(piece.len());
        bytes.extend_from_slice(&piece);
    }
    String::from_utf8(bytes).expect("text")
}
