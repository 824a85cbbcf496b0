//! A transport from one function.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use snodo_types::{Envelope, Message, TransportError, TransportFault};

use crate::{Connect, Exchange, Incoming, Transport};

/// A transport that answers each envelope by calling `function`: enough where one reply to one
/// request is all there is. For anything else implement [`Transport`].
///
/// The function gives `None` where nothing answers (notifications and replies). A request that gets
/// no answer fails with [`StreamEnded`](snodo_types::TransportFault::StreamEnded).
///
/// ```
/// use snodo_transport::{Transport, from_fn};
/// use snodo_types::Message;
///
/// let transport = from_fn(|envelope| async move {
///     Ok(envelope.id.map(|id| Message::result(&id.into(), "{}")))
/// });
/// # let _ = transport.abilities();
/// ```
pub fn from_fn<F, G>(function: F) -> FromFn<F>
where
    F: Fn(Envelope) -> G + Send + Sync + 'static,
    G: Future<Output = Result<Option<Message>, TransportError>> + Send + 'static,
{
    FromFn { function: Arc::new(function) }
}

/// The transport that [`from_fn`] makes. It is its own [`Connect`].
///
/// ```
/// # use snodo_transport::from_fn;
/// let transport = from_fn(|_| async { Ok(None) });
/// let again = transport.clone();
/// # let _ = again;
/// ```
pub struct FromFn<F> {
    function: Arc<F>,
}

impl<F> Clone for FromFn<F> {
    fn clone(&self) -> Self {
        Self { function: Arc::clone(&self.function) }
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromFn")
    }
}

impl<F, G> Transport for FromFn<F>
where
    F: Fn(Envelope) -> G + Send + Sync + 'static,
    G: Future<Output = Result<Option<Message>, TransportError>> + Send + 'static,
{
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let function = Arc::clone(&self.function);
        Exchange::generate(move |sender| async move {
            let asked = envelope.id;
            let reply: Pin<Box<G>> = Box::pin(function(envelope));
            let incoming = match (reply.await?, asked) {
                (Some(message), _) => Incoming::Message(message),
                (None, None) => Incoming::Sent,
                (None, Some(id)) => {
                    let why = format!("request {id} was not answered");
                    return Err(TransportError::new(TransportFault::StreamEnded, why));
                }
            };
            sender.send(incoming).await;
            Ok(())
        })
    }
}

impl<F, G> Connect for FromFn<F>
where
    F: Fn(Envelope) -> G + Send + Sync + 'static,
    G: Future<Output = Result<Option<Message>, TransportError>> + Send + 'static,
{
    type Transport = Self;

    async fn connect(&self) -> Result<Self, TransportError> {
        Ok(self.clone())
    }
}
