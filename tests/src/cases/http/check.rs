//! What a scripted server has to have seen.

use super::record::Record;
use crate::cases::client::Expect;

/// Compares what was seen with what was expected.
pub(crate) fn check(expect: &Expect, record: &Record) -> Vec<String> {
    let mut faults = Vec::new();
    let count = |what: &str| record.all(what).count();
    for (what, range) in &expect.requests {
        faults.extend(range.fault(what, count(what)));
    }
    for (what, wanted) in &expect.count {
        if count(what) != *wanted {
            faults.push(format!("{} times {what}, expected {wanted}", count(what)));
        }
    }
    for what in &expect.saw {
        if count(what) == 0 {
            faults.push(format!("{what} was not seen"));
        }
    }
    for what in &expect.never {
        if count(what) > 0 {
            faults.push(format!("{what} was seen"));
        }
    }
    if let Some(gap) = &expect.min_gap_ms {
        match record.gap(&gap.between) {
            Some(found) if found.as_millis() >= u128::from(gap.ms) => {}
            found => {
                faults.push(format!("{found:?} between {:?}, expected {} ms", gap.between, gap.ms))
            }
        }
    }
    if let Some(most) = expect.open_connections_max
        && record.most_connections > most
    {
        faults.push(format!("{} connections at once, allowed {most}", record.most_connections));
    }
    faults
}
