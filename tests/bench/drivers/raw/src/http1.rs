//! Messages over HTTP/1.1, by hyper or by hand: the floor.

use crate::wire::{Kind, Wire, answer, page};
use bench_kit::{Cfg, Result};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub struct Client {
    pub wire: Wire,
    addr: String,
    path: String,
    headers: HeaderMap,
    hand: bool,
    scan: bool,
    id: AtomicU64,
    /// Idle connections; the last one used is the first one taken.
    idle: std::sync::Mutex<Vec<Conn>>,
}

enum Conn {
    Hyper(SendRequest<Full<Bytes>>),
    Hand(Hand),
}

struct Hand {
    tcp: TcpStream,
    buf: Vec<u8>,
    out: Vec<u8>,
    body: Vec<u8>,
}

/// A piece of the body, or its end.
enum Piece {
    Data,
    End,
}

fn find_head<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    head.split(|c| *c == b'\n').find_map(|l| {
        let p = l.iter().position(|c| *c == b':')?;
        l[..p].eq_ignore_ascii_case(name).then(|| l[p + 1..].trim_ascii())
    })
}

impl Hand {
    async fn fill(&mut self) -> Result<()> {
        if self.buf.capacity() - self.buf.len() < 16 * 1024 {
            self.buf.reserve(64 * 1024.max(self.buf.len()));
        }
        if self.tcp.read_buf(&mut self.buf).await? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(())
    }

    /// Sends `out` and reads the head; returns (is SSE, content length, or none if chunked).
    async fn exchange(&mut self) -> Result<(bool, Option<usize>)> {
        self.tcp.write_all(&self.out).await?;
        self.buf.clear();
        self.body.clear();
        loop {
            self.fill().await?;
            if let Some(e) = memchr::memmem::find(&self.buf, b"\r\n\r\n") {
                let head = &self.buf[..e];
                let status = head.get(9..12);
                if status != Some(b"200") && status != Some(b"202") {
                    return Err(format!("status {:?}", status.map(String::from_utf8_lossy)).into());
                }
                let len = find_head(head, b"content-length")
                    .and_then(|v| std::str::from_utf8(v).ok()?.parse().ok());
                let sse = find_head(head, b"content-type")
                    .is_some_and(|v| v.starts_with(b"text/event-stream"));
                self.buf.drain(..e + 4);
                return Ok((sse, len));
            }
        }
    }

    /// Appends the next chunk to `body`.
    async fn chunk(&mut self) -> Result<Piece> {
        loop {
            if let Some(e) = memchr::memchr(b'\n', &self.buf) {
                let n =
                    usize::from_str_radix(std::str::from_utf8(self.buf[..e].trim_ascii())?, 16)?;
                let need = e + 1 + n + 2;
                while self.buf.len() < need {
                    self.fill().await?;
                }
                self.body.extend_from_slice(&self.buf[e + 1..e + 1 + n]);
                self.buf.drain(..need);
                return Ok(if n == 0 { Piece::End } else { Piece::Data });
            }
            self.fill().await?;
        }
    }

    async fn whole(&mut self, len: Option<usize>) -> Result<()> {
        match len {
            Some(n) => {
                self.buf.reserve(n.saturating_sub(self.buf.len()));
                while self.buf.len() < n {
                    self.fill().await?;
                }
                std::mem::swap(&mut self.buf, &mut self.body);
            }
            None => while let Piece::Data = self.chunk().await? {},
        }
        Ok(())
    }
}

/// The data of a one-event stream.
fn event_data(b: &[u8]) -> &[u8] {
    match memchr::memmem::find(b, b"data: ") {
        Some(p) => b[p + 6..].trim_ascii_end(),
        None => b,
    }
}

/// Takes the whole events off the front of `body`; returns (updates seen, ended).
fn take_events(body: &mut Vec<u8>, scan: bool) -> Result<(usize, bool)> {
    let mut at = 0;
    let (mut got, mut end) = (0, false);
    while let Some(p) = memchr::memmem::find(&body[at..], b"\n\n") {
        let r = answer(event_data(&body[at..at + p]), scan)?;
        end |= r.id.is_some();
        got += usize::from(r.update);
        at += p + 2;
    }
    body.drain(..at);
    Ok((got, end))
}

