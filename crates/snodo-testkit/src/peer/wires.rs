//! The peer on wires: in memory, at the end of a pipe, behind HTTP.

use std::io;

use snodo_transport::{Abilities, Connect, Exchange, Incoming, Transport};
use snodo_types::{Concern, Envelope, TransportError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Peer;
use crate::{Answers, Loopback, Reply, Request};

/// The peer as a transport of its own: each exchange runs in the caller's task.
impl Transport for Peer {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        self.answer(envelope.message)
    }

    fn abilities(&self) -> Abilities {
        Abilities { listen: true, own_stream: true, same_task: true, ..Abilities::default() }
    }
}

impl Connect for Peer {
    type Transport = Self;

    async fn connect(&self) -> Result<Self, TransportError> {
        Ok(self.clone())
    }
}

impl Peer {
    /// Speaks newline-delimited messages until the pipe ends.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the pipe.
    pub async fn serve_pipe(self, pipe: impl AsyncRead + AsyncWrite + Send) {
        let (read, mut write) = tokio::io::split(pipe);
        let mut lines = BufReader::new(read).lines();
        let (lines_in, heard) = mpsc::channel(MESSAGES_WAITING);
        let (say, mut said) = mpsc::channel::<String>(MESSAGES_WAITING);
        let reading = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if lines_in.send(line).await.is_err() {
                    return;
                }
            }
        };
        let writing = async {
            while let Some(text) = said.recv().await {
                if write.write_all(format!("{text}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = reading => {}
            () = writing => {}
            () = self.serve(heard, say) => {}
        }
    }

    /// Speaks over two queues of messages, the texts that come in and those that go out, until
    /// either ends or a request makes the peer leave.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the peer's work on this connection.
    pub async fn serve(self, mut heard: mpsc::Receiver<String>, say: mpsc::Sender<String>) {
        let mut unasked = self.unasked();
        let mut running = JoinSet::new();
        loop {
            tokio::select! {
                text = heard.recv() => {
                    let Some(text) = text else { return };
                    running.spawn(hand_over(self.answer(text), say.clone()));
                }
                Ok(message) = unasked.recv() => {
                    if say.send(message.into_text()).await.is_err() {
                        return;
                    }
                }
                Some(done) = running.join_next() => {
                    if !done.unwrap_or(false) {
                        return;
                    }
                }
            }
        }
    }

    /// Serves Streamable HTTP: an answer in the way that is given, and as an event stream in any
    /// case where something comes before it. A GET is given what concerns no request; DELETE is
    /// taken.
    ///
    /// # Errors
    ///
    /// No port can be had.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind.
    pub async fn serve_http(&self, answers: Answers) -> io::Result<Loopback> {
        let peer = self.clone();
        Loopback::serve(move |request| peer.clone().http(request, answers)).await
    }

    async fn http(self, request: Request, answers: Answers) -> Reply {
        match request.method.as_str() {
            "POST" => {}
            "DELETE" => return Reply::new(200),
            "GET" => {
                let mut unasked = self.unasked();
                return Reply::new(200).stream(|events| async move {
                    // Some proxies keep the head back until something follows it.
                    events.raw(": here\n\n").await;
                    while let Ok(message) = unasked.recv().await {
                        events.message(message.text()).await;
                    }
                });
            }
            _ => return Reply::new(405),
        }
        let mut exchange = self.answer(request.body);
        let first = match exchange.next().await {
            Some(Ok(Incoming::Message(message))) => message,
            Some(Ok(_)) => return Reply::new(202),
            // It goes away.
            _ => return Reply::reset(),
        };
        let is_whole = matches!(first.concerns(), Concern::Answer(_));
        if is_whole && answers == Answers::Json {
            return Reply::new(200).json(first.text());
        }
        Reply::new(200).stream(|events| async move {
            events.message(first.text()).await;
            while let Some(Ok(Incoming::Message(message))) = exchange.next().await {
                events.message(message.text()).await;
            }
        })
    }
}

/// Puts everything that comes of one message into the queue. `false` when the peer is to leave.
async fn hand_over(mut exchange: Exchange, say: mpsc::Sender<String>) -> bool {
    let mut answered = false;
    while let Some(Ok(incoming)) = exchange.next().await {
        let Incoming::Message(message) = incoming else { return true };
        answered = matches!(message.concerns(), Concern::Answer(_) | Concern::Ends(_));
        if say.send(message.into_text()).await.is_err() {
            return false;
        }
    }
    answered
}

const MESSAGES_WAITING: usize = 64;
