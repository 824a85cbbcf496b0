//! How long calls take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use snodo::types::Members;
use snodo::{Client, Error};

use super::{Answer, Form, call, document, milliseconds};
use crate::arguments::Arguments;
use crate::failure::Status;
use crate::settings::Settings;

/// How much is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Calls in all.
    pub(crate) calls: u64,
    /// Calls at once.
    pub(crate) at_once: u64,
}

/// What came of the calls.
#[derive(Debug, Default)]
struct Sum {
    times: Vec<Duration>,
    errors: u64,
    tool_errors: u64,
    last: Option<Error>,
}

/// Calls a tool again and again.
pub(super) async fn bench(
    client: &Client,
    tool: &str,
    arguments: Arguments,
    load: Load,
    settings: &Settings,
) -> Result<Answer, Error> {
    let schema = if arguments.need_a_schema() { call::find(client, tool).await? } else { None };
    let arguments = arguments.typed(schema.as_ref().map(|tool| &tool.input_schema))?;
    // The first call warms up, and tells whether it makes sense at all.
    client.call_tool(tool, &arguments).await?;
    let left = Arc::new(AtomicU64::new(load.calls));
    let start = Instant::now();
    // They are aborted when this is dropped.
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..load.at_once {
        callers.spawn(run(client.clone(), tool.to_owned(), arguments.clone(), Arc::clone(&left)));
    }
    let mut sum = Sum::default();
    while let Some(Ok(part)) = callers.join_next().await {
        sum.times.extend(part.times);
        sum.errors += part.errors;
        sum.tool_errors += part.tool_errors;
        sum.last = sum.last.or(part.last);
    }
    Ok(tell(sum, start.elapsed(), settings.form()))
}

async fn run(client: Client, tool: String, arguments: Members, left: Arc<AtomicU64>) -> Sum {
    let mut sum = Sum::default();
    let take = |left: u64| left.checked_sub(1);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
        let start = Instant::now();
        match client.call_tool(&*tool, &arguments).await {
            Ok(reply) => {
                sum.times.push(start.elapsed());
                sum.tool_errors += u64::from(reply.is_error());
            }
            Err(error) => {
                sum.errors += 1;
                sum.last = Some(error);
            }
        }
    }
    sum
}

fn tell(mut sum: Sum, whole: Duration, form: Form) -> Answer {
    sum.times.sort_unstable();
    let at = |part: f64| percentile(&sum.times, part).map(milliseconds);
    let marks = [("p50", at(0.5)), ("p90", at(0.9)), ("p99", at(0.99)), ("max", at(1.0))];
    let calls = sum.times.len() as u64 + sum.errors;
    let rate = calls as f64 / whole.as_secs_f64().max(1e-9);
    let text = match form {
        Form::Json => {
            let times: serde_json::Map<_, _> =
                marks.iter().map(|(name, time)| ((*name).to_owned(), json!(time))).collect();
            document(
                &json!({
                    "calls": calls, "errors": sum.errors, "toolErrors": sum.tool_errors,
                    "seconds": whole.as_secs_f64(), "callsPerSecond": rate, "milliseconds": times,
                })
                .to_string(),
            )
        }
        Form::People => {
            let mut lines = format!(
                "calls   {calls} in {:.2} s ({rate:.0} a second)\nerrors  {} (and {} reported by the tool)\n",
                whole.as_secs_f64(),
                sum.errors,
                sum.tool_errors
            );
            for (name, time) in marks {
                let time = time.map_or_else(|| "-".to_owned(), |time| format!("{time:.3} ms"));
                lines.push_str(&format!("{name}     {time:>12}\n"));
            }
            lines
        }
    };
    let mut answer = Answer::new(text);
    if let Some(error) = sum.last {
        answer.status = Status::Refused;
        answer.remark = Some(format!("some calls failed; one of them: {error}"));
    }
    answer
}

/// The least time that so many of the calls did not take longer than.
fn percentile(sorted: &[Duration], part: f64) -> Option<Duration> {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::percentile;

    #[test]
    fn a_percentile_is_a_time_that_was_measured() {
        let times: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        let at = |part| percentile(&times, part).expect("a time").as_millis();
        assert_eq!([at(0.5), at(0.9), at(0.99), at(1.0)], [50, 90, 99, 100]);
        assert_eq!(percentile(&times[..1], 0.5), Some(Duration::from_millis(1)));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
