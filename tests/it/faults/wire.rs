//! An HTTP server whose bytes go wrong at a place of one's choosing.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::process::{acknowledged, changed, initialized, question, round};
use super::web::Fault;
use super::{Doing, Era};

/// For `localhost` and 127.0.0.1: one that holds, and one that ended with the year 2020 and is its own
/// authority, made by `openssl ca -selfsign`. The keys guard nothing but these tests.
pub(super) const AUTHORITY: &str = include_str!("../peers/certificates/ca.pem");
const HOLDS: &str = include_str!("../peers/certificates/server.pem");
const HOLDS_KEY: &str = include_str!("../peers/certificates/server.key");
pub(super) const EXPIRED: &str = include_str!("certificates/expired.pem");
const EXPIRED_KEY: &str = include_str!("certificates/expired.key");

/// A server for one cell. Dropping it closes the listener and every connection.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    fault: Fault,
    doing: Doing,
    era: Era,
    open: AtomicUsize,
    /// The fault has met a stream that is asked for again, and leaves the next one alone.
    struck: AtomicBool,
    /// New connections are at fault from now on.
    broken: AtomicBool,
    breaks: Notify,
    /// The listener has become what the fault makes of it.
    has_broken: AtomicBool,
    /// A stream that is open is to break.
    cut: Notify,
}

/// What is done about a request.
enum Deed {
    Answer(String),
    /// A stream that stays open.
    Hold(Vec<String>),
    /// The answer goes wrong, behind these events where there are some.
    Strike {
        told: Vec<String>,
        rest: Value,
        waits: bool,
    },
}

/// What carries the bytes.
trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

type Socket = Box<dyn Io>;

/// The runtime of all servers: apart from those of the clients, whose tasks are counted.
pub(super) fn servers() -> &'static Runtime {
    static SERVERS: OnceLock<Runtime> = OnceLock::new();
    SERVERS.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().expect("a runtime")
    })
}

impl Server {
    pub(super) async fn start(fault: Fault, doing: Doing, era: Era) -> Self {
        let shared = Arc::new(Shared {
            fault,
            doing,
            era,
            open: AtomicUsize::new(0),
            struck: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            breaks: Notify::new(),
            has_broken: AtomicBool::new(false),
            cut: Notify::new(),
        });
        if fault.meets_connections() && doing == Doing::Connect {
            shared.breaks();
        }
        let own = Arc::clone(&shared);
        let (task, address) = servers()
            .spawn(async move {
                let listener = listen(0, 128).expect("a port");
                let address = listener.local_addr().expect("an address");
                (tokio::spawn(accept(listener, own)), address)
            })
            .await
            .expect("it listens");
        shared.has_broken().await;
        Self { address, shared, task }
    }

