//! Somebody else's transport, which knows `snodo-transport` and `snodo-types` alone. Its wire is a
//! queue to another task.
//!
//! ```text
//! 2 pending
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

#[path = "servers/orders.rs"]
mod orders;

use snodo_transport::{Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, Message, TransportError, TransportFault};
use tokio::sync::mpsc::{Sender, channel};

/// Where to connect. A client comes back to it when a connection has to be made anew.
struct Orders;

impl Connect for Orders {
    type Transport = Queue;

    async fn connect(&self) -> Result<Queue, TransportError> {
        Ok(Queue(orders::start()))
    }
}

/// A connection. A letter on it is a message, and where to put what is said because of it.
struct Queue(Sender<orders::Letter>);

impl Transport for Queue {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let queue = self.0.clone();
        Exchange::generate(|sender| async move {
            let closed = |_| TransportError::new(TransportFault::Closed, "the queue is closed");
            let (say, mut said) = channel(1);
            queue.send((envelope.message, say)).await.map_err(closed)?;
            let notice = envelope.abandon.zip(envelope.id).map(|(notice, id)| notice.message(id));
            let mut unheard = Unheard(queue, notice);
            while let Some(text) = said.recv().await {
                sender.send(Incoming::Message(Message::parse(text)?)).await;
            }
            unheard.1 = None;
            sender.send(Incoming::Sent).await;
            Ok(())
        })
    }
}

/// Tells the other side, without waiting, that an exchange was dropped before its end.
struct Unheard(Sender<orders::Letter>, Option<String>);

impl Drop for Unheard {
    fn drop(&mut self) {
        let Some(notice) = self.1.take() else { return };
        drop(self.0.try_send((notice, channel(1).0)));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), snodo::Error> {
    let client = snodo::Client::connect(Orders).await?;
    println!("{}", client.call_tool("count", ()).await?.text());
    Ok(())
}
