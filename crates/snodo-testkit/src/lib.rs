//! Scripted MCP servers and transcripts, for tests of clients and transports.
