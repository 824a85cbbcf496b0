//! The integration tests, one binary.

mod connections;
mod custom_transport;
mod endings;
mod examples;
mod in_process;
mod kit;
mod negotiation;
mod programs;
mod thousand;
mod transcripts;
