//! What a client leaves behind: memory, descriptors, tasks.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::Expect;
use crate::open_descriptors;

/// Readings of this process before a case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge {
    descriptors: usize,
    memory: u64,
}

impl Gauge {
    /// Reads now.
    pub(crate) fn read() -> Self {
        Self { descriptors: descriptors(), memory: memory() }
    }

    /// What was left behind that should not have been, once all clients are gone. The last of it
    /// goes in the background, and is waited for.
    pub(crate) async fn faults(&self, expect: &Expect) -> Vec<String> {
        let mut faults = Vec::new();
        if let Some(most) = expect.tasks_left {
            let left = settle(most, || Handle::current().metrics().num_alive_tasks()).await;
            if left > most {
                faults.push(format!("{left} tasks are left, allowed {most}"));
            }
        }
        if let Some(most) = expect.open_fds_growth_max {
            let grown = settle(most, || descriptors().saturating_sub(self.descriptors)).await;
            if grown > most {
                faults.push(format!("{grown} more descriptors are open, allowed {most}"));
            }
        }
        if let Some(most) = expect.max_rss_growth_bytes {
            let grown = memory().saturating_sub(self.memory);
            if grown > most {
                faults.push(format!("{grown} bytes more are resident, allowed {most}"));
            }
        }
        faults
    }
}

/// Reads until it is at most `limit`, or some time has passed.
pub(crate) async fn settle(limit: usize, read: impl Fn() -> usize) -> usize {
    let start = Instant::now();
    loop {
        let count = read();
        if count <= limit || start.elapsed() > SETTLING {
            return count;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn descriptors() -> usize {
    open_descriptors().unwrap_or(0)
}

/// The resident bytes of this process.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes.unwrap_or(0_u64) * 1024
}

const SETTLING: Duration = Duration::from_secs(6);
