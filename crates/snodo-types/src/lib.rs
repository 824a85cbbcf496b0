//! The words of the Model Context Protocol.
//!
//! Messages, nouns, errors and envelopes, without a runtime, a clock or IO. Everything that is
//! read keeps what it does not know, so that it can be written out again.

mod raw;
mod version;

pub use raw::Raw;
pub use version::{ProtocolVersion, UnknownVersion};
