//! A program of the machine that serves a test, and ends with it.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

/// One process and its folder.
///
/// # Drop behavior
///
/// The process is killed by its id, waited for, and its folder is removed.
pub(super) struct Program {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Program {
    /// Starts a program on a free port and waits until it listens. `@PORT@` and `@FOLDER@` stand
    /// for what they say, in files and arguments alike.
    pub(super) async fn start(name: &str, files: &[(&str, &str)], arguments: &[&str]) -> Self {
        let path = find(name);
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            match Self::attempt(&path, files, arguments).await {
                Ok(program) => return program,
                Err(why) => last = why,
            }
        }
        panic!("{name} does not listen: {last}");
    }

    /// The port may be somebody else's by the time that the program takes it.
    async fn attempt(
        path: &Path,
        files: &[(&str, &str)],
        arguments: &[&str],
    ) -> Result<Self, String> {
        let folder = folder();
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
        let port = free.expect("a free port").port();
        let place = folder.display().to_string();
        let fill =
            |text: &str| text.replace("@PORT@", &port.to_string()).replace("@FOLDER@", &place);
        for (file, text) in files {
            fs::write(folder.join(file), fill(text)).expect("the folder is ours");
        }
        let log = fs::File::create(folder.join("output")).expect("the folder is ours");
        let child = Command::new(path)
            .args(arguments.iter().map(|argument| fill(argument)))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut program = Self { child, folder, port };
        for _ in 0..POLLS {
            if let Ok(Some(status)) = program.child.try_wait() {
                let said = fs::read_to_string(program.folder.join("output")).unwrap_or_default();
                return Err(format!("it ended with {status}: {said}"));
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
                return Ok(program);
            }
            sleep(POLL).await;
        }
        Err("its time is over".to_owned())
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Where a program stands; services are often beside the search path.
fn find(name: &str) -> PathBuf {
    let given = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&given).chain(["/usr/sbin".into()]);
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| file.is_file()).unwrap_or_else(|| {
        panic!("{name} is not on this machine: `cargo xtask peers` installs it on Debian")
    })
}

fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("snodo-peers-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

const ATTEMPTS: u32 = 5;
const POLLS: u32 = 500;
const POLL: Duration = Duration::from_millis(20);
