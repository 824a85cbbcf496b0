//! MCP over Streamable HTTP: POST, GET, DELETE, server-sent events, sessions, TLS.
