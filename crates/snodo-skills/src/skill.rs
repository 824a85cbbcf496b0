//! What a server says of a skill.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::content::digest;
use crate::error::{Error, ErrorKind};

/// The entry of a skill: what a list and [`SkillClient::get`](crate::SkillClient::get) give.
///
/// It was held against the rules of the extension (Skills, "Skill Entries"): the name is the last part
/// of the path, the frontmatter has a description, every file lies within the skill and is listed once,
/// its own `SKILL.md` among them.
///
/// A URI means something at its own server alone.
///
/// ```
/// use snodo_skills::Skill;
///
/// fn show(server: &str, skill: &Skill) -> String {
///     format!("{} from {server}: {}", skill.name(), skill.description())
/// }
/// # let _ = show;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    uri: String,
    frontmatter: Map<String, Value>,
    files: Option<Vec<SkillFile>>,
}

/// A file of a skill.
///
/// ```
/// use snodo_skills::Skill;
///
/// fn largest(skill: &Skill) -> u64 {
///     skill.files().into_iter().flatten().map(|file| file.size()).max().unwrap_or_default()
/// }
/// # let _ = largest;
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct SkillFile {
    uri: String,
    digest: String,
    size: u64,
}

#[derive(Deserialize)]
struct Entry {
    uri: String,
    frontmatter: Map<String, Value>,
    resources: Files,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Files {
    Listed(Vec<SkillFile>),
    Word(String),
}

impl Skill {
    /// Reads an entry.
    pub(crate) fn read(entry: Value) -> Result<Self, Error> {
        let malformed =
            |why: &str| Error::new(ErrorKind::Malformed, format!("no entry of a skill: {why}"));
        let entry: Entry =
            serde_json::from_value(entry).map_err(|error| malformed(&error.to_string()))?;
        let files = match entry.resources {
            Files::Listed(files) => Some(files),
            Files::Word(word) if word == "dynamic" => None,
            Files::Word(_) => return Err(malformed("its files are neither listed nor dynamic")),
        };
        let skill = Self { uri: entry.uri, frontmatter: entry.frontmatter, files };
        skill.check().map_err(malformed)?;
        Ok(skill)
    }

    /// The URI of its `SKILL.md`.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// What it is called. Others may be called the same.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// When it is of use.
    #[must_use]
    pub fn description(&self) -> &str {
        self.text("description")
    }

    /// All that stands at the head of its `SKILL.md`.
    #[must_use]
    pub fn frontmatter(&self) -> &Map<String, Value> {
        &self.frontmatter
    }

    /// Its files, its `SKILL.md` among them; `None` where the content is made anew each time.
    #[must_use]
    pub fn files(&self) -> Option<&[SkillFile]> {
        self.files.as_deref()
    }

    /// What a consent that lasts is bound to: a digest over the URIs and digests of all files, in
    /// whatever order they are listed. `None` where there is nothing to bind to.
    #[must_use]
    pub fn binding(&self) -> Option<String> {
        let files = self.files.as_ref()?;
        let lines: BTreeSet<_> =
            files.iter().map(|file| format!("{}\n{}\n", file.uri, file.digest)).collect();
        Some(digest(lines.into_iter().collect::<String>().as_bytes()))
    }

    /// The directory that its `SKILL.md` is in, without a slash at its end.
    pub(crate) fn root(&self) -> &str {
        self.uri.strip_suffix(SKILL_FILE).unwrap_or(&self.uri)
    }

    pub(crate) fn file(&self, uri: &str) -> Option<&SkillFile> {
        self.files.iter().flatten().find(|file| file.uri == uri)
    }

