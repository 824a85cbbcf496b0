//! Who reads and who types: people at a terminal, or programs.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// What the three streams lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// How results look.
    pub(crate) output: Style,
    /// How what goes to the error stream looks.
    pub(crate) errors: Style,
    /// Somebody can be asked.
    pub(crate) asks: bool,
}

/// How text looks on a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// The width of the terminal, where it is one.
    pub(crate) width: Option<usize>,
    /// Whether colours are wanted.
    pub(crate) colour: bool,
}

impl Terminal {
    /// Looks at the streams and at `NO_COLOR`, `TERM` and `COLUMNS`.
    pub(crate) fn look() -> Self {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|name| name != "dumb");
        let style = |is_terminal: bool, size: fn() -> Option<(u16, u16)>| {
            let width = || columns().or_else(|| size().map(|(_, width)| width.into()));
            let width = is_terminal.then(|| width().unwrap_or(USUAL).max(NARROWEST));
            Style { width, colour: is_terminal && colour }
        };
        let (output, errors) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            output: style(output, || console::Term::stdout().size_checked()),
            errors: style(errors, || console::Term::stderr().size_checked()),
            asks: io::stdin().is_terminal() && errors,
        }
    }

    /// Nobody is asked, and nothing is painted.
    pub(crate) fn plain() -> Self {
        Self { output: Style::default(), errors: Style::default(), asks: false }
    }
}

impl Style {
    /// A heading or a name.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What is less important.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// What is as it should be.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// What is wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// What may be wrong.
    pub(crate) fn odd(self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// The text over as many lines as the terminal needs, later ones moved in.
    pub(crate) fn wrap(self, text: &str, taken: usize) -> String {
        let Some(room) = self.width.map(|width| width.saturating_sub(taken).max(NARROWEST)) else {
            return text.to_owned();
        };
        let (mut shown, mut column) = (String::new(), 0);
        for word in text.split(' ') {
            let wide = width(word);
            if column > 0 && column + 1 + wide > room {
                shown.push_str(&format!("\n{:taken$}", ""));
                column = 0;
            } else if column > 0 {
                shown.push(' ');
                column += 1;
            }
            shown.push_str(word);
            column += wide;
        }
        shown
    }

    /// The text on one line that is no wider than what is left of the terminal's.
    pub(crate) fn fit(self, text: &str, taken: usize) -> String {
        match self.width {
            Some(width) => cut(text, width.saturating_sub(taken).max(NARROWEST)),
            None => text.to_owned(),
        }
    }
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Cuts a text at so many columns.
fn cut(text: &str, columns: usize) -> String {
    console::truncate_str(text, columns, "…").into_owned()
}

/// Asks on the error stream, and reads a line; `None` at the end of the input.
///
/// The line is read on a thread of its own. Where the future is dropped the thread goes on waiting:
/// the program is about to end then.
pub(crate) async fn ask(question: &str) -> io::Result<Option<String>> {
    {
        let mut errors = io::stderr().lock();
        write!(errors, "{question}")?;
        errors.flush()?;
    }
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
    });
    read.await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// Where a terminal does not say how wide it is.
const USUAL: usize = 80;

/// Nothing is made narrower than this.
const NARROWEST: usize = 20;

#[cfg(test)]
mod tests {
    use super::{Style, width};

    #[test]
    fn a_line_is_cut_at_the_width_of_the_terminal_only() {
        let style = Style { width: Some(30), colour: false };
        assert_eq!(style.fit("short", 10), "short");
        assert_eq!(style.fit(&"x".repeat(50), 10), format!("{}…", "x".repeat(19)));
        assert_eq!(width(&style.fit(&"世".repeat(50), 10)), 19);
        assert_eq!(Style::default().fit(&"x".repeat(500), 0).len(), 500);
    }

    #[test]
    fn a_text_is_wrapped_between_words_at_a_terminal_only() {
        let style = Style { width: Some(30), colour: false };
        assert_eq!(
            style.wrap("a few words too many here", 10),
            "a few words too many\n          here"
        );
        assert_eq!(style.wrap(&"x".repeat(40), 10), "x".repeat(40));
        assert_eq!(Style::default().wrap("a few words too many here", 10).lines().count(), 1);
    }

    #[test]
    fn nothing_is_painted_where_no_colour_is_wanted() {
        assert_eq!(Style::default().bold("x"), "x");
        assert_eq!(Style { width: None, colour: true }.bad("x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
