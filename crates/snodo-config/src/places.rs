//! Where hosts keep their lists.

use std::env;
use std::path::{Path, PathBuf};

/// The usual places, in the order in which they count.
///
/// `SNODO_CONFIG` names one file or several (with `:` between, `;` on Windows), and then no other is
/// looked at. Without it: the user's own files (that of snodo, those of Claude, Cursor, VS Code,
/// Windsurf), and then those of the current [folder](in_folder). The user's own come first, so that a
/// folder from somewhere else cannot take the place of a server that the user knows by its name.
///
/// ```
/// assert!(snodo_config::places().iter().any(|path| path.ends_with("mcp.json")));
/// ```
#[must_use]
pub fn places() -> Vec<PathBuf> {
    if let Some(named) = env::var_os("SNODO_CONFIG").filter(|named| !named.is_empty()) {
        return env::split_paths(&named).collect();
    }
    let mut places = home().map_or_else(Vec::new, |home| of_user(&home, &settings(&home)));
    places.extend(env::current_dir().map(|folder| in_folder(&folder)).unwrap_or_default());
    places
}

/// The places in a project's folder: `.mcp.json`, `mcp.json`, `.vscode/mcp.json`,
/// `.cursor/mcp.json`.
///
/// ```
/// let places = snodo_config::in_folder("/srv/project");
/// assert!(places[0].ends_with("project/.mcp.json"));
/// ```
#[must_use]
pub fn in_folder(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let folder = folder.as_ref();
    [".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"]
        .map(|place| folder.join(place))
        .to_vec()
}

pub(crate) fn home() -> Option<PathBuf> {
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    env::var_os(name).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The folder for the settings of the user's programs: `XDG_CONFIG_HOME` or `~/.config`,
/// `Library/Application Support` on macOS, `APPDATA` on Windows; `None` where there is no home.
///
/// ```
/// let own = snodo_config::settings_folder().map(|folder| folder.join("snodo/mcp.json"));
/// # let _ = own;
/// ```
#[must_use]
pub fn settings_folder() -> Option<PathBuf> {
    home().map(|home| settings(&home))
}

fn settings(home: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        return home.join("Library/Application Support");
    }
    let (name, usual) =
        if cfg!(windows) { ("APPDATA", "AppData/Roaming") } else { ("XDG_CONFIG_HOME", ".config") };
    let named = env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| home.join(usual))
}

fn of_user(home: &Path, settings: &Path) -> Vec<PathBuf> {
    vec![
        settings.join("snodo/mcp.json"),
        home.join(".claude.json"),
        settings.join("Claude/claude_desktop_config.json"),
        home.join(".cursor/mcp.json"),
        settings.join("Code/User/mcp.json"),
        home.join(".codeium/windsurf/mcp_config.json"),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::of_user;

    #[test]
    fn the_user_s_own_file_comes_first() {
        let places = of_user(Path::new("/srv/x"), Path::new("/srv/x/.config"));
        assert_eq!(places[0], Path::new("/srv/x/.config/snodo/mcp.json"));
        assert!(places.iter().all(|place| place.starts_with("/srv/x")));
    }
}
