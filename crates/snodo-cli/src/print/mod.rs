//! Results for people: short, and without a character that steers a terminal.

mod content;
mod document;
mod inspection;
mod list;
mod servers;

pub(crate) use self::content::{prompt, resource, tool};
pub(crate) use self::document::pretty;
pub(crate) use self::inspection::inspection;
pub(crate) use self::list::{prompts, resources, templates, tools};
pub(crate) use self::servers::servers;
