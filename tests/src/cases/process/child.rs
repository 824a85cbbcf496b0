//! The scripted child itself: the whole of the program `case-child`.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::diary::{Diary, Event};
use super::script::{Action, AtEnd, AtTerm, ChildScript};
use crate::cases::baseline;
use crate::cases::client::Baseline;
use crate::cases::marks::{Marks, expand};

/// Plays the script of a file: `case-child SCRIPT DIARY BASELINE [grandchild]`.
///
/// # Errors
///
/// The arguments are not these, or the script cannot be read.
pub fn play(arguments: &[String]) -> Result<ExitCode, String> {
    let [script, diary, baseline, rest @ ..] = arguments else {
        return Err("case-child SCRIPT DIARY BASELINE [grandchild]".to_owned());
    };
    let text = std::fs::read_to_string(script).map_err(|error| format!("{script}: {error}"))?;
    let script_of: ChildScript = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let is_grandchild = !rest.is_empty();
    let diary = Diary::open(Path::new(diary));
    diary.write(Event::Started { grandchild: is_grandchild });
    if script_of.launcher && !is_grandchild {
        return launch(arguments);
    }
    let baseline = serde_json::from_value(json!(baseline)).map_err(|error| error.to_string())?;
    Child::new(script_of.speaker().clone(), Arc::new(diary), baseline).run()
}

/// Starts the same program as a grandchild that has our streams, and waits for it.
fn launch(arguments: &[String]) -> Result<ExitCode, String> {
    let program: PathBuf = std::env::current_exe().map_err(|error| error.to_string())?;
    let started = Command::new(program).args(arguments).arg("grandchild").status();
    let status = started.map_err(|error| error.to_string())?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

struct Child {
    script: ChildScript,
    diary: Arc<Diary>,
    baseline: Baseline,
    tools: Vec<String>,
    /// How often each rule matched.
    matched: Vec<usize>,
    input: Receiver<Value>,
    /// What came while a reply was awaited.
    waiting: VecDeque<Value>,
    reads: Arc<AtomicBool>,
    version: Value,
    number: usize,
}

impl Child {
    fn new(script: ChildScript, diary: Arc<Diary>, baseline: Baseline) -> Self {
        let tools = baseline::tools(script.named_tools());
        let (found, input) = sync_channel(1024);
        let reads = Arc::new(AtomicBool::new(true));
        {
            let (diary, reads) = (Arc::clone(&diary), Arc::clone(&reads));
            thread::spawn(move || read_input(&found, &diary, &reads));
        }
        let matched = vec![0; script.on.len()];
        let waiting = VecDeque::new();
        let (version, number) = (Value::Null, 0);
        Self { script, diary, baseline, tools, matched, input, waiting, reads, version, number }
    }

    fn run(mut self) -> Result<ExitCode, String> {
        obey_signals(self.script.on_sigterm, &self.diary)?;
        for action in self.script.on_start.clone() {
            self.act(&action, &Value::Null);
        }
        while let Some(message) = self.next() {
            self.answer(&message);
        }
        if !self.reads.load(Ordering::Acquire) {
            // It reads no more, and so it cannot see the end either.
            park();
        }
        self.diary.write(Event::StdinEof);
        match self.script.on_stdin_eof {
            AtEnd::Exit => self.exit(0),
            AtEnd::Ignore => park(),
            AtEnd::Later(leave) => {
                thread::sleep(Duration::from_millis(leave.sleep_ms));
                self.exit(leave.exit)
            }
        }
    }

    fn next(&mut self) -> Option<Value> {
        self.waiting.pop_front().or_else(|| self.input.recv().ok())
    }

    fn answer(&mut self, message: &Value) {
        let asked = message.pointer("/params/protocolVersion");
        if let Some(version) = asked {
            self.version = version.clone();
        }
        for action in self.actions(message) {
            self.act(&action, message);
        }
    }

    /// What a message leads to. One that a rule is about, but for its number, is not answered.
    fn actions(&mut self, message: &Value) -> Vec<Action> {
        let mut is_named = false;
        for (at, rule) in self.script.on.iter().enumerate() {
            if rule.matches(message) {
                is_named = true;
                self.matched[at] += 1;
                if rule.nth.is_none_or(|nth| nth == self.matched[at]) {
                    return rule.actions.clone();
                }
            }
        }
        if is_named { Vec::new() } else { vec![Action::ReplyAsBaseline] }
    }

    fn act(&mut self, action: &Action, message: &Value) {
        match action {
            Action::CloseStdout => live_on_silently(),
            Action::Exit(status) => self.exit(*status),
            Action::Progress { count, gap } => self.progress(message, *count, *gap),
            Action::ReplyAsBaseline => {
                let id = message.get("id").cloned().unwrap_or_default();
                let reply = baseline::reply(self.baseline, &self.tools, message);
                if let Some(response) = reply.response(&id) {
                    write(format!("{response}\n").as_bytes());
                }
            }
            Action::Signal(name) => signal(name),
            Action::Sleep(time) => thread::sleep(*time),
            Action::Stderr { bytes, newline } => flood(*bytes, *newline),
            Action::StderrText(text) => {
                let _ = io::stderr().write_all(text.as_bytes());
            }
            Action::Stdout { text, times, pieces, await_reply } => {
                for _ in 0..*times {
                    self.number += 1;
                    let text = expand(text, &Moment { child: self, message });
                    match pieces {
                        Some(size) => text.as_bytes().chunks((*size).max(1)).for_each(write),
                        None => write(text.as_bytes()),
                    }
                    if *await_reply {
                        self.await_reply(&text);
                    }
                }
            }
            Action::StopReading => self.reads.store(false, Ordering::Release),
        }
    }

    fn progress(&self, message: &Value, count: usize, gap: Duration) {
        let token = message.pointer("/params/_meta/progressToken").cloned();
        for step in 1..=count {
            thread::sleep(gap);
            let Some(token) = &token else { continue };
            let notice = json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": { "progressToken": token, "progress": step },
            });
            write(format!("{notice}\n").as_bytes());
        }
    }

    /// Waits for the response to what was asked; what else comes is looked at later.
    fn await_reply(&mut self, asked: &str) {
        let asked: Value = serde_json::from_str(asked).unwrap_or_default();
        while let Ok(message) = self.input.recv() {
            if message.get("method").is_none() && message.get("id") == asked.get("id") {
                return;
            }
            self.waiting.push_back(message);
        }
    }

    fn exit(&self, status: i32) -> ! {
        self.diary.write(Event::Exit(status));
        std::process::exit(status)
    }
}

