//! An MCP client: one API over every version of the protocol and every transport.
