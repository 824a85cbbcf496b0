//! Launchers that are scripts, on Windows.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Finds the file a name without an extension stands for where that is a script.
///
/// Windows itself adds `.exe` and nothing else, yet most launchers of servers (`npx`, `yarn`) are
/// `.cmd` files there, which a shell finds by the list in `PATHEXT`.
pub(crate) fn find_script(
    program: &OsStr,
    path: Option<&OsStr>,
    extensions: Option<&OsStr>,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.extension().is_some() {
        return None;
    }
    let extensions = extensions.and_then(OsStr::to_str).unwrap_or(".COM;.EXE;.BAT;.CMD");
    let bases = if named.components().count() > 1 {
        vec![PathBuf::new()]
    } else {
        std::env::split_paths(path?).collect()
    };
    let mut files = bases.iter().flat_map(|base| {
        extensions.split(';').filter(|extension| !extension.is_empty()).map(|extension| {
            let mut name = OsString::from(program);
            name.push(extension);
            base.join(name)
        })
    });
    files.find(|file| is_file(file))
}

#[cfg(test)]
mod tests {
    use super::{OsStr, Path, PathBuf, find_script};

    fn find(program: &str, there: &[&str]) -> Option<PathBuf> {
        let path = std::env::join_paths(["one", "two"]).expect("a path");
        let is_file = |file: &Path| there.iter().any(|name| file == Path::new(name));
        find_script(OsStr::new(program), Some(&path), Some(OsStr::new(".EXE;.CMD")), is_file)
    }

    #[test]
    fn a_name_without_an_extension_may_be_a_script() {
        let found = |program, there: &[_]| find(program, there).map(|file| file.into_os_string());
        assert_eq!(found("npx", &["two/npx.CMD"]), Some("two/npx.CMD".into()));
        assert_eq!(found("npx", &["two/npx.EXE", "one/npx.CMD"]), Some("one/npx.CMD".into()));
        assert_eq!(found("npx", &["one/npx"]), None);
        assert_eq!(found("npx.cmd", &["one/npx.cmd.CMD"]), None);
        assert_eq!(found("./npx", &["./npx.CMD", "one/npx.CMD"]), Some("./npx.CMD".into()));
    }
}
