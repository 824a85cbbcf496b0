//! Helpers shared by the integration tests.
//!
//! [`Actor`] is the client's side of a transcript; [`Pipes`], [`Scripted`] and [`PeerRuntime`] put
//! what the testkit plays behind the transports of the library; a [`Proxy`] cuts connections.
//! [`cases`] runs the given cases.

mod act;
mod actor;
pub mod cases;
mod descriptors;
mod fixtures;
mod proxy;
mod targets;

/// The guide's examples, compiled and run here, where every feature is on.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/results.md")]
struct ResultsGuide;

/// The guide to credentials, which no crate below has both halves of.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/authorization.md")]
struct AuthorizationGuide;

/// The guides that need every feature or more than one crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/getting-started.md")]
struct GettingStartedGuide;

/// The guide to extensions.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/extensions.md")]
struct ExtensionsGuide;

/// The guide from rmcp.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/from-rmcp.md")]
struct FromRmcpGuide;

/// The guide to security.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/security.md")]
struct SecurityGuide;

/// The guide to tests of a client's own code.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/testing.md")]
struct TestingGuide;

/// The guide to writing a transport.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/transports.md")]
struct TransportsGuide;

pub use actor::Actor;
pub use descriptors::open_descriptors;
pub use fixtures::transcripts;
pub use proxy::Proxy;
pub use targets::{PeerRuntime, Pipes, Scripted};
