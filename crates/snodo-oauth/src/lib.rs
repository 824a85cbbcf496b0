//! OAuth for clients of the Model Context Protocol.
//!
//! [`OAuth`] makes credentials for [`snodo_http::Http`]. It finds the authorization server of an MCP
//! server, gets a client id there, sends a person to its page (or lets a machine in), and keeps the
//! tokens fresh.
//!
//! ```text
//! a refusal ─ who protects the server ─ what we have for that one ─ who we are to it ─ a token
//!             metadata                  store                       identity           code, endpoint
//! ```
//!
//! What decides (challenges, metadata, scopes, the answer to a login, tokens) touches nothing; what
//! touches the world is the one door to the network, which the [`Policy`] guards, the [`Store`] and
//! the [`Person`].
//!
//! # Who is let in
//!
//! - A person: [`OAuth::person`], by [`LoopbackListener`] where a browser is at hand, by [`Paste`]
//!   where none is.
//! - A program for itself: [`OAuth::client_credentials`]; a workload by what its platform vouches
//!   for: [`OAuth::workload`]; a person by their organisation: [`OAuth::enterprise`].
//!
//! All of it with examples: `docs/guides/authorization.md`.
//!
//! # What this crate never does
//!
//! Guess an authorization server, read a token, rewrite a URL that it compares, follow a redirect,
//! show a secret. It knows no version of the protocol: the strictest rules break no older page, and
//! where they do, the [`Builder`] has a switch.
//!
//! Secrets are wiped from this crate's own memory when they are dropped. Copies that a socket or an
//! allocator made on the way are beyond it.

mod assertion;
mod builder;
mod code;
mod config;
mod dpop;
mod endpoint;
mod enterprise;
mod error;
mod flight;
mod form;
mod identity;
#[doc(hidden)]
pub mod internal;
mod jwt;
mod key;
mod metadata;
mod oauth;
mod person;
mod place;
mod policy;
mod random;
mod renew;
mod scopes;
mod secret;
mod session;
mod sign_out;
mod store;
mod tokens;
mod web;

pub use assertion::Assertions;
pub use builder::Builder;
pub use enterprise::Enterprise;
pub use error::{Error, ErrorKind};
pub use identity::{Application, ApplicationType, Registration};
pub use key::SigningKey;
pub use oauth::OAuth;
pub use person::{
    Departure, LoopbackListener, Opener, Paste, Person, SystemBrowser, Unattended, Visit,
};
pub use policy::Policy;
pub use secret::Secret;
pub use store::{FileStore, Key, KeyKind, Lock, MemoryStore, Store};

/// The extension that a client declares which uses [`OAuth::client_credentials`].
///
/// ```
/// assert!(snodo_oauth::CLIENT_CREDENTIALS.starts_with("io.modelcontextprotocol/"));
/// ```
pub const CLIENT_CREDENTIALS: &str = "io.modelcontextprotocol/oauth-client-credentials";

/// The extension that a client declares which uses [`OAuth::enterprise`].
///
/// ```
/// assert!(snodo_oauth::ENTERPRISE.starts_with("io.modelcontextprotocol/"));
/// ```
pub const ENTERPRISE: &str = "io.modelcontextprotocol/enterprise-managed-authorization";

#[cfg(test)]
mod tests;
