//! Cases over HTTP: a scripted server on the loopback interface, by rules over a baseline.

mod check;
mod connection;
mod record;
mod request;
mod respond;
mod rule;
mod run;
mod server;
mod state;

pub(crate) use check::check;
pub(crate) use record::Record;
pub(crate) use request::Request;
pub(crate) use rule::Rule;
pub(crate) use run::run;
pub use server::{Scripted, Server};
