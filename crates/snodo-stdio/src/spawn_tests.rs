//! Real processes.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use snodo_transport::{Connect, Incoming, Transport};
use snodo_types::{Body, Envelope, Message, Processed, Routing, TransportError, TransportFault};

use super::Stdio;
use crate::{Environment, Pipe, Shutdown, Stderr};

/// A shell as the server, with short waits at its end.
fn sh(script: &str) -> Stdio {
    let wait = Duration::from_millis(200);
    let waits = Shutdown { after_stdin: wait, after_terminate: wait };
    Stdio::new("sh").args(["-c", script]).shutdown(waits)
}

fn request(id: u64) -> Envelope {
    Envelope::request(id, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
}

async fn start(server: Stdio) -> Pipe {
    server.connect().await.expect("started")
}

async fn call(pipe: &Pipe, id: u64) -> Result<Message, TransportError> {
    let mut exchange = pipe.exchange(request(id));
    match exchange.next().await.expect("an answer or a failure")? {
        Incoming::Message(message) => Ok(message),
        other => panic!("a message, not {other:?}"),
    }
}

async fn failure(pipe: &Pipe) -> TransportError {
    call(pipe, 1).await.expect_err("a failure")
}

/// The method of the next notification: how scripts tell something.
async fn told(pipe: &Pipe) -> String {
    let mut unsolicited = pipe.unsolicited(Routing::new()).expect("the first time");
    match unsolicited.next().await {
        Some(Ok(Incoming::Message(message))) => match message.body() {
            Body::Notification { method, .. } => method.to_owned(),
            other => panic!("a notification, not {other:?}"),
        },
        other => panic!("a message, not {other:?}"),
    }
}

/// In a script: tells what a word of the shell stands for.
fn tell(word: &str) -> String {
    format!(r#"echo '{{"jsonrpc":"2.0","method":"'"{word}"'"}}'"#)
}

async fn told_number(pipe: &Pipe) -> u32 {
    told(pipe).await.parse().expect("a process")
}

/// Whether a process runs; what waits to be taken off the list does not.
fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.starts_with(" Z"))
}

