//! The integration tests, one binary.

mod kit;
mod transcripts;
