//! Sessions with real servers: recorded once, replayed wherever the server is not.

mod failure;
mod hide;
mod json;
mod log;
mod recorder;
mod replay;
mod tape;

pub use recorder::{RecordedTransport, Recorder};
pub use replay::{Replay, ReplayError, ReplayTransport};

#[cfg(test)]
mod tests;
