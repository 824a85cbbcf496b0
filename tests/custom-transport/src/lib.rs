//! A transport as a stranger would write it: a message bus inside one process.
//!
//! A server is a function at an address of the bus, from one message to all it says because of it.
//! Of snodo this crate knows `snodo-transport` and `snodo-types`, and no runtime.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use snodo_transport::{Abilities, Connect, Exchange, Incoming, Transport};
use snodo_types::{Envelope, Message, TransportError, TransportFault};

/// Takes a message and says something: any notifications, then the answer.
type Server = Arc<dyn Fn(&str) -> Vec<String> + Send + Sync>;

/// A bus with servers on it. Clones are the same bus.
#[derive(Clone, Default)]
pub struct Bus(Arc<Mutex<HashMap<String, Server>>>);

impl Bus {
    /// An empty bus.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a server at an address.
    pub fn serve(
        &self,
        address: &str,
        server: impl Fn(&str) -> Vec<String> + Send + Sync + 'static,
    ) {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        servers.insert(address.to_owned(), Arc::new(server));
    }

    /// The way to an address.
    pub fn address(&self, name: &str) -> BusAddress {
        BusAddress { bus: self.clone(), name: name.to_owned() }
    }

    fn server(&self, address: &str) -> Option<Server> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(address).cloned()
    }
}

impl fmt::Debug for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bus")
    }
}

/// An address of a bus: what a client connects to.
#[derive(Clone, Debug)]
pub struct BusAddress {
    bus: Bus,
    name: String,
}

impl Connect for BusAddress {
    type Transport = BusTransport;

    async fn connect(&self) -> Result<BusTransport, TransportError> {
        match self.bus.server(&self.name) {
            Some(server) => Ok(BusTransport { server }),
            None => {
                let message = format!("nobody is at {}", self.name);
                Err(TransportError::new(TransportFault::Connect, message).not_processed())
            }
        }
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }
}

/// A connection to one server of a bus.
pub struct BusTransport {
    server: Server,
}

impl Transport for BusTransport {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        let server = Arc::clone(&self.server);
        Exchange::generate(|sender| async move {
            for text in server(&envelope.message) {
                let message = Message::parse(text).map_err(|malformed| {
                    TransportError::new(TransportFault::Malformed, malformed.to_string())
                })?;
                sender.send(Incoming::Message(message)).await;
            }
            if envelope.id.is_none() {
                sender.send(Incoming::Sent).await;
            }
            Ok(())
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { own_stream: true, same_task: true, ..Abilities::default() }
    }
}
