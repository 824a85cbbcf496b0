//! Rules over where files stand.

use std::collections::BTreeSet;

use crate::source::File;

use super::{Finding, Rule};

/// Checks the shape of the whole tree.
pub(super) fn check(files: &[File], findings: &mut Vec<Finding>) {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    check_top(files, findings);
    check_folder_modules(files, findings);
    check_manifests(files, &paths, findings);
    check_builds(files, &paths, findings);
}

/// Whoever builds our crates runs none of our code by that.
fn check_builds(files: &[File], paths: &BTreeSet<&str>, findings: &mut Vec<Finding>) {
    for manifest in files.iter().filter(|file| file.name() == "Cargo.toml") {
        // Cargo takes what is beside a manifest under this name for one, unasked.
        let beside = manifest.path.replace("Cargo.toml", "build.rs");
        if paths.contains(beside.as_str()) {
            findings.push(Finding::new(&BUILD_SCRIPT, &beside, 0, "a build script"));
        }
        for (at, line) in manifest.text.lines().enumerate() {
            let setting = line.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
            let what = match setting {
                Some(("build", value)) if value != "false" => "a build script",
                Some(("proc-macro", "true")) => "a procedural macro",
                _ => continue,
            };
            findings.push(Finding::new(&BUILD_SCRIPT, &manifest.path, at + 1, what));
        }
    }
}

fn check_top(files: &[File], findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for file in files {
        let (top, is_folder) = match file.path.split_once('/') {
            Some((top, _)) => (top, true),
            None => (file.path.as_str(), false),
        };
        let allowed = top.starts_with('.')
            || if is_folder {
                FOLDERS.contains(&top)
            } else {
                FILES.contains(&top) || top.starts_with("LICENSE-")
            };
        if !allowed && seen.insert(top) {
            findings.push(Finding::new(
                &TOP,
                &file.path,
                0,
                format!("`{top}` at the top of the tree"),
            ));
        }
    }
}

fn check_folder_modules(files: &[File], findings: &mut Vec<Finding>) {
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(stem) = file.path.strip_suffix(".rs") else { continue };
        let folder = format!("{stem}/");
        if files.iter().any(|other| other.is_rust() && other.path.starts_with(&folder)) {
            let what = format!("`{}` beside the folder `{folder}`", file.name());
            findings.push(Finding::new(&FOLDER_MODULE, &file.path, 0, what));
        }
    }
}

fn check_manifests(files: &[File], paths: &BTreeSet<&str>, findings: &mut Vec<Finding>) {
    for manifest in
        files.iter().filter(|file| file.path.starts_with("crates/") && file.name() == "Cargo.toml")
    {
        let Some(folder) = manifest.path.strip_suffix("Cargo.toml") else { continue };
        if manifest.text.lines().any(|line| line.trim() == "publish = false") {
            continue;
        }
        let described = manifest.text.lines().any(|line| {
            line.strip_prefix("description")
                .is_some_and(|rest| rest.trim_start().starts_with('=') && rest.len() > 10)
        });
        if !described {
            findings.push(Finding::new(&DESCRIPTION, &manifest.path, 0, "no description"));
        }
        let changelog = format!("{folder}CHANGELOG.md");
        if !paths.contains(changelog.as_str()) {
            findings.push(Finding::new(&CHANGELOG, &manifest.path, 0, format!("no `{changelog}`")));
        }
    }
}

const FOLDERS: &[&str] = &["crates", "docs", "tests", "xtask"];
const FILES: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    // Where hosts of repositories, and whoever found a hole, look for it.
    "SECURITY.md",
    "clippy.toml",
    "deny.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

const TOP: Rule = Rule {
    name: "top-level",
    why: "the listing of the root is the table of contents",
    instead: "move it into crates, tests, docs or xtask, or add the name to xtask/src/tidy/layout.rs with its reason",
};
const FOLDER_MODULE: Rule = Rule {
    name: "folder-module",
    why: "a module is one thing: a file, or a folder with mod.rs",
    instead: "move the file into the folder as mod.rs",
};
const BUILD_SCRIPT: Rule = Rule {
    name: "build-script",
    why: "who builds our crates should not have to trust code that runs meanwhile",
    instead: "generate the code by a command of xtask and commit it",
};
const DESCRIPTION: Rule = Rule {
    name: "description",
    why: "every published crate has one sentence",
    instead: "add `description` to its manifest",
};
const CHANGELOG: Rule = Rule {
    name: "changelog",
    why: "who uses a published crate reads there what changed",
    instead: "add CHANGELOG.md beside the manifest, or `publish = false`",
};
