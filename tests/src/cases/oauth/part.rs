//! Questions that need no server.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use snodo::http;
use snodo_oauth::{ErrorKind, Policy, internal};

/// The headers of a refusal, and what is read from them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Challenge {
    headers: Vec<String>,
    expect: BTreeMap<String, Option<String>>,
}

/// A URL of a server or an issuer, and where its metadata is looked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WellKnown {
    url: String,
    expect: Vec<String>,
}

/// A document, and whether it is that of an issuer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Metadata {
    as_url: String,
    doc: Value,
    expect: String,
}

/// URLs that a server at some place names, and whether they are fetched.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UrlPolicy {
    server: String,
    cases: Vec<Url>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Url {
    url: String,
    fetch: bool,
}

impl Challenge {
    pub(super) fn run(&self) -> Vec<String> {
        let challenges = http::Challenge::read(&self.headers);
        let bearer = challenges.iter().find(|challenge| challenge.is("bearer"));
        let Some(challenge) = bearer.or_else(|| challenges.first()) else {
            return match self.expect.values().all(Option::is_none) {
                true => Vec::new(),
                false => vec!["no challenge was read".to_owned()],
            };
        };
        let read = |name: &str| match name {
            "scheme" => Some(challenge.scheme()),
            name => challenge.parameter(name),
        };
        let wrong = self.expect.iter().filter(|(name, wanted)| read(name) != wanted.as_deref());
        wrong
            .map(|(name, wanted)| format!("{name} is {:?}, expected {wanted:?}", read(name)))
            .collect()
    }
}

impl WellKnown {
    /// A case does not say which of the two kinds of document it is about; its answer does.
    pub(super) fn run(&self) -> Vec<String> {
        let resource = self.expect.iter().any(|url| url.contains("oauth-protected-resource"));
        let places = if resource {
            internal::protected_resource_places(&self.url)
        } else {
            internal::authorization_server_places(&self.url)
        };
        match places {
            Ok(places) if places == self.expect => Vec::new(),
            places => vec![format!("looked for at {places:?}, expected {:?}", self.expect)],
        }
    }
}

impl Metadata {
    pub(super) fn run(&self) -> Vec<String> {
        let found = match internal::is_metadata_of(&self.as_url, &self.doc.to_string()) {
            Ok(true) => "accept",
            Ok(false) => "reject",
            Err(error) if error.kind() == ErrorKind::Mismatch => "reject:issuer_mismatch",
            Err(_) => "reject",
        };
        let fits = found == self.expect || (self.expect == "reject" && found.starts_with("reject"));
        if fits { Vec::new() } else { vec![format!("{found}, expected {}", self.expect)] }
    }
}

impl UrlPolicy {
    pub(super) fn run(&self) -> Vec<String> {
        let policy = match self.server.starts_with("http://") {
            true => Policy::new().allow_loopback(),
            false => Policy::new(),
        };
        let wrong = self.cases.iter().filter(|case| policy.check(&case.url).is_ok() != case.fetch);
        wrong.map(|case| format!("{} fetched: {}", case.url, !case.fetch)).collect()
    }
}
