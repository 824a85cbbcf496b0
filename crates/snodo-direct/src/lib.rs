//! An MCP server in the same process, as a transport, and a small builder for one.
