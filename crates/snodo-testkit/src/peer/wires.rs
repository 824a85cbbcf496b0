//! The peer on wires: in memory, at the end of a pipe, behind HTTP.

use std::io;

use snodo_transport::{Abilities, Connect, Exchange, Incoming, Transport};
use snodo_types::{Concern, Envelope, Message, TransportError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Peer;
use crate::{Loopback, Reply, Request};

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
        let (sender, mut answers) = mpsc::channel::<Message>(ANSWERS_WAITING);
        let mut running = JoinSet::new();
        loop {
            tokio::select! {
                line = lines.next_line() => {
                    let Ok(Some(line)) = line else { return };
                    running.spawn(hand_over(self.answer(line), sender.clone()));
                }
                Some(answer) = answers.recv() => {
                    if write.write_all(format!("{}\n", answer.text()).as_bytes()).await.is_err() {
                        return;
                    }
                }
                Some(_) = running.join_next() => {}
            }
        }
    }

    /// Serves Streamable HTTP: the answer as JSON, or as an event stream when something comes
    /// before it. GET is refused, DELETE taken.
    ///
    /// # Errors
    ///
    /// No port can be had.
    pub async fn serve_http(&self) -> io::Result<Loopback> {
        let peer = self.clone();
        Loopback::serve(move |request| peer.clone().http(request)).await
    }

    async fn http(self, request: Request) -> Reply {
        match request.method.as_str() {
            "POST" => {}
            "DELETE" => return Reply::new(200),
            _ => return Reply::new(405),
        }
        let mut exchange = self.answer(request.body);
        let first = match exchange.next().await {
            Some(Ok(Incoming::Message(message))) => message,
            Some(Ok(_)) => return Reply::new(202),
            _ => return Reply::new(400),
        };
        if matches!(first.concerns(), Concern::Answer(_)) {
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

/// Puts everything that comes of one message into the pipe's queue.
async fn hand_over(mut exchange: Exchange, answers: mpsc::Sender<Message>) {
    while let Some(Ok(incoming)) = exchange.next().await {
        if let Incoming::Message(message) = incoming
            && answers.send(message).await.is_err()
        {
            return;
        }
    }
}

const ANSWERS_WAITING: usize = 64;
