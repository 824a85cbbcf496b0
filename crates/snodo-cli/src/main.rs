//! The terminal of snodo: inspect, call and debug MCP servers.

mod args;
mod arguments;
mod ask;
mod catalog;
mod demo;
mod failure;
mod hints;
mod log;
mod output;
mod print;
mod run;
mod safe;
mod save;
mod settings;
mod signals;
mod target;
mod terminal;

use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use snodo::{Client, Error};
use snodo_config::Config;

use crate::args::{Cli, Command};
use crate::ask::Ask;
use crate::failure::{Failure, Status};
use crate::run::{Answer, Form};
use crate::settings::Settings;
use crate::signals::Signals;
use crate::target::Target;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let form = if args::wants_json(&words) { Form::Json } else { Form::People };
    let status = match Cli::try_parse_from(words) {
        Ok(cli) => run(cli).unwrap_or_else(|failure| output::fail(&failure, form)),
        Err(error) => output::refuse(&error, form),
    };
    ExitCode::from(status.code())
}

fn run(cli: Cli) -> Result<Status, Failure> {
    if let Command::Config { check, options } = cli.command {
        let settings = Settings::read(cli.options, options)?;
        log::start(settings.verbosity);
        let config = catalog::read(&settings.config)?;
        return drive(list_servers(&config, check, &settings));
    }
    let (target, ask, after) = Ask::read(cli.command)?;
    let settings = Settings::read(cli.options, after)?;
    let form = settings.form();
    if settings.dry_run
        && let Some(answer) = run::dry(&ask, form)?
    {
        return Ok(output::answer(&answer, form));
    }
    let target = target.resolve(|| catalog::read(&settings.config))?;
    run::check(&target, &settings)?;
    log::start(settings.verbosity);
    drive(serve(&target, ask, &settings))
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
    let answer = signals.or(run::list_servers(config, check, settings)).await?;
    Ok(output::answer(&answer, settings.form()))
}

/// Connects, asks, writes the answer, and ends the connection, until a signal comes.
async fn serve(target: &Target, ask: Ask, settings: &Settings) -> Result<Status, Failure> {
    let form = settings.form();
    let mut signals = Signals::new().map_err(Failure::starting)?;
    let client = signals.or(run::connect(target, settings)).await?.map_err(Failure::connecting)?;
    let answered = signals.or(answer(&client, target, ask, settings)).await;
    let status = match answered {
        Ok(Ok(answer)) => output::answer(&answer, form),
        Ok(Err(error)) => output::fail(&error.into(), form),
        Err(interrupted) => output::fail(&interrupted.into(), form),
    };
    // A second signal ends the wait.
    match signals.or(client.close()).await {
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
    let asked = run::ask(client, ask, settings);
    match target {
        // In process the library sets no timer, and a person at a terminal needs none.
        Target::Demo if !settings.terminal.asks => {
            match tokio::time::timeout(settings.timeout, asked).await {
                Ok(answered) => answered,
                Err(_) => Err(Error::timeout(settings.timeout)),
            }
        }
        _ => asked.await,
    }
}

/// How long what still runs in the background may hold up the end.
const SHUTDOWN: Duration = Duration::from_millis(100);