    /// Connections that are open.
    pub(super) fn open(&self) -> usize {
        self.shared.open.load(Ordering::Acquire)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn listen(port: u16, backlog: u32) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
    socket.listen(backlog)
}

/// Accepts until it is aborted; the connections are its own and end with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    let mut listener = Some(listener);
    let mut full = Vec::new();
    loop {
        let next = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = shared.breaks.notified() => {
                match shared.fault {
                    Fault::Refused => listener = None,
                    Fault::Unanswered => {
                        let port = listener.take().expect("it listens").local_addr();
                        full = unanswering(port.expect("an address").port()).await;
                    }
                    _ => {}
                }
                shared.has_broken.store(true, Ordering::Release);
            }
            accepted = next => {
                let Ok((socket, _)) = accepted else { continue };
                connections.spawn(serve(socket, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
        // It holds the queue until the end.
        let _ = &full;
    }
}

/// A listener whose queue is full, so that nobody answers who knocks.
async fn unanswering(port: u16) -> Vec<Box<dyn Send>> {
    let listener = listen(port, 1).expect("the port again");
    let mut held: Vec<Box<dyn Send>> = vec![Box::new(listener)];
    loop {
        let knocks = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        match tokio::time::timeout(Duration::from_millis(100), knocks).await {
            Ok(waits) => held.push(Box::new(waits)),
            Err(_) => return held,
        }
    }
}

impl Shared {
    fn breaks(&self) {
        self.broken.store(true, Ordering::Release);
        self.breaks.notify_one();
    }

    /// Waits, if connections are to be at fault, until they are.
    async fn has_broken(&self) {
        while self.broken.load(Ordering::Acquire) && !self.has_broken.load(Ordering::Acquire) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// What becomes of a request.
    fn decide(&self, method: &str, asked: &Value) -> Deed {
        let rpc = asked["method"].as_str().unwrap_or_default();
        let rest = answer(asked);
        let is_struck = asked["params"]["name"] == "struck";
        let breaks_connections = self.fault.meets_connections();
        match (method, rpc) {
            ("DELETE", _) if self.doing == Doing::Close => {
                let rest = json!({ "note": "the session is over" });
                Deed::Strike { told: Vec::new(), rest, waits: false }
            }
            ("DELETE", _) => Deed::Answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".into()),
            ("GET", _) if self.doing == Doing::Listen && !self.struck.load(Ordering::Acquire) => {
                Deed::Strike { told: Vec::new(), rest: changed(None), waits: true }
            }
            ("GET", _) => Deed::Hold(Vec::new()),
            (_, "initialize" | "server/discover") if self.doing == Doing::Connect => {
                Deed::Strike { told: Vec::new(), rest, waits: false }
            }
            (_, "tools/call") if asked["params"]["name"] == "strike" => {
                match (self.doing, breaks_connections) {
                    (Doing::Listen, _) => self.cut.notify_one(),
                    (_, true) => self.breaks(),
                    _ => {}
                }
                Deed::Answer(whole(&rest))
            }
            (_, "tools/call") if is_struck && self.doing == Doing::Progress => {
                let token = &asked["params"]["_meta"]["progressToken"];
                let params = json!({ "progressToken": token, "progress": 1 });
                let method = "notifications/progress";
                let told = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                Deed::Strike { told: vec![told.to_string()], rest, waits: false }
            }
            (_, "tools/call") if is_struck && self.doing == Doing::Input => {
                match (self.era, breaks_connections) {
                    (Era::Modern, _) if asked["params"].get("inputResponses").is_none() => {
                        if breaks_connections {
                            self.breaks();
                        }
                        Deed::Answer(whole(&with_id(round(), asked)))
                    }
                    (Era::Modern, _) => Deed::Strike { told: Vec::new(), rest, waits: false },
                    (Era::Legacy, true) => {
                        self.breaks();
                        Deed::Hold(vec![question().to_string()])
                    }
                    (Era::Legacy, false) => {
                        Deed::Strike { told: vec![question().to_string()], rest, waits: false }
                    }
                }
            }
            (_, "tools/call") if is_struck && self.doing == Doing::Call => {
                Deed::Strike { told: Vec::new(), rest, waits: false }
            }
            (_, "subscriptions/listen") => {
                let agreed = with_id(acknowledged(), asked);
                if self.doing == Doing::Listen && !self.struck.load(Ordering::Acquire) {
                    let mut rest = changed(Some("@ID@"));
                    rest = with_id(rest, asked);
                    return Deed::Strike { told: vec![agreed.to_string()], rest, waits: true };
                }
                Deed::Hold(vec![agreed.to_string()])
            }
            _ if asked.get("id").is_none() || rpc.is_empty() => {
                Deed::Answer("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".into())
            }
            _ => Deed::Answer(whole(&rest)),
        }
    }
}

/// The result of a request.
fn answer(asked: &Value) -> Value {
    match asked["method"].as_str() {
        Some("initialize") => with_id(initialized(), asked),
        Some("server/discover") => {
            let result = json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": { "listChanged": true } },
                "resultType": "complete",
            });
            json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })
        }
        _ => {
            let result = json!({ "content": [], "resultType": "complete" });
            json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })
        }
    }
}

fn with_id(message: Value, asked: &Value) -> Value {
    let text = message.to_string().replace("\"@ID@\"", &asked["id"].to_string());
    serde_json::from_str(&text).expect("JSON")
}

/// A whole response; one to `initialize` opens a session.
fn whole(message: &Value) -> String {
    let text = message.to_string();
    format!("{}content-length: {}\r\n\r\n{text}", head(message), text.len())
}

