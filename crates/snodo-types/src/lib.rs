//! The words of the Model Context Protocol.
//!
//! Messages, nouns, errors and envelopes, without a runtime, a clock or IO. Everything that is
//! read keeps what it does not know, so that it can be written out again.

mod envelope;
mod error;
mod jsonrpc;
mod raw;
mod routing;
mod transport_error;
mod version;

pub use envelope::{Abandon, Envelope, InboxLimits, Overflow};
pub use error::{Cause, Error, Kind};
pub use jsonrpc::{
    Body, Concern, ErrorObject, MalformedMessage, Message, Outside, RequestId, SessionId,
    answered_id,
};
pub use raw::Raw;
pub use routing::Routing;
pub use transport_error::{Processed, TransportError, TransportFault};
pub use version::{ProtocolVersion, UnknownVersion};
