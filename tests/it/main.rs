//! The integration tests, one binary.

mod authorization;
mod caching;
mod cassettes;
mod connections;
mod custom_transport;
mod duties;
mod endings;
mod examples;
mod flood;
mod headers;
mod in_process;
mod kit;
mod logs;
mod metadata;
mod negotiation;
mod peers;
mod programs;
mod recovery;
mod redis;
mod rounds;
mod script;
mod task_conversations;
mod tasks;
mod thousand;
mod transcripts;
mod validation;
