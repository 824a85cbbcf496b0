//! How large a pattern is once it is compiled: an estimate from above.

/// The states of an automaton for a pattern, as far as a glance can tell: repetitions are counted
/// out, groups within groups multiply. A pattern that is none has some number too.
pub(crate) fn states(pattern: &str) -> usize {
    let mut groups: Vec<Group> = vec![Group::default()];
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        let weight = match character {
            '(' => {
                groups.push(Group::default());
                continue;
            }
            ')' if groups.len() > 1 => groups.pop().map_or(1, |group| group.whole()),
            '[' => class(&mut rest),
            '\\' => match rest.next() {
                Some('p' | 'P') => property(&mut rest),
                Some('D' | 'S' | 'W' | 's') => NEGATED_CLASS,
                _ => 2,
            },
            '.' => NEGATED_CLASS,
            '{' => {
                let times = repetitions(&mut rest);
                if let Some(group) = groups.last_mut() {
                    group.last = group.last.saturating_mul(times);
                }
                continue;
            }
            other => other.len_utf8(),
        };
        if let Some(group) = groups.last_mut() {
            group.before = group.whole();
            group.last = weight;
        }
    }
    groups.iter().map(Group::whole).fold(1, usize::saturating_add)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// What stands between two parentheses.
#[derive(Default)]
struct Group {
    /// All but the last part.
    before: usize,
    /// The part that a repetition would repeat.
    last: usize,
}

impl Group {
    fn whole(&self) -> usize {
        self.before.saturating_add(self.last)
    }
}

/// Behind an opening bracket: reads to the end of the class.
fn class(rest: &mut Rest<'_>) -> usize {
    let negated = rest.next_if_eq(&'^').is_some();
    let mut weight: usize = if negated { NEGATED_CLASS } else { 1 };
    while let Some(character) = rest.next() {
        match character {
            ']' => break,
            '\\' => {
                weight += match rest.next() {
                    Some('p' | 'P') => property(rest),
                    _ => NEGATED_CLASS,
                };
            }
            // A range that leaves ASCII is cut into those of each length and beginning.
            other if !other.is_ascii() => weight += NEGATED_CLASS,
            _ => {}
        }
    }
    weight
}

/// Behind the sign for a property of characters: its name in braces, or in one letter.
fn property(rest: &mut Rest<'_>) -> usize {
    if rest.next() == Some('{') {
        rest.by_ref().take_while(|character| *character != '}').for_each(drop);
    }
    UNICODE_CLASS
}

/// Behind an opening brace: the larger number before the closing one.
fn repetitions(rest: &mut Rest<'_>) -> usize {
    let mut most = 1;
    let mut number: usize = 0;
    for character in rest.by_ref() {
        match character.to_digit(10) {
            Some(digit) => number = number.saturating_mul(10).saturating_add(digit as usize),
            None => {
                most = most.max(number);
                number = 0;
                if character != ',' {
                    break;
                }
            }
        }
    }
    most
}

/// All of Unicode but some of it, in UTF-8.
const NEGATED_CLASS: usize = 24;

/// The letters of all scripts, and the like.
const UNICODE_CLASS: usize = 600;

#[cfg(test)]
mod tests {
    use super::states;

    #[test]
    fn repetitions_multiply_what_they_repeat() {
        assert_eq!(states("abc"), 4);
        assert_eq!(states("^[a-f0-9]{8}-[a-f0-9]{4}$"), 16);
        assert_eq!(states("(ab){10}c"), 22);
        assert_eq!(states("((a{100}){100}){100}"), 1_000_001);
        assert!(states("(x{999999999}){999999999}{999999999}") > usize::MAX / 2);
    }

    #[test]
    fn classes_count_by_what_they_hold() {
        assert_eq!(states("[^/]+"), 26);
        assert!(states(r"^\p{L}{1,100}$") > 50_000);
        assert!(states(r"[\p{L}\p{N}]{100}") > 100_000);
    }

    #[test]
    fn what_is_no_pattern_ends_too() {
        for broken in ["(((((", ")))", "[", "[^", "\\", "{", "a{", "a{1", "{{{{1,", "[\\"] {
            assert!(states(broken) < 100, "{broken}");
        }
    }
}
