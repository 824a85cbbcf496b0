//! An HTTP server on the loopback interface whose every answer a test decides.

mod connection;
mod message;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

pub(crate) use message::event;
pub use message::{Events, Reply, Request};

/// An HTTP/1.1 server that answers each request by calling a function, and keeps what it got.
///
/// It listens on a free port of 127.0.0.1, reads requests of at most 32 MiB with a
/// `Content-Length`, and keeps connections alive. Of the requests it keeps the last 4096.
///
/// # Drop behavior
///
/// Dropping it closes the listener and every connection at once. A function whose client hangs up
/// before it answered is dropped where it stands.
///
/// ```
/// use snodo_testkit::{Loopback, Reply};
///
/// # async fn serve() -> std::io::Result<()> {
/// let server = Loopback::serve(|request| async move {
///     match request.method.as_str() {
///         "POST" => Reply::new(404).json(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}"#),
///         _ => Reply::new(405),
///     }
/// })
/// .await?;
/// assert!(server.url().ends_with("/mcp"));
/// assert!(server.requests().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Loopback {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// What the connections of a server share.
struct Shared {
    handler: Handler,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Request>,
    connections: usize,
}

type Handler = Box<dyn Fn(Request) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync>;

impl Loopback {
    /// Starts to listen. It has to be called on a tokio runtime.
    ///
    /// # Errors
    ///
    /// No port can be had.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind.
    pub async fn serve<F, G>(handler: F) -> io::Result<Self>
    where
        F: Fn(Request) -> G + Send + Sync + 'static,
        G: Future<Output = Reply> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            handler: Box::new(move |request| Box::pin(handler(request))),
            seen: Mutex::default(),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, task })
    }

    /// The address of an endpoint: `http://127.0.0.1:PORT/mcp`. Any other path is served too.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/mcp", self.origin())
    }

    /// The address without a path: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in the order they came; of more than 4096 the first are forgotten.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.seen().requests.clone()
    }

    /// How many connections were made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.seen().connections
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request and asks for its answer.
    async fn answer(&self, request: Request) -> Reply {
        {
            let mut seen = self.seen();
            if seen.requests.len() == REQUESTS_KEPT {
                seen.requests.remove(0);
            }
            seen.requests.push(request.clone());
        }
        (self.handler)(request).await
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

/// Accepts until it is aborted; the connections are its own and end with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((socket, _)) = accepted else { continue };
                shared.seen().connections += 1;
                connections.spawn(connection::serve(socket, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

const REQUESTS_KEPT: usize = 4096;