impl Client {
    pub async fn connect(cfg: &Cfg) -> Result<Client> {
        let wire = Wire::new(&cfg.protocol);
        let rest = cfg.url.strip_prefix("http://").ok_or("an http:// URL is needed")?;
        let (addr, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(HOST, HeaderValue::from_str(addr)?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(
            HeaderName::from_static("mcp-protocol-version"),
            HeaderValue::from_str(&wire.protocol)?,
        );
        let c = Client {
            wire,
            addr: addr.into(),
            path: format!("/{path}"),
            headers,
            hand: cfg.variant.starts_with("hand"),
            scan: cfg.variant.ends_with("scan"),
            id: AtomicU64::new(0),
            idle: Default::default(),
        };
        if c.wire.modern {
            c.call(Kind::Discover).await?;
        } else {
            c.post_text(c.wire.initialize(), "initialize").await?;
            c.post_text(
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
                "notifications/initialized",
            )
            .await?;
        }
        Ok(c)
    }

    async fn open(&self) -> Result<Conn> {
        if let Some(c) = self.idle.lock().unwrap().pop() {
            return Ok(c);
        }
        let tcp = TcpStream::connect(&self.addr).await?;
        tcp.set_nodelay(true)?;
        if self.hand {
            return Ok(Conn::Hand(Hand {
                tcp,
                buf: Vec::new(),
                out: Vec::new(),
                body: Vec::new(),
            }));
        }
        let (tx, conn) = handshake(TokioIo::new(tcp)).await?;
        tokio::spawn(conn);
        Ok(Conn::Hyper(tx))
    }

    fn done(&self, c: Conn) {
        self.idle.lock().unwrap().push(c);
    }

    fn request(
        &self,
        body: Vec<u8>,
        method: &'static str,
        name: Option<&'static str>,
    ) -> http::Request<Full<Bytes>> {
        let mut r = http::Request::new(Full::new(Bytes::from(body)));
        *r.method_mut() = http::Method::POST;
        *r.uri_mut() = http::Uri::try_from(self.path.as_str()).expect("path");
        *r.headers_mut() = self.headers.clone();
        if self.wire.modern {
            r.headers_mut()
                .insert(HeaderName::from_static("mcp-method"), HeaderValue::from_static(method));
            if let Some(n) = name {
                r.headers_mut()
                    .insert(HeaderName::from_static("mcp-name"), HeaderValue::from_static(n));
            }
        }
        r
    }

    fn write_head(&self, o: &mut Vec<u8>, len: usize, method: &str, name: Option<&str>) {
        o.clear();
        let _ = write!(
            o,
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: {}\r\n",
            self.path, self.addr, self.wire.protocol
        );
        if self.wire.modern {
            let _ = write!(o, "mcp-method: {method}\r\n");
            if let Some(n) = name {
                let _ = write!(o, "mcp-name: {n}\r\n");
            }
        }
        let _ = write!(o, "content-length: {len}\r\n\r\n");
    }

    /// Posts and hands the body of the answer to `f`.
    async fn post<T>(
        &self,
        body: Vec<u8>,
        method: &'static str,
        name: Option<&'static str>,
        f: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        match self.open().await? {
            Conn::Hyper(mut tx) => {
                let r = tx.send_request(self.request(body, method, name)).await?;
                if !r.status().is_success() {
                    return Err(format!("status {}", r.status()).into());
                }
                let sse = r
                    .headers()
                    .get(CONTENT_TYPE)
                    .is_some_and(|v| v.as_bytes().starts_with(b"text/event-stream"));
                let mut b = r.into_body();
                let first = match b.frame().await {
                    Some(f) => f?.into_data().unwrap_or_default(),
                    None => Bytes::new(),
                };
                let mut more = Vec::new();
                while let Some(fr) = b.frame().await {
                    if let Ok(d) = fr?.into_data() {
                        if more.is_empty() {
                            let left = http_body::Body::size_hint(&b).exact().unwrap_or(0) as usize;
                            more.reserve_exact(first.len() + d.len() + left);
                            more.extend_from_slice(&first);
                        }
                        more.extend_from_slice(&d);
                    }
                }
                let all: &[u8] = if more.is_empty() { &first } else { &more };
                let out = f(if sse { event_data(all) } else { all });
                // The connection is ready for the next request once the body has ended.
                tx.ready().await?;
                self.done(Conn::Hyper(tx));
                out
            }
            Conn::Hand(mut h) => {
                self.write_head(&mut h.out, body.len(), method, name);
                h.out.extend_from_slice(&body);
                let (sse, len) = h.exchange().await?;
                h.whole(len).await?;
                let out = f(if sse { event_data(&h.body) } else { &h.body });
                self.done(Conn::Hand(h));
                out
            }
        }
    }

    async fn post_text(&self, text: String, method: &'static str) -> Result<()> {
        self.post(text.into_bytes(), method, None, |_| Ok(())).await
    }

    fn body(&self, k: Kind<'_>) -> (u64, Vec<u8>) {
        let id = self.id.fetch_add(1, Relaxed) + 1;
        let mut body = Vec::with_capacity(512);
        self.wire.write(&mut body, id, k);
        (id, body)
    }

    pub async fn call(&self, k: Kind<'_>) -> Result<usize> {
        let (id, body) = self.body(k);
        self.post(body, k.method(), k.name(), |b| {
            let r = answer(b, self.scan)?;
            match (r.id, r.result) {
                (Some(i), Some(n)) if i == id => Ok(n),
                _ => Err("not the answer".into()),
            }
        })
        .await
    }

    pub async fn list_all(&self) -> Result<usize> {
        let mut cursor: Option<String> = None;
        let mut pages = 0;
        loop {
            let k = Kind::List(cursor.as_deref());
            let (_, body) = self.body(k);
            let next = self.post(body, k.method(), None, |b| Ok(page(b, self.scan)?)).await?;
            pages += 1;
            if next.is_none() {
                return Ok(pages);
            }
            cursor = next;
        }
    }

    pub async fn listen(&self, n: usize) -> Result<usize> {
        let k = Kind::Listen(n);
        let (_, body) = self.body(k);
        let mut got = 0;
        match self.open().await? {
            Conn::Hyper(mut tx) => {
                let r = tx.send_request(self.request(body, k.method(), None)).await?;
                let mut b = r.into_body();
                let mut buf = Vec::new();
                while let Some(f) = b.frame().await {
                    if let Ok(d) = f?.into_data() {
                        buf.extend_from_slice(&d);
                        got += take_events(&mut buf, self.scan)?.0;
                    }
                }
                tx.ready().await?;
                self.done(Conn::Hyper(tx));
            }
            Conn::Hand(mut h) => {
                self.write_head(&mut h.out, body.len(), k.method(), None);
                h.out.extend_from_slice(&body);
                h.exchange().await?;
                while let Piece::Data = h.chunk().await? {
                    got += take_events(&mut h.body, self.scan)?.0;
                }
                self.done(Conn::Hand(h));
            }
        }
        Ok(got)
    }

    /// `conc` callers, each with a connection of its own.
    pub async fn window(&self, text: &str, conc: usize, count: usize) -> Result<Vec<u32>> {
        let next = AtomicU64::new(0);
        let mut lat = Vec::with_capacity(count);
        let lat_ref = std::sync::Mutex::new(&mut lat);
        let one = || async {
            let mut mine = Vec::new();
            while next.fetch_add(1, Relaxed) < count as u64 {
                let t = Instant::now();
                self.call(Kind::Echo(text)).await?;
                mine.push(t.elapsed().as_nanos().min(u32::MAX as u128) as u32);
            }
            lat_ref.lock().unwrap().extend_from_slice(&mine);
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        };
        let mut all: Vec<_> = (0..conc).map(|_| Box::pin(one())).collect();
        join(&mut all).await?;
        drop(all);
        Ok(lat)
    }
}

/// Polls only those futures that were woken.
async fn join<F: Future<Output = Result<()>> + Unpin>(all: &mut [F]) -> Result<()> {
    use std::task::{Context, Poll, Wake, Waker};
    struct Flag {
        woken: std::sync::Mutex<Vec<usize>>,
        parent: std::sync::Mutex<Option<Waker>>,
    }
    struct One(usize, Arc<Flag>);
    impl Wake for One {
        fn wake(self: Arc<Self>) {
            self.wake_by_ref()
        }
        fn wake_by_ref(self: &Arc<Self>) {
            self.1.woken.lock().unwrap().push(self.0);
            if let Some(w) = self.1.parent.lock().unwrap().as_ref() {
                w.wake_by_ref()
            }
        }
    }
    let flag = Arc::new(Flag {
        woken: std::sync::Mutex::new((0..all.len()).collect()),
        parent: Default::default(),
    });
    let wakers: Vec<Waker> =
        (0..all.len()).map(|i| Waker::from(Arc::new(One(i, flag.clone())))).collect();
    let mut done = vec![false; all.len()];
    let mut left = all.len();
    std::future::poll_fn(move |cx| {
        {
            let mut p = flag.parent.lock().unwrap();
            if !p.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
                *p = Some(cx.waker().clone());
            }
        }
        let ready = std::mem::take(&mut *flag.woken.lock().unwrap());
        for i in ready {
            if done[i] {
                continue;
            }
            match std::pin::Pin::new(&mut all[i]).poll(&mut Context::from_waker(&wakers[i])) {
                Poll::Ready(Ok(())) => {
                    done[i] = true;
                    left -= 1;
                }
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => {}
            }
        }
        if left == 0 { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}
