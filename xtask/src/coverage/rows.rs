//! The rows of docs/rows, and which of them are due.

use std::collections::BTreeSet;
use std::fmt;

use crate::source::File;

/// Every row, in the order of the pages.
#[derive(Debug)]
pub(super) struct Rows {
    pages: Vec<Page>,
    ids: BTreeSet<String>,
    due: u32,
}

/// One page of rows.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) path: String,
    /// Its heading.
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
}

/// One duty.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) level: String,
    pub(super) issue: Issue,
    /// The duty ends with words of ours in brackets.
    pub(super) reasoned: bool,
}

/// From when on a row has to be covered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Issue {
    /// Never by a library: it is the duty of the program that uses it.
    Host,
    Later,
    Number(u32),
}

impl Rows {
    /// Reads every page of docs/rows.
    pub(super) fn read(files: &[File]) -> Result<Self, String> {
        let mut pages = Vec::new();
        let mut due = None;
        for file in files.iter().filter(|file| file.path.starts_with(FOLDER)) {
            due = due.or_else(|| {
                file.text.lines().find_map(|line| line.strip_prefix("due = ")?.trim().parse().ok())
            });
            let page = Page::read(file)?;
            if !page.rows.is_empty() {
                pages.push(page);
            }
        }
        let due = due.ok_or_else(|| format!("{FOLDER}: no line `due = NUMBER`"))?;
        let mut ids = BTreeSet::new();
        for row in pages.iter().flat_map(|page| &page.rows) {
            if !ids.insert(row.id.clone()) {
                return Err(format!("{FOLDER}: {} stands there twice", row.id));
            }
        }
        Ok(Self { pages, ids, due })
    }

    pub(super) fn pages(&self) -> &[Page] {
        &self.pages
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Row> {
        self.pages.iter().flat_map(|page| &page.rows)
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn is_due(&self, row: &Row) -> bool {
        matches!(row.issue, Issue::Number(number) if number <= self.due)
    }
}

impl Row {
    /// Why the row may not be put off as it is, given whether something proves it.
    pub(super) fn objection(&self, proven: bool) -> Option<&'static str> {
        let due = matches!(self.issue, Issue::Number(_));
        match self.issue {
            Issue::Later if proven => {
                Some("is proven, so it is due: give it the number of an issue")
            }
            Issue::Later if self.level.starts_with("MUST") => {
                Some("is a MUST: it is proven, or it is the host's")
            }
            _ if !due && !self.reasoned => Some("is put off: say why, in brackets at its end"),
            _ => None,
        }
    }
}

impl Page {
    fn read(file: &File) -> Result<Self, String> {
        let title = file.text.lines().find_map(|line| line.strip_prefix("# "));
        let mut page = Self {
            path: file.path.clone(),
            title: title.unwrap_or_default().to_owned(),
            rows: Vec::new(),
        };
        for (number, line) in file.text.lines().enumerate() {
            // Only the first cells are read: a duty may hold what looks like one more cell.
            let cells: Vec<_> = line.split('|').map(str::trim).take(6).collect();
            let ["", id, _, level, issue, _] = cells[..] else { continue };
            if !is_row_id(id) {
                continue;
            }
            let issue = Issue::read(issue).ok_or_else(|| {
                format!("{}:{}: the issue is a number, `host` or `later`", file.path, number + 1)
            })?;
            let reasoned = line.trim_end().trim_end_matches('|').trim_end().ends_with(".)");
            page.rows.push(Row { id: id.to_owned(), level: level.to_owned(), issue, reasoned });
        }
        Ok(page)
    }
}

impl Issue {
    fn read(text: &str) -> Option<Self> {
        match text {
            "host" => Some(Self::Host),
            "later" => Some(Self::Later),
            number => number.parse().ok().map(Self::Number),
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Later => f.write_str("later"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// Whether the text has the shape of a row's name: capitals, a dash, two or three digits.
pub(super) fn is_row_id(text: &str) -> bool {
    text.split_once('-').is_some_and(|(family, number)| {
        !family.is_empty()
            && family.bytes().all(|byte| byte.is_ascii_uppercase())
            && (2..=3).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

const FOLDER: &str = "docs/rows/";
