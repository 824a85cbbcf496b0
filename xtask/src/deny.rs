//! Bans, licences and sources of everything that comes into the build.
//!
//! `deny.toml` is written for cargo-deny, which takes minutes to build. So the everyday check reads the two lists that
//! matter out of the same file and compares them with `cargo metadata`; `--full` runs cargo-deny itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::Outcome;
use crate::metadata::{Metadata, Package};
use crate::shell;
use crate::step::{self, Step};
use crate::tools;

/// `cargo xtask deny [--full]`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => run_own(),
        [only] if only == "--full" => run_full(),
        _ => Err("usage: cargo xtask deny [--full]".to_owned()),
    }
}

fn run_own() -> Outcome {
    let policy = Policy::parse(&shell::read(POLICY)?);
    let metadata = Metadata::load()?;
    let findings = check(&policy, &metadata);
    if findings.is_empty() {
        println!("deny: {} packages keep to {POLICY}", metadata.packages.len());
        return Ok(());
    }
    for finding in &findings {
        println!("{finding}");
    }
    Err(format!(
        "deny: {} findings; choose another dependency, or change {POLICY} with a reason",
        findings.len()
    ))
}

fn run_full() -> Outcome {
    tools::cargo_deny()?;
    let command = ["cargo", "deny", "check", "bans", "licenses", "sources"];
    let log = "target/xtask/cargo-deny.log";
    let done =
        Step { command: &command, environment: &[], log, limit: Duration::from_secs(300) }.run();
    println!("{}", step::tail(log, if done.is_ok() { 1 } else { 60 }));
    done
}

/// What is wrong, a sentence each.
fn check(policy: &Policy, metadata: &Metadata) -> Vec<String> {
    let mut findings = Vec::new();
    check_versions(policy, metadata, &mut findings);
    check_sources(metadata, &mut findings);
    for package in &metadata.packages {
        let license = package.license.as_deref().unwrap_or_default();
        if !Expression::new(license).met_by(&policy.licenses) {
            findings.push(format!(
                "{} {}: the licence `{license}` is not allowed",
                package.name, package.version
            ));
        }
    }
    findings
}

fn check_versions(policy: &Policy, metadata: &Metadata, findings: &mut Vec<String>) {
    let mut versions: BTreeMap<&str, Vec<&Package>> = BTreeMap::new();
    for package in &metadata.packages {
        versions.entry(&package.name).or_default().push(package);
    }
    for (name, packages) in versions {
        let counted: Vec<_> = packages.iter().filter(|package| !policy.skips(package)).collect();
        if counted.len() > 1 {
            let shown: Vec<_> = counted.iter().map(|package| package.version.as_str()).collect();
            findings.push(format!(
                "{name} comes in {} versions: {}",
                counted.len(),
                shown.join(", ")
            ));
        }
    }
    for package in metadata.members() {
        for dependency in
            package.dependencies.iter().filter(|dependency| dependency.requirement == "*")
        {
            findings.push(format!("{} takes any version of {}", package.name, dependency.name));
        }
    }
}

/// Everything comes from this tree or from the one registry; no other registry, no repository.
fn check_sources(metadata: &Metadata, findings: &mut Vec<String>) {
    let mut registries: BTreeMap<&str, usize> = BTreeMap::new();
    for source in metadata.packages.iter().filter_map(|package| package.source.as_deref()) {
        *registries.entry(source).or_default() += 1;
    }
    let main = registries
        .iter()
        .filter(|(source, _)| source.starts_with("registry+"))
        .max_by_key(|(_, count)| **count);
    let main = main.map(|(source, _)| *source);
    for package in &metadata.packages {
        if let Some(source) = package.source.as_deref().filter(|source| Some(*source) != main) {
            findings.push(format!("{} {} comes from `{source}`", package.name, package.version));
        }
        if package.source.is_none() && !package.member {
            findings.push(format!(
                "{} {} comes from outside the workspace",
                package.name, package.version
            ));
        }
    }
}

/// What this check reads of deny.toml.
#[derive(Debug, Default)]
struct Policy {
    licenses: BTreeSet<String>,
    /// Names and the starts of their versions, which do not count as one version more.
    skipped: Vec<(String, String)>,
}

