//! Scripted MCP servers and transcripts, for tests of clients and transports.
//!
//! What stands here, each usable alone:
//!
//! - a [`Recorder`] writes down a session with a real server, and a [`Replay`] is that server from
//!   then on, wherever the real one is not;
//! - a [`Transcript`] is a conversation written down as text, and [`Play`] performs the server's
//!   side of it in memory, over a byte pipe or over HTTP, and holds the client to the rest;
//! - a [`Server`] puts either behind HTTP, a byte pipe or the standard streams of a process, with a
//!   [`Fault`] where a test wants one;
//! - [`Loopback`] is an HTTP server whose every answer a test decides;
//! - [`check_transport`] tries a transport against the rules that every transport has to keep,
//!   with a [`Peer`] at the other end.
//!
//! All of it needs a tokio runtime, and none of it goes beyond the loopback interface.

mod cassette;
mod check;
mod loopback;
mod pattern;
mod peer;
mod play;
mod server;
mod transcript;

pub use cassette::{RecordedTransport, Recorder, Replay, ReplayError, ReplayTransport};
pub use check::{BrokenRules, check_transport};
pub use loopback::{Events, Loopback, Reply, Request};
pub use pattern::{Bindings, Mismatch, Pattern};
pub use peer::Peer;
pub use play::{Answers, PipeEnds, Play, PlayError, ScriptedConnect, ScriptedTransport};
pub use server::{Fault, Server};
pub use transcript::{Line, Step, Transcript, TranscriptError, Wire};
