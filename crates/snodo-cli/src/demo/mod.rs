//! The server that is built in: something to try every command on, without a network and without
//! a process.

mod reading;
mod tools;

use snodo::direct::Server;

/// A server with a bit of everything, in every version of the protocol.
pub(crate) fn server() -> Server {
    let server = Server::new("demo", env!("CARGO_PKG_VERSION"))
        .title("The demo of snodo")
        .instructions("A small server to try a client on. Nothing it does has an effect.");
    reading::add(tools::add(server))
}
