//! The seam between an MCP client and what carries its messages: one trait, one required method.
