//! Launchers that are scripts, on Windows.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Finds the file a name without an extension stands for where that is a script.
///
/// Windows itself adds `.exe` and nothing else, yet most launchers of servers (`npx`, `yarn`) are
/// `.cmd` files there, which a shell finds by the list in `PATHEXT`. Everything here goes by the
/// rules of Windows, wherever it runs: folders of a path stand between semicolons, in quotes where
/// one holds a semicolon itself.
pub fn find_script(
    program: &OsStr,
    path: Option<&OsStr>,
    extensions: Option<&OsStr>,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let program = program.to_str()?;
    let name = program.rsplit(['\\', '/']).next().unwrap_or_default();
    if name.is_empty() || name.contains('.') {
        return None;
    }
    let extensions = extensions.and_then(OsStr::to_str).unwrap_or(".COM;.EXE;.BAT;.CMD");
    let bases = if name.len() < program.len() || name.contains(':') {
        vec![String::new()]
    } else {
        folders(&path?.to_string_lossy())
    };
    let mut files = bases.iter().flat_map(|base| {
        let gap = if base.is_empty() || base.ends_with(['\\', '/']) { "" } else { "\\" };
        let extensions = extensions.split(';').filter(|extension| !extension.is_empty());
        extensions.map(move |extension| PathBuf::from(format!("{base}{gap}{program}{extension}")))
    });
    files.find(|file| is_file(file))
}

/// The folders of a path.
fn folders(path: &str) -> Vec<String> {
    let (mut folders, mut quoted) = (vec![String::new()], false);
    for character in path.chars() {
        match (character, folders.last_mut()) {
            ('"', _) => quoted = !quoted,
            (';', _) if !quoted => folders.push(String::new()),
            (_, Some(folder)) => folder.push(character),
            (_, None) => {}
        }
    }
    folders.retain(|folder| !folder.is_empty());
    folders
}

#[cfg(test)]
mod tests {
    use super::{OsStr, Path, PathBuf, find_script};

    fn find(program: &str, there: &[&str]) -> Option<PathBuf> {
        let path = OsStr::new(r#"C:\one;;"D:\a;b";E:\two\"#);
        let is_file = |file: &Path| there.iter().any(|name| file == Path::new(name));
        find_script(OsStr::new(program), Some(path), Some(OsStr::new(".EXE;.CMD")), is_file)
    }

    // As the given case PL-07 has it.
    #[test]
    fn a_name_without_an_extension_may_be_a_script() {
        let found = |program, there: &[_]| find(program, there).map(|file| file.into_os_string());
        assert_eq!(found("npx", &[r"E:\two\npx.CMD"]), Some(r"E:\two\npx.CMD".into()));
        let both = [r"E:\two\npx.EXE", r"C:\one\npx.CMD"];
        assert_eq!(found("npx", &both), Some(r"C:\one\npx.CMD".into()));
        let one = [r"C:\one\npx.CMD", r"C:\one\npx.EXE"];
        assert_eq!(found("npx", &one), Some(r"C:\one\npx.EXE".into()));
        assert_eq!(found("npx", &[r"D:\a;b\npx.CMD"]), Some(r"D:\a;b\npx.CMD".into()));
        assert_eq!(found("npx", &[r"C:\one\npx"]), None);
        assert_eq!(found("npx.cmd", &[r"C:\one\npx.cmd.CMD"]), None);
        assert_eq!(found("", &[r"C:\one\.CMD"]), None);
        let here = [r".\npx.CMD", r"C:\one\npx.CMD"];
        assert_eq!(found(r".\npx", &here), Some(r".\npx.CMD".into()));
        assert_eq!(found("x/npx", &["x/npx.CMD"]), Some("x/npx.CMD".into()));
        assert_eq!(found(r"C:\v1.2\npx", &[r"C:\v1.2\npx.CMD"]), Some(r"C:\v1.2\npx.CMD".into()));
    }
}
