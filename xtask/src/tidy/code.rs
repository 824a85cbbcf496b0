//! Rules over Rust code, read line by line, attribute by attribute and function by function.

use crate::source::{Attribute, File, Source, has_word};

use super::{Finding, Rule};

/// Checks one Rust file.
pub(super) fn check(file: &File, source: &Source, findings: &mut Vec<Finding>) {
    if !file.text.starts_with("//!") {
        findings.push(Finding::new(&HEADER, &file.path, 0, "the file does not start with `//!`"));
    }
    check_dates(file, source, findings);
    check_purity(file, source, findings);
    check_panics(file, source, findings);
    check_attributes(file, source, findings);
    check_test_names(file, source, findings);
}

/// Checks what only all files together can break.
pub(super) fn check_together(sources: &[(&File, Source)], findings: &mut Vec<Finding>) {
    let macros = sources.iter().flat_map(|(file, source)| {
        let lines = source.lines.iter().enumerate();
        lines
            .filter(|(_, line)| line.code.contains("macro_rules!"))
            .map(|(number, _)| (&file.path, number))
    });
    for (path, number) in macros.skip(MACROS) {
        findings.push(Finding::new(&MACRO, path, number, format!("one macro more than {MACROS}")));
    }
    let sites = sources.iter().filter(|(file, _)| is_crate(file)).flat_map(|(file, source)| {
        source
            .attributes
            .iter()
            .filter(|attribute| names_a_feature(attribute))
            .map(|site| (&file.path, site.line))
    });
    for (path, line) in sites.skip(FEATURE_SITES) {
        let what = format!("one `cfg(feature)` more than {FEATURE_SITES} in the workspace");
        findings.push(Finding::new(&MANY_FEATURES, path, line, what));
    }
}

fn check_dates(file: &File, source: &Source, findings: &mut Vec<Finding>) {
    if DATED.iter().any(|place| file.path.starts_with(place)) {
        return;
    }
    for (number, line) in source.shipped() {
        if let Some(date) = date_in(&line.spoken) {
            findings.push(Finding::new(
                &DATE,
                &file.path,
                number,
                format!("`{date}` outside the version modules"),
            ));
        }
    }
}

/// The first thing of the shape `20nn-nn-nn`.
fn date_in(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let is_date = |window: &[u8]| {
        window.starts_with(b"20")
            && window.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    };
    let at = bytes.windows(10).position(is_date)?;
    text.get(at..at + 10)
}

fn check_purity(file: &File, source: &Source, findings: &mut Vec<Finding>) {
    let Some(pure) = PURE.iter().find(|pure| file.path.starts_with(&format!("crates/{pure}/")))
    else {
        return;
    };
    for (number, line) in source.shipped() {
        if let Some(call) = IMPURE.iter().find(|call| has_word(&line.code, call)) {
            findings.push(Finding::new(
                &IMPURITY,
                &file.path,
                number,
                format!("`{call}` in {pure}"),
            ));
        }
    }
}

fn check_panics(file: &File, source: &Source, findings: &mut Vec<Finding>) {
    for (number, line) in source.shipped() {
        if let Some(panic) = PANICS.iter().find(|panic| line.code.contains(*panic)) {
            findings.push(Finding::new(
                &PANIC,
                &file.path,
                number,
                format!("`{panic}` outside a test"),
            ));
        }
    }
}

fn check_attributes(file: &File, source: &Source, findings: &mut Vec<Finding>) {
    for attribute in &source.attributes {
        let mut find =
            |rule, what: &str| findings.push(Finding::new(rule, &file.path, attribute.line, what));
        if has_word(&attribute.text, "allow")
            && attribute.text.contains("allow(")
            && !attribute.test
        {
            find(&ALLOW, "`allow` outside a test");
        }
        if ["ignore", "should_panic"].iter().any(|skipped| attribute.text.starts_with(skipped)) {
            find(&SKIPPED, &format!("`#[{}]`", attribute.text));
        }
        if is_crate(file) && names_a_feature(attribute) && !stands_on_a_door(attribute) {
            find(&FEATURE, &format!("`cfg(feature)` on `{}`", attribute.item.trim()));
        }
    }
    let inline = source.shipped().filter(|(_, line)| is_crate(file) && line.code.contains("cfg!("));
    for (number, line) in inline.filter(|(_, line)| line.spoken.contains("feature =")) {
        findings.push(Finding::new(
            &FEATURE,
            &file.path,
            number,
            format!("`{}`", line.spoken.trim()),
        ));
    }
}

