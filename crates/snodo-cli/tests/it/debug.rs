//! Commands for those who write servers: recordings, events, completion, benches, the wire.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::{Ran, command, document, snodo, with_server};

fn temporary(name: &str) -> String {
    std::env::temp_dir()
        .join(format!("snodo-cli-{name}-{}", std::process::id()))
        .display()
        .to_string()
}

#[test]
fn a_session_is_recorded_without_secrets_and_replayed() {
    let file = temporary("recorded");
    let settings = ["--env", "KEY=hunter2", "--env", "DEBUG=1"];
    let words = [&["record", &file, "call", "echo", "s=hi", "--json"][..], &settings].concat();
    let recorded = snodo(&with_server(&words));
    assert_eq!(recorded.code, 0, "{}", recorded.stderr);
    let text = fs::read_to_string(&file).expect("a recording");
    assert!(text.contains("tools/call") && !text.contains("hunter2"), "{text}");
    let replayed = snodo(&["replay", &file, "call", "echo", "s=hi", "--json"]);
    assert_eq!(replayed.code, 0, "{}", replayed.stderr);
    assert_eq!(replayed.document(), recorded.document());
    let target = format!("replay:{file}");
    assert_eq!(document(&["call", &target, "echo", "s=hi"]), (0, recorded.document()));
    // What nobody recorded is not made up.
    assert_ne!(snodo(&["replay", &file, "prompts"]).code, 0);
    fs::remove_file(&file).expect("it is there");
    assert_eq!(snodo(&["replay", &file, "tools"]).code, 2);
}

#[test]
fn the_wire_is_shown_when_it_is_wanted_and_its_secrets_are_not() {
    let ran =
        snodo(&["call", "demo", "echo", "text=hi", "--args", r#"{"password":"hunter2"}"#, "-v"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "hi\n"));
    let sent = ran.stderr.lines().any(|line| line.starts_with("> ") && line.contains("tools/call"));
    assert!(sent && ran.stderr.contains("\n< "), "{}", ran.stderr);
    assert!(ran.stderr.contains(r#""password":"(hidden)""#), "{}", ran.stderr);
    assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
}

#[test]
fn an_argument_is_completed() {
    let ran = snodo(&["complete", "demo", "greet", "language=E"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "English\nEsperanto\n"));
    let (code, told) = document(&["complete", "demo", "demo://greeting/{name}", "name=G"]);
    assert_eq!((code, &told["completion"]["values"]), (0, &json!(["Grace"])));
    assert_eq!(snodo(&["complete", "demo", "greet"]).code, 2);
}

#[test]
fn a_bench_tells_percentiles_of_as_many_calls_as_were_wanted() {
    let words = ["bench", "demo", "echo", "text=hi", "--calls", "40", "--at-once", "4"];
    let (code, told) = document(&words);
    assert_eq!((code, &told["calls"], &told["errors"]), (0, &json!(40), &json!(0)));
    let at = |name: &str| told["milliseconds"][name].as_f64().expect("a time");
    assert!(at("p50") <= at("p90") && at("p99") <= at("max"), "{told}");
    assert!(snodo(&words).stdout.contains("p99"));
    assert_eq!(snodo(&["bench", "demo", "nothing"]).code, 3);
    assert_eq!(snodo(&["bench", "demo", "echo", "--calls", "0"]).code, 2);
}

#[test]
fn events_are_lines_as_they_come() {
    let words = with_server(&["listen", "--json", "--count", "2", "--env", "TALKS=1"]);
    let mut child = command(&words).stdout(Stdio::piped()).spawn().expect("it runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let told: Vec<Value> = lines
        .map(|line| serde_json::from_str(&line.expect("text")).expect("a JSON document a line"))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0]["method"], "notifications/tools/list_changed");
    assert_eq!(Ran::of(child.wait_with_output().expect("it ends")).code, 0);
    // Nothing comes, and the time ends it.
    let quiet = snodo(&with_server(&["listen", "--for", "0.2"]));
    assert_eq!((quiet.code, quiet.stdout.as_str()), (0, ""), "{}", quiet.stderr);
    assert!(quiet.stderr.starts_with("listening: "), "{}", quiet.stderr);
}

#[test]
fn shells_and_readers_of_manuals_are_served() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = snodo(&["completions", shell]);
        assert_eq!(ran.code, 0, "{shell}: {}", ran.stderr);
        assert!(ran.stdout.contains("doctor"), "{shell}");
    }
    let page = snodo(&["man"]);
    assert!(page.code == 0 && page.stdout.contains(".SH NAME"), "{}", page.stdout);
}

#[test]
fn a_login_needs_somebody_to_log_in_and_a_url() {
    let ran = snodo(&["login", "http://127.0.0.1:9/mcp"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("at a terminal"), "{}", ran.stderr);
    for words in [["login", "demo"], ["logout", "demo"]] {
        let ran = snodo(&words);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("reached by a URL"), "{}", ran.stderr);
    }
    let none = snodo(&["whoami"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert_eq!(document(&["whoami"]), (0, json!({ "logins": [] })));
}
