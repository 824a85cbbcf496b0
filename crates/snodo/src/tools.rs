//! What a client remembers of tools: which arguments travel as headers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use snodo_dialect::{ParamHeaders, Params};
use snodo_types::{Page, Tool};

use crate::client::Core;
use crate::{CacheMode, Client};

/// The header plans of tools that were listed, by name. Tools without such arguments take no room.
#[derive(Debug, Default)]
pub(crate) struct Tools(Mutex<HashMap<String, ParamHeaders>>);

/// The most tools with such arguments that are remembered; the call of another one is refused by
/// its server, and then asked for with the definition.
const REMEMBERED: usize = 4096;

impl Tools {
    /// What is known of the tool that these parameters name.
    pub(crate) fn of(&self, params: &Params) -> Option<ParamHeaders> {
        let plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.is_empty() {
            return None;
        }
        let name: String = serde_json::from_str(&params.member("name")?).ok()?;
        plans.get(&name).cloned()
    }

    fn remember(&self, name: &str, plan: ParamHeaders) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if plan.is_empty() {
            plans.remove(name);
        } else if plans.len() < REMEMBERED || plans.contains_key(name) {
            plans.insert(name.to_owned(), plan);
        } else {
            tracing::debug!(
                tool = name,
                limit = REMEMBERED,
                "too many tools with header arguments to remember"
            );
        }
    }
}

/// Lists the tools to find out which arguments of one travel as headers.
pub(crate) async fn define(core: Arc<Core>, name: String) -> Option<ParamHeaders> {
    let dialect = core.connection().opened.dialect;
    let tools = Client::of(core).list_tools().cache(CacheMode::Refresh).await;
    let tools = tools.inspect_err(
        |error| tracing::debug!(%error, "the definition of a tool could not be fetched"),
    );
    let tool = tools.ok()?.into_iter().find(|tool| tool.name == name)?;
    dialect.param_headers(&tool.input_schema)?.ok()
}

/// Goes through a page of tools: what breaks the rules for headers is left out with a warning, as
/// 2026-07-28 wants it over HTTP; the rest is remembered.
pub(crate) fn sift(page: &mut Page<Tool>, core: &Core) {
    let connection = core.connection();
    let routes = connection.transport.abilities().routing;
    let plan = |tool: &Tool| connection.opened.dialect.param_headers(&tool.input_schema);
    page.items.retain(|tool| match routes.then(|| plan(tool)).flatten() {
        None => true,
        Some(Ok(plan)) => {
            core.tools.remember(&tool.name, plan);
            true
        }
        Some(Err(reason)) => {
            tracing::warn!(
                tool = tool.name,
                reason,
                server = connection.target,
                "left out of the list of tools"
            );
            false
        }
    });
    if let Some(checks) = core.checks() {
        for tool in &page.items {
            checks.learn(tool);
        }
    }
}
