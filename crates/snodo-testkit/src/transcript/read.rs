//! Reading the text of a transcript.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Line, Step, Wire};
use crate::Pattern;
use crate::pattern::next_name;

/// The lines of a transcript, or the number of the first bad one and what is wrong with it.
pub(super) fn read(text: &str) -> Result<Vec<Line>, (usize, String)> {
    let mut bound = BTreeSet::new();
    let mut lines = Vec::new();
    for (number, text) in whole_lines(text) {
        let line = read_line(number, &text).map_err(|reason| (number, reason))?;
        check_names(line.step(), &mut bound).map_err(|reason| (number, reason))?;
        lines.push(line);
    }
    Ok(lines)
}

/// Puts lines that go on together, and leaves out comments and empty ones.
fn whole_lines(text: &str) -> Vec<(usize, String)> {
    let mut whole: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let begins_anew = !line.starts_with([' ', '\t']);
        match whole.last_mut() {
            _ if line.trim().is_empty() || line.starts_with('#') => {}
            Some((_, before)) if !begins_anew => {
                before.push(' ');
                before.push_str(line.trim());
            }
            _ => whole.push((index + 1, line.trim_end().to_owned())),
        }
    }
    whole
}

fn read_line(number: usize, line: &str) -> Result<Line, String> {
    let (head, text) = line.split_once(' ').unwrap_or((line, ""));
    let mut characters = head.chars();
    let mark = characters.next().unwrap_or(' ');
    if !MARKS.contains(mark) {
        return Err(format!("`{head}` does not begin with one of {MARKS} #"));
    }
    let (wires, status) = read_tag(characters.as_str())?;
    if status.is_some() && mark != '<' {
        return Err("only what the server says has a status".to_owned());
    }
    let step = match mark {
        '?' => Step::Act(text.to_owned()),
        '=' => Step::Outcome(text.to_owned()),
        '>' => read_expectation(text)?,
        '^' => Step::Headers(read_pattern(text)?),
        '<' => read_saying(text, status)?,
        '!' => {
            let (on, failure) = read_on(text)?;
            Step::Fails { on, failure: failure.to_owned() }
        }
        _ => read_event(text)?,
    };
    let wires = if mark == '^' { vec![Wire::Http] } else { wires };
    Ok(Line { number, wires, step })
}

/// Reads what stands behind a mark: `pipe,direct/404`.
fn read_tag(tag: &str) -> Result<(Vec<Wire>, Option<u16>), String> {
    let (names, status) = match tag.split_once('/') {
        Some((names, status)) => (names, Some(status)),
        None => (tag, None),
    };
    let wires = names.split(',').filter(|name| !name.is_empty()).map(str::parse);
    let wires = wires.collect::<Result<Vec<_>, _>>()?;
    let status = status.map(|status| {
        let known = status.parse().ok().filter(|status| (200..600).contains(status));
        known.ok_or_else(|| format!("`{status}` is no HTTP status"))
    });
    Ok((wires, status.transpose()?))
}

fn read_expectation(text: &str) -> Result<Step, String> {
    match text.split_once(' ').unwrap_or((text, "")) {
        ("reopens", "") => Ok(Step::Reopens),
        ("GET" | "DELETE", "") => Ok(Step::Method(text.to_owned())),
        ("closes", request) => {
            let name = request.strip_prefix("\"$").and_then(|rest| rest.strip_suffix('"'));
            let name = name.ok_or("`closes` names a request, as in `> closes \"$call\"`")?;
            Ok(Step::ClosesStream(name.to_owned()))
        }
        _ => read_pattern(text).map(Step::Expect),
    }
}

fn read_saying(text: &str, status: Option<u16>) -> Result<Step, String> {
    let (on, text) = read_on(text)?;
    Ok(Step::Say { text: text.to_owned(), status, on })
}

/// Takes the name of a request off the front of a text.
fn read_on(text: &str) -> Result<(Option<String>, &str), String> {
    let Some(rest) = text.strip_prefix("on \"$") else { return Ok((None, text)) };
    let (name, text) = rest.split_once("\" ").ok_or("`on \"$id\"` and then the text")?;
    Ok((Some(name.to_owned()), text))
}

fn read_pattern(text: &str) -> Result<Pattern, String> {
    serde_json::from_str(text).map(Pattern::new).map_err(|error| format!("no JSON: {error}"))
}

fn read_event(text: &str) -> Result<Step, String> {
    if let Some(time) = text.strip_prefix('+') {
        return read_time(time)
            .map(Step::Wait)
            .ok_or_else(|| format!("`{text}` is no time; it is written as `+250ms` or `+2s`"));
    }
    match text.split_once(' ').unwrap_or((text, "")) {
        ("closes", "") => Ok(Step::HangUp),
        ("abilities", names) => Ok(Step::Abilities(names.to_owned())),
        ("session", name) if !name.is_empty() => Ok(Step::Session(name.to_owned())),
        _ => Err(format!(
            "`{text}` is none of `+TIME`, `session NAME`, `abilities NAMES` and `closes`"
        )),
    }
}

