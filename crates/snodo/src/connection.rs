//! One connection: a transport, what was agreed on, and who attends it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use snodo_dialect::{Carrier, Identity};
use snodo_engine::{Opened, Terms};
use snodo_transport::{Abilities, Transport};
use snodo_types::{Message, ProtocolVersion};

use crate::attendant::Attendant;
use crate::context::Context;

/// A connection is a value: made by a negotiation, shared by the calls that run on it, and over
/// with the last of them.
pub(crate) struct Connection {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) opened: Opened,
    pub(crate) identity: Identity,
    pub(crate) allowed: Vec<ProtocolVersion>,
    /// What answers the server.
    pub(crate) context: Context,
    /// What errors call the server.
    pub(crate) target: String,
    /// The task that answers the server; made when there is something to attend.
    pub(crate) attendant: OnceLock<Attendant>,
    /// The one that answered before the session was open; its last reply may be on its way.
    pub(crate) _early: Option<Attendant>,
}

impl Connection {
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms {
            dialect: self.opened.dialect,
            outfit: &self.opened.outfit,
            identity: &self.identity,
            carrier: carrier(self.transport.abilities()),
            allowed: &self.allowed,
        }
    }

    /// Hands what the server asked on the stream of a call to the attendant.
    pub(crate) fn attend(&self, message: Message) {
        let attendant = self.attendant.get_or_init(|| {
            let transport = Arc::clone(&self.transport);
            Attendant::spawn(transport, self.opened.outfit.clone(), self.context.clone(), None)
        });
        attendant.hand(message);
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("target", &self.target)
            .field("version", &self.opened.dialect.version())
            .finish_non_exhaustive()
    }
}

pub(crate) fn carrier(abilities: Abilities) -> Carrier {
    Carrier { routes: abilities.routing, own_stream: abilities.own_stream }
}
