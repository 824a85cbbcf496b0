//! Configurations, and servers that are named by them.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::json;

use crate::{Ran, SERVER, command, document};

/// A folder for a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("snodo-cli-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn three(folder: &Folder) -> String {
    let shell = json!({ "command": "sh", "args": [SERVER], "env": { "PLAIN": "${VALUE:-usual}" } });
    let broken = r#"{ "command": "${NOT_SET}/server", }"#;
    let away = r#"{ "command": "snodo-no-such-program", "disabled": false }"#;
    let list = format!(r#""shell": {shell}, "broken": {broken}, "away": {away}"#);
    let text = format!(r#"{{ "mcpServers": {{ {list} }} }}"#);
    folder.file("mcp.json", &format!("// a comment\n{text}"))
}

fn run(words: &[&str], value: &str) -> Ran {
    let output: Output = command(words).env("VALUE", value).output().expect("it runs");
    Ran::of(output)
}

#[test]
fn a_target_may_be_a_name_from_the_configuration() {
    let folder = Folder::new("named");
    let config = three(&folder);
    let read = run(&["read", "shell", "a:b", "--config", &config], "mine");
    assert_eq!((read.code, read.stdout.as_str()), (0, "mine,\n"), "{}", read.stderr);
    let read = run(&["read", "shell", "a:b", "--config", &config, "--env", "PLAIN=x"], "");
    assert_eq!((read.code, read.stdout.as_str()), (0, "x,\n"), "{}", read.stderr);
    let broken = run(&["tools", "broken", "--config", &config], "");
    assert_eq!(broken.code, 2);
    assert!(broken.stderr.contains("NOT_SET is not set"), "{}", broken.stderr);
    let away = run(&["tools", "away", "--config", &config], "");
    assert_eq!(away.code, 4);
    assert!(away.stderr.contains("away"), "{}", away.stderr);
    let header = run(&["tools", "shell", "--config", &config, "--header", "a: b"], "");
    assert_eq!(header.code, 2);
    // By the variable too, and a word that is no name is a command line.
    let named = command(&["ping", "shell"]).env("SNODO_CONFIG", &config).output();
    assert_eq!(Ran::of(named.expect("it runs")).code, 0);
    let line = format!("sh '{SERVER}'");
    assert_eq!(run(&["ping", &line, "--config", &config], "").code, 0);
}

#[test]
fn the_configuration_is_listed_with_what_is_wrong_with_it() {
    let folder = Folder::new("listed");
    let config = three(&folder);
    let hidden = folder.file("more.json", r#"{ "servers": { "shell": { "command": "other" } } }"#);
    let ran = run(&["config", "--config", &config, "--config", &hidden], "secret");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
    let expected = format!(
        "{config}\n  shell   sh {SERVER}\n  broken  ${{NOT_SET}}/server\n    wrong: command: the variable \
         NOT_SET is not set\n  away    snodo-no-such-program\n{hidden}\n  shell  other\n    hidden: a file \
         above has a server of this name, which counts\n"
    );
    assert_eq!(ran.stdout, expected);
    let (code, told) = document(&["config", "--check", "--config", &config]);
    let servers = told["servers"].as_array().expect("a list");
    assert_eq!((code, &servers[0]["tools"], &servers[1]["usable"]), (0, &json!(2), &json!(false)));
    assert!(servers[2]["error"].as_str().expect("an error").contains("away"), "{told}");
    let nothing = run(&["config"], "");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
    assert!(nothing.stderr.contains("there is no file"), "{}", nothing.stderr);
}

#[test]
fn a_file_that_was_named_has_to_be_there_and_readable() {
    let folder = Folder::new("unreadable");
    let odd = folder.file("odd.json", "{\n \"mcpServers\": oops\n}");
    for (path, words) in [("no-such-file.json", "no file"), (&odd, "line 2, column 16")] {
        for command in [&["config"][..], &["tools", "x"]] {
            let ran = run(&[command, &["--config", path]].concat(), "");
            assert_eq!(ran.code, 2, "{path}");
            assert!(ran.stderr.contains(words), "{}", ran.stderr);
        }
    }
}
