//! Opening a page where the person is.

use std::io;
use std::process::Stdio;

use tokio::process::Command;

/// Opens a page. Every `Fn(&str) -> io::Result<()>` is one.
///
/// ```
/// use snodo_oauth::{LoopbackListener, Opener};
///
/// fn tell(url: &str) -> std::io::Result<()> {
///     eprintln!("Please open {url}");
///     Ok(())
/// }
/// let listener = LoopbackListener::new(tell);
/// # fn is_opener(_: impl Opener) {}
/// # is_opener(tell);
/// # let _ = listener;
/// ```
pub trait Opener: Send + Sync + 'static {
    /// Opens a URL that was checked, and does not wait for the page to be closed.
    ///
    /// # Errors
    ///
    /// It could not be opened: the login ends.
    fn open(&self, url: &str) -> io::Result<()>;
}

impl<F: Fn(&str) -> io::Result<()> + Send + Sync + 'static> Opener for F {
    fn open(&self, url: &str) -> io::Result<()> {
        self(url)
    }
}

/// Opens pages in the browser of the system: `xdg-open`, `open` on macOS, the URL handler of
/// Windows. The URL is one argument of a program; no shell reads it.
///
/// Only a program that says so starts another one: nothing here does it unasked.
///
/// ```
/// use snodo_oauth::{LoopbackListener, SystemBrowser};
///
/// let listener = LoopbackListener::new(SystemBrowser);
/// # let _ = listener;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to set")]
pub struct SystemBrowser;

impl Opener for SystemBrowser {
    fn open(&self, url: &str) -> io::Result<()> {
        let mut command = command(url);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // It outlives this; the runtime reaps it when it ends.
        command.spawn().map(drop)
    }
}

fn command(url: &str) -> Command {
    let (program, before): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("/usr/bin/open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(url);
    command
}

#[cfg(test)]
mod tests {
    use super::command;

    // AUTH-95, SAFE-03
    #[test]
    fn the_url_is_one_argument_of_a_program_that_is_no_shell() {
        let url = "https://as.example/authorize?a=1&b=$(reboot);c";
        let command = command(url);
        let command = command.as_std();
        assert_eq!(command.get_args().last().expect("arguments"), url);
        let program = command.get_program().to_str().expect("text");
        assert!(!["sh", "bash", "cmd", "powershell"].contains(&program));
    }
}
