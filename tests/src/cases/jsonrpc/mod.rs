//! Cases of `jsonrpc/`: what a server says to a client with requests in flight.

mod handlers;
mod ids;
mod play;
mod script;

use super::Verdict;
use super::head;
use super::later::Need;
use super::store::CaseFile;
use super::wire::on_standing_clock;
use script::Header;

/// Runs a case on each version that it applies to.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("jsonl").map_err(Need::unknown)?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().ok_or_else(|| Need::unknown("an empty file"))?;
    let (head, header) = head::read::<Header>(first)?;
    let exchanges = lines.map(script::exchange).collect::<Result<Vec<_>, _>>()?;
    let mut faults = Vec::new();
    for version in head.versions {
        let played = on_standing_clock(play::play(version, &header, &exchanges));
        let found = played.unwrap_or_else(|fault| vec![fault]);
        faults.extend(found.into_iter().map(|fault| format!("[{version}] {fault}")));
    }
    Ok(Verdict::of(faults))
}
