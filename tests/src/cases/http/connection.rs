//! One connection: requests in, answers out.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

use super::request::Request;
use super::respond::{Next, Responder};
use super::server::Shared;

/// Serves a connection to its end.
pub(crate) async fn serve(stream: TcpStream, host: String, shared: Arc<Shared>) {
    let open = Open::new(Arc::clone(&shared));
    let _ = stream.set_nodelay(true);
    // An error here is the client's going away, which cases provoke.
    let _ = answer_all(stream, &host, &shared).await;
    drop(open);
}

/// Counts as an open connection while it lives.
struct Open(Arc<Shared>);

impl Open {
    fn new(shared: Arc<Shared>) -> Self {
        let mut state = shared.lock();
        state.record.open_connections += 1;
        state.record.most_connections =
            state.record.most_connections.max(state.record.open_connections);
        drop(state);
        Self(shared)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.lock().record.open_connections -= 1;
    }
}

async fn answer_all(stream: TcpStream, host: &str, shared: &Shared) -> io::Result<()> {
    let (reader, writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let mut responder = Responder::new(writer);
    let mut is_first = true;
    loop {
        if !is_first && !is_used_again(&mut reader, shared.idle).await? {
            return Ok(());
        }
        is_first = false;
        let Some(request) = Request::read(&mut reader, host).await? else { return Ok(()) };
        let (taken, reply) = {
            let mut state = shared.lock();
            let taken = state.take(request);
            let reply = state.decide(&taken);
            (taken, reply)
        };
        // While an answer is on its way, the client may go: then it is over.
        let next = tokio::select! {
            next = responder.respond(shared, &taken, reply) => next?,
            () = gone(&mut reader) => return Ok(()),
        };
        match next {
            Next::Close => return Ok(()),
            Next::Hold => {
                gone(&mut reader).await;
                return Ok(());
            }
            Next::KeepAlive => {}
            Next::Reset => {
                let reader = reader.into_inner();
                return reset(reader, responder);
            }
        }
    }
}

/// Whether another request begins before the connection has been idle for too long.
async fn is_used_again(
    reader: &mut BufReader<OwnedReadHalf>,
    idle: Option<Duration>,
) -> io::Result<bool> {
    let filled = reader.fill_buf();
    match idle {
        None => Ok(!filled.await?.is_empty()),
        Some(idle) => match tokio::time::timeout(idle, filled).await {
            Ok(bytes) => Ok(!bytes?.is_empty()),
            Err(_) => Ok(false),
        },
    }
}

/// Waits until the other side has closed. What it sends meanwhile is nobody's.
async fn gone(reader: &mut (impl AsyncRead + Unpin)) {
    let mut nothing = [0; 1024];
    while matches!(reader.read(&mut nothing).await, Ok(1..)) {}
}

/// Ends a connection so that the other side sees it break.
fn reset(reader: OwnedReadHalf, responder: Responder) -> io::Result<()> {
    let stream = reader.reunite(responder.into_writer()).map_err(io::Error::other)?;
    stream.set_zero_linger()
}
