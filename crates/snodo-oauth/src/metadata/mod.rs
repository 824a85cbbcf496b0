//! Who protects the server, and how the authorization server is spoken to.
//!
//! [`resource`] and [`server`] decide: where documents may be and what they have to say.
//! [`discover`] fetches.

pub(crate) mod discover;
pub(crate) mod resource;
pub(crate) mod server;
