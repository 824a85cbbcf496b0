//! Tasks of both kinds against a server that says what a test wrote down.

mod calling;
mod core;
mod extension;
mod handles;
mod server;
mod waiting;