fn check_test_names(file: &File, source: &Source, findings: &mut Vec<Finding>) {
    for function in source.functions.iter().filter(|function| function.is_test()) {
        let words = function.name.split('_').filter(|word| !word.is_empty()).count();
        if words < 3 {
            let what = format!("the test `{}`", function.name);
            findings.push(Finding::new(&SENTENCE, &file.path, function.first, what));
        }
    }
}

pub(super) fn is_crate(file: &File) -> bool {
    file.path.starts_with("crates/") && !file.is_test()
}

fn names_a_feature(attribute: &Attribute) -> bool {
    attribute.text.starts_with("cfg") && attribute.text.contains("feature =") && !attribute.test
}

/// Whether the attribute stands on a module, an import, or a function that is no method.
fn stands_on_a_door(attribute: &Attribute) -> bool {
    let item = attribute.item.trim();
    let function = has_word(item, "fn") && !has_word(item, "self");
    item.starts_with("mod ") || item.starts_with("use ") || function
}

/// Where a protocol version may be named by its date.
const DATED: &[&str] = &["crates/snodo-dialect/src/v", "crates/snodo-types/src/version.rs"];
const PURE: &[&str] = &["snodo-types", "snodo-dialect", "snodo-engine"];
const IMPURE: &[&str] = &[
    "Instant::now",
    "SystemTime::now",
    "thread::spawn",
    "env::var",
    "process::Command",
    "tokio::",
];
const PANICS: &[&str] = &[".unwrap()", "todo!", "unimplemented!"];
const MACROS: usize = 2;
const FEATURE_SITES: usize = 14;

const HEADER: Rule = Rule {
    name: "module-docs",
    why: "who opens a file learns in one sentence what it is for",
    instead: "start the file with a `//!` sentence",
};
const DATE: Rule = Rule {
    name: "version-date",
    why: "a version is a value that is asked, never a date that is compared; dates spread decisions over the layers",
    instead: "ask `ProtocolVersion` or the dialect; if the dialect cannot answer, teach it to",
};
const IMPURITY: Rule = Rule {
    name: "pure-crate",
    why: "the crates that decide never touch the world, so that a test can play every moment of it",
    instead: "take the time or the setting as an argument, and do the rest in the crate that drives",
};
const PANIC: Rule = Rule {
    name: "panic",
    why: "nothing that a peer or a caller does may end the program",
    instead: "return an error, or `expect(\"why it cannot fail\")` where the reason is on the same screen",
};
const ALLOW: Rule = Rule {
    name: "allow",
    why: "an `allow` stays when its cause is gone, and says nothing about it",
    instead: "use `#[expect(lint, reason = \"…\")]`",
};
const SKIPPED: Rule = Rule {
    name: "skipped-test",
    why: "an ignored test proves nothing, and an expected panic does not tell which panic",
    instead: "run it or delete it; match the error instead of the panic",
};
const FEATURE: Rule = Rule {
    name: "feature-site",
    why: "a feature opens or closes a room; inside a room everything is compiled",
    instead: "put the code in a module of its own with the `cfg` on its `mod` line, on a `use`, or on a constructor",
};
const MANY_FEATURES: Rule = Rule {
    name: "feature-count",
    why: "each site doubles what would have to be tested",
    instead: "move gated code together under one module",
};
const SENTENCE: Rule = Rule {
    name: "test-name",
    why: "the list of tests is read as the list of what holds",
    instead: "name it as a sentence of three words or more",
};
const MACRO: Rule = Rule {
    name: "macro-count",
    why: "what rustdoc cannot show as a signature is not an interface",
    instead: "write a function, a generic or a table",
};
