//! Results for people: short, and without a character that steers a terminal.

mod content;
mod document;
mod inspection;
mod list;
mod report;
mod servers;
mod signature;

pub(crate) use self::content::{completion, prompt, resource, tool};
pub(crate) use self::document::pretty;
pub(crate) use self::inspection::inspection;
pub(crate) use self::list::{prompts, resources, templates, tools};
pub(crate) use self::report::report;
pub(crate) use self::servers::servers;
pub(crate) use self::signature::signature;
