//! The guide to the terminal shows what the program says today.

use std::fs;
use std::path::Path;

use crate::page::Page;

#[test]
fn every_command_of_the_guide_says_what_stands_there() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/terminal.md");
    let text = fs::read_to_string(&path).expect("the guide");
    let folder = std::env::temp_dir().join(format!("snodo-cli-guide-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let program = Path::new(env!("CARGO_BIN_EXE_snodo")).parent().expect("a folder");
    let page = Page { kind: "console", program, folder: folder.clone(), names: Vec::new() };
    let (fresh, stale) = page.check(&text);
    fs::remove_dir_all(folder).expect("it is there");
    if std::env::var_os("SNODO_WRITE_GUIDE").is_some() {
        fs::write(&path, fresh).expect("the guide");
        return;
    }
    assert!(stale.is_empty(), "stale; SNODO_WRITE_GUIDE=1 writes it anew:\n{}", stale.join("\n"));
    for command in COMMANDS {
        assert!(text.contains(&format!("snodo {command}")), "the guide shows no {command}");
    }
}

/// All there are.
const COMMANDS: [&str; 22] = [
    "bench",
    "call",
    "complete",
    "completions",
    "config",
    "doctor",
    "inspect",
    "listen",
    "login",
    "logout",
    "man",
    "ping",
    "prompt",
    "prompts",
    "read",
    "record",
    "replay",
    "request",
    "resources",
    "templates",
    "tools",
    "whoami",
];
