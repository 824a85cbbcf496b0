//! HTTP over a connection: 1.1, or 2 for all requests at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use snodo_types::TransportError;

use super::Dial;
use super::socket::Duplex;
use crate::fault;
use crate::pool::{Carrier, Connection, Shared};

/// HTTP/1.1: a request at a time.
pub(super) async fn one(
    dial: &Dial,
    stream: impl Duplex + 'static,
) -> Result<Carrier, TransportError> {
    let (sender, connection) = http1::Builder::new()
        .max_header_size(dial.limits.header_bytes)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| fault::exchange(dial.target.shown(), error))?;
    // Ends by itself when the server hangs up; the connection aborts it when it is dropped.
    let task = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::trace!(%error, "an HTTP connection ended");
        }
    });
    Ok(Carrier::One(Connection::new(sender, task.abort_handle())))
}

/// HTTP/2: as many requests at once as the server takes.
pub(super) async fn many(
    dial: &Dial,
    stream: impl Duplex + 'static,
) -> Result<Carrier, TransportError> {
    let header_bytes = u32::try_from(dial.limits.header_bytes).unwrap_or(u32::MAX);
    let (sender, mut connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_header_list_size(header_bytes)
        // All requests share one connection; one that is dead must not swallow them.
        .keep_alive_interval(dial.limits.keep_alive)
        .keep_alive_timeout(UNANSWERED)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| fault::exchange(dial.target.shown(), error))?;
    let most = Arc::new(AtomicUsize::new(connection.current_max_send_streams()));
    let told = Arc::clone(&most);
    // Ends as the one above does.
    let task = tokio::spawn(async move {
        let ended = poll_fn(|cx| {
            let polled = Pin::new(&mut connection).poll(cx);
            told.store(connection.current_max_send_streams(), Ordering::Relaxed);
            polled
        });
        if let Err(error) = ended.await {
            tracing::trace!(%error, "an HTTP/2 connection ended");
        }
    });
    Ok(Carrier::Many(Shared::new(sender, task.abort_handle(), most)))
}

/// How long the answer to a ping is waited for.
const UNANSWERED: Duration = Duration::from_secs(10);
