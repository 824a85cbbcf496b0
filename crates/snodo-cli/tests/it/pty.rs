//! The program at a terminal, as `script` of util-linux makes one.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::SERVER;

/// The program at a terminal of its own, with somebody who types.
struct Person {
    terminal: Child,
    seen: std::sync::mpsc::Receiver<u8>,
    screen: String,
}

impl Person {
    fn run(words: &str, environment: &[(&str, &str)]) -> Self {
        let program = env!("CARGO_BIN_EXE_snodo");
        let line = format!("stty cols 80 rows 40; exec '{program}' {words}");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm-256color");
        command.env("SNODO_CONFIG", "no-such-file.json").env_remove("NO_COLOR");
        command.env("SNODO_CREDENTIALS", "no-such-credentials.json").env_remove("COLUMNS");
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut terminal = command.spawn().expect("`script`, of util-linux");
        let mut output = terminal.stdout.take().expect("a pipe");
        let (tell, seen) = std::sync::mpsc::sync_channel(1 << 20);
        std::thread::spawn(move || {
            let mut byte = [0];
            while matches!(output.read(&mut byte), Ok(1)) && tell.send(byte[0]).is_ok() {}
        });
        Self { terminal, seen, screen: String::new() }
    }

    /// Waits until words stand on the screen that were not there before.
    fn sees(&mut self, words: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        let mut bytes = std::mem::take(&mut self.screen).into_bytes();
        loop {
            if let Some(at) = String::from_utf8_lossy(&bytes).find(words) {
                self.screen = String::from_utf8_lossy(&bytes)[at + words.len()..].to_owned();
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.seen.recv_timeout(left) {
                Ok(byte) => bytes.push(byte),
                Err(_) => panic!("{words:?} is not in {}", String::from_utf8_lossy(&bytes)),
            }
        }
    }

    fn types(&mut self, text: &str) {
        let input = self.terminal.stdin.as_mut().expect("a pipe");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("it reads");
    }

    /// The rest of what is shown, and the exit status.
    fn rest(mut self) -> (String, i32) {
        let mut bytes = self.screen.into_bytes();
        while let Ok(byte) = self.seen.recv_timeout(Duration::from_secs(20)) {
            bytes.push(byte);
        }
        let status = self.terminal.wait().expect("it ends");
        (String::from_utf8_lossy(&bytes).into_owned(), status.code().expect("by itself"))
    }
}

#[test]
fn what_is_required_and_missing_is_asked_for_until_it_fits() {
    let mut person = Person::run("call demo add", &[]);
    person.sees("a (a number)");
    person.types("two\n");
    person.sees("a number is expected");
    person.types("40\n");
    person.sees("b (a number)");
    person.types("2\n");
    let (rest, status) = person.rest();
    assert!(rest.contains("42") && status == 0, "{status} {rest}");
}

#[test]
fn a_form_of_a_server_is_asked_field_by_field_and_sent_when_it_is_wanted() {
    let words = format!("call 'sh {SERVER}' form");
    let mut person = Person::run(&words, &[]);
    person.sees("asks: Who are you?\\u{1b}");
    person.sees("Your name");
    person.types("\n");
    person.sees("it is required");
    person.sees("Your name");
    person.types("Ada\n");
    person.sees("age");
    person.types("7\n");
    person.sees("at least 18");
    person.types("36\n");
    person.sees("1 Red");
    person.sees("colour");
    person.types("2\n");
    person.sees("[true]");
    person.types("\n");
    person.sees("send it?");
    person.types("y\n");
    let (rest, status) = person.rest();
    let expected =
        r#"{"action":"accept","content":{"age":36,"colour":"g","name":"Ada","sure":true}}"#;
    assert!(rest.contains(expected) && status == 0, "{status} {rest}");
}

#[test]
fn a_form_that_is_not_sent_is_declined() {
    let words = format!("call 'sh {SERVER}' form");
    let mut person = Person::run(&words, &[]);
    for answer in ["Ada\n", "36\n", "1\n", "n\n"] {
        person.sees(": ");
        person.types(answer);
    }
    person.types("n\n");
    let (rest, status) = person.rest();
    assert!(rest.contains(r#"{"action":"decline"}"#) && status == 0, "{status} {rest}");
}

#[test]
fn a_page_is_opened_only_by_consent_after_its_host_was_shown() {
    let words = format!("call 'sh {SERVER}' page");
    let mut person = Person::run(&words, &[]);
    person.sees("login.example");
    person.sees("https://login.example/x?y=z");
    person.sees("open it? [y/N]");
    person.types("\n");
    let (rest, status) = person.rest();
    assert!(rest.contains(r#"{"action":"decline"}"#) && status == 0, "{status} {rest}");
}

#[test]
fn progress_is_a_bar_that_is_gone_at_the_end() {
    let mut person = Person::run("call demo slow steps=20 delay_ms=50", &[]);
    person.sees("% step ");
    let (rest, status) = person.rest();
    assert!(rest.ends_with("done after 20 steps\r\n") && status == 0, "{status} {rest:?}");
}

#[test]
fn names_are_bold_unless_no_colour_is_wanted() {
    let person = Person::run("tools demo", &[]);
    assert!(person.rest().0.contains("\u{1b}[1mecho"));
    let person = Person::run("tools demo", &[("NO_COLOR", "1")]);
    let shown = person.rest().0;
    assert!(!shown.contains("\u{1b}[1m") && shown.contains("echo  Says"), "{shown:?}");
}

#[test]
fn ctrl_c_cancels_the_call_at_the_server() {
    let mut person = Person::run("call demo slow steps=1000 delay_ms=50", &[]);
    person.sees("% step ");
    person.types("\u{3}");
    person.sees("cancelled by Ctrl-C");
    assert_eq!(person.rest().1, 130);
}
