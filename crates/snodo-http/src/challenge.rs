//! What a `WWW-Authenticate` header asks for.

use std::fmt;

/// One challenge of a refusal, read by the grammar of RFC 9110, section 11.6.1.
///
/// ```
/// use snodo_http::Challenge;
///
/// let values = [r#"Basic realm="x", Bearer error=invalid_token, scope="a b""#.to_owned()];
/// let challenges = Challenge::read(&values);
/// let bearer = challenges.iter().find(|one| one.is("bearer")).expect("the second one");
/// assert_eq!(bearer.parameter("Scope"), Some("a b"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Reads the values of all `WWW-Authenticate` headers of one response, in order.
    ///
    /// Each may hold several challenges. A value that breaks the grammar, or is longer than
    /// 8 KiB, counts as absent.
    #[must_use]
    pub fn read(values: &[String]) -> Vec<Self> {
        let readable = values.iter().filter(|value| value.len() <= LONGEST);
        readable.filter_map(|value| list(value)).flatten().collect()
    }

    /// The scheme, in lower case.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Whether this is the scheme; schemes have no case.
    #[must_use]
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// The value of a parameter, unquoted; names have no case, and the first of a name counts.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut known = self.parameters.iter();
        known.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scheme)?;
        f.debug_map().entries(self.parameters.iter().map(|(key, value)| (key, value))).finish()
    }
}

/// All challenges of one header value; `None` where it breaks the grammar.
fn list(value: &str) -> Option<Vec<Challenge>> {
    let mut cursor = Cursor { rest: value };
    let mut challenges: Vec<Challenge> = Vec::new();
    loop {
        cursor.blank();
        while cursor.take(',') {
            cursor.blank();
        }
        if cursor.rest.is_empty() {
            return Some(challenges);
        }
        let word = cursor.token()?;
        let before = cursor.rest;
        cursor.blank();
        if !challenges.is_empty() && cursor.take('=') {
            let value = cursor.value()?;
            challenges.last_mut()?.parameters.push((word.to_owned(), value));
        } else {
            cursor.rest = before;
            challenges.push(cursor.challenge(word)?);
        }
        cursor.blank();
        if !cursor.rest.is_empty() && !cursor.rest.starts_with(',') {
            return None;
        }
    }
}

struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// A scheme, with what follows it up to the next comma: nothing, a token68, or one parameter.
    fn challenge(&mut self, scheme: &str) -> Option<Challenge> {
        let scheme = scheme.to_ascii_lowercase();
        let mut challenge = Challenge { scheme, parameters: Vec::new() };
        let spaced = self.rest.starts_with([' ', '\t']);
        self.blank();
        if self.rest.is_empty() || self.rest.starts_with(',') {
            return Some(challenge);
        }
        if !spaced {
            return None;
        }
        let start = self.rest;
        if let Some(name) = self.token() {
            self.blank();
            // A lone `=` at the end is the padding of a token68.
            if self.take('=')
                && !matches!(self.rest.trim_start().chars().next(), None | Some(',' | '='))
            {
                let value = self.value()?;
                challenge.parameters.push((name.to_owned(), value));
                return Some(challenge);
            }
        }
        self.rest = start;
        self.token68().then_some(challenge)
    }

    fn token(&mut self) -> Option<&'a str> {
        self.run(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    }

    fn token68(&mut self) -> bool {
        let found = self.run(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte));
        while self.take('=') {}
        found.is_some()
    }

    /// A token or a quoted string, behind white space.
    fn value(&mut self) -> Option<String> {
        self.blank();
        if !self.take('"') {
            return self.token().map(str::to_owned);
        }
        let mut value = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(value);
                }
                '\\' => value.push(characters.next()?.1),
                _ => value.push(character),
            }
        }
        None
    }

    fn run(&mut self, fits: impl Fn(u8) -> bool) -> Option<&'a str> {
        let end = self.rest.bytes().position(|byte| !fits(byte)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!run.is_empty()).then_some(run)
    }

    fn take(&mut self, character: char) -> bool {
        let rest = self.rest.strip_prefix(character);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }
}

const LONGEST: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::Challenge;

    fn read(values: &[&str]) -> String {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let shown: Vec<String> =
            Challenge::read(&values).iter().map(|challenge| format!("{challenge:?}")).collect();
        shown.join(" ").replace("\": \"", "=").replace('"', "'")
    }

    // AUTH-07, AUTH-08
    #[test]
    fn challenges_are_read_by_the_grammar() {
        for (value, expected) in [
            ("Bearer", "bearer{}"),
            (" , Bearer ,, Basic,", "bearer{} basic{}"),
            ("BEARER realm=x", "bearer{'realm=x'}"),
            (
                "bearer realm=\"a, b=\\\"c\\\"\", Scope = \"x y\" , error\t=\tinvalid_token",
                "bearer{'realm=a, b=\\'c\\'', 'Scope=x y', 'error=invalid_token'}",
            ),
            ("Negotiate abc/+==", "negotiate{}"),
            ("Negotiate abc=", "negotiate{}"),
            ("Bearer realm=", "bearer{}"),
            ("Negotiate a1==, Bearer a=b", "negotiate{} bearer{'a=b'}"),
            (
                "DPoP algs=\"ES256 PS256\", Bearer scope=\"\"",
                "dpop{'algs=ES256 PS256'} bearer{'scope='}",
            ),
            ("Bearer a=\"caf\u{e9}\"", "bearer{'a=caf\u{e9}'}"),
            ("", ""),
        ] {
            assert_eq!(read(&[value]), expected, "{value}");
        }
        assert_eq!(
            read(&["Basic realm=a", "Bearer realm=b"]),
            "basic{'realm=a'} bearer{'realm=b'}"
        );
    }

    // AUTH-07
    #[test]
    fn a_header_that_breaks_the_grammar_counts_as_absent() {
        let long = format!("Bearer realm=\"{}\"", "x".repeat(9000));
        for value in [
            "Bearer realm=\"no end",
            "Bearer realm=\"a\" scope=\"b\"",
            "\"Bearer\"",
            "Bearer \"x\"",
            "Bearer a=b c",
            "Bearer=x",
            "Bearer a=\"b\\",
            "a/b",
            &long,
        ] {
            assert_eq!(read(&[value, "Basic"]), "basic{}", "{value}");
        }
    }

    #[test]
    fn the_first_of_a_name_counts_and_names_have_no_case() {
        let challenges = Challenge::read(&["BeaRer Error=a, error=b".to_owned()]);
        assert_eq!(challenges[0].parameter("ERROR"), Some("a"));
        assert_eq!(challenges[0].parameter("scope"), None);
        assert!(challenges[0].is("Bearer") && challenges[0].scheme() == "bearer");
    }
}
