//! Finds the comments that name rows, and the test that each belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::source::{File, Function, Source};

use super::rows::is_row_id;

/// Every citation of a tree.
#[derive(Debug, Default)]
pub(super) struct Citations {
    pub(super) found: Vec<Citation>,
    /// Comments of rows that belong to no test, a sentence each.
    pub(super) misplaced: Vec<String>,
}

/// One row named for one test.
#[derive(Debug)]
pub(super) struct Citation {
    pub(super) row: String,
    pub(super) path: String,
    /// From 1.
    pub(super) line: usize,
    pub(super) test: TestName,
}

/// A test as the runner names it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct TestName {
    pub(super) package: String,
    /// With its modules.
    pub(super) path: String,
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.package, self.path)
    }
}

impl Citations {
    /// Reads every Rust file and every fixture.
    pub(super) fn read(files: &[File]) -> Self {
        let packages = packages(files);
        let code: Vec<_> = files
            .iter()
            .filter(|file| file.is_rust())
            .map(|file| (file, Source::read(file)))
            .collect();
        let renamed: BTreeMap<_, _> =
            code.iter().flat_map(|(file, source)| renamed(file, source)).collect();
        let mut citations = Self::default();
        let mut players = Vec::new();
        for (file, source) in &code {
            // A module that stands in a file of another name is named after its `mod` line.
            let name = renamed.get(&file.path).unwrap_or(&file.path);
            if let Some(place) = Place::of(name, &packages) {
                citations.read_code(file, source, &place, &mut players);
            }
        }
        for file in files
            .iter()
            .filter(|file| file.path.starts_with("tests/") && file.path.ends_with(".txt"))
        {
            citations.read_fixture(file, &players);
        }
        citations
    }

    fn read_code(
        &mut self,
        file: &File,
        source: &Source,
        place: &Place,
        players: &mut Vec<Player>,
    ) {
        let text: Vec<_> = file.text.lines().collect();
        // A line of a string may look like a comment; in a comment nothing is spoken.
        let comment = |line: usize| {
            let inside = text[line].trim().strip_prefix("//")?;
            source.lines[line].spoken.trim().is_empty().then_some(inside)
        };
        let mut used = BTreeSet::new();
        for function in source.functions.iter().filter(|function| function.is_test()) {
            let test = place.test(function);
            let above = (0..function.top).rev().map_while(|line| Some((line, comment(line)?)));
            let mut words = String::new();
            for (line, comment) in above {
                words.push_str(comment);
                words.push(' ');
                for row in row_ids(comment) {
                    used.insert(line);
                    self.found.push(Citation {
                        row: row.to_owned(),
                        path: file.path.clone(),
                        line: line + 1,
                        test: test.clone(),
                    });
                }
            }
            let spoken = source.lines[function.first..=function.last]
                .iter()
                .map(|line| line.spoken.as_str());
            players.push(Player {
                test,
                folders: folders(&words),
                spoken: spoken.collect::<Vec<_>>().join("\n"),
            });
        }
        for line in (0..text.len()).filter(|line| !used.contains(line)) {
            if comment(line).is_some_and(|comment| row_ids(comment).next().is_some()) {
                self.misplaced.push(format!(
                    "{}:{}: these rows stand directly above no test: `{}`",
                    file.path,
                    line + 1,
                    text[line].trim()
                ));
            }
        }
    }

    fn read_fixture(&mut self, file: &File, players: &[Player]) {
        let lines = file.text.lines().enumerate();
        let cited: Vec<_> = lines
            .filter_map(|(line, text)| Some((line, text.trim().strip_prefix('#')?)))
            .flat_map(|(line, comment)| row_ids(comment).map(move |row| (line, row)))
            .collect();
        let Some((first, _)) = cited.first() else { return };
        let mut players = players.iter().filter(|player| player.plays(&file.path)).peekable();
        if players.peek().is_none() {
            self.misplaced.push(format!(
                "{}:{}: no test plays this fixture: name it in the body of one, or its folder (`{}`) in the comment above",
                file.path,
                first + 1,
                folder_of(&file.path)
            ));
        }
        for player in players {
            self.found.extend(cited.iter().map(|(line, row)| Citation {
                row: (*row).to_owned(),
                path: file.path.clone(),
                line: line + 1,
                test: player.test.clone(),
            }));
        }
    }
}