/// Whether a process is on the system's list, if only to be taken off it.
fn is_listed(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// Waits for something that another process does, within 5 s.
async fn eventually(what: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(5);
    while !what() {
        assert!(Instant::now() < end, "it never happened");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn close(pipe: Pipe) {
    pipe.close(Routing::new(), Duration::from_secs(5)).await;
}

/// A directory for one test, taken away at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("snodo-stdio-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const ANSWERS: &str = r#"while read -r line; do
    id=${line#*'"id":'}; echo '{"jsonrpc":"2.0","id":'"${id%%,*}"',"result":{}}'
done"#;

const NEVER_ANSWERS: &str = "cat >/dev/null";

/// A process that neither the end of its input nor a request to end moves.
const STUBBORN: &str = "trap '' TERM; while :; do sleep 0.05; done";

// S-10
#[tokio::test]
async fn two_processes_answer_each_its_own() {
    let (one, two) = tokio::join!(start(sh(ANSWERS)), start(sh(ANSWERS)));
    assert_ne!(one.process_id(), two.process_id());
    for id in 1..50 {
        let answers = tokio::join!(call(&one, id), call(&two, id + 1000));
        assert_eq!(answers.0.expect("an answer").id(), Some(&id.into()));
        assert_eq!(answers.1.expect("an answer").id(), Some(&(id + 1000).into()));
    }
    close(one).await;
    assert!(call(&two, 50).await.is_ok(), "the other lives on");
}

// S-10, STDIO-16
#[tokio::test]
async fn the_environment_is_small_and_can_be_changed() {
    let tell = tell("$CARGO_PKG_NAME|$MINE|${HOME:+home}|${PATH:+path}|$LC_X");
    let server = || sh(&tell).env("MINE", "1").env("LC_X", "2");
    let inherited = || server().environment(Environment::Inherit);
    let cases = [
        (server(), "|1|home|path|2"),
        (server().env_remove("HOME").env("MINE", "3"), "|3||path|2"),
        (inherited(), "snodo-stdio|1|home|path|2"),
        (inherited().env_remove("CARGO_PKG_NAME").env_remove("LC_X"), "|1|home|path|"),
        (Stdio { program: "/bin/sh".into(), ..server() }.environment(Environment::Empty), "|1|||2"),
    ];
    for (server, expected) in cases {
        let seen = told(&start(server).await).await;
        // A shell without a PATH may make up one for itself.
        assert_eq!(seen.replace("||path|2", "|||2"), expected.replace("||path|2", "|||2"));
    }
}

// S-10, STDIO-16
#[tokio::test]
async fn the_working_directory_can_be_chosen() {
    let folder = Folder::new("directory");
    let path = folder.0.canonicalize().expect("it is there");
    let pipe = start(sh(&tell("$PWD")).current_dir(&path)).await;
    assert_eq!(told(&pipe).await, path.to_string_lossy());
}

#[tokio::test]
async fn why_a_process_cannot_be_started_is_told_apart() {
    let folder = Folder::new("spawn");
    let (plain, broken) = (folder.file("plain"), folder.file("broken"));
    std::fs::write(&plain, "#!/bin/sh\n").expect("written");
    std::fs::write(&broken, "#!/no/such/interpreter\n").expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&broken, executable).expect("changed");
    let shell = || Stdio::new("sh");
    let cases = [
        (Stdio::new("no-such-program"), "was not found in any directory of PATH"),
        (Stdio::new("no-such").environment(Environment::Empty), "there is no PATH to look for it"),
        (Stdio::new("./no/such/program"), "there is no program `./no/such/program`"),
        (Stdio::new(&plain), "is not executable"),
        (Stdio::new(&folder.0), "is a directory, not a program"),
        (Stdio::new(&broken), "the interpreter that its first line names was not found"),
        (shell().current_dir("/no/such/directory"), "`/no/such/directory` does not exist"),
        (shell().current_dir(&plain), "is not a directory"),
    ];
    for (server, expected) in cases {
        let error = server.connect().await.expect_err(expected);
        assert_eq!((error.fault(), error.processed()), (TransportFault::Spawn, Processed::No));
        assert!(error.message().contains(expected), "{error}");
    }
    let impossible = [shell().arg("a\0b"), shell().env("A=B", "c"), shell().env("", "c")];
    for server in impossible {
        let error = server.connect().await.expect_err("impossible");
        assert_eq!(error.fault(), TransportFault::Usage);
    }
}

#[tokio::test]
async fn a_program_that_is_named_with_its_arguments_is_told_where_they_go() {
    let hint = "; arguments go into `args`, not behind the name of the program";
    for name in ["npx -y foo", "npx -y @a/foo", "no-such-program\t--flag"] {
        let error = Stdio::new(name).connect().await.expect_err(name);
        assert!(error.message().ends_with(hint), "{error}");
    }
    let error = Stdio::new("no-such-program").arg("-y").connect().await.expect_err("no program");
    assert!(!error.message().contains("args"), "{error}");
}

#[test]
fn without_a_runtime_nothing_is_started() {
    let server = sh(ANSWERS);
    let connecting = pin!(server.connect());
    match connecting.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Err(error)) => assert_eq!(error.fault(), TransportFault::Usage),
        other => panic!("a failure, not {other:?}"),
    }
}

#[test]
fn what_is_shown_of_a_command_is_short_and_without_secrets() {
    let server = Stdio::new("run").args(["a", "\u{1b}[31m"]).env("TOKEN", "secret");
    assert_eq!(server.target(), "run a ");
    let shown = format!("{server:?}");
    assert!(shown.contains("TOKEN") && !shown.contains("secret"), "{shown}");
    let long = Stdio::new("run").arg("é".repeat(200)).target().into_owned();
    assert_eq!((long.chars().count(), long.ends_with('…')), (121, true));
}

#[tokio::test]
async fn a_process_that_dies_at_the_start_says_how_and_why() {
    let pipe = start(sh("echo 'cannot open database' >&2; exit 3")).await;
    let error = failure(&pipe).await;
    assert_eq!((error.fault(), error.exit()), (TransportFault::Exited, Some("exit status 3")));
    let expected =
        "the server process exited with status 3; its error output ends: cannot open database";
    assert_eq!(error.message(), expected);
    let again = failure(&pipe).await;
    assert_eq!((again.message(), again.processed()), (expected, Processed::No));
}

#[tokio::test]
async fn a_process_that_was_killed_says_by_what() {
    let error = failure(&start(sh("kill -9 $$")).await).await;
    assert_eq!((error.fault(), error.exit()), (TransportFault::Exited, Some("signal 9")));
    assert_eq!(error.message(), "the server process was killed by signal 9");
}

#[tokio::test]
async fn every_call_fails_when_the_process_ends() {
    let pipe = start(sh("read -r a; read -r b; read -r c; exit 1")).await;
    let calls = tokio::join!(call(&pipe, 1), call(&pipe, 2), call(&pipe, 3));
    for error in [calls.0, calls.1, calls.2].map(|call| call.expect_err("dead")) {
        assert_eq!((error.fault(), error.exit()), (TransportFault::Exited, Some("exit status 1")));
        assert_eq!(error.processed(), Processed::Maybe);
    }
}

#[tokio::test]
async fn what_a_process_said_last_is_delivered() {
    let last = r#"printf '%s' '{"jsonrpc":"2.0","id":1,"result":{"last":true}}'"#;
    let pipe = start(sh(&format!("read -r line; {last}"))).await;
    assert!(call(&pipe, 1).await.expect("an answer").text().contains("last"));
}

#[tokio::test]
async fn an_output_that_is_closed_ends_the_connection_and_the_process() {
    let pipe = start(sh("exec >&-; sleep 1000")).await;
    let process = pipe.process_id().expect("it runs");
    let error = failure(&pipe).await;
    assert_eq!(error.fault(), TransportFault::Closed);
    assert_eq!(error.message(), "the server closed the connection");
    eventually(|| !is_listed(process)).await;
}

// STDIO-04, STDIO-05
#[tokio::test]
async fn an_error_stream_is_read_from_the_start_however_much_comes() {
    let flood = "head -c 300000 /dev/zero | tr '\\0' x >&2";
    for stderr in [Stderr::Log, Stderr::Null, Stderr::lines(|_| {})] {
        let pipe = start(sh(&format!("{flood}; echo >&2; {ANSWERS}")).stderr(stderr)).await;
        assert!(call(&pipe, 1).await.is_ok(), "it is no sign of failure");
    }
}

// STDIO-04
#[tokio::test]
async fn lines_of_the_error_stream_go_to_a_function() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let stderr = Stderr::lines(move |line| sink.lock().expect("no panic").push(line.to_owned()));
    let pipe = start(sh("echo one >&2; printf two >&2").stderr(stderr)).await;
    failure(&pipe).await;
    assert_eq!(*seen.lock().expect("no panic"), ["one", "two"]);
}

