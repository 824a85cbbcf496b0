//! A Redis of a test's own.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use snodo_cache_redis::Redis;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A `redis-server` on a free port of the loopback interface, which keeps nothing on disk. Dropping
/// it kills it.
pub(crate) struct Server {
    port: u16,
    folder: PathBuf,
    process: Option<Child>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        static SERVERS: AtomicUsize = AtomicUsize::new(0);
        let number = SERVERS.fetch_add(1, Ordering::SeqCst);
        let name = format!("snodo-redis-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        // Somebody else may take the port in between: then it is another one.
        for _ in 0..5 {
            let mut server = Self { port: free_port(), folder: folder.clone(), process: None };
            if server.begin().await {
                return server;
            }
        }
        panic!("redis-server does not start");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// A store of one process.
    pub(crate) fn store(&self) -> Redis {
        Redis::new(self.url()).expect("a URL")
    }

    /// Ends it as a crash would.
    pub(crate) async fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().await.expect("it is ours to kill");
        }
    }

    /// Starts it again on its port, with nothing in it. Says whether it runs.
    pub(crate) async fn begin(&mut self) -> bool {
        let port = self.port.to_string();
        let started = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port, "--save", "", "--appendonly", "no"])
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let mut process =
            started.expect("redis-server is installed: `cargo xtask nextest` sees to it");
        for _ in 0..500 {
            if process.try_wait().expect("a child").is_some() {
                return false;
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.is_ok() {
                self.process = Some(process);
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}
