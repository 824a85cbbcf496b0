//! The log, on the error stream.

use std::io::{self, Write};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::doctor::Warnings;
use crate::{safe, wait};

/// Logs from now on: warnings, and more with each `-v`.
pub(crate) fn start(verbosity: u8) {
    let level = match verbosity {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::registry().with(lines().with_filter(level)).init();
}

/// Logs what is asked for, and collects warnings besides.
pub(crate) fn start_collecting(verbosity: u8, warnings: Warnings) {
    let level = match verbosity {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    tracing_subscriber::registry().with(lines().with_filter(level)).with(warnings).init();
}

fn lines<S>() -> impl Layer<S>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    tracing_subscriber::fmt::layer().with_ansi(false).without_time().with_writer(|| SafeStderr)
}

/// Writes a line for people to the error stream.
pub(crate) fn tell(line: &str) {
    // When nobody reads the error stream there is nobody to tell that to.
    wait::aside(|| {
        let _ = writeln!(io::stderr().lock(), "{line}");
    });
}

/// The error stream, for records that end with a newline and hold no other: what servers say is in
/// them, and must neither steer a terminal nor look like a record of its own.
struct SafeStderr;

impl Write for SafeStderr {
    /// Takes a whole record at once, as the subscriber writes it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let record = String::from_utf8_lossy(bytes);
        tell(&safe::line(record.trim_end_matches('\n')));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