/// A test, and which fixtures it may play.
#[derive(Debug)]
struct Player {
    test: TestName,
    /// Folders named in the comment above it.
    folders: Vec<String>,
    /// The code of its body, strings included.
    spoken: String,
}

impl Player {
    fn plays(&self, fixture: &str) -> bool {
        // The last folder and the name are enough to tell fixtures apart, and survive a change of the base folder.
        let stem = fixture.trim_end_matches(".txt");
        let name = stem.rmatch_indices('/').nth(1).map_or(stem, |(at, _)| &stem[at + 1..]);
        self.spoken.contains(name) || self.folders.iter().any(|folder| fixture.starts_with(folder))
    }
}

/// Where a file stands in its package.
#[derive(Debug)]
struct Place {
    package: String,
    modules: Vec<String>,
}

impl Place {
    fn of(path: &str, packages: &BTreeMap<&str, &str>) -> Option<Self> {
        let (folder, package) =
            packages.iter().rev().find(|(folder, _)| path.starts_with(**folder))?;
        let inside = path[folder.len()..].strip_suffix(".rs")?;
        let mut modules: Vec<_> = inside.split('/').collect();
        // What names the target is no module: `src`, `src/bin/tool`, `tests/it`, `examples/hello`, and `it` in the
        // package whose folder is `tests`.
        let target = match modules[..] {
            ["src", "bin", _, ..] => 3,
            ["tests" | "examples" | "benches", _, ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        modules.drain(..target);
        if matches!(modules.last(), Some(&"lib" | &"main" | &"mod")) {
            modules.pop();
        }
        let modules = modules.into_iter().map(str::to_owned).collect();
        Some(Self { package: (*package).to_owned(), modules })
    }

    fn test(&self, function: &Function) -> TestName {
        let parts: Vec<_> =
            self.modules.iter().chain(&function.modules).chain([&function.name]).cloned().collect();
        TestName { package: self.package.clone(), path: parts.join("::") }
    }
}

/// The files that a `#[path]` brings in, each with the path that its module would have without it.
fn renamed(file: &File, source: &Source) -> Vec<(String, String)> {
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let own = matches!(file.name(), "mod.rs" | "lib.rs" | "main.rs");
    let below = if own { folder_of(stem).to_owned() } else { format!("{stem}/") };
    let paths = source.attributes.iter().filter_map(|attribute| {
        let path = attribute.text.strip_prefix("path = \"")?.strip_suffix('"')?;
        let module = attribute.item.trim().strip_prefix("mod ")?;
        Some((format!("{}{path}", folder_of(&file.path)), format!("{below}{module}.rs")))
    });
    paths.collect()
}

/// Folder (with `/` at its end) to the name in its manifest.
fn packages(files: &[File]) -> BTreeMap<&str, &str> {
    let manifests = files.iter().filter(|file| file.name() == "Cargo.toml");
    manifests
        .filter_map(|manifest| {
            let name = manifest
                .text
                .lines()
                .find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))?;
            Some((manifest.path.strip_suffix("Cargo.toml")?, name))
        })
        .collect()
}

/// The rows of a comment that holds nothing but rows and commas.
fn row_ids(comment: &str) -> impl Iterator<Item = &str> {
    let parts = || comment.split(',').map(str::trim);
    let only_rows = parts().all(is_row_id);
    parts().filter(move |_| only_rows)
}

/// The folders of fixtures that a comment names.
fn folders(words: &str) -> Vec<String> {
    let words =
        words.split_whitespace().map(|word| word.trim_matches(['`', '.', ',', ';', ':', '(', ')']));
    words
        .filter(|word| word.starts_with("tests/") && word.ends_with('/'))
        .map(str::to_owned)
        .collect()
}

fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or(path, |at| &path[..=at])
}