fn head(message: &Value) -> &'static str {
    if message["result"].get("protocolVersion").is_some() {
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\n"
    } else {
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    }
}

async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    shared.open.fetch_add(1, Ordering::AcqRel);
    // An error is the end of a connection, which is what this is about.
    let _ = secure_and_answer(socket, &shared).await;
    shared.open.fetch_sub(1, Ordering::AcqRel);
}

async fn secure_and_answer(socket: TcpStream, shared: &Shared) -> io::Result<()> {
    socket.set_nodelay(true)?;
    if shared.fault == Fault::Reset {
        // It is what its end looks like from the other side.
        socket.set_zero_linger()?;
    }
    let mut socket = socket;
    let is_broken = shared.broken.load(Ordering::Acquire);
    let socket: Socket = match shared.fault {
        Fault::TlsAlert if is_broken => {
            let _ = socket.read(&mut [0; 1024]).await?;
            // A fatal alert: the handshake failed.
            socket.write_all(&[0x15, 3, 3, 0, 2, 2, 40]).await?;
            gone(&mut socket).await;
            return Ok(());
        }
        Fault::Expired if is_broken => {
            Box::new(acceptor(EXPIRED, EXPIRED_KEY).accept(socket).await?)
        }
        Fault::TlsAlert | Fault::Expired => {
            Box::new(acceptor(HOLDS, HOLDS_KEY).accept(socket).await?)
        }
        _ => Box::new(socket),
    };
    answer_all(socket, shared).await
}

fn acceptor(certificate: &str, key: &str) -> TlsAcceptor {
    let certificate =
        CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    TlsAcceptor::from(Arc::new(config.expect("they belong together")))
}

async fn answer_all(mut socket: Socket, shared: &Shared) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some((method, asked)) = request(&mut socket, &mut buffer).await? {
        let deed = shared.decide(&method, &asked);
        shared.has_broken().await;
        match deed {
            Deed::Answer(text) => socket.write_all(text.as_bytes()).await?,
            Deed::Hold(told) => {
                let mut stream = Stream::open(socket, &told, None).await?;
                tokio::select! {
                    () = gone(&mut stream.socket) => {}
                    () = shared.cut.notified() => {}
                }
                return Ok(());
            }
            Deed::Strike { told, rest, waits } => {
                return strike(socket, shared, &told, &rest, waits).await;
            }
        }
        socket.flush().await?;
    }
    Ok(())
}

/// Answers as the fault is.
async fn strike(
    mut socket: Socket,
    shared: &Shared,
    told: &[String],
    rest: &Value,
    waits: bool,
) -> io::Result<()> {
    let text = rest.to_string();
    if !told.is_empty() || waits {
        let event = event(&text);
        let length = match shared.fault {
            Fault::TooLong => Some(event.len() + 100),
            Fault::TooShort => Some(event.len() - 10),
            _ => None,
        };
        let mut stream = Stream::open(socket, told, length).await?;
        if waits {
            shared.cut.notified().await;
            shared.struck.store(true, Ordering::Release);
        } else {
            tokio::time::sleep(ARRIVAL).await;
        }
        let framed = stream.framed(&event);
        return match shared.fault {
            Fault::CutChunk => {
                stream.socket.write_all(b"500\r\ndata: {\"jsonrpc\"").await?;
                ended(stream.socket).await
            }
            Fault::SlowLoris => slowly(stream.socket, &framed).await,
            _ => finish(stream.socket, shared, &framed).await,
        };
    }
    let head = head(rest);
    let length = text.len();
    let whole = |length: usize| format!("{head}content-length: {length}\r\n\r\n{text}");
    match shared.fault {
        Fault::CutChunk => {
            let begun = format!("{head}transfer-encoding: chunked\r\n\r\n500\r\n{{\"jsonrpc\"");
            socket.write_all(begun.as_bytes()).await?;
            ended(socket).await
        }
        Fault::SlowLoris => slowly(socket, &whole(length)).await,
        Fault::TooLong => finish(socket, shared, &whole(length + 100)).await,
        Fault::TooShort => finish(socket, shared, &whole(length - 10)).await,
        _ => finish(socket, shared, "").await,
    }
}

