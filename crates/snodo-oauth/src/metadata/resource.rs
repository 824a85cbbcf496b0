//! The metadata of a protected resource (RFC 9728): which authorization servers vouch for a server.

use crate::error::{Error, ErrorKind};
use crate::place::Place;
use crate::web::{Members, text, texts};

/// What a server says about who protects it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    /// The identifier, exactly as it came: it is sent in every request for a token.
    pub(crate) identifier: String,
    /// Issuers, exactly as they came; at least one.
    pub(crate) servers: Vec<String>,
    pub(crate) scopes: Vec<String>,
}

/// How the identifier of a resource is compared with the URL of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// The same origin, and a path that is the server's or leads to it: what many servers publish.
    #[default]
    Covering,
    /// What the document's place stands for, exactly (RFC 9728, section 3.3).
    Exact,
}

/// Where a document was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) url: String,
    /// The identifier that the document there has to have, by the letter.
    expected: String,
}

impl Candidate {
    /// The document that a challenge named.
    pub(crate) fn named(url: &str, server: &Place<'_>) -> Self {
        Self { url: url.to_owned(), expected: identifier(server) }
    }

    /// The well-known places for the documents of a server, in the order in which they are tried.
    pub(crate) fn well_known(server: &Place<'_>) -> Vec<Self> {
        let (base, query) = (server.base, with_query(server));
        let root = format!("{base}{WELL_KNOWN}");
        // A slash behind the host is no path (RFC 9728, section 3.1).
        let path = if server.path == "/" { "" } else { server.path };
        let own = format!("{root}{path}{query}");
        let mut candidates = Vec::new();
        if own != root {
            candidates.push(Self { url: own, expected: identifier(server) });
        }
        candidates.push(Self { url: root, expected: base.to_owned() });
        candidates
    }
}

impl Resource {
    /// Reads a document that was found somewhere, for a server.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`]: it is about another resource. [`ErrorKind::Malformed`]: it lacks
    /// something. Nothing of it may be used then.
    pub(crate) fn read(
        members: &Members,
        found: &Candidate,
        server: &Place<'_>,
        comparison: Comparison,
    ) -> Result<Self, Error> {
        let lacks = |what: &str| {
            let why = format!("the protected resource metadata at {} names no {what}", found.url);
            Error::new(ErrorKind::Malformed, why)
        };
        let identifier = text(members, "resource").ok_or_else(|| lacks("resource"))?;
        let fits = match comparison {
            Comparison::Covering => covers(identifier, server),
            Comparison::Exact => same(identifier, &found.expected),
        };
        if !fits {
            let (url, here) = (&found.url, self::identifier(server));
            let why = format!("the metadata at {url} is about {identifier:?}, not about {here:?}");
            return Err(Error::new(ErrorKind::Mismatch, why));
        }
        let servers = texts(members, "authorization_servers").unwrap_or_default();
        let servers: Vec<_> = servers.into_iter().filter(|issuer| !issuer.is_empty()).collect();
        if servers.is_empty() {
            return Err(lacks("authorization server"));
        }
        let scopes = texts(members, "scopes_supported").unwrap_or_default();
        Ok(Self { identifier: identifier.to_owned(), servers, scopes })
    }
}

/// The canonical identifier of a server that publishes none: its URL, without a fragment and
/// without a slash that means nothing.
pub(crate) fn identifier(server: &Place<'_>) -> String {
    let path = if server.path == "/" { "" } else { server.path };
    format!("{}{path}{}", server.origin(), with_query(server))
}

fn with_query(server: &Place<'_>) -> String {
    server.query.map(|query| format!("?{query}")).unwrap_or_default()
}

