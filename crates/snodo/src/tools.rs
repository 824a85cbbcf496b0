//! What a client remembers of tools: which arguments travel as headers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use snodo_dialect::ParamHeaders;
use snodo_types::{Page, Tool};

use crate::client::Core;

/// The header plans of tools that were listed, by name. Tools without such arguments take no room.
#[derive(Debug, Default)]
pub(crate) struct Tools(Mutex<HashMap<String, ParamHeaders>>);

/// The most tools with such arguments that are remembered; the call of another one is refused by
/// its server, and then asked for with the definition.
const REMEMBERED: usize = 4096;

impl Tools {
    /// What is known of a tool.
    pub(crate) fn plan(&self, name: &str) -> Option<ParamHeaders> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn remember(&self, name: &str, plan: ParamHeaders) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if plan.is_empty() {
            plans.remove(name);
        } else if plans.len() < REMEMBERED || plans.contains_key(name) {
            plans.insert(name.to_owned(), plan);
        } else {
            tracing::debug!(tool = name, limit = REMEMBERED, "too many tools with header arguments to remember");
        }
    }
}

/// Goes through a page of tools: what breaks the rules for headers is left out with a warning, as
/// 2026-07-28 wants it over HTTP; the rest is remembered.
pub(crate) fn sift(page: &mut Page<Tool>, core: &Core) {
    let connection = &core.connection;
    if !connection.transport.abilities().routing {
        return;
    }
    page.items.retain(|tool| match connection.opened.dialect.param_headers(&tool.input_schema) {
        None => true,
        Some(Ok(plan)) => {
            core.tools.remember(&tool.name, plan);
            true
        }
        Some(Err(reason)) => {
            tracing::warn!(tool = tool.name, reason, server = connection.target, "left out of the list of tools");
            false
        }
    });
}