impl Policy {
    /// Reads lines such as `"MIT",` under `[licenses]` and `{ crate = "name@version", … }` under `[bans]`.
    fn parse(text: &str) -> Self {
        let mut policy = Self::default();
        let mut section = "";
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name;
            } else if let ("licenses", Some(license)) = (section, line.strip_prefix('"')) {
                policy.licenses.extend(license.split('"').next().map(str::to_owned));
            } else if let ("bans", Some(skip)) = (section, line.strip_prefix("{ crate = \"")) {
                let named = skip.split('"').next().and_then(|skip| skip.split_once('@'));
                policy
                    .skipped
                    .extend(named.map(|(name, version)| (name.to_owned(), version.to_owned())));
            }
        }
        policy
    }

    fn skips(&self, package: &Package) -> bool {
        self.skipped.iter().any(|(name, version)| {
            let rest = package.version.strip_prefix(version.as_str());
            *name == package.name
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// A licence expression: names joined by `AND` and `OR`, in brackets where needed; `/` is an old `OR`.
#[derive(Debug)]
struct Expression {
    /// Innermost last, as they are read.
    words: Vec<String>,
}

impl Expression {
    fn new(text: &str) -> Self {
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let mut words: Vec<_> = spaced.split_whitespace().map(str::to_owned).collect();
        words.reverse();
        Self { words }
    }

    /// Whether the allowed licences are enough; what cannot be read is not met.
    fn met_by(mut self, allowed: &BTreeSet<String>) -> bool {
        let met = self.any(allowed);
        met && self.words.is_empty()
    }

    fn any(&mut self, allowed: &BTreeSet<String>) -> bool {
        let mut met = self.all(allowed);
        while self.take("OR") {
            met |= self.all(allowed);
        }
        met
    }

    fn all(&mut self, allowed: &BTreeSet<String>) -> bool {
        let mut met = self.one(allowed);
        while self.take("AND") {
            met &= self.one(allowed);
        }
        met
    }

    fn one(&mut self, allowed: &BTreeSet<String>) -> bool {
        if self.take("(") {
            let met = self.any(allowed);
            return self.take(")") && met;
        }
        let Some(mut name) = self.words.pop() else { return false };
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.words.pop().unwrap_or_default());
        }
        allowed.contains(&name)
    }

    fn take(&mut self, word: &str) -> bool {
        let next = self.words.last().is_some_and(|next| next == word);
        if next {
            self.words.pop();
        }
        next
    }
}

const POLICY: &str = "deny.toml";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[bans]\nskip = [\n    { crate = \"syn@2\", reason = \"old\" },\n]\n\n[licenses]\nallow = [\n    \"MIT\",\n    \"ISC\", # fine\n]\n";

    /// One member `m` and these packages: name, version, licence, source.
    fn found(packages: &[[&str; 4]], requirement: &str) -> Vec<String> {
        let member = format!(
            r#"{{"id":"m","name":"m","version":"1.0.0","license":"MIT","source":null,"dependencies":[{{"name":"d","req":"{requirement}","kind":null}}]}}"#
        );
        let others = packages.iter().map(|[name, version, license, source]| {
            format!(r#"{{"id":"{name} {version}","name":"{name}","version":"{version}","license":"{license}","source":"{source}"}}"#)
        });
        let all: Vec<_> = [member].into_iter().chain(others).collect();
        let text = format!(r#"{{"packages":[{}],"workspace_members":["m"]}}"#, all.join(","));
        check(&Policy::parse(TEXT), &Metadata::parse(&text).expect("the document of cargo"))
    }

    #[test]
    fn packages_that_keep_to_the_policy_pass() {
        let packages = [
            ["a", "1.0.0", "MIT OR Apache-2.0", "registry+r"],
            ["b", "2.0.0", "ISC", "registry+r"],
        ];
        assert_eq!(found(&packages, "^1"), [""; 0]);
    }

    #[test]
    fn two_versions_fail_unless_one_is_skipped() {
        let twice =
            |name, old| [[name, old, "MIT", "registry+r"], [name, "3.1.0", "MIT", "registry+r"]];
        assert_eq!(found(&twice("a", "2.0.1"), "^1"), ["a comes in 2 versions: 2.0.1, 3.1.0"]);
        assert_eq!(found(&twice("syn", "2.0.1"), "^1"), [""; 0]);
        assert_eq!(
            found(&twice("syn", "20.0.1"), "^1"),
            ["syn comes in 2 versions: 20.0.1, 3.1.0"]
        );
    }

    #[test]
    fn a_wildcard_requirement_fails() {
        assert_eq!(found(&[], "*"), ["m takes any version of d"]);
    }

    #[test]
    fn another_source_fails() {
        let sources = ["git+https://example.com/b", "registry+other"];
        for source in sources {
            let packages = [
                ["a", "1.0.0", "MIT", "registry+r"],
                ["c", "1.0.0", "MIT", "registry+r"],
                ["b", "1.0.0", "MIT", source],
            ];
            assert_eq!(found(&packages, "^1"), [format!("b 1.0.0 comes from `{source}`")]);
        }
    }

    #[test]
    fn a_licence_has_to_be_met_by_the_list() {
        let allowed = Policy::parse(TEXT).licenses;
        let met = |text: &str| Expression::new(text).met_by(&allowed);
        let fine = [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "(GPL-3.0 OR MIT) AND ISC",
            "MIT AND ISC OR GPL-3.0",
        ];
        assert!(fine.iter().all(|text| met(text)));
        let wrong = [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MIT WITH exception",
            "(MIT",
            "MIT ISC",
            "ISC AND (GPL-3.0 OR LGPL-3.0)",
        ];
        assert_eq!(wrong.iter().filter(|text| met(text)).collect::<Vec<_>>(), [&""; 0]);
        let found = found(&[["a", "1.0.0", "GPL-3.0", "registry+r"]], "^1");
        assert_eq!(found, ["a 1.0.0: the licence `GPL-3.0` is not allowed"]);
    }

    #[test]
    fn the_committed_policy_can_be_read() {
        let policy = Policy::parse(&shell::read(POLICY).expect("the file is there"));
        assert!(policy.licenses.contains("MIT") && policy.licenses.contains("Apache-2.0"));
    }
}
