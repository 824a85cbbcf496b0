//! Names that say which server is meant.

/// What stands between the server's part and the rest.
pub(crate) const BETWEEN: &str = "__";

/// A part of its own for each server, in the same order.
pub(crate) fn prefixes<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let plain = plain(name);
        let mut prefix = plain.clone();
        let mut number = 2_usize;
        while taken.contains(&prefix) {
            prefix = format!("{plain}-{number}");
            number += 1;
        }
        taken.push(prefix);
    }
    taken
}

/// Letters, digits, `-`, and single `_` between them.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for character in name.chars() {
        let kept = character.is_ascii_alphanumeric() || character == '-';
        if kept {
            plain.push(character);
        } else if !plain.is_empty() && !plain.ends_with('_') {
            plain.push('_');
        }
    }
    let plain = plain.trim_end_matches('_');
    if plain.is_empty() { "server".to_owned() } else { plain.to_owned() }
}

/// Takes a name apart: the server's part, and the rest.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(BETWEEN).filter(|(_, rest)| !rest.is_empty())
}

pub(crate) fn join(prefix: &str, name: &str) -> String {
    format!("{prefix}{BETWEEN}{name}")
}

#[cfg(test)]
mod tests {
    use super::{join, prefixes, split};

    // TOOL-16
    #[test]
    fn every_server_has_a_part_of_its_own() {
        let names = ["a", "a__b", "A b!", "a", "a-2", "_a_", "ß", "", "a_b"];
        let prefixes = prefixes(names);
        let expected = ["a", "a_b", "A_b", "a-2", "a-2-2", "a-3", "server", "server-2", "a_b-2"];
        assert_eq!(prefixes, expected);
    }

    #[test]
    fn a_name_is_taken_apart_as_it_was_put_together() {
        for prefix in prefixes(["a", "a__b", "__", "x_"]) {
            for name in ["t", "_t", "__t", "t__u", "a__b__c"] {
                assert_eq!(split(&join(&prefix, name)), Some((prefix.as_str(), name)));
            }
        }
        assert_eq!((split("t"), split("a__"), split("a_t")), (None, None, None));
    }
}