/// The rest of an answer: what the fault lets come, and how the connection ends.
async fn finish(mut socket: Socket, shared: &Shared, rest: &str) -> io::Result<()> {
    match shared.fault {
        Fault::TooLong => {
            socket.write_all(rest.as_bytes()).await?;
            ended(socket).await
        }
        Fault::TooShort => {
            socket.write_all(rest.as_bytes()).await?;
            gone(&mut socket).await;
            Ok(())
        }
        Fault::HalfClose => ended(socket).await,
        Fault::BlackHole => {
            gone(&mut socket).await;
            Ok(())
        }
        // The connection ends with the socket: by a reset, or because new ones are to be made.
        _ => {
            if shared.fault.meets_connections() {
                shared.breaks();
                shared.has_broken().await;
            }
            Ok(())
        }
    }
}

/// One byte after the other, until the client has enough.
async fn slowly(mut socket: Socket, text: &str) -> io::Result<()> {
    for byte in text.bytes() {
        socket.write_all(&[byte]).await?;
        socket.flush().await?;
        tokio::select! {
            () = tokio::time::sleep(DRIP) => {}
            () = gone(&mut socket) => return Ok(()),
        }
    }
    gone(&mut socket).await;
    Ok(())
}

/// Nothing more is written; what the client writes is read to its end.
async fn ended(mut socket: Socket) -> io::Result<()> {
    socket.shutdown().await?;
    gone(&mut socket).await;
    Ok(())
}

/// Waits until the other side has closed. What it sends meanwhile is nobody's.
async fn gone(socket: &mut (impl AsyncRead + Unpin + ?Sized)) {
    let mut nothing = [0; 1024];
    while matches!(socket.read(&mut nothing).await, Ok(1..)) {}
}

/// An event stream that has begun.
struct Stream {
    socket: Socket,
    is_chunked: bool,
}

impl Stream {
    /// Tells these; `length` is what the head says about all that follows them.
    async fn open(socket: Socket, told: &[String], length: Option<usize>) -> io::Result<Self> {
        let begun: String = told.iter().map(|message| event(message)).collect();
        let begun = format!(": begun\n\n{begun}");
        let framing = match length {
            Some(length) => format!("content-length: {}", begun.len() + length),
            None => "transfer-encoding: chunked".to_owned(),
        };
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{framing}\r\n\r\n");
        let mut stream = Self { socket, is_chunked: length.is_none() };
        stream.socket.write_all(head.as_bytes()).await?;
        let begun = stream.framed(&begun);
        stream.socket.write_all(begun.as_bytes()).await?;
        stream.socket.flush().await?;
        Ok(stream)
    }

    fn framed(&self, text: &str) -> String {
        match self.is_chunked {
            true => format!("{:x}\r\n{text}\r\n", text.len()),
            false => text.to_owned(),
        }
    }
}

fn event(message: &str) -> String {
    format!("data: {message}\n\n")
}

/// The method and the message of the next request; `None` at the end.
async fn request(socket: &mut Socket, buffer: &mut Vec<u8>) -> io::Result<Option<(String, Value)>> {
    loop {
        if let Some((whole, request)) = read(buffer) {
            buffer.drain(..whole);
            return Ok(Some(request));
        }
        let mut piece = [0; 4096];
        match Pin::new(&mut *socket).read(&mut piece).await? {
            0 => return Ok(None),
            length => buffer.extend_from_slice(&piece[..length]),
        }
    }
}

fn read(buffer: &[u8]) -> Option<(usize, (String, Value))> {
    let head = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
    let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let whole = head + length.map_or(0, |length| length.parse::<usize>().expect("a number"));
    let body = buffer.get(head..whole)?;
    let method = text.split(' ').next().unwrap_or_default().to_uppercase();
    Some((whole, (method, serde_json::from_slice(body).unwrap_or_default())))
}

/// What was sent gets the time to arrive before the connection breaks.
const ARRIVAL: Duration = Duration::from_millis(50);

/// Between two bytes of a slow answer.
const DRIP: Duration = Duration::from_millis(100);
