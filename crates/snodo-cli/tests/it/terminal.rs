//! What reaches a terminal, and what a terminal does to the program.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::{Ran, command, snodo, with_server};

#[test]
fn no_server_steers_a_terminal() {
    let steers = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    for words in [&["tools"][..], &["call", "echo"], &["call", "raw"], &["call", "boom"]] {
        for form in [&[][..], &["--json"]] {
            let ran = snodo(&with_server(&[words, form].concat()));
            let shown = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!shown.contains(steers) && !shown.is_empty(), "{words:?}: {shown:?}");
        }
    }
    assert_eq!(snodo(&with_server(&["call", "raw"])).stdout, "a\\u{9b}1m\\u{202e}b\\u{7f}\n");
    let ran = snodo(&with_server(&["call", "raw", "--json"]));
    assert!(ran.stdout.contains(r"a\u009b1m\u202eb\u007f"), "{}", ran.stdout);
    assert_eq!(ran.document()["content"][0]["text"], "a\u{9b}1m\u{202e}b\u{7f}");
}

#[test]
fn a_reader_that_has_read_enough_ends_the_program_quietly() {
    for words in [
        &["tools", "demo"][..],
        &["tools", "demo", "--json"],
        &["call", "demo", "x", "--json"],
        &["--help"],
    ] {
        let mut child =
            command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        drop(child.stdout.take());
        let ran = Ran::of(child.wait_with_output().expect("it ends"));
        let expected = if words.contains(&"x") { 3 } else { 0 };
        assert_eq!((ran.code, ran.stderr.as_str()), (expected, ""), "{words:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_cancels_the_call_and_ends_the_server() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let words = with_server(&["call", "mute", "-v", "--json"]);
        let mut child =
            command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("called") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).expect("text"), 0, "the server was not called");
        }
        let sent =
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        let mut rest = String::new();
        // It ends when nothing holds the error stream any more, the server's process included.
        stderr.read_to_string(&mut rest).expect("text");
        let ran = Ran::of(child.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, rest.contains("panicked")), (status, false), "{rest}");
        assert_eq!(ran.document()["error"]["kind"], "execution");
    }
}
