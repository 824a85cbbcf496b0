//! Which pages a user may be asked to open.

/// The host of a page that may be shown to a user: `https`, or `http` on this machine. `None` for
/// anything else, which is never shown (2026-07-28, elicitation, "Safe URL Handling").
///
/// ```
/// use snodo_engine::page_host;
///
/// assert_eq!(page_host("https://user@example.com:8443/a"), Some("example.com"));
/// assert_eq!(page_host("http://example.com/"), None);
/// ```
#[must_use]
pub fn page_host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host_port.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?.0,
        None => host_port.split(':').next()?,
    };
    let plain = !host.is_empty()
        && !url.chars().any(|letter| letter.is_control() || letter.is_whitespace());
    let here = matches!(host, "localhost" | "127.0.0.1" | "::1");
    let safe =
        scheme.eq_ignore_ascii_case("https") || (scheme.eq_ignore_ascii_case("http") && here);
    (plain && safe).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::page_host;

    // ELI-11, ELI-18, SAFE-04, ELI-12
    #[test]
    fn only_pages_that_are_safe_to_show_have_a_host() {
        let table = [
            ("https://example.com/a?b#c", Some("example.com")),
            ("https://user:pw@example.com:8443/", Some("example.com")),
            ("https://good.example\\@evil.example/", Some("good.example")),
            ("HTTPS://xn--e1afmkfd.example", Some("xn--e1afmkfd.example")),
            ("http://127.0.0.1:3000/x", Some("127.0.0.1")),
            ("http://[::1]/x", Some("::1")),
            ("http://example.com/", None),
            ("javascript://example.com/%0aalert(1)", None),
            ("file:///etc/passwd", None),
            ("data:text/html,x", None),
            ("https://", None),
            ("https://exa\nmple.com", None),
        ];
        for (url, host) in table {
            assert_eq!(page_host(url), host, "{url}");
        }
    }
}
