//! The study over HTTP: a stack of HTTP/1.1 senders.

use crate::model::{Message, Scan, incoming, peek_id, read};
use bench_kit::{Cfg, Result};
use bytes::{Buf as _, Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::net::TcpStream;

pub struct Client {
    addr: String,
    path: http::Uri,
    full: http::Uri,
    headers: HeaderMap,
    next: AtomicU64,
    scan: bool,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
    pooling: Option<legacy::Client<legacy::connect::HttpConnector, Full<Bytes>>>,
}

/// Gives a connection back to the stack once its response has been read.
struct Lease<'a> {
    tx: Option<SendRequest<Full<Bytes>>>,
    c: &'a Client,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(tx) = self.tx.take()
            && !tx.is_closed()
        {
            self.c.idle.lock().unwrap().push(tx);
        }
    }
}

fn data(b: &[u8]) -> &[u8] {
    match memchr::memmem::find(b, b"data: ") {
        Some(p) => b[p + 6..].trim_ascii_end(),
        None => b,
    }
}

async fn whole(mut b: Incoming) -> Result<Bytes> {
    let Some(first) = b.frame().await else { return Ok(Bytes::new()) };
    let first = first?.into_data().unwrap_or_default();
    if b.is_end_stream() {
        return Ok(first);
    }
    let mut all: Option<BytesMut> = None;
    let left = b.size_hint().exact().unwrap_or(0) as usize;
    while let Some(f) = b.frame().await {
        if let Ok(d) = f?.into_data() {
            all.get_or_insert_with(|| {
                let mut m = BytesMut::with_capacity(first.len() + left.max(d.len()));
                m.extend_from_slice(&first);
                m
            })
            .extend_from_slice(&d);
        }
    }
    Ok(all.map_or(first, BytesMut::freeze))
}

impl Client {
    pub fn new(cfg: &Cfg, pooling: bool) -> Result<Client> {
        let rest = cfg.url.strip_prefix("http://").ok_or("an http:// URL is needed")?;
        let (addr, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(HOST, HeaderValue::from_str(addr)?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(
            HeaderName::from_static("mcp-protocol-version"),
            HeaderValue::from_static("2026-07-28"),
        );
        let pooling = pooling.then(|| {
            let mut con = legacy::connect::HttpConnector::new();
            con.set_nodelay(true);
            legacy::Client::builder(TokioExecutor::new()).build(con)
        });
        Ok(Client {
            addr: addr.into(),
            path: format!("/{path}").parse()?,
            full: cfg.url.parse()?,
            headers,
            next: AtomicU64::new(1),
            scan: cfg.variant == "scan",
            idle: Default::default(),
            pooling,
        })
    }

    async fn send(
        &self,
        body: Vec<u8>,
        method: &'static str,
        name: Option<&str>,
    ) -> Result<(http::Response<Incoming>, Lease<'_>)> {
        let mut r = http::Request::new(Full::new(Bytes::from(body)));
        *r.method_mut() = http::Method::POST;
        *r.headers_mut() = self.headers.clone();
        r.headers_mut()
            .insert(HeaderName::from_static("mcp-method"), HeaderValue::from_static(method));
        if let Some(n) = name {
            r.headers_mut().insert(HeaderName::from_static("mcp-name"), HeaderValue::from_str(n)?);
        }
        if let Some(p) = &self.pooling {
            *r.uri_mut() = self.full.clone();
            let resp = p.request(r).await?;
            return Ok((resp, Lease { tx: None, c: self }));
        }
        *r.uri_mut() = self.path.clone();
        let mut idle = self.idle.lock().unwrap().pop();
        if let Some(tx) = &mut idle
            && tx.ready().await.is_err()
        {
            idle = None;
        }
        let mut tx = match idle {
            Some(tx) => tx,
            None => {
                let tcp = TcpStream::connect(&self.addr).await?;
                tcp.set_nodelay(true)?;
                let (tx, conn) = handshake(TokioIo::new(tcp)).await?;
                tokio::spawn(conn);
                tx
            }
        };
        let resp = tx.send_request(r).await?;
        Ok((resp, Lease { tx: Some(tx), c: self }))
    }

    pub async fn call<R: Scan + serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        name: Option<&str>,
        req: impl FnOnce(u64, &mut Vec<u8>),
    ) -> Result<R> {
        let id = self.next.fetch_add(1, Relaxed);
        let mut body = Vec::with_capacity(512);
        req(id, &mut body);
        let (r, lease) = self.send(body, method, name).await?;
        let sse = r
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|v| v.as_bytes().starts_with(b"text/event-stream"));
        let all = whole(r.into_body()).await?;
        drop(lease);
        let line = if sse { data(&all) } else { &all[..] };
        if peek_id(line) != Some(id) {
            return Err("not the answer".into());
        }
        read(line, self.scan)
    }

    pub async fn listen(&self, req: impl FnOnce(u64, &mut Vec<u8>)) -> Result<usize> {
        let id = self.next.fetch_add(1, Relaxed);
        let mut body = Vec::with_capacity(512);
        req(id, &mut body);
        let (r, _lease) = self.send(body, "subscriptions/listen", None).await?;
        let mut b = r.into_body();
        let mut buf = BytesMut::new();
        let mut got = 0;
        while let Some(f) = b.frame().await {
            let Ok(d) = f?.into_data() else { continue };
            buf.extend_from_slice(&d);
            while let Some(p) = memchr::memmem::find(&buf, b"\n\n") {
                let ev = buf.split_to(p);
                buf.advance(2);
                if let Message::Update(uri) = incoming(data(&ev), self.scan) {
                    got += usize::from(uri.starts_with("bench://"));
                }
            }
        }
        Ok(got)
    }
}
