//! JSON-RPC 2.0 as the protocol uses it: messages, ids, errors.

mod error_object;
mod head;
mod id;
mod message;
mod peek;
mod write;

pub use error_object::ErrorObject;
pub use id::RequestId;
pub use message::{Body, Concern, MalformedMessage, Message, Outside, SessionId};
pub use peek::answered_id;
