//! A server of this process behind byte pipes, a new one for each connection; examples share it.

use std::collections::HashMap;
use std::sync::Arc;

use snodo::direct::{Context, Runtime};
use snodo::stdio::Pipe;
use snodo::transport::{Connect, Exchange, Incoming};
use snodo::types::{Body, Cancelled, Message, TransportError};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// Where to connect: the far end of each pipe is a task that calls the server.
pub(crate) struct Pipes<R>(Arc<R>);

impl<R: Runtime> Pipes<R> {
    pub(crate) fn new(server: R) -> Self {
        Self(Arc::new(server))
    }
}

impl<R: Runtime> Connect for Pipes<R> {
    type Transport = Pipe;

    async fn connect(&self) -> Result<Pipe, TransportError> {
        let (near, far) = tokio::io::duplex(4096);
        tokio::spawn(serve(Arc::clone(&self.0), far));
        let (reader, writer) = tokio::io::split(near);
        Ok(Pipe::new(reader, writer))
    }
}

/// Every message gets a task, which ends with the pipe or when the client gives the message up.
async fn serve(server: Arc<impl Runtime>, far: DuplexStream) {
    let (reader, writer) = tokio::io::split(far);
    let (writer, mut lines) = (Arc::new(Mutex::new(writer)), BufReader::new(reader).lines());
    let (mut tasks, mut running) = (JoinSet::new(), HashMap::new());
    let context = Context::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = Message::parse(line) else { continue };
        let given_up = given_up(&message);
        let id = message.id().map(ToString::to_string);
        let exchange = server.dispatch(message, context.clone());
        let task = tasks.spawn(say(exchange, Arc::clone(&writer)));
        if let Some(id) = id {
            running.insert(id, task);
        }
        if let Some(task) = given_up.and_then(|id| running.remove(&id)) {
            task.abort();
        }
    }
}

async fn say(mut exchange: Exchange, writer: Arc<Mutex<WriteHalf<DuplexStream>>>) {
    while let Some(Ok(Incoming::Message(said))) = exchange.next().await {
        let line = format!("{}\n", said.text());
        // The other end may be gone; then there is nobody to tell.
        let _ = writer.lock().await.write_all(line.as_bytes()).await;
    }
}

fn given_up(message: &Message) -> Option<String> {
    let Body::Notification { method: "notifications/cancelled", params: Some(params) } =
        message.body()
    else {
        return None;
    };
    let cancelled: Cancelled = serde_json::from_str(params).ok()?;
    Some(cancelled.request_id?.to_string())
}
