//! The terminal of snodo: inspect, call and debug MCP servers.

mod args;
mod arguments;
mod ask;
mod catalog;
mod demo;
mod doctor;
mod failure;
mod hints;
mod interact;
mod log;
mod login;
mod output;
mod print;
mod run;
mod safe;
mod save;
mod settings;
mod signals;
mod tap;
mod target;
mod terminal;
mod wait;

use std::ffi::OsString;
use std::future::Future;
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, Parser};
use snodo::{Client, Error};
use snodo_config::Config;

use crate::args::{Cli, Command, Options, Words};
use crate::ask::Ask;
use crate::doctor::Warnings;
use crate::failure::{Failure, Status};
use crate::run::{Answer, Connected, Form};
use crate::settings::Settings;
use crate::signals::Signals;
use crate::target::Target;
use crate::terminal::Style;
use crate::wait::Waiting;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    ExitCode::from(run_words(words, None).code())
}

/// Runs a command line; with `record`, its session is written to that file.
fn run_words(words: Vec<OsString>, record: Option<PathBuf>) -> Status {
    let form = if args::wants_json(&words) { Form::Json } else { Form::People };
    match Cli::try_parse_from(words) {
        Ok(cli) => run(cli, record).unwrap_or_else(|failure| output::fail(&failure, form)),
        Err(error) => output::refuse(&error, form),
    }
}

fn run(cli: Cli, record: Option<PathBuf>) -> Result<Status, Failure> {
    match cli.command {
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "snodo", &mut text);
            Ok(written(text))
        }
        Command::Config { check, options } => {
            let settings = Settings::read(cli.options, options)?;
            log::start(settings.verbosity);
            let config = catalog::read(&settings.config)?;
            drive(list_servers(&config, check, &settings))
        }
        Command::Man => {
            let mut text = Vec::new();
            let page = clap_mangen::Man::new(Cli::command());
            page.render(&mut text).map_err(Failure::starting)?;
            Ok(written(text))
        }
        Command::Record { file, command } if record.is_none() => {
            let words = iter::once(OsString::from("snodo")).chain(command).collect();
            Ok(run_words(words, Some(file)))
        }
        Command::Replay { file, command } if record.is_none() => {
            let mut words = command.into_iter();
            let name = words.next().unwrap_or_default();
            let mut target = OsString::from(target::REPLAY);
            target.push(file);
            let words = [OsString::from("snodo"), name, target].into_iter().chain(words);
            Ok(run_words(words.collect(), None))
        }
        Command::Record { .. } | Command::Replay { .. } => {
            Err(Error::usage("a recording within a recording makes no sense").into())
        }
        Command::Whoami(words) => who_am_i(cli.options, words),
        command => ask(cli.options, command, record),
    }
}

/// What is made of the command line alone.
fn written(text: Vec<u8>) -> Status {
    let text = String::from_utf8_lossy(&text).into_owned();
    output::answer(&Answer::new(text), Form::People)
}

fn who_am_i(before: Options, words: Words) -> Result<Status, Failure> {
    let settings = Settings::read(before, words.options)?;
    let target = match words.words.as_slice() {
        [] => None,
        [word] => Some(Target::of_word(word)?.resolve(|| catalog::read(&settings.config))?),
        _ => return Err(Error::usage("one TARGET at most is expected").into()),
    };
    let answer = login::who_am_i(target.as_ref(), settings.form())?;
    Ok(output::answer(&answer, settings.form()))
}

fn ask(before: Options, command: Command, record: Option<PathBuf>) -> Result<Status, Failure> {
    let (target, ask, after) = Ask::read(command)?;
    let mut settings = Settings { record, ..Settings::read(before, after)? };
    let form = settings.form();
    if settings.dry_run
        && let Some(answer) = run::dry(&ask, form)?
    {
        return Ok(output::answer(&answer, form));
    }
    let target = target.resolve(|| catalog::read(&settings.config));
    let target = target.map_err(|error| Failure::from(error).hint(ENTRIES))?;
    run::check(&target, &settings)?;
    if let Ask::Doctor = ask {
        let warnings = Warnings::default();
        log::start_collecting(settings.verbosity, warnings.clone());
        return drive(see_doctor(&target, &settings, warnings));
    }
    log::start(settings.verbosity);
    match &ask {
        Ask::Login(login) => {
            settings.login = Some(login::prepare(login, &target, &settings)?);
            drive(serve(&target, ask, &settings))
        }
        Ask::Logout => drive(async {
            let answer = login::log_out(&target, &settings).await?;
            Ok(output::answer(&answer, form))
        }),
        _ => drive(serve(&target, ask, &settings)),
    }
}

