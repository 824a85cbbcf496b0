//! The stream, the posts beside it, and the two tasks that do them.

use std::sync::Arc;
use std::time::Duration;

use snodo_http::{EventStream, Http, HttpTransport};
use snodo_transport::{Connect, Incoming, Transport};
use snodo_types::{Envelope, TransportError, TransportFault};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use crate::state::{Letter, Shared, closed};

/// A connection.
///
/// # Drop behavior
///
/// Ends both tasks, and with them the connection.
#[derive(Debug)]
pub(crate) struct Link {
    shared: Shared,
    letters: mpsc::Sender<Letter>,
    closing: watch::Sender<bool>,
    /// Told by the writer when nothing is posted any more.
    over: watch::Receiver<bool>,
    tasks: [AbortHandle; 2],
}

impl Link {
    pub(crate) async fn open(http: &Http, limit: Duration) -> Result<Self, TransportError> {
        let mut events = http.events(limit).await?;
        let endpoint = timeout(limit, endpoint(&mut events)).await.unwrap_or_else(|_| {
            let why = format!("the event stream named no endpoint within {limit:?}");
            Err(TransportError::new(TransportFault::Timeout, why))
        })?;
        let posts = http.at(&endpoint)?.connect().await?;
        let (letters, waiting) = mpsc::channel(LETTERS_WAITING);
        let (notices, told) = mpsc::channel(NOTICES_WAITING);
        let (closing, closes) = watch::channel(false);
        let (ended, over) = watch::channel(false);
        let shared = Shared::new(notices);
        let writer = Writer { posts: Arc::new(posts), letters: waiting, notices: told, closes };
        let writing = tokio::spawn(async move {
            writer.run().await;
            let _ = ended.send(true);
        });
        let reading = tokio::spawn(read(events, shared.clone()));
        let tasks = [writing.abort_handle(), reading.abort_handle()];
        Ok(Self { shared, letters, closing, over, tasks })
    }

    pub(crate) fn shared(&self) -> Shared {
        self.shared.clone()
    }

    pub(crate) fn letters(&self) -> mpsc::Sender<Letter> {
        self.letters.clone()
    }

    /// Lets what waits be posted, so long, and ends the stream.
    pub(crate) fn close(&self, limit: Duration) -> impl Future<Output = ()> + Send + use<> {
        let (closing, mut over) = (self.closing.clone(), self.over.clone());
        let (shared, tasks) = (self.shared.clone(), self.tasks.clone());
        async move {
            shared.end(closed("the connection was closed"));
            let _ = closing.send(true);
            let _ = timeout(limit, over.wait_for(|over| *over)).await;
            tasks.iter().for_each(AbortHandle::abort);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.shared.end(closed("the connection was dropped"));
    }
}

/// Waits for the event that says where messages go (2024-11-05, transports, "HTTP with SSE").
async fn endpoint(events: &mut EventStream) -> Result<String, TransportError> {
    loop {
        match events.next().await {
            Some(Ok(event)) if event.name == "endpoint" => return Ok(event.data),
            Some(Ok(event)) => tracing::debug!(event.name, "an event before the endpoint"),
            Some(Err(error)) => return Err(error),
            None => {
                let why = "the event stream ended before it named an endpoint";
                return Err(TransportError::new(TransportFault::StreamEnded, why));
            }
        }
    }
}

async fn read(mut events: EventStream, shared: Shared) {
    let why = loop {
        match events.next().await {
            Some(Ok(event)) if event.is_message() => {
                if !event.data.is_empty() {
                    shared.deliver(event.data);
                }
            }
            Some(Ok(event)) => tracing::debug!(event.name, "an event that is no message"),
            Some(Err(error)) => break error,
            None => break closed("the server ended the event stream"),
        }
    };
    shared.end(why);
}

/// Posts one message after the other.
struct Writer {
    posts: Arc<HttpTransport>,
    letters: mpsc::Receiver<Letter>,
    notices: mpsc::Receiver<Letter>,
    closes: watch::Receiver<bool>,
}

impl Writer {
    /// Runs until the connection is to be closed. Notices go first: they are short, and who is told
    /// to stop leaves room.
    async fn run(mut self) {
        let mut under_way = JoinSet::new();
        loop {
            while under_way.len() >= POSTS_UNDER_WAY {
                under_way.join_next().await;
            }
            let letter = tokio::select! {
                biased;
                Some(notice) = self.notices.recv() => notice,
                _ = self.closes.wait_for(|closing| *closing) => break,
                Some(letter) = self.letters.recv() => letter,
                Some(_) = under_way.join_next() => continue,
            };
            let Some(text) = letter.open() else { continue };
            let (taken, is_taken) = oneshot::channel();
            under_way.spawn(post(Arc::clone(&self.posts), text, letter, taken));
            // What became of it is told by the post itself.
            let _ = timeout(MOMENT, is_taken).await;
        }
        while under_way.join_next().await.is_some() {}
    }
}

/// Posts a message; whoever hears that it was taken goes on.
async fn post(posts: Arc<HttpTransport>, text: String, letter: Letter, taken: oneshot::Sender<()>) {
    let mut envelope = Envelope::notification(text);
    envelope.routing = letter.routing;
    let mut exchange = posts.exchange(envelope);
    let mut taken = Some(taken);
    while let Some(next) = exchange.next().await {
        if matches!(next, Ok(Incoming::Sent) | Err(_)) {
            // The writer may have gone on already.
            taken.take().map(|taken| taken.send(()));
        }
        match &letter.news {
            // An exchange that is over hears nothing.
            Some(news) => drop(news.send(next).await),
            None => {
                if let Err(error) = next {
                    tracing::debug!(%error, "a notice was not taken");
                }
            }
        }
    }
}

const LETTERS_WAITING: usize = 64;
/// How many notices wait that requests were given up; further ones are not sent.
const NOTICES_WAITING: usize = 1024;
const POSTS_UNDER_WAY: usize = 64;

/// How long a message waits for the one before it to be taken.
const MOMENT: Duration = Duration::from_millis(250);
