//! What HTTP says around the messages: statuses and headers.

use std::time::{Duration, Instant};

use http::header::{ACCEPT, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response};
use serde_json::json;
use snodo::ProtocolVersion;
use snodo::http::Http;
use snodo::types::TransportFault;

use super::report::{Finding, Report, State, Step};
use crate::settings::Settings;

/// Sends the first message of each era by itself, and looks at what stands around the answers.
/// Gives whether anybody is there.
pub(super) async fn look(url: &str, way: &Http, settings: &Settings, report: &mut Report) -> bool {
    let errands = way.errands().timeout(settings.timeout.min(PATIENCE)).max_body_bytes(LARGEST);
    for first in FIRST {
        let (headers, body) = first.message(settings);
        let start = Instant::now();
        let answer = errands.send(Method::POST, url, headers, body).await;
        let took = start.elapsed();
        match answer {
            Ok(answer) => first.judge(&answer, took, report),
            Err(error) if AWAY.contains(&error.fault()) => {
                report.fail(first.name, &error.into(), took);
                return false;
            }
            Err(error) => {
                report.steps.push(Step::new(first.name, State::Failed, error.message()).took(took));
            }
        }
    }
    true
}

/// The first message of an era.
struct First {
    name: &'static str,
    method: &'static str,
}

impl First {
    fn version(&self) -> ProtocolVersion {
        if self.method == "initialize" {
            ProtocolVersion::V2025_11_25
        } else {
            ProtocolVersion::V2026_07_28
        }
    }

    fn message(&self, settings: &Settings) -> (HeaderMap, Vec<u8>) {
        let version = self.version().as_str();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        let client = json!({ "name": "snodo", "version": env!("CARGO_PKG_VERSION") });
        let params = if self.method == "initialize" {
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client })
        } else {
            headers.insert("mcp-protocol-version", HeaderValue::from_static(version));
            headers.insert("mcp-method", HeaderValue::from_static(self.method));
            json!({ "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            } })
        };
        for (name, value) in &settings.headers {
            let pair = (HeaderName::try_from(name), HeaderValue::try_from(value));
            if let (Ok(name), Ok(value)) = pair {
                headers.insert(name, value);
            }
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": self.method, "params": params });
        (headers, body.to_string().into_bytes())
    }

    fn judge(&self, answer: &Response<Vec<u8>>, took: Duration, report: &mut Report) {
        let status = answer.status();
        let kind = header(answer, &CONTENT_TYPE);
        let told = if kind.is_empty() {
            "without a content type".to_owned()
        } else {
            format!("as {kind}")
        };
        let state = if status.is_success() { State::Ok } else { State::Older };
        let words = format!("{} is answered by {status}, {told}", self.method);
        let mut step = Step::new(self.name, state, words).took(took);
        step.details = answer
            .headers()
            .iter()
            .filter(|(name, _)| SHOWN.contains(&name.as_str()))
            .map(|(name, value)| match name.as_str() {
                // An id may be a credential.
                "mcp-session-id" => format!("{name}: ({} characters)", value.len()),
                _ => format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())),
            })
            .collect();
        report.steps.push(step);
        let fine = ["application/json", "text/event-stream"];
        if status.is_success() && !fine.iter().any(|fine| kind.starts_with(fine)) {
            let page = kind.starts_with("text/html");
            report.findings.push(Finding::wrong(
                format!(
                    "{} is answered {told}: {}",
                    self.method,
                    if page { "that is a web page" } else { "no client reads that" }
                ),
                if page {
                    "is the path right? That of an MCP server often ends in /mcp"
                } else {
                    "answer as application/json or text/event-stream"
                },
            ));
        }
        if status.as_u16() == 401 && header(answer, &WWW_AUTHENTICATE).is_empty() {
            report.findings.push(Finding::wrong(
                "a 401 comes without WWW-Authenticate, and so clients cannot find out where to log in",
                "send `WWW-Authenticate: Bearer resource_metadata=\"…\"` with it",
            ));
        }
        if status.is_redirection() {
            report.findings.push(Finding::note(
                format!("it redirects to {}", header(answer, &LOCATION)),
                "name the address that it redirects to",
            ));
        }
    }
}

fn header(answer: &Response<Vec<u8>>, name: &HeaderName) -> String {
    let value = answer.headers().get(name).map(|value| value.as_bytes());
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

const FIRST: [First; 2] = [
    First { name: "http probe", method: "server/discover" },
    First { name: "http initialize", method: "initialize" },
];

/// The headers that say something about how a server speaks.
const SHOWN: [&str; 9] = [
    "allow",
    "cache-control",
    "content-type",
    "location",
    "mcp-protocol-version",
    "mcp-session-id",
    "retry-after",
    "server",
    "www-authenticate",
];

/// An answer that does not end is no answer here.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where nobody is reached nothing more is learned.
const AWAY: [TransportFault; 3] =
    [TransportFault::Connect, TransportFault::Tls, TransportFault::Usage];

const LARGEST: usize = 1024 * 1024;
