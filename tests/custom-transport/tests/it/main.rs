//! The WebSocket transport: the kit, and a client over it.

mod client;
mod kit;
mod server;
