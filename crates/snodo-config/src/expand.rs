//! Variables within texts.

use crate::Fault;

/// Where the values of variables are looked up.
pub(crate) type Lookup<'l> = &'l dyn Fn(&str) -> Option<String>;

/// Puts the values of variables into a text.
pub(crate) fn expand(text: &str, lookup: Lookup<'_>) -> Result<String, Fault> {
    expand_within(text, lookup, DEEPEST)
}

fn expand_within(text: &str, lookup: Lookup<'_>, depth: usize) -> Result<String, Fault> {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(length) = closing(rest) else { break };
        let (whole, inner) = (&rest[..length], &rest[2..length - 1]);
        rest = &rest[length..];
        match Reference::read(inner) {
            None => shown.push_str(whole),
            Some(reference) => shown.push_str(&reference.value(lookup, depth)?),
        }
    }
    shown.push_str(rest);
    Ok(shown)
}

/// The length of a text that begins with `${`, up to the bracket that closes it.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => open += 1,
            b'}' => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// What stands between the brackets.
struct Reference<'t> {
    name: &'t str,
    default: Option<&'t str>,
}

impl<'t> Reference<'t> {
    fn read(inner: &'t str) -> Option<Self> {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let bare = name.strip_prefix("env:").unwrap_or(name);
        let is_input = name.strip_prefix("input:").is_some_and(|id| !id.is_empty());
        (is_name(bare) || is_input)
            .then_some(Self { name: if is_input { name } else { bare }, default })
    }

    fn value(&self, lookup: Lookup<'_>, depth: usize) -> Result<String, Fault> {
        let (name, default) = (self.name, self.default);
        if let Some(value) = lookup(name).filter(|value| !value.is_empty() || default.is_none()) {
            return Ok(value);
        }
        match default {
            Some(_) if depth == 0 => {
                Err(Fault::new(format!("the defaults of {name} are nested too deep")))
            }
            Some(default) => expand_within(default, lookup, depth - 1),
            None if name.starts_with("input:") => Err(Fault::new(format!(
                "${{{name}}} is asked for by an editor; write an environment variable in its place"
            ))),
            None => Err(Fault::new(format!("the variable {name} is not set"))),
        }
    }
}

/// Whether an environment variable can be called so in a shell.
fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(letter)
        && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// How deep defaults may stand within defaults.
const DEEPEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::expand;

    fn expanded(text: &str) -> Result<String, String> {
        let lookup = |name: &str| match name {
            "A" => Some("a".to_owned()),
            "E" => Some(String::new()),
            "R" => Some("${A}".to_owned()),
            _ => None,
        };
        expand(text, &lookup).map_err(|fault| fault.message().to_owned())
    }

    #[test]
    fn variables_are_put_in_wherever_they_stand() {
        for (text, value) in [
            ("${A}", "a"),
            ("x${A}y${env:A}z", "xayaz"),
            ("${E}", ""),
            ("${U:-d}${A:-d}", "da"),
            ("${U:-}", ""),
            ("${E:-d}", "d"),
            ("${U:-${V:-${A}}}!", "a!"),
            ("${U:-a:-b}", "a:-b"),
            ("${R}", "${A}"),
            ("${U:-{\"k\":1}", "{\"k\":1"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_variable_stays() {
        for text in [
            "", "$", "$A", "$5", "a$", "${}", "${", "${A", "${1}", "${a b}", "$(A)", "${:-x}",
            "$${}", "é${ß}",
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        assert_eq!(expanded("x${U}"), Err("the variable U is not set".to_owned()));
        assert_eq!(expanded("${env:U}"), Err("the variable U is not set".to_owned()));
        assert!(expanded("${input:key}").expect_err("nobody asks").contains("editor"));
        let deep = format!("{}x{}", "${U:-".repeat(20), "}".repeat(20));
        assert!(expanded(&deep).expect_err("too deep").contains("too deep"));
    }
}
