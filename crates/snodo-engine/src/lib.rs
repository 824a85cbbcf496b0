//! The conversations of an MCP client as state machines without IO, clock or tasks.
