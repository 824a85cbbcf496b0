//! What goes between the one who plays a transcript and a wire.

use serde_json::Value;
use tokio::sync::mpsc;

use super::http::Streams;
use super::memory::Shelf;

/// What a client did on a wire.
#[derive(Debug)]
pub(crate) enum Event {
    /// It ended its connection.
    Ended,
    /// It sent an HTTP request other than a POST.
    Method { method: String, headers: Value },
    /// It wrote a message; over HTTP with its headers.
    Message { text: String, stream: u64, headers: Option<Value> },
    /// It made a connection.
    Opened(Outlet),
    /// It closed a response stream before the response.
    StreamClosed(u64),
}

/// Where to put what the server says.
#[derive(Debug)]
pub(crate) enum Outlet {
    Http(Streams),
    Memory(Shelf),
    Pipe(mpsc::Sender<String>),
}

/// Something the server says.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: String,
    /// The response stream it belongs to; without one it concerns no request.
    pub(crate) stream: Option<u64>,
    /// Whether it is the response, after which the stream ends.
    pub(crate) last: bool,
    pub(crate) status: Option<u16>,
    pub(crate) session: Option<String>,
}

impl Outlet {
    pub(crate) async fn say(&self, said: Said) -> Result<(), String> {
        match self {
            Self::Http(streams) => streams.say(said).await,
            Self::Memory(shelf) => {
                shelf.say(&said.text);
                Ok(())
            }
            Self::Pipe(lines) => {
                lines.send(said.text).await.map_err(|_| "the client's pipe is closed".to_owned())
            }
        }
    }

    /// Ends the connection from the server's side.
    pub(crate) fn hang_up(self) {
        match self {
            Self::Http(streams) => streams.hang_up(),
            Self::Memory(shelf) => shelf.hang_up(),
            // The writing task ends with its sender, and the pipe with it.
            Self::Pipe(_) => {}
        }
    }
}
