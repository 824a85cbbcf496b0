//! A page whose console blocks are what the program says: compared, or written anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs the commands of a page's blocks of one kind.
pub(crate) struct Page<'p> {
    /// What stands behind the three quotes of those blocks.
    pub(crate) kind: &'p str,
    /// The folder of the program.
    pub(crate) program: &'p Path,
    /// A folder to run in; the page calls it `/srv/project`.
    pub(crate) folder: PathBuf,
    /// What is written in the page for what is elsewhere on each machine.
    pub(crate) names: Vec<(String, String)>,
}

impl Page<'_> {
    /// Compares a page with what its commands say now; gives the page as it should be, and what is
    /// stale. A block `json mcp.json` is written to that file first.
    pub(crate) fn check(&self, text: &str) -> (String, Vec<String>) {
        let (mut page, mut stale) = (String::new(), Vec::new());
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            page.push_str(&format!("{line}\n"));
            let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else {
                continue;
            };
            let mut block = String::new();
            for line in lines.by_ref().take_while(|line| *line != "```") {
                block.push_str(&format!("{line}\n"));
            }
            if let Some(name) = kind.strip_prefix("json ") {
                fs::write(self.folder.join(name), self.there(&block)).expect("a file");
            }
            if kind == self.kind {
                let fresh = self.play(&block);
                if plain(&fresh) != plain(&block) {
                    stale.push(format!("stands there:\n{block}\nis said:\n{fresh}"));
                    block = fresh;
                }
            }
            page.push_str(&format!("{block}```\n"));
        }
        (page, stale)
    }

    /// The commands of a block, each followed by what it says.
    fn play(&self, block: &str) -> String {
        let mut said = String::new();
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            said.push_str(&format!("$ {command}\n"));
            let path = std::env::var("PATH").unwrap_or_default();
            let ran = Command::new("sh")
                .args(["-c", &format!("exec 2>&1\n{}", self.there(command))])
                .current_dir(&self.folder)
                .env("PATH", format!("{}:{path}", self.program.display()))
                .env("HOME", &self.folder)
                .env_remove("XDG_CONFIG_HOME")
                .env_remove("SNODO_CONFIG")
                .env_remove("SNODO_CREDENTIALS")
                .env_remove("COLUMNS")
                .stdin(Stdio::null())
                .output()
                .expect("a shell");
            said.push_str(&self.here(&String::from_utf8_lossy(&ran.stdout)));
            if let Some(code) = ran.status.code().filter(|code| *code != 0) {
                said.push_str(&format!("[exit status {code}]\n"));
            }
        }
        said
    }

    fn here(&self, text: &str) -> String {
        let text = text.replace(&self.folder.display().to_string(), "/srv/project");
        self.names.iter().fold(text, |text, (name, value)| text.replace(value, name))
    }

    fn there(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// A text without what differs from run to run: times, rates, the blanks before them.
fn plain(text: &str) -> String {
    let words = text.split_inclusive('\n').map(|line| {
        let words: Vec<String> = line.split_whitespace().map(without_fraction).collect();
        let line = words.join(" ");
        match line.split_once("a second") {
            Some(_) => line.chars().filter(|c| !c.is_ascii_digit()).collect(),
            None => line,
        }
    });
    words.collect::<Vec<_>>().join("\n")
}

/// Digits around a point become one sign.
fn without_fraction(word: &str) -> String {
    let bare = word.trim_matches(|c: char| "(),".contains(c));
    let is_fraction = bare.contains('.') && bare.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_fraction { word.replace(bare, "#") } else { word.to_owned() }
}
