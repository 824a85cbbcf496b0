//! The same server over HTTP, behind a service in place of sockets.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::{Body, Frame};
use serde_json::Value;
use snodo_http::{Http, RequestBody};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tower::service_fn;

use super::server::{Act, World};

/// The way there.
pub(super) fn to(world: &Arc<World>) -> Http {
    let world = Arc::clone(world);
    let service = service_fn(move |request: Request<RequestBody>| {
        let answer = answer(&world, &request);
        async move { Ok::<_, Infallible>(answer) }
    });
    Http::new("http://localhost/mcp").expect("a URL").service(service)
}

fn answer(world: &Arc<World>, request: &Request<RequestBody>) -> Response<Pieces> {
    if request.method() != Method::POST {
        world.note(request.method().as_str().as_bytes());
        let status = if request.method() == Method::DELETE { 200 } else { 405 };
        return plain(status, "text/plain", "");
    }
    let bytes = request.body().bytes();
    world.hear(bytes);
    let message: Value = serde_json::from_slice(bytes).expect("the client sends JSON");
    if message["id"].is_null() || message["method"].is_null() {
        return plain(202, "text/plain", "");
    }
    let byte = world.next();
    if byte % 8 == 7 {
        let status = STATUSES[usize::from(byte / 8) % STATUSES.len()];
        return plain(status, "text/plain", "no");
    }
    let acts = world.plan(&message);
    match &acts[..] {
        [Act::Say(text)] if byte.is_multiple_of(2) => plain(200, "application/json", text),
        _ => stream(acts, byte % 4 == 1),
    }
}

fn plain(status: u16, kind: &str, text: &str) -> Response<Pieces> {
    let (sender, receiver) = mpsc::channel(1);
    // There is room for one.
    let _ = sender.try_send(Ok(Bytes::copy_from_slice(text.as_bytes())));
    let response = Response::builder().status(status).header("content-type", kind);
    let response = response.header("retry-after", "1").header("mcp-session-id", "s");
    response.body(Pieces(receiver)).expect("a response")
}

/// An event stream. It ends behind the last act, or is held open.
fn stream(acts: Vec<Act>, ends: bool) -> Response<Pieces> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        for act in acts {
            let piece = match act {
                Act::Close => Err(io::Error::other("the server broke it off")),
                Act::Say(text) => Ok(Bytes::from(format!("id: {}\ndata: {text}\n\n", text.len()))),
                Act::Wait(time) => {
                    sleep(time).await;
                    continue;
                }
            };
            if sender.send(piece).await.is_err() {
                return;
            }
        }
        if !ends {
            sender.closed().await;
        }
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    response.header("mcp-session-id", "s").body(Pieces(receiver)).expect("a response")
}

/// The body of a response.
struct Pieces(mpsc::Receiver<io::Result<Bytes>>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

const STATUSES: &[u16] = &[400, 401, 403, 404, 408, 409, 429, 500, 503, 302, 204, 200];
