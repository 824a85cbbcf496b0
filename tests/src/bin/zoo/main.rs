//! Visits the zoo: real servers, each at every version and over the transport it has.
//!
//! `zoo SERVERS.JSON ZOO-FOLDER [NAME…]` prints a line for each visit, `ok NAME VERSION MS events KINDS`
//! or `FAIL NAME VERSION: why`, and ends with 1 if one failed. Then the doctor is sent: `ok NAME doctor
//! VERDICT findings N`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it finds is what it prints")]

mod doctor;
mod events;
mod guide;
mod keeper;
mod list;
mod tasks;
mod visit;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use keeper::Mark;
use list::{Server, Servers};
use snodo::ProtocolVersion;

#[tokio::main]
async fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("zoo: {why}");
            ExitCode::from(2)
        }
    }
}

/// Makes the visits; gives how many failed.
async fn run(arguments: Vec<String>) -> Result<usize, String> {
    let [servers, folder, names @ ..] = &arguments[..] else {
        return Err("usage: zoo SERVERS.JSON ZOO-FOLDER [NAME…]".to_owned());
    };
    let folder = PathBuf::from(folder)
        .canonicalize()
        .map_err(|error| format!("{folder}: {error}; tests/zoo/install.sh makes it"))?;
    let chosen: Vec<String> = names.iter().filter(|name| *name != GUIDE).cloned().collect();
    let servers = match names == [GUIDE] {
        true => Default::default(),
        false => Servers::load(servers)?.only(&chosen)?,
    };
    let (mut passed, mut failed) = (0_usize, 0_usize);
    for (name, server) in servers {
        for (version, found) in visit_server(&name, &server.at(&folder)).await {
            match found {
                Ok(found) => {
                    passed += 1;
                    println!("ok {name} {version} {found}");
                }
                Err(why) => {
                    failed += 1;
                    println!("FAIL {name} {version}: {why}");
                }
            }
        }
    }
    if names.is_empty() || names.iter().any(|name| name == GUIDE) {
        match guide::check(&folder) {
            Ok(()) => {
                passed += 1;
                println!("ok {GUIDE}");
            }
            Err(why) => {
                failed += 1;
                println!("FAIL {GUIDE}: {why}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed)
}

/// The name under which the guide can be asked for alone.
const GUIDE: &str = "guide";

type Found = Vec<(String, Result<String, String>)>;

/// Visits one server: first with everything allowed, then pinned to each older version.
async fn visit_server(name: &str, server: &Server) -> Found {
    let mut found = Found::new();
    let mark = Mark::new(name);
    let house = match keeper::start(server, &mark).await {
        Ok(house) => house,
        Err(why) => return vec![("start".to_owned(), Err(why))],
    };
    let versions = server.versions();
    let highest = versions.iter().copied().max();
    let visits = [(None, highest)].into_iter().chain(
        versions
            .iter()
            .filter(|version| Some(**version) != highest)
            .map(|version| (Some(*version), Some(*version))),
    );
    for (pin, expected) in visits {
        let began = Instant::now();
        let mut outcome = visit::visit(server, &house, pin, expected).await;
        if !house.stays() {
            let left = mark.nothing_left().await;
            outcome = outcome.and_then(|events| left.map(|()| events));
        }
        let named = expected.map_or("refused", ProtocolVersion::as_str).to_owned();
        let time = began.elapsed().as_millis();
        found.push((named, outcome.map(|events| format!("{time} events {events}"))));
    }
    found.push(("doctor".to_owned(), doctor::examine(server, &house).await));
    if house.stays() {
        house.close().await;
        if let Err(why) = mark.nothing_left().await {
            found.push(("end".to_owned(), Err(why)));
        }
    }
    found
}
