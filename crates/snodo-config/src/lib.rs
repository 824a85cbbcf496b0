//! Lists of MCP servers, as editors and desktop hosts write them.
//!
//! A [`Config`] is read from one file or from those in the usual [places](places()), and holds an
//! [`Entry`] for each server that is named there. An entry that makes no sense has a [`Fault`] of its
//! own and hides no other.
//!
//! ```
//! use snodo_config::{Config, Server};
//!
//! let text = br#"{
//!     // Comments and a comma too many do no harm.
//!     "mcpServers": {
//!         "files": { "command": "npx", "args": ["-y", "server-filesystem", "${DIR:-/srv/files}"] },
//!         "notes": { "url": "https://notes.example/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
//!     },
//! }"#;
//! let config = Config::parse(text, |name| (name == "TOKEN").then(|| "t0".to_owned()))?;
//! let Some(Ok(Server::Http(notes))) = config.get("notes").map(|entry| entry.server()) else { panic!() };
//! assert_eq!(notes.headers(), [("Authorization".to_owned(), "Bearer t0".to_owned())]);
//! # Ok::<(), snodo_config::Fault>(())
//! ```
//!
//! # What is read
//!
//! The servers stand in an object under `mcpServers` or `servers`, or under `servers` within `mcp`.
//! An entry has `command`, `args`, `env` and `cwd`, or `url` (`httpUrl`, `serverUrl`) and `headers`;
//! `type` (`stdio`, `http`, `sse`) says which where both stand there, and which URLs are of the older
//! transport. `disabled` switches it off. JSON may have comments,
//! commas before a closing bracket, a byte order mark, and be written in UTF-16 where it has one.
//!
//! # Variables
//!
//! In `command`, `args`, the values of `env` and of `headers`, `url` and `cwd`:
//!
//! - `${NAME}` and `${env:NAME}` are the variable; where it is not set, the entry has a fault that
//!   names it;
//! - `${NAME:-default}` is the default where the variable is not set or empty;
//! - `${` without a name that a variable can have, and `$` by itself, stay as they are.
//!
//! What a variable holds is not looked at again.
//!
//! # Secrets
//!
//! `Debug`, faults and [`Entry::shown`] tell what was written, never what a variable held, and of
//! `env` and `headers` the names alone.
//!
//! # Bounds
//!
//! A file of more than 1 MiB is not read. A default may hold a variable that has a default, eight
//! deep.

mod config;
mod entry;
mod expand;
mod fault;
mod file;
mod places;
mod read;
mod text;

pub use config::{Config, Source};
pub use entry::{Entry, Http, Server, Stdio};
pub use fault::Fault;
pub use places::{in_folder, places, settings_folder};
