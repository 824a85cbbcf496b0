//! What an error says was being done.

use std::borrow::Cow;

use snodo_dialect::Request;

/// The method of a request, and what it names: a tool, a prompt or a resource.
pub(crate) fn doing(request: &Request) -> Cow<'_, str> {
    let method = &*request.method;
    let parameter = match method {
        "prompts/get" | "tools/call" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        _ => return Cow::Borrowed(method),
    };
    let value = request.params.member(parameter);
    match value.and_then(|value| serde_json::from_str::<String>(&value).ok()) {
        Some(uri) if parameter == "uri" => Cow::Owned(naming(method, &public(&uri))),
        Some(name) => Cow::Owned(naming(method, &name)),
        None => Cow::Borrowed(method),
    }
}

/// A method and what it names, which is cut where it is long.
pub(crate) fn naming(method: &str, name: &str) -> String {
    let mut shown: String = name.chars().take(MOST).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    format!("{method} {shown:?}")
}

/// A URI without what may be a secret in it: who logs in, and the query.
fn public(uri: &str) -> String {
    let (plain, rest) = uri.split_at(uri.find(['?', '#']).unwrap_or(uri.len()));
    let cut = if rest.is_empty() { "" } else { "?…" };
    let Some((scheme, place)) = plain.split_once("://") else { return format!("{plain}{cut}") };
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}{cut}")
}

/// So many characters of a name tell one from the next.
const MOST: usize = 128;

#[cfg(test)]
mod tests {
    use snodo_dialect::Params;

    use super::*;

    fn shown(method: &'static str, params: &str) -> String {
        let params: serde_json::Value = serde_json::from_str(params).expect(params);
        let params = Params::from_object(&params).expect("an object");
        doing(&Request::new(method, params)).into_owned()
    }

    // S-05
    #[test]
    fn what_is_named_is_said_behind_the_method() {
        let table = [
            ("tools/call", r#"{"name":"echo","arguments":{"name":"x"}}"#, r#"tools/call "echo""#),
            ("prompts/get", r#"{"name":"a b"}"#, r#"prompts/get "a b""#),
            ("resources/read", r#"{"uri":"file:///a"}"#, r#"resources/read "file:///a""#),
            ("resources/subscribe", r#"{"uri":"a:b"}"#, r#"resources/subscribe "a:b""#),
            ("tools/list", r#"{"name":"x"}"#, "tools/list"),
            ("tools/call", "{}", "tools/call"),
            ("tools/call", r#"{"name":5}"#, "tools/call"),
        ];
        for (method, params, expected) in table {
            assert_eq!(shown(method, params), expected);
        }
    }

    #[test]
    fn a_name_is_cut_and_cannot_steer_a_terminal() {
        let long = shown("tools/call", &format!(r#"{{"name":"{}"}}"#, "é".repeat(129)));
        assert_eq!(long, format!(r#"tools/call "{}…""#, "é".repeat(128)));
        let sly = shown("tools/call", r#"{"name":"\u001b[2J\u202e\""}"#);
        assert_eq!(sly, r#"tools/call "\u{1b}[2J\u{202e}\"""#);
    }

    #[test]
    fn a_resource_is_named_without_what_may_be_secret_in_its_uri() {
        let table = [
            ("https://ada:pw@a.example/x@y?key=1#z", "https://a.example/x@y?…"),
            ("https://a.example#z", "https://a.example?…"),
            ("file:///srv/a@b", "file:///srv/a@b"),
            ("mailto:a@b?x", "mailto:a@b?…"),
            ("", ""),
        ];
        for (uri, expected) in table {
            assert_eq!(public(uri), expected, "{uri}");
        }
    }
}
