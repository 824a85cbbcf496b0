//! Compares who imports whom with the table in docs/architecture.md.
//!
//! The table is the truth: its column "may import" lists, in backquotes, what a manifest may name, "its tests also" what a
//! test may name on top, and a crate in backquotes under "never" may not even be reached through others.

use std::collections::BTreeSet;

use crate::Outcome;
use crate::apart;
use crate::metadata::{Metadata, Package};
use crate::shell;

/// `cargo xtask graph`: the manifests against the table.
pub(crate) fn run(_arguments: &[String]) -> Outcome {
    let table = Table::parse(&shell::read(PAGE)?)?;
    let mut builds = vec![Metadata::load()?];
    for folder in apart::FOLDERS {
        builds.push(Metadata::load_from(&apart::manifest(folder))?);
    }
    let findings = check(&table, &builds);
    for finding in &findings {
        println!("{PAGE}: {finding}");
    }
    if findings.is_empty() {
        println!("graph: {} crates import what {PAGE} lets them", table.rows.len());
        return Ok(());
    }
    Err(format!("graph: {} findings; change the manifest, or the table on purpose", findings.len()))
}

/// What is wrong, a sentence each. The first build is the workspace, the others stand apart.
pub(crate) fn check(table: &Table, builds: &[Metadata]) -> Vec<String> {
    let mut findings = Vec::new();
    for row in &table.rows {
        if !builds.iter().flat_map(Metadata::members).any(|package| package.name == row.name) {
            findings.push(format!(
                "line {}: `{}` has a row but is no crate of the tree",
                row.line, row.name
            ));
        }
    }
    for build in builds {
        for package in build.members() {
            match table.rows.iter().find(|row| row.name == package.name) {
                Some(row) => check_crate(row, package, build, &mut findings),
                None => findings
                    .push(format!("`{}` is a crate of the tree but has no row", package.name)),
            }
        }
    }
    findings
}

fn check_crate(row: &Row, package: &Package, metadata: &Metadata, findings: &mut Vec<String>) {
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let allowed = row.imports.contains(name)
            || dependency.for_tests && (row.in_tests.contains(name) || name == package.name);
        if !allowed {
            let whose = if dependency.for_tests { "the tests of " } else { "" };
            findings.push(format!(
                "line {}: {whose}`{}` may not import `{name}`",
                row.line, package.name
            ));
        }
    }
    for reached in metadata.closure(package) {
        if row.never.contains(&reached.name) {
            findings.push(format!(
                "line {}: `{}` reaches `{}`, which it never may; `cargo tree -p {} -e normal -i {}` shows how",
                row.line, package.name, reached.name, package.name, reached.name
            ));
        }
    }
    if RUNTIME_FREE.contains(&package.name.as_str()) && !row.never.contains("tokio") {
        findings
            .push(format!("line {}: `{}` needs `tokio` under \"never\"", row.line, package.name));
    }
}

/// The table of docs/architecture.md.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    /// From 1.
    line: usize,
    imports: BTreeSet<String>,
    in_tests: BTreeSet<String>,
    never: BTreeSet<String>,
}

impl Table {
    /// Finds the table by its header and reads its rows.
    pub(crate) fn parse(page: &str) -> Result<Self, String> {
        let lines: Vec<_> = page.lines().collect();
        let start = lines
            .iter()
            .position(|line| cells(line).first() == Some(&"crate"))
            .ok_or_else(|| format!("{PAGE}: no table that starts with `| crate |`"))?;
        let header = cells(lines[start]);
        let column = |name: &str| {
            let found = header.iter().position(|cell| *cell == name);
            found.ok_or_else(|| format!("{PAGE}: the table has no column \"{name}\""))
        };
        let (imports, in_tests, never) =
            (column("may import")?, column("its tests also")?, column("never")?);
        let mut rows = Vec::new();
        for (number, line) in lines.iter().enumerate().skip(start + 2) {
            let cells = cells(line);
            let Some(name) = cells.first().and_then(|cell| quoted(cell).next()) else { break };
            let names = |column: usize| {
                cells.get(column).map(|cell| quoted(cell).map(str::to_owned).collect())
            };
            let (Some(imports), Some(in_tests), Some(never)) =
                (names(imports), names(in_tests), names(never))
            else {
                return Err(format!("{PAGE}: line {}: a cell is missing", number + 1));
            };
            rows.push(Row { name: name.to_owned(), line: number + 1, imports, in_tests, never });
        }
        Ok(Self { rows })
    }
}

/// The cells of a table line; none for any other line.
fn cells(line: &str) -> Vec<&str> {
    let inside = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inside.map(|inside| inside.split('|').map(str::trim).collect()).unwrap_or_default()
}

/// What stands in backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

const PAGE: &str = "docs/architecture.md";

/// The crates that have to compile without a runtime, whatever the table says.
const RUNTIME_FREE: &[&str] =
    &["snodo-types", "snodo-dialect", "snodo-engine", "snodo-transport", "snodo-direct"];

#[cfg(test)]
mod tests {
    use super::*;

    /// A page whose table has these rows.
    fn table(rows: &[&str]) -> Table {
        let head = "# Map\n\n| crate | one sentence | may import | its tests also | never |\n|---|---|---|---|---|\n";
        Table::parse(&format!("{head}{}\n\nMore.\n", rows.join("\n"))).expect("a table")
    }