    /// The URI that a reference within the skill means: a path from its root, or a URI.
    ///
    /// It is compared as text. One that leads out of the skill means nothing.
    pub(crate) fn resolve(&self, reference: &str) -> Option<String> {
        if self.is_within(reference) {
            return Some(reference.to_owned());
        }
        let mut path: Vec<&str> = Vec::new();
        for segment in reference.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(path.pop()?),
                segment => path.push(segment),
            }
        }
        let uri = format!("{}/{}", self.root(), path.join("/"));
        (!reference.contains("://") && self.is_within(&uri)).then_some(uri)
    }

    /// Whether it is no more than a client has to take.
    pub(crate) fn check_size(&self) -> Result<(), Error> {
        let files = self.files.as_deref().unwrap_or_default();
        let total = files.iter().fold(0_u64, |total, file| total.saturating_add(file.size));
        if files.len() > MOST_FILES || total > MOST_BYTES {
            let why = format!("{} has {} files, {total} bytes", self.uri, files.len());
            return Err(Error::new(ErrorKind::TooLarge, why));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), &'static str> {
        let root = self.uri.strip_suffix(SKILL_FILE).ok_or("its URI is that of no SKILL.md")?;
        if !is_name(self.name()) {
            return Err("its name is none");
        }
        if root.rsplit('/').next() != Some(self.name()) {
            return Err("it is called otherwise than its directory");
        }
        if self.description().is_empty() {
            return Err("it has no description");
        }
        let Some(files) = &self.files else { return Ok(()) };
        let mut seen = BTreeSet::new();
        for file in files {
            if !self.is_within(&file.uri) {
                return Err("a file is not within it");
            }
            if !is_digest(&file.digest) {
                return Err("the digest of a file is none");
            }
            if !seen.insert(&file.uri) {
                return Err("a file is listed twice");
            }
        }
        if seen.contains(&self.uri) { Ok(()) } else { Err("its SKILL.md is not listed") }
    }

    fn is_within(&self, uri: &str) -> bool {
        let path = uri.strip_prefix(self.root()).and_then(|rest| rest.strip_prefix('/'));
        path.is_some_and(|path| path.split('/').all(|part| !matches!(part, "" | "." | "..")))
    }

    fn text(&self, name: &str) -> &str {
        self.frontmatter.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

impl SkillFile {
    /// The URI that it is read by.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// `sha256:` and the digest of its bytes in 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// How many bytes it has.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}

/// Agent Skills, "name": lower-case letters, digits and single hyphens, 64 at most.
fn is_name(name: &str) -> bool {
    let letter =
        |letter: char| letter == '-' || (letter.is_alphanumeric() && !letter.is_uppercase());
    let hyphens = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    !name.is_empty() && name.chars().count() <= 64 && name.chars().all(letter) && !hyphens
}

fn is_digest(text: &str) -> bool {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = text.strip_prefix("sha256:");
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(digit))
}

const SKILL_FILE: &str = "/SKILL.md";

/// Skills, "Limits".
const MOST_FILES: usize = 512;
pub(crate) const MOST_BYTES: u64 = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Skill;
    use crate::error::ErrorKind;

    const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn entry() -> Value {
        let file = |path: &str| json!({ "uri": format!("skill://acme/refunds/{path}"), "digest": DIGEST, "size": 7 });
        json!({
            "uri": "skill://acme/refunds/SKILL.md",
            "frontmatter": { "name": "refunds", "description": "Gives money back", "license": "MIT" },
            "resources": [file("SKILL.md"), file("examples/email.md")],
        })
    }

    fn changed(pointer: &str, value: Value) -> Value {
        let mut entry = entry();
        *entry.pointer_mut(pointer).expect("it is there") = value;
        entry
    }

    #[test]
    fn an_entry_tells_everything_without_a_fetch() {
        let skill = Skill::read(entry()).expect("an entry");
        assert_eq!((skill.name(), skill.description()), ("refunds", "Gives money back"));
        assert_eq!(skill.frontmatter()["license"], "MIT");
        let files = skill.files().expect("listed");
        assert_eq!(files[1].uri(), "skill://acme/refunds/examples/email.md");
        assert_eq!((files[1].digest(), files[1].size()), (DIGEST, 7));
        let dynamic = Skill::read(changed("/resources", json!("dynamic"))).expect("an entry");
        assert_eq!((dynamic.files(), dynamic.binding()), (None, None));
    }

    #[test]
    fn an_entry_that_breaks_a_rule_is_none() {
        for (pointer, value) in [
            ("/uri", json!("skill://acme/refunds/README.md")),
            ("/uri", json!("skill://acme/chargebacks/SKILL.md")),
            ("/frontmatter/name", json!("Refunds")),
            ("/frontmatter/name", json!("")),
            ("/frontmatter/name", json!(7)),
            ("/frontmatter/description", json!("")),
            ("/frontmatter", json!([])),
            ("/resources", json!("static")),
            ("/resources", json!(null)),
            ("/resources", json!([])),
            ("/resources/0/digest", json!("sha256:00")),
            ("/resources/0/digest", json!(DIGEST.to_uppercase())),
            ("/resources/0/size", json!(-1)),
            ("/resources/1/uri", json!("skill://acme/refunds/SKILL.md")),
            ("/resources/1/uri", json!("skill://acme/refunds/../other/a.md")),
            ("/resources/1/uri", json!("skill://acme/refunds-2/a.md")),
            ("/resources/1/uri", json!("skill://acme/refunds/")),
        ] {
            let read = Skill::read(changed(pointer, value.clone()));
            let kind = read.map_err(|error| error.kind());
            assert_eq!(kind, Err(ErrorKind::Malformed), "{pointer} {value}");
        }
    }

    #[test]
    fn a_reference_means_a_file_of_the_skill_or_nothing() {
        let skill = Skill::read(entry()).expect("an entry");
        let email = Some("skill://acme/refunds/examples/email.md");
        for (reference, expected) in [
            ("examples/email.md", email),
            ("./examples/email.md", email),
            ("examples/../examples//email.md", email),
            ("skill://acme/refunds/examples/email.md", email),
            ("../chargebacks/SKILL.md", None),
            ("examples/../../x", None),
            ("skill://acme/chargebacks/SKILL.md", None),
            ("https://elsewhere.example/a.md", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(skill.resolve(reference).as_deref(), expected, "{reference}");
        }
    }

    #[test]
    fn a_consent_is_bound_to_the_files_and_not_to_their_order() {
        let bound = |entry| Skill::read(entry).expect("an entry").binding().expect("listed");
        let mut turned = entry();
        turned["resources"].as_array_mut().expect("a list").reverse();
        assert_eq!(bound(entry()), bound(turned));
        let other = DIGEST.replace("0", "1");
        assert_ne!(bound(entry()), bound(changed("/resources/1/digest", json!(other))));
        let moved = json!("skill://acme/refunds/email.md");
        assert_ne!(bound(entry()), bound(changed("/resources/1/uri", moved)));
    }

    #[test]
    fn what_is_larger_than_a_client_has_to_take_is_known_from_the_entry() {
        let size = |size: u64| {
            let entry = changed("/resources/1/size", json!(size));
            Skill::read(entry).expect("an entry").check_size().map_err(|error| error.kind())
        };
        assert_eq!(size(16 * 1024 * 1024 - 7), Ok(()));
        assert_eq!(size(16 * 1024 * 1024 - 6), Err(ErrorKind::TooLarge));
        assert_eq!(size(u64::MAX), Err(ErrorKind::TooLarge));
        let many = |count: usize| {
            let mut entry = entry();
            let files = entry["resources"].as_array_mut().expect("a list");
            files.extend((2..count).map(|at| {
                json!({ "uri": format!("skill://acme/refunds/{at}"), "digest": DIGEST, "size": 0 })
            }));
            Skill::read(entry).expect("an entry").check_size().is_ok()
        };
        assert!(many(512) && !many(513));
    }
}
