//! A child process and its group.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;

/// The child that was started, and all that it started in turn: they share a process group (a job
/// on Windows).
///
/// The group is signalled only until it is known to be gone, since its number may be given to
/// somebody else afterwards.
pub(crate) struct Process(Mutex<Inner>);

struct Inner {
    child: Box<dyn ChildWrapper>,
    /// The number of the group, which is that of the child.
    group: Option<u32>,
    /// The child was reaped.
    exited: bool,
    /// So was, or will be, everything else in the group.
    gone: bool,
}

impl Process {
    pub(crate) fn new(child: Box<dyn ChildWrapper>) -> Self {
        let group = child.id();
        Self(Mutex::new(Inner { child, group, exited: false, gone: false }))
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.lock().child.id()
    }

    /// Waits for the child itself; `None` if the system cannot tell its status.
    pub(crate) async fn exited(&self) -> Option<ExitStatus> {
        poll_fn(|cx| self.poll_exited(cx)).await
    }

    /// Waits for the child and for everything in its group.
    pub(crate) async fn gone(&self) {
        self.exited().await;
        let mut pause = Duration::from_millis(1);
        while !self.lock().look_for_others() {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Asks everything in the group to end. Where that cannot be asked, it is killed.
    pub(crate) fn terminate(&self) {
        let mut inner = self.lock();
        if !inner.gone {
            #[cfg(unix)]
            let asked = inner.child.signal(SIGTERM);
            #[cfg(not(unix))]
            let asked = inner.child.start_kill();
            inner.note(asked.is_ok());
        }
    }

    /// Kills everything in the group.
    pub(crate) fn kill(&self) {
        let mut inner = self.lock();
        if !inner.gone {
            let killed = inner.child.start_kill();
            inner.note(killed.is_ok());
        }
    }

    /// Kills everything in the group and takes the child off the system's list, without a runtime.
    ///
    /// What was killed is gone within moments, for which this blocks: 100 ms at most.
    pub(crate) fn kill_and_reap(&self) {
        self.kill();
        for _ in 0..100 {
            let mut inner = self.lock();
            if !inner.exited {
                inner.exited = matches!(inner.child.inner_mut().try_wait(), Ok(Some(_)));
            }
            if inner.exited && inner.look_for_others() {
                return;
            }
            drop(inner);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Reaps what the group left, where it was inherited by this process: only one that adopts
    /// orphans, such as the first of a container, has anything to do here.
    pub(crate) fn reap_others(&self) {
        let mut inner = self.lock();
        inner.gone = true;
        if inner.exited {
            let _ = inner.child.try_wait();
        }
    }

    fn poll_exited(&self, cx: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        // The wait keeps nothing of its own between polls, so that it can be made anew each time
        // and the lock is never held across one. It is that of the child below the group: the
        // group's would also wait for what is left running.
        let mut inner = self.lock();
        let polled = pin!(inner.child.inner_mut().wait()).poll(cx);
        polled.map(|status| {
            inner.exited = true;
            status.ok()
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Whether nobody else is left in the group of a child that was reaped.
    fn look_for_others(&mut self) -> bool {
        if !self.gone {
            #[cfg(unix)]
            let found = self.child.signal(SIGWINCH).is_ok() && self.group.is_none_or(is_alive);
            // A job ends with its handle.
            #[cfg(not(unix))]
            let found = self.child.start_kill().is_err();
            self.note(found);
        }
        self.gone
    }

    /// After the child was reaped, a signal that finds nobody says that the group is gone.
    fn note(&mut self, found: bool) {
        self.gone |= self.exited && !found;
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Process").field(&self.id()).finish()
    }
}

/// Whether a group has a member that is more than an entry in a list: orphans are taken off it by
/// the first process of a system, and those of containers are slow at that or never do.
#[cfg(unix)]
fn is_alive(group: u32) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return true };
    let mut looked = false;
    for entry in entries.flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name, which may hold anything, ends with the last parenthesis (proc_pid_stat(5)).
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let mut fields = fields.split_ascii_whitespace();
        let (state, of) = (fields.next(), fields.nth(1).and_then(|of| of.parse().ok()));
        looked = true;
        if of == Some(group) && !matches!(state, Some("X" | "Z")) {
            return true;
        }
    }
    // Where there is nothing to look at the signal's word counts.
    !looked
}

/// How a process ended: as a sentence about it, and as a note.
pub(crate) fn ending(status: Option<ExitStatus>) -> (String, Option<String>) {
    let Some(status) = status else { return ("ended".to_owned(), None) };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return (format!("was killed by signal {signal}"), Some(format!("signal {signal}")));
    }
    match status.code() {
        Some(code) => (format!("exited with status {code}"), Some(format!("exit status {code}"))),
        None => ("ended".to_owned(), None),
    }
}

/// The same number on every Unix.
#[cfg(unix)]
const SIGTERM: i32 = 15;

/// Sent only to find out whether anybody is there: the one signal of the same number on the Unixes
/// in use that does nothing to whoever does not ask for it.
#[cfg(unix)]
const SIGWINCH: i32 = 28;
