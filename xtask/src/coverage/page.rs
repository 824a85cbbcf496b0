//! Writes docs/coverage.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::rows::{Row, Rows};
use super::{Issue, Proof};

/// The whole page.
pub(super) fn write(
    rows: &Rows,
    proofs: &BTreeMap<String, BTreeSet<Proof>>,
    summary: &str,
) -> String {
    let mut page = format!("{HEAD}\n{}.\n", capitalised(summary));
    for group in rows.pages() {
        let name = group.path.rsplit('/').next().unwrap_or(&group.path);
        // Writing to a string cannot fail, here and below.
        let _ = write!(
            page,
            "\n## [{}](rows/{name})\n\n| Row | Level | Proven by |\n|---|---|---|\n",
            group.title
        );
        for row in &group.rows {
            let cell = proofs.get(&row.id).map_or_else(|| unproven(rows, row), proven);
            let _ = writeln!(page, "| {} | {} | {cell} |", row.id, row.level);
        }
    }
    page
}

fn proven(proofs: &BTreeSet<Proof>) -> String {
    let shown: Vec<_> = proofs
        .iter()
        .map(|proof| match proof {
            Proof::Test(test) => format!("{} `{}`", test.package, test.path),
            Proof::Step(step) => format!("`cargo xtask {step}`"),
        })
        .collect();
    shown.join("<br>")
}

fn unproven(rows: &Rows, row: &Row) -> String {
    match row.issue {
        Issue::Number(_) if rows.is_due(row) => "**not covered**".to_owned(),
        Issue::Number(number) => format!("later: issue {number}"),
        Issue::Host => "the host's".to_owned(),
        Issue::Later => "not due".to_owned(),
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}

const HEAD: &str = "# Where each row is proven

Written by `cargo xtask coverage` from the tree; do not edit it. What the rows say stands in [rows](rows/README.md).
";
