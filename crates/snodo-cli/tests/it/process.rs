//! Servers that are started.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Ran, SERVER, command, document, snodo, with_server};

#[test]
fn a_server_is_named_by_one_word_or_after_the_dashes() {
    let quoted = format!("sh '{SERVER}'");
    let (code, told) = document(&["inspect", &quoted]);
    let expected = json!({
        "protocolVersion": "2025-11-25",
        "era": "initialize",
        "serverInfo": { "name": "shell", "version": "7", "x": 1 },
        "capabilities": { "tools": { "listChanged": true } },
    });
    assert_eq!((code, told), (0, expected.clone()));
    assert_eq!(document(&with_server(&["inspect"])), (0, expected));
    let (code, told) = document(&with_server(&["inspect", "--protocol", "2025-06-18"]));
    assert_eq!((code, &told["protocolVersion"]), (0, &json!("2025-06-18")));
}

#[test]
fn lists_hold_every_page_and_every_member() {
    let (code, listed) = document(&with_server(&["tools"]));
    let names: Vec<&Value> =
        listed["tools"].as_array().expect("a list").iter().map(|t| &t["name"]).collect();
    assert_eq!((code, names), (0, vec![&json!("echo"), &json!("second")]));
    assert_eq!(listed["tools"][0]["x"], json!([1]));
}

#[test]
fn a_result_is_written_as_the_server_sent_it() {
    let ran = snodo(&with_server(&["call", "echo", "--json"]));
    assert!(
        ran.stdout.starts_with(r#"{ "x": 12345678901234567890123, "content": [ {"#),
        "{}",
        ran.stdout
    );
}

#[test]
fn arguments_reach_the_server_as_its_schema_wants_them() {
    let wire = Wire::new("arguments");
    let words = ["call", "echo", "n=5", "s=5", r#"o={"a":[1]}"#, r#"t="1""#, "u=plain", "b:=true"];
    let ran = snodo(&with_server(
        &[&words[..], &["--args", r#"{"n":0,"z":1.10}"#, "--env", &wire.setting]].concat(),
    ));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let call = wire.line("tools/call");
    let expected = json!({
        "n": 5, "s": "5", "o": { "a": [1] }, "t": "1", "u": "plain", "b": true, "z": 1.10,
    });
    assert_eq!(call["params"]["arguments"], expected);
    assert!(wire.text().contains("1.10"), "numbers keep their digits");
}

#[test]
fn a_schema_is_fetched_only_where_it_is_needed() {
    let wire = Wire::new("schema");
    let words = with_server(&["call", "echo", "--args", r#"{"n":0}"#, "--env", &wire.setting]);
    assert_eq!(snodo(&words).code, 0);
    assert!(!wire.text().contains("tools/list"), "{}", wire.text());
    // A tool that is not listed may be there all the same.
    assert_eq!(snodo(&with_server(&["call", "raw", "n=1"])).code, 0);
}

#[test]
fn each_failure_of_a_server_has_its_own_status() {
    let status = |tool| snodo(&with_server(&["call", tool, "--timeout", "1"])).code;
    assert_eq!(["echo", "fail", "boom", "mute", "die"].map(status), [0, 1, 3, 4, 4]);
    assert_eq!(snodo(&["tools", "snodo-no-such-program"]).code, 4);
    assert_eq!(snodo(&["tools", "--", "snodo-no-such-program"]).code, 4);
    assert_eq!(snodo(&with_server(&["prompts"])).code, 3);
    let (code, told) = document(&with_server(&["call", "boom"]));
    let error = json!({
        "kind": "execution", "code": -32603, "message": "bo\u{1b}[1mom", "data": { "why": [1, 2] },
    });
    assert_eq!((code, told), (3, json!({ "error": error })));
    let died = snodo(&with_server(&["call", "die"]));
    assert!(died.stderr.contains("last words"), "{}", died.stderr);
    let gone = snodo(&["tools", "--", "sh", "-c", "exit 7"]);
    assert_eq!((gone.code, gone.stderr.lines().count()), (4, 3), "{}", gone.stderr);
    assert_eq!(gone.stderr.matches("exited with status 7").count(), 2, "{}", gone.stderr);
}

#[test]
fn a_server_sees_only_the_variables_that_it_is_given() {
    let read = |options: &[&str]| {
        let mut command = command(&with_server(&[&["read", "a:b"], options].concat()));
        command.env("HIDDEN_FROM_SERVERS", "secret");
        Ran::of(command.output().expect("the program runs")).stdout
    };
    assert_eq!(read(&["--env", "PLAIN=a=b"]), "a=b,\n");
    assert_eq!(read(&["--inherit-env", "--env", "PLAIN=x"]), "x,secret\n");
}

#[test]
fn what_a_server_writes_to_its_error_stream_is_logged_when_it_is_wanted() {
    let quiet = snodo(&with_server(&["call", "chatty"]));
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let told = snodo(&with_server(&["call", "chatty", "-v"]));
    assert!(told.stderr.contains("to the error stream"), "{}", told.stderr);
    assert!(told.stdout.is_empty() && !told.stderr.contains('\u{1b}'), "{:?}", told.stderr);
}

#[test]
fn a_server_that_neither_answers_nor_ends_does_not_hold_the_program_up() {
    let deaf = "trap '' TERM; while :; do read -r line || sleep 1; done";
    let began = Instant::now();
    let ran = snodo(&["tools", "--timeout", "1", "--", "sh", "-c", deaf]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{}", ran.stderr);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn a_version_that_the_server_does_not_speak_ends_with_3() {
    let (code, told) = document(&with_server(&["inspect", "--protocol", "2026-07-28"]));
    assert_eq!((code, &told["error"]["code"]), (3, &json!(-32601)));
}

/// A file that the server writes down what it is sent.
struct Wire {
    path: PathBuf,
    setting: String,
}

impl Wire {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("snodo-cli-{name}-{}", std::process::id()));
        let setting = format!("WIRE={}", path.display());
        Self { path, setting }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).expect("the server wrote it")
    }

    fn line(&self, method: &str) -> Value {
        let text = self.text();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.find(|line| line["method"] == method).expect("it was sent")
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // It is not there if the test failed before.
        let _ = fs::remove_file(&self.path);
    }
}