// STDIO-09
#[tokio::test]
async fn a_process_that_ends_with_its_input_gets_no_signal() {
    let folder = Folder::new("polite");
    let script =
        format!("trap 'echo > {}' TERM; {NEVER_ANSWERS}", folder.file("signalled").display());
    let pipe = start(sh(&script)).await;
    let process = pipe.process_id().expect("it runs");
    close(pipe).await;
    assert!(!is_listed(process) && !folder.file("signalled").exists());
}

// STDIO-09, INIT-19
#[tokio::test]
async fn a_process_that_does_not_end_with_its_input_is_asked_to() {
    let folder = Folder::new("asked");
    let script = format!(
        "trap 'echo > {}; exit' TERM; {}; while :; do sleep 0.01; done",
        folder.file("signalled").display(),
        tell("ready")
    );
    let pipe = start(sh(&script)).await;
    told(&pipe).await;
    let process = pipe.process_id().expect("it runs");
    close(pipe).await;
    assert!(!is_listed(process) && folder.file("signalled").exists());
}

// STDIO-09
#[tokio::test]
async fn a_process_that_ignores_everything_is_killed_within_the_limit() {
    for limit in [Duration::from_secs(5), Duration::from_millis(100), Duration::ZERO] {
        let pipe = start(sh(&format!("{}; {STUBBORN}", tell("ready")))).await;
        told(&pipe).await;
        let process = pipe.process_id().expect("it runs");
        let before = Instant::now();
        pipe.close(Routing::new(), limit).await;
        pipe.close(Routing::new(), limit).await;
        assert!(!is_listed(process));
        assert!(before.elapsed() < limit.min(Duration::from_millis(400)) + Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_process_that_never_reads_holds_up_writers_only() {
    let pipe = start(sh(&format!("{}; {STUBBORN}", tell("ready")))).await;
    let mut large = pipe.exchange(Envelope::request(1, "x".repeat(300_000)));
    let waited = tokio::time::timeout(Duration::from_millis(50), large.next()).await;
    assert!(waited.is_err());
    assert_eq!(told(&pipe).await, "ready");
    drop(large);
    let process = pipe.process_id().expect("it runs");
    close(pipe).await;
    assert!(!is_listed(process));
}

#[tokio::test]
async fn large_messages_go_both_ways_whole() {
    let pipe = start(Stdio::new("cat")).await;
    let text = "x".repeat(1_000_000);
    for id in 1..=3 {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"t":"{text}"}}}}"#);
        let mut exchange = pipe.exchange(Envelope::request(id, message.clone()));
        match exchange.next().await {
            Some(Ok(Incoming::Message(echo))) => assert_eq!(echo.text(), message),
            other => panic!("a message, not {other:?}"),
        }
    }
}

// S-01, BASE-14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_share_one_process_and_give_up_some_calls() {
    let pipe = Arc::new(start(Stdio::new("cat")).await);
    let tasks = (0..8).map(|task| {
        let pipe = Arc::clone(&pipe);
        tokio::spawn(async move {
            for number in 0..400 {
                let id = task * 1000 + number;
                let text = "x".repeat(number as usize * 7 % 3000);
                let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"t":"{text}"}}}}"#);
                let mut exchange = pipe.exchange(Envelope::request(id, message.clone()));
                let next = exchange.next();
                if number % 5 == 0 {
                    let _ = tokio::time::timeout(Duration::from_micros(50), next).await;
                } else {
                    let Some(Ok(Incoming::Message(echo))) = next.await else { panic!("an echo") };
                    assert_eq!(echo.text(), message);
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("every call was answered");
    }
    let counts = pipe.counts();
    assert_eq!((counts.live_exchanges, counts.skipped_lines), (0, 0));
}

