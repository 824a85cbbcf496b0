//! Rules over any text: what a stranger's clone must not find in it.

use crate::source::File;

use super::{Finding, Rule};

/// Checks one file, whatever it holds.
pub(super) fn check(file: &File, findings: &mut Vec<Finding>) {
    let hosts: Vec<String> =
        REGISTRIES.iter().map(|(name, domain)| format!("{name}.{domain}")).collect();
    let homes: Vec<String> = HOMES.iter().map(|name| format!("/{name}/")).collect();
    let neighbour = ["..", "shared"].join("/");
    for (number, line) in file.text.lines().enumerate() {
        // Cargo writes the name of its index into its lock files, and only there.
        let host =
            hosts.iter().find(|host| file.name() != "Cargo.lock" && line.contains(host.as_str()));
        if let Some(host) = host {
            findings.push(Finding::new(&REGISTRY, &file.path, number, format!("`{host}`")));
        }
        if let Some(home) = homes.iter().find(|home| holds_path(line, home)) {
            findings.push(Finding::new(&MACHINE, &file.path, number, format!("`{home}`")));
        }
        if line.contains(&neighbour) {
            findings.push(Finding::new(&OUTSIDE, &file.path, number, format!("`{neighbour}`")));
        }
    }
}

/// Whether the line names `path` from the root of a file system; the end of an address or of a longer path does not.
fn holds_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~}".contains(c))
    })
}

/// In two halves, so that this list does not find itself.
const REGISTRIES: &[(&str, &str)] = &[
    ("crates", "io"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("debian", "org"),
    ("proxy.golang", "org"),
];
const HOMES: &[&str] = &["work", "root", "home"];

const REGISTRY: Rule = Rule {
    name: "registry-host",
    why: "packages are named, and the client of each registry knows where it is; mirrors differ from place to place",
    instead: "name the package alone; from an npm lock file take the `resolved` members out",
};
const MACHINE: Rule = Rule {
    name: "machine-path",
    why: "a path of one machine means nothing on the next",
    instead: "make it relative to the tree, take it from the environment, or use a neutral example such as `/srv/files`",
};
const OUTSIDE: Rule = Rule {
    name: "outside-the-tree",
    why: "a clone has to stand alone: what lies beside it is not there for others",
    instead: "bring what is needed into the tree",
};
