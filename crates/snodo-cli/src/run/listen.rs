//! Events as they come.

use std::time::Duration;

use serde_json::json;
use snodo::types::{Members, Raw, SubscriptionFilter};
use snodo::{Client, Error, Event};

use super::{Answer, Form, document};
use crate::settings::Settings;
use crate::{log, output, safe, wait};

/// What is listened to, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    /// Resources; the lists too, unless some are named.
    pub(crate) uris: Vec<String>,
    /// How many events are waited for.
    pub(crate) count: Option<u64>,
    /// How long.
    pub(crate) time: Option<Duration>,
}

/// Writes each event when it comes, until the subscription ends or enough came.
pub(super) async fn listen(
    client: &Client,
    asked: &Listening,
    settings: &Settings,
) -> Result<Answer, Error> {
    let told = watch(client, asked, settings);
    match asked.time {
        Some(time) => match tokio::time::timeout(time, told).await {
            Ok(ended) => ended,
            Err(_) => Ok(Answer::new(String::new())),
        },
        None => told.await,
    }
}

async fn watch(client: &Client, asked: &Listening, settings: &Settings) -> Result<Answer, Error> {
    let form = settings.form();
    let mut filter = SubscriptionFilter::new();
    if asked.uris.is_empty() {
        filter = filter.tools_list_changed().prompts_list_changed().resources_list_changed();
    }
    for uri in &asked.uris {
        filter = filter.resource(uri);
    }
    let mut events = client.listen(filter).await?;
    if form == Form::People {
        let accepted =
            Raw::of(events.accepted()).map_err(|error| Error::decode(error.to_string()))?;
        log::tell(&format!("listening: {} (Ctrl-C ends it)", safe::line(accepted.text())));
    }
    // Lines of events would be drawn over.
    wait::stop();
    let mut left = asked.count;
    while left != Some(0) {
        let Some(event) = events.next().await else { break };
        let line = match (&event, form) {
            (Event::Notification(told), Form::Json) => document(told.raw()),
            (Event::Notification(told), Form::People) => {
                let params: Members = told.params().unwrap_or_default();
                let shown: Vec<String> = params
                    .iter()
                    .filter(|(name, _)| *name != "_meta")
                    .map(|(name, value)| format!("{name}={}", value.text()))
                    .collect();
                let line = format!("{} {}", told.method(), shown.join(" "));
                format!("{}\n", safe::line(line.trim_end()))
            }
            (Event::Dropped(lost), Form::Json) => document(&json!({ "dropped": lost }).to_string()),
            (Event::Dropped(lost), Form::People) => format!("{lost} events were lost\n"),
            (Event::Closed(snodo::Closed::Failed(error)), _) => return Err(error.clone()),
            (Event::Closed(why), _) => {
                return Ok(Answer { remark: Some(why.to_string()), ..Answer::new(String::new()) });
            }
            _ => continue,
        };
        if !output::part(&line) {
            break;
        }
        left = left.map(|left| left - 1);
    }
    Ok(Answer::new(String::new()))
}
