//! URIs that fit a template.

use std::collections::HashMap;

/// Which resource a handler is to read.
///
/// ```
/// use snodo_direct::Server;
/// use snodo_types::{ReadResourceResult, ResourceContents, ResourceTemplate};
///
/// let files = ResourceTemplate::new("docs:///{+path}", "docs");
/// let server = Server::new("demo", "0.1.0").template(files, |request, _call| async move {
///     // For `docs:///guide/first.md` the variable is `guide/first.md`.
///     let path = request.variable("path").unwrap_or_default();
///     Ok(ReadResourceResult::new(vec![ResourceContents::text(request.uri(), path)]))
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRequest {
    uri: String,
    variables: Vec<(String, String)>,
}

impl ResourceRequest {
    pub(super) fn new(uri: String, variables: Vec<(String, String)>) -> Self {
        Self { uri, variables }
    }

    /// The URI, as the client sent it.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// What stands in the URI where the template has this variable, percent-decoded. It is the
    /// client's word: a path in it may be `..`.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }
}

/// A template, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// `None` where it has an expression that is not understood.
    parts: Option<Vec<Part>>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(Box<str>),
    Variable { name: Box<str>, reserved: bool },
}

impl Pattern {
    pub(super) fn parse(template: &str) -> Self {
        Self { parts: parts(template) }
    }

    /// The variables of a URI that fits.
    pub(super) fn fit(&self, uri: &str) -> Option<Vec<(String, String)>> {
        if uri.len() > LONGEST {
            return None;
        }
        let parts = self.parts.as_deref()?;
        let mut values = Vec::new();
        fits(parts, uri, &mut HashMap::new(), &mut values).then_some(())?;
        let names = parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(&**name),
            Part::Literal(_) => None,
        });
        Some(names.zip(values).map(|(name, value)| (name.to_owned(), decode(value))).collect())
    }
}

fn parts(template: &str) -> Option<Vec<Part>> {
    let (mut parts, mut rest) = (Vec::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}')?;
        if !before.is_empty() {
            parts.push(Part::Literal(before.into()));
        }
        let (name, reserved) = match expression.strip_prefix('+') {
            Some(name) => (name, true),
            None => (expression, false),
        };
        let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
        if name.is_empty() || !name.bytes().all(named) {
            return None;
        }
        parts.push(Part::Variable { name: name.into(), reserved });
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Literal(rest.into()));
    }
    Some(parts)
}

/// Finds what stands for each variable, the shortest first.
///
/// Where a variable failed, so would it from any later place within the same bound: its ends would
/// be among those already tried. `failed` remembers the first such place for each variable and
/// bound, both counted from the end, so that the work does not multiply.
fn fits<'a>(
    parts: &[Part],
    rest: &'a str,
    failed: &mut HashMap<(usize, usize), usize>,
    values: &mut Vec<&'a str>,
) -> bool {
    let Some((part, later)) = parts.split_first() else { return rest.is_empty() };
    let reserved = match part {
        Part::Literal(literal) => {
            let rest = rest.strip_prefix(&**literal);
            return rest.is_some_and(|rest| fits(later, rest, failed, values));
        }
        Part::Variable { reserved, .. } => *reserved,
    };
    let bound = if reserved { None } else { rest.find(['/', '?', '#']) };
    let longest = bound.unwrap_or(rest.len());
    let here = (parts.len(), rest.len() - longest);
    if failed.get(&here).is_some_and(|first| rest.len() <= *first) {
        return false;
    }
    let ends = rest.char_indices().map(|(start, one)| start + one.len_utf8());
    for end in ends.take_while(|end| *end <= longest) {
        values.push(&rest[..end]);
        if fits(later, &rest[end..], failed, values) {
            return true;
        }
        values.pop();
    }
    failed.insert(here, rest.len());
    false
}

/// Percent-decodes; what then is no text stays as it came.
fn decode(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| first == b'%');
        let decoded = digits.and_then(|digits| {
            let text = std::str::from_utf8(digits).ok()?;
            text.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
            u8::from_str_radix(text, 16).ok()
        });
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| value.to_owned())
}

/// The longest URI that is held against templates, in bytes.
const LONGEST: usize = 2048;

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn fit(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        Pattern::parse(template).fit(uri)
    }

    fn values(template: &str, uri: &str) -> Option<Vec<String>> {
        Some(fit(template, uri)?.into_iter().map(|(_, value)| value).collect())
    }

    fn some(values: &[&str]) -> Option<Vec<String>> {
        Some(values.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn a_variable_stands_for_one_piece_of_a_path_and_a_reserved_one_for_any() {
        assert_eq!(fit("a://{id}", "a://7"), Some(vec![("id".to_owned(), "7".to_owned())]));
        assert_eq!(values("a://{id}", "a://7/8"), None);
        assert_eq!(values("a://{id}", "a://"), None);
        assert_eq!(values("a://{+path}", "a://7/8?x#y"), some(&["7/8?x#y"]));
        assert_eq!(values("a://{x}/{y}.txt", "a://b/c.txt.txt"), some(&["b", "c.txt"]));
        assert_eq!(values("a:///{+dir}/{name}", "a:///b/c/d"), some(&["b/c", "d"]));
        assert_eq!(values("a://b", "a://b"), some(&[]));
        assert_eq!(values("a://b", "a://bc"), None);
    }

    #[test]
    fn a_value_is_percent_decoded_where_that_makes_text() {
        assert_eq!(values("a://{x}", "a://%C3%A9%20b"), some(&["é b"]));
        assert_eq!(values("a://{x}", "a://%FF"), some(&["%FF"]));
        assert_eq!(values("a://{x}", "a://100%+1%4"), some(&["100%+1%4"]));
        assert_eq!(values("a://{x}", "a://é"), some(&["é"]));
    }

    #[test]
    fn an_expression_that_is_not_understood_fits_nothing() {
        for template in ["a://{?q}", "a://{x*}", "a://{x,y}", "a://{x:3}", "a://{", "a://{}"] {
            assert_eq!(values(template, "a://b"), None, "{template}");
        }
    }

    #[test]
    fn a_uri_made_to_be_hard_is_refused_in_time() {
        let template = format!("a://{}!", "{+v}-".repeat(12));
        let hard = format!("a://{}", "-".repeat(2000));
        assert_eq!(values(&template, &hard), None);
        assert_eq!(values("a://{+v}", &format!("a://{}", "x".repeat(2048))), None);
    }
}