/// What marks stand for while a message is answered.
struct Moment<'a> {
    child: &'a Child,
    message: &'a Value,
}

impl Marks for Moment<'_> {
    fn value(&self, mark: &str) -> Option<Value> {
        match mark {
            "ID" => Some(self.message.get("id").cloned().unwrap_or_default()),
            "N" => Some(json!(self.child.number)),
            "VER" => Some(self.child.version.clone()),
            _ => None,
        }
    }
}

fn read_input(found: &SyncSender<Value>, diary: &Diary, reads: &AtomicBool) {
    for line in io::stdin().lock().lines() {
        if !reads.load(Ordering::Acquire) {
            park();
        }
        let Ok(line) = line else { return };
        let message: Value = serde_json::from_str(&line).unwrap_or(Value::String(line));
        diary.write(Event::Received(message.clone()));
        if found.send(message).is_err() {
            return;
        }
    }
}

/// Notes the wish to end, and follows it or not.
fn obey_signals(at_term: AtTerm, diary: &Arc<Diary>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let diary = Arc::clone(diary);
    let (ready, is_ready) = sync_channel(1);
    thread::spawn(move || {
        runtime.block_on(async move {
            let kind = tokio::signal::unix::SignalKind::terminate();
            let Ok(mut signals) = tokio::signal::unix::signal(kind) else { return };
            let _ = ready.send(());
            while signals.recv().await.is_some() {
                diary.write(Event::Sigterm);
                if at_term == AtTerm::Exit {
                    diary.write(Event::Exit(143));
                    std::process::exit(143);
                }
            }
        });
    });
    is_ready.recv().map_err(|_| "no signals can be had".to_owned())
}

/// Becomes a process that has no standard output and reads nothing; only a signal ends it.
fn live_on_silently() {
    use std::os::unix::process::CommandExt as _;
    let error = Command::new("sh").args(["-c", "exec >&-; exec sleep 600"]).exec();
    let _ = writeln!(io::stderr(), "sh: {error}");
}

fn signal(name: &str) {
    let process = std::process::id().to_string();
    let _ = Command::new("kill").args([&format!("-{name}"), &process]).status();
}

fn flood(bytes: usize, newline: bool) {
    let mut text = "x".repeat(bytes);
    if newline {
        text.push('\n');
    }
    let _ = io::stderr().write_all(text.as_bytes());
}

fn write(bytes: &[u8]) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(bytes).and_then(|()| output.flush());
}

fn park() -> ! {
    loop {
        thread::park();
    }
}
