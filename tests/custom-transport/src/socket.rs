//! The socket and its two tasks: one reads and waits for nobody, one writes.

use std::future::Future;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use snodo_types::{Message, TransportError, TransportFault};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::state::{Letter, Shared};

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// An open connection.
///
/// # Drop behavior
///
/// Ends both tasks, and with them the connection.
#[derive(Debug)]
pub(crate) struct Socket {
    shared: Shared,
    letters: mpsc::Sender<Letter>,
    closing: watch::Sender<bool>,
    /// Told by the reader when the connection is over.
    over: watch::Receiver<bool>,
    tasks: [AbortHandle; 2],
}

impl Socket {
    pub(crate) async fn open(url: &str) -> Result<Self, TransportError> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let connected = connect_async_with_config(url, Some(config), true).await;
        let (stream, _) = connected.map_err(|error| {
            TransportError::new(TransportFault::Connect, error.to_string()).not_processed()
        })?;
        let (sink, stream) = stream.split();
        let (letters, written) = mpsc::channel(LETTERS_WAITING);
        let (notices, told) = mpsc::unbounded_channel();
        let (closing, closes) = watch::channel(false);
        let (ended, over) = watch::channel(false);
        let shared = Shared::new(notices);
        let writer = tokio::spawn(write(sink, written, told, closes, shared.clone()));
        let reader = tokio::spawn(read(stream, shared.clone(), ended));
        let tasks = [writer.abort_handle(), reader.abort_handle()];
        Ok(Self { shared, letters, closing, over, tasks })
    }

    pub(crate) fn shared(&self) -> Shared {
        self.shared.clone()
    }

    pub(crate) fn letters(&self) -> mpsc::Sender<Letter> {
        self.letters.clone()
    }

    /// Says goodbye, and waits so long for the peer to do the same.
    pub(crate) fn close(&self, limit: Duration) -> impl Future<Output = ()> + Send + use<> {
        let (closing, mut over) = (self.closing.clone(), self.over.clone());
        let (shared, tasks) = (self.shared.clone(), self.tasks.clone());
        async move {
            let _ = closing.send(true);
            let _ = tokio::time::timeout(limit, over.wait_for(|over| *over)).await;
            shared.end("the connection was closed");
            tasks.iter().for_each(AbortHandle::abort);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.shared.end("the connection was dropped");
    }
}

async fn read(mut stream: SplitStream<Stream>, shared: Shared, over: watch::Sender<bool>) {
    let why = loop {
        match stream.next().await {
            Some(Ok(Frame::Text(text))) => {
                // What is no message is skipped: nobody knows whom it concerned.
                if let Ok(message) = Message::parse(text.as_str()) {
                    shared.deliver(message);
                }
            }
            Some(Ok(Frame::Close(_))) | None => break "the peer closed the connection".to_owned(),
            // Pings are answered by the socket; binary frames say nothing here.
            Some(Ok(_)) => {}
            Some(Err(error)) => break error.to_string(),
        }
    };
    shared.end(why);
    let _ = over.send(true);
}

/// Writes until the connection is to be closed, or broken. Notices go first: they are short, and who
/// is told to stop leaves room.
async fn write(
    mut sink: SplitSink<Stream, Frame>,
    mut letters: mpsc::Receiver<Letter>,
    mut notices: mpsc::UnboundedReceiver<String>,
    mut closing: watch::Receiver<bool>,
    shared: Shared,
) {
    loop {
        let (text, letter) = tokio::select! {
            biased;
            Some(notice) = notices.recv() => (notice, None),
            _ = closing.wait_for(|closing| *closing) => break,
            Some(letter) = letters.recv() => match letter.open() {
                Some(text) => (text, Some(letter)),
                None => continue,
            },
        };
        match sink.send(Frame::text(text)).await {
            Ok(()) => letter.into_iter().for_each(Letter::was_written),
            Err(error) => {
                shared.end(error.to_string());
                return;
            }
        }
    }
    // The reader sees how the peer takes it.
    let _ = sink.close().await;
}

const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
const LETTERS_WAITING: usize = 64;