#[tokio::test]
async fn what_a_launcher_leaves_behind_is_ended() {
    let leave = format!("sleep 1000 & {}", tell("$!"));
    let after_stdin = Duration::from_millis(50);
    let waits = Shutdown { after_stdin, after_terminate: Duration::from_secs(30) };
    for (script, ends) in
        [(format!("{leave}; exit 0"), true), (format!("{leave}; {ANSWERS}"), false)]
    {
        let pipe = start(sh(&script).shutdown(waits)).await;
        let left = told_number(&pipe).await;
        assert!(runs(left));
        if ends {
            let error = failure(&pipe).await;
            assert_eq!(error.exit(), Some("exit status 0"), "though its output is still open");
        }
        let before = Instant::now();
        pipe.close(Routing::new(), Duration::from_secs(60)).await;
        assert!(!runs(left));
        // Nobody waits for the orphan to be taken off the system's list, which may never happen.
        assert!(before.elapsed() < Duration::from_millis(1500), "{:?}", before.elapsed());
    }
}

#[tokio::test]
async fn a_stubborn_process_below_a_launcher_is_killed() {
    let script = format!("sh -c \"{}; {STUBBORN}\" & wait", tell("$$").replace('"', "\\\""));
    let pipe = start(sh(&script.replace("$$", "\\$\\$"))).await;
    let below = told_number(&pipe).await;
    assert_ne!(Some(below), pipe.process_id());
    close(pipe).await;
    assert!(!runs(below));
}

#[tokio::test]
async fn a_dropped_pipe_ends_its_process_in_the_background() {
    for script in [NEVER_ANSWERS, STUBBORN] {
        let pipe = start(sh(script)).await;
        let process = pipe.process_id().expect("it runs");
        drop(pipe);
        eventually(|| !is_listed(process)).await;
    }
}

#[tokio::test]
async fn a_cancelled_task_leaves_nothing_behind() {
    let (send, mut started) = tokio::sync::mpsc::channel(1);
    let task = tokio::spawn(async move {
        let pipe = start(sh(STUBBORN)).await;
        send.send(pipe.process_id().expect("it runs")).await.expect("awaited");
        call(&pipe, 1).await
    });
    let process = started.recv().await.expect("sent");
    task.abort();
    assert!(task.await.expect_err("it was ended").is_cancelled());
    eventually(|| !is_listed(process)).await;
}

#[tokio::test]
async fn a_connection_that_nobody_takes_leaves_nothing_behind() {
    let folder = Folder::new("untaken");
    let note = folder.file("process");
    let script = format!("echo $$ > {}.new; mv {0}.new {0}; {STUBBORN}", note.display());
    let server = sh(&script);
    drop(server.connect());
    assert!(!note.exists(), "nothing happens before the first poll");
    let connecting = async {
        let _pipe = server.connect().await;
        std::future::pending::<()>().await;
    };
    let ended = tokio::time::timeout(Duration::from_millis(50), connecting).await;
    assert!(ended.is_err());
    eventually(|| note.exists()).await;
    let process =
        std::fs::read_to_string(&note).expect("written").trim().parse().expect("a number");
    eventually(|| !is_listed(process)).await;
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A stubborn process with another one below it.
async fn stubborn_pair() -> (Pipe, [u32; 2]) {
    let pipe = start(sh(&format!("sleep 1000 & {}; {STUBBORN}", tell("$!")))).await;
    let below = told_number(&pipe).await;
    let process = pipe.process_id().expect("it runs");
    (pipe, [process, below])
}

#[test]
fn a_pipe_dropped_outside_its_runtime_kills_its_group_at_once() {
    let runtime = runtime();
    let (pipe, [process, below]) = runtime.block_on(stubborn_pair());
    drop(pipe);
    assert!(!is_listed(process) && !runs(below));
}

#[test]
fn a_runtime_that_goes_away_takes_the_process_along() {
    let runtime = runtime();
    let (pipe, [process, below]) = runtime.block_on(stubborn_pair());
    drop(runtime);
    assert!(!is_listed(process) && !runs(below));
    drop(pipe);
}

#[test]
fn a_runtime_that_ends_during_a_shutdown_takes_the_process_along() {
    let runtime = runtime();
    let [process, below] = runtime.block_on(async {
        let (pipe, processes) = stubborn_pair().await;
        drop(pipe);
        processes
    });
    drop(runtime);
    assert!(!is_listed(process) && !runs(below));
}