fn read_time(text: &str) -> Option<Duration> {
    if let Some(number) = text.strip_suffix("ms") {
        return number.parse().ok().map(Duration::from_millis);
    }
    text.strip_suffix('s')?.parse().ok().map(Duration::from_secs)
}

/// What the server says may only use names that the client's messages have bound by then.
fn check_names(step: &Step, bound: &mut BTreeSet<String>) -> Result<(), String> {
    let unbound = |name: &str| Err(format!("\"${name}\" is used before a `>` line binds it"));
    match step {
        Step::Expect(pattern) | Step::Headers(pattern) => bound.extend(pattern.names()),
        Step::ClosesStream(name) if !bound.contains(name) => return unbound(name),
        Step::Say { on: Some(name), .. } | Step::Fails { on: Some(name), .. }
            if !bound.contains(name) =>
        {
            return unbound(name);
        }
        Step::Say { text, .. } => {
            let mut rest = text.as_str();
            while let Some((_, name, after)) = next_name(rest) {
                if !bound.contains(name) {
                    return unbound(name);
                }
                rest = after;
            }
        }
        _ => {}
    }
    Ok(())
}

const MARKS: &str = "? > ^ < @ ! =";

#[cfg(test)]
mod tests {
    use crate::{Step, Transcript, Wire};

    fn error(text: &str) -> String {
        Transcript::parse("t", text).expect_err("a bad transcript").to_string()
    }

    fn steps(text: &str, wire: Wire) -> Vec<String> {
        let transcript = Transcript::parse("t", text).expect("a transcript");
        transcript.lines(wire).map(|line| line.step().to_string()).collect()
    }

    #[test]
    fn a_bad_line_is_named_by_its_number_and_its_fault() {
        assert_eq!(
            error("# fine\n\nping"),
            "t:3: `ping` does not begin with one of ? > ^ < @ ! = #"
        );
        assert!(error("> {\"a\":}").starts_with("t:1: no JSON: "));
        assert_eq!(
            error("@ soon"),
            "t:1: `soon` is none of `+TIME`, `session NAME`, `abilities NAMES` and `closes`"
        );
        assert_eq!(error("@ +5m"), "t:1: `+5m` is no time; it is written as `+250ms` or `+2s`");
        assert_eq!(error(">smoke {}"), "t:1: `smoke` is none of direct, http and pipe");
        assert_eq!(error("</99 {}"), "t:1: `99` is no HTTP status");
        assert_eq!(error(">/200 {}"), "t:1: only what the server says has a status");
    }

    #[test]
    fn the_server_may_not_use_a_name_before_the_client_has_bound_it() {
        let text = "> {\"id\":\"$a\"}\n< {\"id\":\"$b\"}";
        assert_eq!(error(text), "t:2: \"$b\" is used before a `>` line binds it");
    }

    #[test]
    fn a_line_that_begins_with_a_space_goes_on_with_the_one_before() {
        let text = "> {\"id\":1,\n   \"method\":\"ping\"}\n# between\n  \n? close";
        let transcript = Transcript::parse("t", text).expect("a transcript");
        let numbers: Vec<_> = transcript.lines(Wire::Pipe).map(|line| line.number()).collect();
        assert_eq!(numbers, [1, 5]);
        assert_eq!(steps(text, Wire::Pipe)[0], r#"> {"id":1,"method":"ping"}"#);
    }

    #[test]
    fn each_wire_gets_its_own_lines() {
        let text =
            "> {}\n>pipe {\"a\":1}\n>http,direct {\"b\":1}\n^ {\"accept\":\"$any\"}\n<pipe/404 x";
        assert_eq!(steps(text, Wire::Pipe), ["> {}", r#"> {"a":1}"#, "</404 x"]);
        assert_eq!(steps(text, Wire::Http), ["> {}", r#"> {"b":1}"#, r#"^ {"accept":"$any"}"#]);
        assert_eq!(steps(text, Wire::Direct), ["> {}", r#"> {"b":1}"#]);
    }

    #[test]
    fn every_kind_of_line_is_written_as_it_was_read() {
        let text = "? call echo {}\n> {\"id\":\"$c\"}\n>http closes \"$c\"\n> reopens\n> DELETE\n\
                    < no JSON at all\n< on \"$c\" {}\n@ +250ms\n@ session s1\n@ closes\n@ abilities listen\n\
                    ! on \"$c\" {}\n! {}\n= error -32601";
        let text = text.replace(">http", ">");
        assert_eq!(steps(&text, Wire::Http).join("\n"), text);
        assert!(matches!(
            Transcript::parse("t", &text).expect("a transcript").lines(Wire::Http).nth(5),
            Some(line) if matches!(line.step(), Step::Say { status: None, .. })
        ));
    }
}
