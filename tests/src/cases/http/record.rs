//! What a scripted server saw.

use std::time::Instant;

use serde_json::Value;

use super::request::Request;

/// A request with what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) request: Request,
    pub(crate) started: Instant,
    /// When its response ended, if it did.
    pub(crate) ended: Option<Instant>,
}

/// Everything that a scripted server saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) seen: Vec<Seen>,
    pub(crate) open_connections: usize,
    pub(crate) most_connections: usize,
}

impl Record {
    /// The requests that are this: an HTTP method, the method of a message, `GET+header`,
    /// `host:H`, or `H METHOD-or-path`.
    pub(crate) fn all<'a>(&'a self, what: &'a str) -> impl Iterator<Item = &'a Seen> {
        self.seen.iter().filter(move |seen| is(&seen.request, what))
    }

    /// Every message, in order.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let messages = self.seen.iter().map(|seen| &seen.request.message);
        messages.filter(|message| message.is_object()).cloned().collect()
    }

    /// The time between two moments, such as `tools/call end` and `GET+last-event-id`; `None` where
    /// one of them did not come.
    pub(crate) fn gap(&self, between: &[String; 2]) -> Option<std::time::Duration> {
        let first = self.moment(&between[0])?;
        let later = self.all_moments(&between[1]).into_iter().find(|moment| *moment >= first)?;
        Some(later.duration_since(first))
    }

    fn moment(&self, what: &str) -> Option<Instant> {
        self.all_moments(what).into_iter().next()
    }

    fn all_moments(&self, what: &str) -> Vec<Instant> {
        match what.strip_suffix(" end") {
            Some(what) => self.all(what).filter_map(|seen| seen.ended).collect(),
            None => self.all(what).map(|seen| seen.started).collect(),
        }
    }
}

fn is(request: &Request, what: &str) -> bool {
    if let Some(host) = what.strip_prefix("host:") {
        return request.host == host;
    }
    if let Some((host, rest)) = what.split_once(' ') {
        return request.host == host && is(request, rest);
    }
    if let Some((method, header)) = what.split_once('+') {
        return request.method == method && request.header(header).is_some();
    }
    request.method == what || request.rpc() == Some(what) || request.path() == what
}