/// Runs to the end.
fn drive(work: impl Future<Output = Result<Status, Failure>>) -> Result<Status, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::starting)?;
    let status = runtime.block_on(work);
    // A name that is still being looked up, or a person who is still being asked, would hold the
    // program up.
    runtime.shutdown_timeout(SHUTDOWN);
    status
}

async fn list_servers(
    config: &Config,
    check: bool,
    settings: &Settings,
) -> Result<Status, Failure> {
    let mut signals = Signals::new().map_err(Failure::starting)?;
    let waiting = Waiting::begin(settings.terminal.errors, "connecting to all servers");
    let answer = signals.or(run::list_servers(config, check, settings)).await?;
    drop(waiting);
    Ok(output::answer(&answer, settings.form()))
}

async fn see_doctor(
    target: &Target,
    settings: &Settings,
    warnings: Warnings,
) -> Result<Status, Failure> {
    let mut signals = Signals::new().map_err(Failure::starting)?;
    let waiting = Waiting::begin(settings.terminal.errors, "looking at every step");
    let report = signals.or(doctor::examine(target, settings, &warnings)).await?;
    drop(waiting);
    let text = match settings.form() {
        Form::Json => run::document(&report.document().to_string()),
        Form::People => print::report(&report, settings.terminal.output),
    };
    let answer = Answer { status: report.status(), ..Answer::new(text) };
    Ok(output::answer(&answer, settings.form()))
}

/// Connects, asks, writes the answer, and ends the connection, until a signal comes.
async fn serve(target: &Target, ask: Ask, settings: &Settings) -> Result<Status, Failure> {
    let form = settings.form();
    let mut signals = Signals::new().map_err(Failure::starting)?;
    let style = if settings.verbosity > 0 { Style::default() } else { settings.terminal.errors };
    let waiting = Waiting::begin(style, &format!("waiting for {}", target.name()));
    let connected = signals.or(run::connect(target, settings)).await?;
    let Connected { client, tape } = connected.map_err(Failure::connecting)?;
    let answered = signals.or(answer(&client, target, ask, settings)).await;
    drop(waiting);
    let status = match answered {
        Ok(Ok(answer)) => output::answer(&answer, form),
        Ok(Err(error)) => output::fail(&error.into(), form),
        Err(interrupted) => output::fail(&interrupted.into(), form),
    };
    // A second signal ends the wait.
    let closed = signals.or(client.close()).await;
    if let Some(tape) = tape {
        tape.save()?;
    }
    match closed {
        Err(interrupted) => Ok(Failure::from(interrupted).status()),
        Ok(()) => Ok(status),
    }
}

async fn answer(
    client: &Client,
    target: &Target,
    ask: Ask,
    settings: &Settings,
) -> Result<Answer, Error> {
    if let Ask::Login(_) = ask {
        return login::log_in(client, target, settings).await;
    }
    // In process the library sets no timer. Somebody at a terminal, a listener and a bench need none.
    let timed = *target == Target::Demo
        && !settings.terminal.asks
        && !matches!(ask, Ask::Bench { .. } | Ask::Listen(_));
    let asked = run::ask(client, ask, settings);
    if !timed {
        return asked.await;
    }
    match tokio::time::timeout(settings.timeout, asked).await {
        Ok(answered) => answered,
        Err(_) => Err(Error::timeout(settings.timeout)),
    }
}

/// Where a server of the configuration cannot be used.
const ENTRIES: &str = "snodo config, which lists every entry and what is wrong with it";

/// How long what still runs in the background may hold up the end.
const SHUTDOWN: Duration = Duration::from_millis(100);