/// Whether an identifier is that of a server, or of something that the server is part of.
fn covers(identifier: &str, server: &Place<'_>) -> bool {
    let Ok(resource) = Place::read(identifier) else { return false };
    if resource.fragment.is_some() || !resource.same_origin(server) {
        return false;
    }
    if resource.query.is_some() {
        return resource.path == server.path && resource.query == server.query;
    }
    let prefix = resource.path.trim_end_matches('/');
    match server.path.strip_prefix(prefix) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// Equality, but for the case of scheme and host, a default port, and the slash of an empty path.
fn same(identifier: &str, expected: &str) -> bool {
    let (Ok(one), Ok(other)) = (Place::read(identifier), Place::read(expected)) else {
        return false;
    };
    one.fragment.is_none() && self::identifier(&one) == self::identifier(&other)
}

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Candidate, Comparison, Resource, identifier};
    use crate::error::ErrorKind;
    use crate::place::Place;
    use crate::web::Members;

    fn place(url: &str) -> Place<'_> {
        Place::read(url).expect(url)
    }

    fn members(value: Value) -> Members {
        value.as_object().expect("an object").clone()
    }

    // AUTH-16, AUTH-17
    #[test]
    fn the_well_known_places_are_tried_with_the_path_and_then_without() {
        for (url, expected) in [
            ("https://example.com/public/mcp", &["/public/mcp", ""][..]),
            ("https://example.com", &[""]),
            ("https://example.com/", &[""]),
            ("https://example.com/mcp/?a=b#c", &["/mcp/?a=b", ""]),
            ("https://example.com/?a=b", &["?a=b", ""]),
        ] {
            let found = Candidate::well_known(&place(url));
            let found: Vec<_> = found.into_iter().map(|candidate| candidate.url).collect();
            let root = "https://example.com/.well-known/oauth-protected-resource";
            let expected: Vec<_> = expected.iter().map(|path| format!("{root}{path}")).collect();
            assert_eq!(found, expected, "{url}");
        }
    }

    fn read(resource: &str, server: &str, named: bool, comparison: Comparison) -> bool {
        let server = place(server);
        let found = if named {
            Candidate::named("https://h/doc.json", &server)
        } else {
            Candidate::well_known(&server).pop().expect("the root")
        };
        let document = json!({ "resource": resource, "authorization_servers": ["https://as"] });
        match Resource::read(&members(document), &found, &server, comparison) {
            Ok(read) => {
                assert_eq!(read.identifier, resource);
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
                false
            }
        }
    }

    // AUTH-24, AUTH-25
    #[test]
    fn a_resource_is_the_server_or_a_whole_part_of_the_way_to_it() {
        for (resource, server, expected) in [
            ("https://h/mcp", "https://h/mcp", true),
            ("https://h", "https://h/mcp", true),
            ("https://h/", "https://h/mcp", true),
            ("HTTPS://H:443/api", "https://h/api/x", true),
            ("https://h/api/", "https://h/api", true),
            ("https://h/api", "https://h/api2", false),
            ("https://h/mcp/x", "https://h/mcp", false),
            ("https://h/MCP", "https://h/mcp", false),
            ("https://evil.example.com/mcp", "https://h/mcp", false),
            ("http://h/mcp", "https://h/mcp", false),
            ("https://h:8443/mcp", "https://h/mcp", false),
            ("https://h/mcp#f", "https://h/mcp", false),
            ("https://h/mcp?t=1", "https://h/mcp?t=1", true),
            ("https://h/mcp?t=1", "https://h/mcp?t=2", false),
            ("https://h/mcp", "https://h/mcp?t=2", true),
            ("mcp", "https://h/mcp", false),
        ] {
            assert_eq!(read(resource, server, true, Comparison::Covering), expected, "{resource}");
        }
    }

    // AUTH-23
    #[test]
    fn by_the_letter_a_resource_is_what_its_document_s_place_stands_for() {
        for (resource, named, expected) in [
            ("https://h/mcp", true, true),
            ("https://h", true, false),
            ("https://h", false, true),
            ("https://h/", false, true),
            ("https://h/mcp", false, false),
        ] {
            assert_eq!(read(resource, "https://h/mcp", named, Comparison::Exact), expected);
        }
    }

    // AUTH-22
    #[test]
    fn a_document_without_resource_or_server_is_malformed() {
        let server = place("https://h/mcp");
        let found = Candidate::named("https://h/doc.json", &server);
        for document in [
            json!({}),
            json!({ "authorization_servers": ["https://as"] }),
            json!({ "resource": "https://h/mcp" }),
            json!({ "resource": "https://h/mcp", "authorization_servers": [] }),
            json!({ "resource": "https://h/mcp", "authorization_servers": [""] }),
            json!({ "resource": "https://h/mcp", "authorization_servers": "https://as" }),
        ] {
            let read = Resource::read(&members(document), &found, &server, Comparison::Covering);
            assert_eq!(read.expect_err("malformed").kind(), ErrorKind::Malformed);
        }
    }

    // AUTH-115, AUTH-116, AUTH-117, AUTH-118
    #[test]
    fn a_server_that_publishes_no_identifier_is_called_by_its_canonical_url() {
        for (url, expected) in [
            ("https://MCP.example.com/", "https://mcp.example.com"),
            ("HTTPS://mcp.example.com:443", "https://mcp.example.com"),
            ("https://mcp.example.com:8443", "https://mcp.example.com:8443"),
            ("https://mcp.example.com/server/mcp#f", "https://mcp.example.com/server/mcp"),
            ("http://[::1]:1/Mcp/", "http://[::1]:1/Mcp/"),
        ] {
            assert_eq!(identifier(&place(url)), expected);
        }
    }
}
