//! Redirects: 307 and 308, within the origin.
//!
//! The two keep method and body (RFC 9110, sections 15.4.8 and 15.4.9). What else redirects would
//! turn a POST into a GET, which is no message any more; and what leads to another origin would
//! take credentials there. Both are failures that name the place.

use http::header::LOCATION;
use http::{HeaderMap, StatusCode};
use snodo_types::{TransportError, TransportFault};

use crate::target::Target;

/// Where an answer leads, if it is to be followed there.
pub(crate) fn followed(from: &Target, status: StatusCode, headers: &HeaderMap) -> Option<Target> {
    if !is_redirect(status) {
        return None;
    }
    within(from, headers.get(LOCATION)?.to_str().ok()?)
}

/// What a reference stands for, if it stays within the origin.
pub(crate) fn within(from: &Target, reference: &str) -> Option<Target> {
    let to = Target::parse(&resolved(from, reference)?).ok()?;
    (to.origin() == from.origin()).then_some(to)
}

pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
}

/// A server that leads in circles.
pub(crate) fn too_many(from: &Target, status: StatusCode, to: &Target) -> TransportError {
    let (from, to) = (from.shown(), to.shown());
    let why = format!("{from} led elsewhere more than {MOST_REDIRECTS} times, at last to {to}");
    TransportError::new(TransportFault::Status, why).with_status(status.as_u16())
}

/// The URL that a reference stands for (RFC 3986, section 5.2).
fn resolved(from: &Target, location: &str) -> Option<String> {
    let location = location.split('#').next().unwrap_or_default().trim_ascii();
    let (path, query) = match location.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (location, String::new()),
    };
    if location.is_empty() {
        return None;
    }
    let (origin, here) = (from.origin(), from.path().path());
    if path.contains("://") {
        return Some(location.to_owned());
    }
    if path.starts_with("//") {
        let scheme = origin.split("//").next()?;
        return Some(format!("{scheme}{location}"));
    }
    let path = match path {
        "" => here.to_owned(),
        _ if path.starts_with('/') => without_dots(path),
        _ => {
            let folder = here.rfind('/').map_or("/", |end| &here[..=end]);
            without_dots(&format!("{folder}{path}"))
        }
    };
    Some(format!("{origin}{path}{query}"))
}

/// A path without `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

/// How often a request is led elsewhere.
pub(crate) const MOST_REDIRECTS: u32 = 5;

#[cfg(test)]
mod tests {
    use http::header::LOCATION;
    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::followed;
    use crate::target::Target;

    fn leads(from: &str, status: u16, location: &str) -> Option<String> {
        let status = StatusCode::from_u16(status).expect("a status");
        let location = HeaderValue::from_str(location).expect("a value");
        let headers = HeaderMap::from_iter([(LOCATION, location)]);
        followed(&Target::parse(from).expect("a URL"), status, &headers)
            .map(|to| to.url().to_owned())
    }

    #[test]
    fn a_reference_is_resolved_where_it_stays_within_the_origin() {
        let from = "http://h:1/a/mcp?q=1";
        for (location, to) in [
            ("/mcp/", Some("http://h:1/mcp/")),
            ("/x?y=2#z", Some("http://h:1/x?y=2")),
            ("other", Some("http://h:1/a/other")),
            ("./b/../c/.", Some("http://h:1/a/c/")),
            ("../../../up", Some("http://h:1/up")),
            ("?y=2", Some("http://h:1/a/mcp?y=2")),
            ("x?to=http://elsewhere/", Some("http://h:1/a/x?to=http://elsewhere/")),
            ("http://H:1/b", Some("http://h:1/b")),
            ("//h:1/b", Some("http://h:1/b")),
            ("//h/b", None),
            ("http://h:2/b", None),
            ("https://h:1/b", None),
            ("http://h:1@evil/", None),
            ("http://user@h:1/", None),
            ("javascript:alert(1)", Some("http://h:1/a/javascript:alert(1)")),
            ("", None),
            ("#top", None),
        ] {
            assert_eq!(leads(from, 307, location).as_deref(), to, "{location}");
        }
        assert_eq!(leads("https://h/mcp", 308, "https://h:443/").as_deref(), Some("https://h/"));
        assert_eq!(leads("https://h/mcp", 308, "http://h/"), None);
    }

    #[test]
    fn what_would_change_the_method_is_not_followed() {
        for status in [300, 301, 302, 303, 304, 305, 309, 200] {
            assert_eq!(leads("http://h/mcp", status, "/mcp/"), None, "{status}");
        }
    }
}