    /// Metadata of members, each with its dependencies; `~x` is one for tests.
    fn metadata(members: &[(&str, &[&str])], outside: &[(&str, &[&str])]) -> [Metadata; 1] {
        let package = |name: &str| {
            format!(r#"{{"id":"{name}","name":"{name}","version":"1.0.0","publish":null"#)
        };
        let mut packages = Vec::new();
        let mut nodes = Vec::new();
        for (name, dependencies) in members.iter().chain(outside) {
            let mut lines = Vec::new();
            let mut edges = Vec::new();
            for dependency in *dependencies {
                let (name, kind) = match dependency.strip_prefix('~') {
                    Some(name) => (name, r#""dev""#),
                    None => (*dependency, "null"),
                };
                lines.push(format!(r#"{{"name":"{name}","req":"^1","kind":{kind}}}"#));
                edges.push(format!(r#"{{"pkg":"{name}","dep_kinds":[{{"kind":{kind}}}]}}"#));
            }
            packages.push(format!(r#"{},"dependencies":[{}]}}"#, package(name), lines.join(",")));
            nodes.push(format!(r#"{{"id":"{name}","deps":[{}]}}"#, edges.join(",")));
        }
        let ids: Vec<_> = members.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let text = format!(
            r#"{{"packages":[{}],"workspace_members":[{}],"resolve":{{"nodes":[{}]}}}}"#,
            packages.join(","),
            ids.join(","),
            nodes.join(",")
        );
        [Metadata::parse(&text).expect("the document of cargo")]
    }

    #[test]
    fn a_workspace_that_keeps_to_its_table_passes() {
        let table = table(&[
            "| `a` | Words. | `serde` | `tokio` | clocks |",
            "| `b` | More. | `a` | – | – |",
        ]);
        let metadata = metadata(
            &[("a", &["serde", "~tokio"]), ("b", &["a"])],
            &[("serde", &[]), ("tokio", &[])],
        );
        assert_eq!(check(&table, &metadata), [""; 0]);
    }

    #[test]
    fn an_edge_that_the_table_lacks_fails() {
        let table = table(&["| `a` | Words. | `serde` | – | – |"]);
        let found = check(&table, &metadata(&[("a", &["serde", "hyper"])], &[]));
        assert_eq!(found, ["line 5: `a` may not import `hyper`"]);
    }

    #[test]
    fn a_test_import_is_allowed_by_its_own_column_only() {
        let table = table(&["| `a` | Words. | – | `tokio` | – |"]);
        assert_eq!(check(&table, &metadata(&[("a", &["~tokio", "~a"])], &[])), [""; 0]);
        assert_eq!(
            check(&table, &metadata(&[("a", &["tokio"])], &[])),
            ["line 5: `a` may not import `tokio`"]
        );
        let found = check(&table, &metadata(&[("a", &["~hyper"])], &[]));
        assert_eq!(found, ["line 5: the tests of `a` may not import `hyper`"]);
    }

    #[test]
    fn a_row_without_a_crate_and_a_crate_without_a_row_fail() {
        let table = table(&["| `a` | Words. | – | – | – |"]);
        let found = check(&table, &metadata(&[("b", &[])], &[]));
        assert_eq!(
            found,
            [
                "line 5: `a` has a row but is no crate of the tree",
                "`b` is a crate of the tree but has no row"
            ]
        );
    }

    #[test]
    fn a_crate_that_is_never_reached_may_not_come_through_another() {
        let table = table(&["| `a` | Words. | `tower` | `tokio` | `tokio` |"]);
        let through = metadata(&[("a", &["tower"])], &[("tower", &["tokio"]), ("tokio", &[])]);
        assert!(check(&table, &through)[0].starts_with("line 5: `a` reaches `tokio`"));
        let in_tests =
            metadata(&[("a", &["tower", "~tokio"])], &[("tower", &["~tokio"]), ("tokio", &[])]);
        assert_eq!(check(&table, &in_tests), [""; 0]);
    }

    #[test]
    fn a_crate_that_stands_apart_is_held_to_its_row_too() {
        let table =
            table(&["| `a` | Words. | – | – | – |", "| `z` | Apart. | `a` | – | `hyper` |"]);
        let [here] = metadata(&[("a", &[])], &[]);
        let [apart] =
            metadata(&[("z", &["a", "b"])], &[("a", &[]), ("b", &["hyper"]), ("hyper", &[])]);
        let found = check(&table, &[here, apart]);
        assert_eq!(found[0], "line 6: `z` may not import `b`");
        assert!(found[1].starts_with("line 6: `z` reaches `hyper`"), "{found:?}");
    }

    #[test]
    fn the_crates_without_a_runtime_have_to_say_so() {
        let table = table(&["| `snodo-engine` | Words. | – | – | clocks |"]);
        let found = check(&table, &metadata(&[("snodo-engine", &[])], &[]));
        assert_eq!(found, ["line 5: `snodo-engine` needs `tokio` under \"never\""]);
    }

    #[test]
    fn a_page_without_the_table_or_a_column_is_refused() {
        assert!(Table::parse("# Map\n").is_err());
        assert!(Table::parse("| crate | may import | never |\n|---|---|---|\n").is_err());
        let short =
            "| crate | may import | its tests also | never |\n|---|---|---|---|\n| `a` | `b` |\n";
        assert!(Table::parse(short).is_err());
    }

    #[test]
    fn the_committed_table_can_be_read() {
        let page = shell::read(PAGE).expect("the page is there");
        let table = Table::parse(&page).expect("a table");
        assert!(RUNTIME_FREE.iter().all(|name| table.rows.iter().any(|row| row.name == *name)));
    }
}
