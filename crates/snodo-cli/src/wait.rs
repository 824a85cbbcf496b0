//! A sign of life at a terminal while an answer is awaited: a spinner, or a bar where the server
//! tells how far it is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use snodo::types::Progress;

use crate::safe;
use crate::terminal::Style;

/// What is shown now. There is one error stream, and so there is one of these.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Shows that something is awaited, until it is dropped.
#[derive(Debug)]
pub(crate) struct Waiting(());

impl Waiting {
    /// Begins, where the error stream is a terminal.
    pub(crate) fn begin(style: Style, what: &str) -> Self {
        if style.width.is_some() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let template = if style.colour { "{spinner:.cyan} {msg}" } else { "{spinner} {msg}" };
            bar.set_style(styled(template));
            bar.set_message(safe::line(what).into_owned());
            bar.enable_steady_tick(TICK);
            *shown() = Some(bar);
        }
        Self(())
    }

    /// Tells how far it is.
    pub(crate) fn progress(progress: &Progress) {
        let Some(bar) = shown().clone() else { return };
        let message = progress.message.as_deref().unwrap_or_default();
        let message = safe::line(message).into_owned();
        match progress.total.filter(|total| *total > 0.0 && total.is_finite()) {
            Some(total) => {
                // A bar of a thousand steps is as fine as a terminal can show.
                let part = (progress.progress / total).clamp(0.0, 1.0);
                bar.set_length(STEPS);
                bar.set_style(styled("{bar:30} {percent:>3}% {msg}"));
                bar.set_position((part * STEPS as f64) as u64);
                bar.set_message(message);
            }
            None => bar.set_message(format!("{} {message}", progress.progress)),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(bar) = shown().take() {
            bar.finish_and_clear();
        }
    }
}

/// Does something with the error stream while nothing else is shown there.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let bar = shown().clone();
    match bar {
        Some(bar) => bar.suspend(work),
        None => work(),
    }
}

/// Stops showing that something is awaited: somebody is asked.
pub(crate) fn stop() {
    if let Some(bar) = shown().take() {
        bar.finish_and_clear();
    }
}

fn shown() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A template of ours is one that can be read.
fn styled(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

const TICK: Duration = Duration::from_millis(100);

const STEPS: u64 = 1_000;
