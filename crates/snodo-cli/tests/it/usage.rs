//! Command lines that cannot be understood: status 2, and nobody is asked.

use serde_json::json;

use crate::{document, snodo, with_server};

#[test]
fn a_command_line_that_makes_no_sense_ends_with_2() {
    for words in [
        &[][..],
        &["nonsense"],
        &["tools"],
        &["tools", "demo", "--nonsense"],
        &["tools", "ftp://example.com"],
        &["tools", "'open"],
        &["tools", "http://user:hunter2@example.com/"],
        &["tools", "http://127.0.0.1:1/", "--header", "host: x"],
        &["tools", "http://127.0.0.1:1/", "--env", "A=1"],
        &["tools", "demo", "--header", "a: b"],
        &["call", "demo", "echo", "text"],
        &["call", "demo", "add", "a=one", "b=2"],
        &["call", "demo", "echo", "--args", "nonsense"],
        &["request", "demo", "tools/list", "--params", "[]"],
        &["inspect", "demo", "--protocol", "1999-01-01"],
        &["inspect", "demo", "--timeout", "soon"],
    ] {
        let ran = snodo(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}: {}", ran.stderr);
        assert!(!ran.stderr.is_empty() && !ran.stderr.contains("hunter2"), "{words:?}");
        let (code, told) = document(words);
        assert_eq!((code, told["error"]["message"].is_string()), (2, true), "{words:?}: {told}");
    }
}

// S-13
#[test]
fn an_unknown_version_is_refused_with_those_that_are_known() {
    let (code, told) = document(&["inspect", "demo", "--protocol", "2025-11-25,2023-01-01"]);
    let known = ["2026-07-28", "2025-11-25", "2025-06-18"];
    let data = json!({ "requested": "2023-01-01", "supported": known });
    assert_eq!((code, &told["error"]["code"], &told["error"]["data"]), (2, &json!(-32602), &data));
}

#[test]
fn a_word_that_is_no_argument_is_refused_before_the_server_is_started() {
    let wire = std::env::temp_dir().join(format!("snodo-cli-usage-{}", std::process::id()));
    let setting = format!("WIRE={}", wire.display());
    let words = with_server(&["call", "echo", "word", "--env", &setting]);
    assert_eq!(snodo(&words).code, 2);
    assert!(!wire.exists(), "the server was asked");
}

#[test]
fn a_value_that_may_be_a_secret_is_not_repeated() {
    for words in [["tools", "demo", "--env", "hunter2"], ["tools", "demo", "--header", "hunter2"]] {
        let ran = snodo(&words);
        assert_eq!(ran.code, 2);
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    }
}

#[test]
fn help_and_version_are_no_failures() {
    for words in [&["--help"][..], &["-h"], &["call", "--help"], &["help", "read"], &["--version"]]
    {
        let ran = snodo(words);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
        assert!(ran.stdout.contains("snodo"), "{}", ran.stdout);
    }
}
