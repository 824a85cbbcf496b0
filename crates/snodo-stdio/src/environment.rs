//! Which environment variables a process gets.

use std::ffi::{OsStr, OsString};

/// The environment variables that a process starts with, before those that are set and removed for
/// it.
///
/// ```
/// use snodo_stdio::{Environment, Stdio};
///
/// let server = Stdio::new("server").environment(Environment::Inherit).env_remove("AWS_PROFILE");
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Environment {
    /// None at all.
    Empty,
    /// All that this process has, secrets included.
    Inherit,
    /// Those that programs need and that hold no secrets: on Unix `HOME`, `LOGNAME`, `PATH`,
    /// `SHELL`, `TERM`, `USER`, `LANG`, `LC_*`, `TZ`, `TMPDIR` and `XDG_*`; on Windows those of
    /// the system, the user's folders, `PATH` and `TEMP`. Shell functions, whose values begin with
    /// `()`, are left out, since a shell would run them.
    #[default]
    Minimal,
}

impl Environment {
    /// Chooses from the variables of this process.
    pub(crate) fn choose(
        self,
        all: impl Iterator<Item = (OsString, OsString)>,
    ) -> impl Iterator<Item = (OsString, OsString)> {
        all.filter(move |(name, value)| match self {
            Self::Empty => false,
            Self::Inherit => true,
            Self::Minimal => is_harmless(name, value),
        })
    }
}

fn is_harmless(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let listed = if cfg!(windows) {
        WINDOWS.iter().any(|known| known.eq_ignore_ascii_case(name))
    } else {
        UNIX.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
    };
    listed && !value.as_encoded_bytes().starts_with(b"()")
}

const UNIX: [&str; 9] =
    ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

const WINDOWS: [&str; 18] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TZ",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

#[cfg(test)]
mod tests {
    use super::{Environment, OsString};

    fn names(environment: Environment, all: &[(&str, &str)]) -> String {
        let all = all.iter().map(|&(name, value)| (OsString::from(name), OsString::from(value)));
        let chosen = environment.choose(all);
        let names: Vec<_> =
            chosen.map(|(name, _)| name.into_string().expect("as it was given")).collect();
        names.join(" ")
    }

    const ALL: [(&str, &str); 7] = [
        ("PATH", "/bin"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("LC_ALL", "C"),
        ("XDG_RUNTIME_DIR", "/run"),
        ("SHELL", "() { :; }; echo"),
        ("PATHOLOGY", "x"),
        ("TMPDIR", "/tmp"),
    ];

    // STDIO-16
    #[cfg(unix)]
    #[test]
    fn only_what_programs_need_is_passed_on_unless_more_is_asked_for() {
        assert_eq!(names(Environment::default(), &ALL), "PATH LC_ALL XDG_RUNTIME_DIR TMPDIR");
        assert_eq!(names(Environment::Empty, &ALL), "");
        assert_eq!(names(Environment::Inherit, &ALL).split(' ').count(), ALL.len());
    }
}
