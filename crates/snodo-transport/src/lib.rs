//! The seam between an MCP client and what carries its messages.
//!
//! A transport implements one method, [`Transport::exchange`]: a message goes out, and everything
//! the peer says because of it comes back as a stream. Requests, notifications, replies and
//! listening are that one call with another envelope. [`Connect`] makes a transport; the client
//! calls it once, and again when a connection has to be renewed.
//!
//! The least there is, for a peer that gives one answer to each request, is [`from_fn`]. A peer that
//! also says something on the way to an answer takes a type with one method and
//! [`Exchange::generate`]:
//!
//! ```
//! use snodo_transport::{Connect, Exchange, Incoming, Transport, connect_fn};
//! use snodo_types::{Envelope, Message, TransportError};
//!
//! /// Answers every request with an empty result, behind a word on the way.
//! struct Quiet;
//!
//! impl Transport for Quiet {
//!     fn exchange(&self, envelope: Envelope) -> Exchange {
//!         let Some(id) = envelope.id else { return Exchange::sent() };
//!         Exchange::generate(move |sender| async move {
//!             let params = format!(r#"{{"progressToken":{id},"progress":1}}"#);
//!             let word = Message::notification("notifications/progress", Some(&params));
//!             sender.send(Incoming::Message(word)).await;
//!             sender.send(Incoming::Message(Message::result(&id.into(), "{}"))).await;
//!             Ok(())
//!         })
//!     }
//! }
//!
//! let server = connect_fn(|| async { Ok::<_, TransportError>(Quiet) }).named("the quiet server");
//! # let _ = server.target();
//! ```
//!
//! # A whole transport
//!
//! A pipe that all messages share needs a table of who waits for what ([`Pending`]), somebody who
//! reads the pipe, and the four things that people forget: an exchange does nothing before its first
//! poll; one that is dropped is taken back or given up; what concerns no exchange goes to whoever
//! attends the connection; and the end of the pipe is told to everybody. This is all of it, over two
//! queues to another thread. It is an example of this crate, and the tests hold it to the kit of
//! `snodo-testkit`, as they hold every transport.
//!
#![doc = concat!("```\n", include_str!("../examples/queues.rs"), "```")]
//!
//! What this crate never does: name a method of the protocol, read the inside of a message, spawn.

mod connect;
mod connect_fn;
mod exchange;
mod from_fn;
mod inbox;
mod pending;
mod transport;

pub use connect::Connect;
pub use connect_fn::{ConnectFn, connect_fn};
pub use exchange::{Exchange, Incoming, Sender};
pub use from_fn::{FromFn, from_fn};
pub use inbox::Inbox;
pub use pending::{Pending, Route};
pub use transport::{Abilities, BoxFuture, Transport};
