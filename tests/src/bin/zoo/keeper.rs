//! Starts and ends HTTP servers, and looks for what is left of any.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::list::{Server, Transport};

/// A value that stands in the environment of a server and of everything it starts.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new(name: &str) -> Self {
        Self(format!("{}-{name}", std::process::id()))
    }

    /// Whether no process carries the mark any more. The kernel may take a moment to forget one.
    pub(crate) async fn nothing_left(&self) -> Result<(), String> {
        let end = Instant::now() + Duration::from_secs(1);
        loop {
            let left = self.carriers();
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!("left behind: {}", left.join(", ")));
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The processes that carry the mark, as far as /proc shows them.
    fn carriers(&self) -> Vec<String> {
        let wanted = format!("{MARK}={}", self.0);
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        let marked = processes.flatten().filter_map(|process| {
            let environment = std::fs::read(process.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == wanted.as_bytes()).then_some(())?;
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            Some(format!("{} ({})", process.file_name().display(), command.trim()))
        });
        marked.collect()
    }
}

/// Where a server is at home: for an HTTP server its process and its address.
pub(crate) struct House {
    pub(crate) mark: (&'static str, String),
    pub(crate) url: Option<String>,
    process: Option<Child>,
}

/// Starts an HTTP server on a free port and waits until it listens; a stdio server is started by
/// the client.
pub(crate) async fn start(server: &Server, mark: &Mark) -> Result<House, String> {
    let variable = (MARK, mark.0.clone());
    if server.transport == Transport::Stdio {
        return Ok(House { mark: variable, url: None, process: None });
    }
    let port = free_port().await.map_err(|error| format!("no free port: {error}"))?;
    let server = server.on(port);
    let mut process = Command::new(&server.command)
        .args(&server.args)
        .envs(&server.env)
        .env(MARK, &mark.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("`{}` does not start: {error}", server.command))?;
    let listens = timeout(START, async {
        while TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.is_err() {
            if let Ok(Some(status)) = process.try_wait() {
                return Err(format!("it ended while it started: {status}"));
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    });
    match listens.await {
        Ok(Ok(())) => Ok(House { mark: variable, url: server.url, process: Some(process) }),
        Ok(Err(why)) => Err(why),
        Err(_) => Err(format!("it does not listen within {START:?}")),
    }
}

impl House {
    /// Whether the server outlives a visit.
    pub(crate) fn stays(&self) -> bool {
        self.process.is_some()
    }

    /// Ends an HTTP server and its whole process group.
    pub(crate) async fn close(mut self) {
        let Some(mut process) = self.process.take() else { return };
        let Some(group) = process.id() else { return };
        for signal in ["-TERM", "-KILL"] {
            // `kill` says that there is no such process when it is gone already.
            let _ = Command::new("kill")
                .args([signal, "--", &format!("-{group}")])
                .stderr(Stdio::null())
                .status()
                .await;
            if timeout(Duration::from_secs(3), process.wait()).await.is_ok() && signal == "-TERM" {
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()?.port())
}

const MARK: &str = "SNODO_ZOO_MARK";
const START: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{MARK, Mark};

    #[tokio::test]
    async fn a_process_that_is_left_behind_is_named() {
        let mark = Mark::new("a test");
        let mut child = Command::new("cat")
            .env(MARK, &mark.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("cat");
        let found = mark.nothing_left().await;
        child.kill().expect("it runs");
        child.wait().expect("it ended");
        assert_eq!(found, Err(format!("left behind: {} (cat)", child.id())));
        assert_eq!(mark.nothing_left().await, Ok(()));
    }
}
