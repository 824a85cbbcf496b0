//! MCP over a child process or any byte pipe, as newline-delimited messages.
//!
//! [`Stdio`] starts a server and connects to its standard input and output; [`Streams`] leads to one
//! at the end of any byte stream; [`Pipe`] is the connection, which is also made of any source and
//! sink of bytes. None of them looks into a message further than to tell whom it concerns.
//!
//! ```no_run
//! use snodo_stdio::Stdio;
//! use snodo_transport::{Connect, Transport};
//! use snodo_types::Envelope;
//!
//! # async fn ask() -> Result<(), snodo_types::TransportError> {
//! let server = Stdio::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
//! let connection = server.connect().await?;
//! let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
//! let mut exchange = connection.exchange(Envelope::request(1, ping.to_owned()));
//! println!("{:?}", exchange.next().await);
//! # Ok(())
//! # }
//! ```
//!
//! What comes in is read tolerantly: lines may end with a carriage return too, a byte order mark
//! may stand at the start, blank lines are passed over, and lines that are no message are reported
//! to `tracing`, counted and skipped. A line that answers a call but is no proper response, or is
//! longer than the limit, fails that call alone.

mod diagnose;
mod environment;
mod exchange;
mod lines;
mod outbox;
mod pipe;
mod process;
mod reader;
mod runtime;
mod script;
mod shared;
mod shutdown;
mod spawn;
mod stderr;
mod streams;
mod supervisor;
mod writer;

pub use environment::Environment;
pub use pipe::Pipe;
pub use shared::Counts;
pub use shutdown::Shutdown;
pub use spawn::Stdio;
pub use stderr::{LineFunction, Stderr};
pub use streams::Streams;

/// Entry points for tests and fuzzing, not for use.
#[doc(hidden)]
pub mod internal {
    pub use crate::lines::{Line, Lines};
    pub use crate::script::find_script;
}
