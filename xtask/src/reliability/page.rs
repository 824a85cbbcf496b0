//! The page of figures: renewed line by line, and held to what it has to show.

use crate::Outcome;
use crate::source::File;

use super::Part;
use super::figures::count;

/// What a part came to.
#[derive(Clone, Debug)]
pub(super) struct Line {
    name: &'static str,
    /// As it stands on the page.
    text: String,
    /// Why it falls short.
    fault: Option<String>,
}

impl Line {
    /// From what it printed and how it ended.
    pub(super) fn of(part: &Part, figure: Option<String>, ran: Outcome) -> Self {
        let short = |figure: &str| {
            let (least, what) = part
                .least
                .iter()
                .find(|(least, what)| count(figure, what).is_none_or(|found| found < *least))?;
            Some(format!("fewer than {least} {what}: {figure}"))
        };
        let fault = match (&figure, ran) {
            (_, Err(why)) => Some(why),
            (None, Ok(())) => Some("it printed no figure".to_owned()),
            (Some(figure), Ok(())) => short(figure),
        };
        let figure = figure.unwrap_or_else(|| "no figure".to_owned()).replace('|', "/");
        let text = format!("| {} | `{}` | {figure} |", part.name, part.command.join(" "));
        Self { name: part.name, text, fault }
    }

    /// For a terminal.
    pub(super) fn shown(&self) -> String {
        match &self.fault {
            None => self.text.clone(),
            Some(fault) => format!("{}\n    FALLS SHORT: {fault}", self.text),
        }
    }
}

/// The page with these lines in place of those of the same parts; the others stay.
pub(super) fn renewed(page: &str, parts: &[Part], lines: &[Line]) -> Result<String, String> {
    let (before, rest) = page.split_once(BEGIN).ok_or(NO_MARKS)?;
    let (old, after) = rest.split_once(END).ok_or(NO_MARKS)?;
    let mut table = String::from("\n| part | command | what it printed last |\n|---|---|---|\n");
    for part in parts {
        let new = lines.iter().find(|line| line.name == part.name).map(|line| line.text.as_str());
        let kept = || old.lines().find(|line| line.starts_with(&format!("| {} |", part.name)));
        if let Some(line) = new.or_else(kept) {
            table.push_str(line);
            table.push('\n');
        }
    }
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

/// Names what falls short: parts that were run, parts that the page has no figure of, tests that it names and nobody has.
pub(super) fn judge(page: &str, parts: &[Part], lines: &[Line], tree: &[File]) -> Outcome {
    let table = page.split(BEGIN).nth(1).and_then(|rest| rest.split(END).next()).ok_or(NO_MARKS)?;
    let mut faults: Vec<String> = lines
        .iter()
        .filter_map(|line| Some(format!("{}: {}", line.name, line.fault.as_ref()?)))
        .collect();
    let is_shown = |part: &&Part| table.contains(&format!("\n| {} |", part.name));
    let unshown = parts.iter().filter(|part| !is_shown(part));
    faults.extend(unshown.map(|part| format!("{}: the page has no figure of it", part.name)));
    let missing = missing_tests(page, tree);
    faults.extend(
        missing.iter().map(|name| format!("the page names a test {name}, and there is none")),
    );
    if faults.is_empty() { Ok(()) } else { Err(format!("falls short:\n{}", faults.join("\n"))) }
}

/// The tests that the tables of the page name (`MODULE::TEST`) and that the tree does not have.
pub(super) fn missing_tests(page: &str, tree: &[File]) -> Vec<String> {
    let quoted = page.lines().filter(|line| line.starts_with('|')).flat_map(|line| {
        line.split('`').skip(1).step_by(2).filter(|word| word.contains("::") && !word.contains(' '))
    });
    let is_there = |name: &str| {
        let Some((module, test)) = name.rsplit_once("::") else { return false };
        // Types have methods of such names too, which are no tests.
        let begins = format!("fn {test}(");
        module.starts_with(char::is_uppercase)
            || tree.iter().any(|file| file.is_rust() && file.text.contains(&begins))
    };
    quoted.filter(|name| !is_there(name)).map(str::to_owned).collect()
}

const BEGIN: &str = "<!-- figures: cargo xtask reliability -->";
const END: &str = "<!-- end of figures -->";
const NO_MARKS: &str = "docs/reliability.md has no marks around its figures";

#[cfg(test)]
mod tests {
    use super::super::figures::Figure;
    use super::*;

    const SOAK: Part = Part {
        name: "soak",
        command: &["cargo", "xtask", "soak"],
        figure: Figure::Last,
        least: &[(1000, "calls")],
        minutes: 1,
    };
    const CASES: Part = Part { name: "cases", least: &[], ..SOAK };
    const PAGE: &str = "# A\n<!-- figures: cargo xtask reliability -->\n| cases | `x` | 1 passed |\n<!-- end of figures -->\nZ\n";

    fn line(figure: &str) -> Line {
        Line::of(&SOAK, Some(figure.to_owned()), Ok(()))
    }

    #[test]
    fn a_line_is_renewed_and_the_others_stay() {
        let page = renewed(PAGE, &[CASES, SOAK], &[line("2000 calls")]).expect("marks");
        let rows =
            "| cases | `x` | 1 passed |\n| soak | `cargo xtask soak` | 2000 calls |\n<!-- end";
        assert!(page.starts_with("# A\n<!-- figures") && page.contains(rows), "{page}");
        assert!(page.ends_with("-->\nZ\n"));
        assert_eq!(judge(&page, &[CASES, SOAK], &[line("2000 calls")], &[]), Ok(()));
        assert!(renewed("# A\n", &[CASES], &[]).is_err());
    }

    #[test]
    fn what_falls_short_is_named() {
        let page = renewed(PAGE, &[CASES, SOAK], &[line("2000 calls")]).expect("marks");
        let judged = |lines: &[Line]| judge(&page, &[CASES, SOAK], lines, &[]).expect_err("short");
        assert!(judged(&[line("999 calls")]).contains("soak: fewer than 1000 calls: 999 calls"));
        assert!(judged(&[line("words")]).contains("soak: fewer than 1000 calls"));
        let silent = Line::of(&SOAK, None, Ok(()));
        assert!(judged(&[silent]).contains("soak: it printed no figure"));
        let broken = Line::of(&SOAK, Some("2000 calls".to_owned()), Err("it GROWS".to_owned()));
        assert!(broken.shown().contains("FALLS SHORT: it GROWS"));
        assert!(judged(&[broken]).contains("soak: it GROWS"));
        let unshown = judge(PAGE, &[CASES, SOAK], &[], &[]).expect_err("no line of soak");
        assert!(
            unshown.contains("soak: the page has no figure of it") && !unshown.contains("cases")
        );
    }

    #[test]
    fn a_test_that_the_page_names_has_to_be_there() {
        let page = PAGE.replace(
            "Z\n",
            "| a | `Builder::timeout`, 30 s | `lines::it_ends` |\n`x::not_in_a_table`\n",
        );
        let there = File::new("a.rs", "#[test]\nfn it_ends() {}\n".to_owned());
        assert_eq!(judge(&page, &[CASES], &[], std::slice::from_ref(&there)), Ok(()));
        let gone = File::new("a.rs", "fn it_ends_otherwise() {}\n".to_owned());
        let told = judge(&page, &[CASES], &[], &[gone]).expect_err("no such test");
        assert!(told.contains("a test lines::it_ends, and there is none"), "{told}");
    }
}
