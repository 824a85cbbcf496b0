//! The seam between an MCP client and what carries its messages.
//!
//! A transport implements one method, [`Transport::exchange`]: a message goes out, and everything
//! the peer says because of it comes back as a stream. Requests, notifications, replies and
//! listening are that one call with another envelope. [`Connect`] makes a transport; the client
//! calls it once, and again when a connection has to be renewed.
//!
//! A whole transport in a crate that knows this one and [`snodo_types`] only:
//!
//! ```
//! use snodo_transport::{Connect, Exchange, Transport};
//! use snodo_types::{Envelope, Message, TransportError};
//!
//! /// Answers every request with an empty result.
//! struct Quiet;
//!
//! impl Transport for Quiet {
//!     fn exchange(&self, envelope: Envelope) -> Exchange {
//!         match envelope.id {
//!             Some(id) => Exchange::ready(Message::result(&id.into(), "{}")),
//!             None => Exchange::sent(),
//!         }
//!     }
//! }
//!
//! struct QuietAddress;
//!
//! impl Connect for QuietAddress {
//!     type Transport = Quiet;
//!
//!     async fn connect(&self) -> Result<Quiet, TransportError> {
//!         Ok(Quiet)
//!     }
//! }
//! ```
//!
//! What this crate never does: name a method of the protocol, read the inside of a message, spawn.

mod connect;
mod exchange;
mod from_fn;
mod inbox;
mod pending;
mod transport;

pub use connect::Connect;
pub use exchange::{Exchange, Incoming, Sender};
pub use from_fn::{FromFn, from_fn};
pub use inbox::Inbox;
pub use pending::{Pending, Route};
pub use transport::{Abilities, BoxFuture, Transport};
