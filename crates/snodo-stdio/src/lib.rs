//! MCP over a child process or any byte pipe, as newline-delimited messages.
