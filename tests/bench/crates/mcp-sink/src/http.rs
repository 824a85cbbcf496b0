//! The HTTP side: hyper's HTTP/1.1 server, no router, no state per connection.

use crate::proto::{Action, MODERN, Sink, Stream};
use bytes::{Bytes, BytesMut};
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

#[derive(Clone, Copy, PartialEq)]
pub enum ReplyAs {
    Json,
    Sse,
}

pub enum Out {
    /// Ready pieces; the exact length is announced unless `chunked`.
    Pieces { q: VecDeque<Bytes>, chunked: bool },
    /// Events made as they are asked for, about 16 KiB at a time.
    Events(Stream),
}

impl Body for Out {
    type Data = Bytes;
    type Error = Infallible;
    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Out::Pieces { q, .. } => Poll::Ready(q.pop_front().map(|b| Ok(Frame::data(b)))),
            Out::Events(s) => {
                let mut o = Vec::with_capacity(17 * 1024);
                while o.len() < 16 * 1024 && s.push(&mut o, b"event: message\ndata: ", b"\n\n") {}
                Poll::Ready(if o.is_empty() { None } else { Some(Ok(Frame::data(Bytes::from(o)))) })
            }
        }
    }
    fn is_end_stream(&self) -> bool {
        matches!(self, Out::Pieces { q, .. } if q.is_empty())
    }
    fn size_hint(&self) -> SizeHint {
        match self {
            Out::Pieces { q, chunked: false } => {
                SizeHint::with_exact(q.iter().map(|b| b.len() as u64).sum())
            }
            _ => SizeHint::default(),
        }
    }
}

fn answer(pieces: impl IntoIterator<Item = Bytes>, as_: ReplyAs) -> Response<Out> {
    let mut q: VecDeque<Bytes> = pieces.into_iter().collect();
    let (ct, chunked) = match as_ {
        ReplyAs::Json => ("application/json", false),
        ReplyAs::Sse => {
            if q.len() == 1 {
                let b = q.pop_front().unwrap();
                let mut m = BytesMut::with_capacity(b.len() + 32);
                m.extend_from_slice(b"event: message\ndata: ");
                m.extend_from_slice(&b);
                m.extend_from_slice(b"\n\n");
                q.push_back(m.freeze());
            } else {
                q.push_front(Bytes::from_static(b"event: message\ndata: "));
                q.push_back(Bytes::from_static(b"\n\n"));
            }
            ("text/event-stream", true)
        }
    };
    let mut r = Response::new(Out::Pieces { q, chunked });
    r.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(ct));
    r
}

fn bare(status: StatusCode) -> Response<Out> {
    let mut r = Response::new(Out::Pieces { q: VecDeque::new(), chunked: false });
    *r.status_mut() = status;
    r
}

pub async fn serve_one(
    sink: Arc<Sink>,
    as_: ReplyAs,
    req: Request<Incoming>,
) -> Result<Response<Out>, hyper::Error> {
    if req.method() == Method::DELETE {
        return Ok(bare(StatusCode::OK));
    }
    if req.method() != Method::POST {
        let mut r = bare(StatusCode::METHOD_NOT_ALLOWED);
        r.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return Ok(r);
    }
    let mut modern = req
        .headers()
        .get("mcp-protocol-version")
        .is_some_and(|v| v.as_bytes() == MODERN.as_bytes());
    let body = req.into_body().collect().await?.to_bytes();
    Ok(match sink.handle(&body, &mut modern) {
        Action::Nothing => bare(StatusCode::ACCEPTED),
        Action::Reply(r) => answer([Bytes::from(r)], as_),
        Action::Pieces(a, b, c) => answer([Bytes::from(a), b, Bytes::from_static(c)], as_),
        Action::Later(ms, r) => {
            tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
            answer([Bytes::from(r)], as_)
        }
        Action::Stream(s) => {
            let mut r = Response::new(Out::Events(s));
            r.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            r
        }
    })
}

pub async fn run(sink: Sink, port: u16, as_: ReplyAs) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening {}", listener.local_addr()?);
    let sink = Arc::new(sink);
    loop {
        let (tcp, _) = listener.accept().await?;
        let _ = tcp.set_nodelay(true);
        let sink = sink.clone();
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new()
                .keep_alive(true)
                .serve_connection(
                    hyper_util::rt::TokioIo::new(tcp),
                    hyper::service::service_fn(move |req| serve_one(sink.clone(), as_, req)),
                )
                .await;
        });
    }
}
