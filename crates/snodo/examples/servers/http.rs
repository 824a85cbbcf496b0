//! A server of this process behind HTTP on the loopback interface; examples share it.

use std::io;
use std::sync::Arc;

use snodo::direct::{Context, Runtime};
use snodo::transport::Incoming;
use snodo::types::{Body, Message};
use snodo_testkit::{Loopback, Reply};

/// Listens on a free port. Every request is answered on an event stream of its own.
pub(crate) async fn serve(runtime: impl Runtime) -> io::Result<Loopback> {
    let (runtime, context) = (Arc::new(runtime), Context::new());
    Loopback::serve(move |request| {
        let (runtime, context) = (Arc::clone(&runtime), context.clone());
        async move {
            let Ok(message) = Message::parse(request.body) else { return Reply::new(405) };
            if !matches!(message.body(), Body::Request { .. }) {
                return Reply::new(202);
            }
            Reply::new(200).stream(|events| async move {
                let mut exchange = runtime.dispatch(message, context);
                while let Some(Ok(Incoming::Message(said))) = exchange.next().await {
                    events.message(said.text()).await;
                }
            })
        }
    })
    .await
}
