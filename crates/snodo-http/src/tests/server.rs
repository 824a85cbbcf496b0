//! A server that says raw bytes.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What a server does about a request, step by step.
#[derive(Clone)]
pub(super) enum Act {
    /// Writes and flushes.
    Write(Vec<u8>),
    /// Waits to be told.
    Wait(Arc<Notify>),
    /// Waits until the client hangs up, and tells so.
    Hold(Arc<Notify>),
    /// Hangs up after what was written.
    Close,
    /// Breaks the connection.
    Reset,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Method, target and version.
    pub(super) line: String,
    /// Names in lower case; several of one name are joined by a line break.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

pub(super) struct Server {
    address: SocketAddr,
    seen: Log,
    accepted: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    /// Told whenever a connection ended.
    hung_up: Arc<Notify>,
    task: JoinHandle<()>,
}

type Log = Arc<Mutex<Vec<Seen>>>;

impl Server {
    /// Answers each request by what `script` says.
    pub(super) async fn start(script: impl Script) -> Self {
        Self::on("127.0.0.1:0", script).await
    }

    /// Answers one request after another by one script each, then repeats the last.
    pub(super) async fn scripted(scripts: Vec<Vec<Act>>) -> Self {
        let turn = AtomicUsize::new(0);
        Self::start(move |_: &Seen| {
            let turn = turn.fetch_add(1, Ordering::SeqCst);
            scripts[turn.min(scripts.len() - 1)].clone()
        })
        .await
    }

    pub(super) async fn on(address: &str, script: impl Script) -> Self {
        let script = Arc::new(script);
        Self::listen(address, move |tcp, seen| serve(tcp, seen, script.clone())).await
    }

    /// Lets something else happen on each connection before HTTP is spoken.
    pub(super) async fn after<F: Future<Output = Option<TcpStream>> + Send + 'static>(
        first: impl Fn(TcpStream) -> F + Send + Sync + 'static,
        script: impl Script,
    ) -> Self {
        let script = Arc::new(script);
        Self::listen("127.0.0.1:0", move |tcp, seen| {
            let (first, script) = (first(tcp), script.clone());
            async move {
                if let Some(tcp) = first.await {
                    serve(tcp, seen, script).await;
                }
            }
        })
        .await
    }

    /// Speaks TLS.
    #[cfg(feature = "tls")]
    pub(super) async fn secured(acceptor: tokio_rustls::TlsAcceptor, script: impl Script) -> Self {
        let script = Arc::new(script);
        Self::listen("127.0.0.1:0", move |tcp, seen| {
            let (acceptor, script) = (acceptor.clone(), script.clone());
            async move {
                if let Ok(stream) = acceptor.accept(tcp).await {
                    serve(stream, seen, script).await;
                }
            }
        })
        .await
    }

    /// Says something of its own before it listens, and hangs up.
    #[cfg(feature = "tls")]
    pub(super) async fn greeting(text: &'static str) -> Self {
        Self::listen("127.0.0.1:0", move |mut tcp: TcpStream, _| async move {
            let _ = tcp.write_all(text.as_bytes()).await;
        })
        .await
    }

    async fn listen<F: Future<Output = ()> + Send + 'static>(
        address: &str,
        serve: impl Fn(TcpStream, Log) -> F + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let seen = Log::default();
        let (accepted, open) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let hung_up = Arc::new(Notify::new());
        let task = tokio::spawn({
            let (seen, accepted, open) = (seen.clone(), accepted.clone(), open.clone());
            let hung_up = hung_up.clone();
            async move {
                loop {
                    let (tcp, _) = listener.accept().await.expect("a connection");
                    tcp.set_nodelay(true).expect("a socket");
                    accepted.fetch_add(1, Ordering::SeqCst);
                    open.fetch_add(1, Ordering::SeqCst);
                    let serving = serve(tcp, seen.clone());
                    let (open, hung_up) = (open.clone(), hung_up.clone());
                    tokio::spawn(async move {
                        serving.await;
                        open.fetch_sub(1, Ordering::SeqCst);
                        hung_up.notify_waiters();
                    });
                }
            }
        });
        Self { address, seen, accepted, open, hung_up, task }
    }

    /// Host and port.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    #[cfg(feature = "tls")]
    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }

    /// How many connections there were.
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

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a server says to a request.
pub(super) trait Script: Fn(&Seen) -> Vec<Act> + Send + Sync + 'static {}

impl<F: Fn(&Seen) -> Vec<Act> + Send + Sync + 'static> Script for F {}

/// A connection that may be broken off.
trait Link: AsyncRead + AsyncWrite + Send + Unpin {
    fn break_off(&self) {}
}

impl Link for TcpStream {
    fn break_off(&self) {
        let _ = self.set_zero_linger();
    }
}

#[cfg(feature = "tls")]
impl Link for tokio_rustls::server::TlsStream<TcpStream> {}

async fn serve<S: Script>(link: impl Link, seen: Log, script: Arc<S>) {
    let mut stream = BufReader::new(link);
    while let Some(request) = receive(&mut stream).await {
        let acts = script(&request);
        seen.lock().expect("not poisoned").push(request);
        for act in acts {
            match act {
                Act::Write(bytes) => {
                    if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                        return;
                    }
                }
                Act::Wait(notify) => notify.notified().await,
                Act::Hold(notify) => {
                    let _ = stream.read_u8().await;
                    notify.notify_one();
                    return;
                }
                Act::Close => {
                    let _ = stream.shutdown().await;
                    return;
                }
                Act::Reset => {
                    stream.get_ref().break_off();
                    return;
                }
            }
        }
    }
}

async fn receive(stream: &mut BufReader<impl Link>) -> Option<Seen> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    let mut headers = BTreeMap::<String, String>::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok().filter(|read| *read > 0)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        let value = value.trim();
        headers
            .entry(name.to_ascii_lowercase())
            .and_modify(|values| *values = format!("{values}\n{value}"))
            .or_insert_with(|| value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().expect("digits"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body = String::from_utf8(body).expect("text");
    Some(Seen { line: line.trim_end().to_owned(), headers, body })
}

/// A response with a length: the first line and further headers, then the body.
pub(super) fn plain(head: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![write(&format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}"))]
}

/// A JSON answer with status 200.
pub(super) fn json(body: &str) -> Vec<Act> {
    plain("200 OK\r\ncontent-type: application/json", body)
}

/// An event stream that goes on: its head and the pieces, each flushed.
pub(super) fn events(pieces: &[&str]) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let mut acts = vec![write(&format!("{head}transfer-encoding: chunked\r\n\r\n"))];
    acts.extend(pieces.iter().map(|piece| chunk(piece)));
    acts
}

/// An event stream that ends behind its pieces.
pub(super) fn whole_events(pieces: &[&str]) -> Vec<Act> {
    let mut acts = events(pieces);
    acts.push(last_chunk());
    acts
}

pub(super) fn chunk(piece: &str) -> Act {
    write(&format!("{:x}\r\n{piece}\r\n", piece.len()))
}

pub(super) fn last_chunk() -> Act {
    write("0\r\n\r\n")
}

pub(super) fn write(text: &str) -> Act {
    Act::Write(text.as_bytes().to_vec())
}

/// Gives up a test that hangs.
pub(super) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("within 20 seconds")
}
