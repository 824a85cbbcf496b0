//! A server that thinks for ever, and tells what becomes of it.

use snodo::ProtocolVersion;
use snodo::direct::{Context, Runtime, Server};
use snodo::transport::Exchange;
use snodo::types::{Body, Cancelled, Message};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) struct Thinker {
    rest: Server,
    tell: UnboundedSender<String>,
}

/// The server, and what it tells: when it begins, when it is told to stop, when its work is dropped.
pub(crate) fn new() -> (Thinker, UnboundedReceiver<String>) {
    // It tells three things at most for each call.
    let (tell, told) = unbounded_channel();
    (Thinker { rest: Server::new("thinker", "1.0.0"), tell }, told)
}

impl Runtime for Thinker {
    fn versions(&self) -> Vec<ProtocolVersion> {
        Runtime::versions(&self.rest)
    }

    fn dispatch(&self, message: Message, context: Context) -> Exchange {
        match message.body() {
            Body::Request { method: "tools/call", .. } => {
                let tell = self.tell.clone();
                Exchange::generate(|_| async move {
                    let _work = Work(tell.clone());
                    // The example may have ended before.
                    let _ = tell.send("begun".to_owned());
                    std::future::pending().await
                })
            }
            Body::Notification { method: "notifications/cancelled", params } => {
                let told = serde_json::from_str::<Cancelled>(params.unwrap_or("{}"));
                if let Some(id) = told.ok().and_then(|told| told.request_id) {
                    let _ = self.tell.send(format!("told to stop {id}"));
                }
                Exchange::sent()
            }
            _ => self.rest.dispatch(message, context),
        }
    }
}

struct Work(UnboundedSender<String>);

impl Drop for Work {
    fn drop(&mut self) {
        let _ = self.0.send("the work is dropped".to_owned());
    }
}
