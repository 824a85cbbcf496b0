//! The guide to the terminal, where it shows servers of the zoo.

use std::path::Path;

#[path = "../../../../crates/snodo-cli/tests/it/page.rs"]
mod page;

use page::Page;

/// Compares the page with what `snodo` says now; with `SNODO_WRITE_GUIDE` writes it anew.
pub(crate) fn check(zoo: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{GUIDE}: {error}");
    let text = std::fs::read_to_string(GUIDE).map_err(failed)?;
    let folder = std::env::temp_dir().join(format!("snodo-zoo-guide-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let here = std::env::current_exe().map_err(failed)?;
    let program = here.parent().ok_or("the program stands nowhere")?;
    let names = vec![("ZOO".to_owned(), zoo.display().to_string())];
    let page = Page { kind: "console zoo", program, folder: folder.clone(), names };
    let (fresh, stale) = page.check(&text);
    std::fs::remove_dir_all(folder).map_err(failed)?;
    if std::env::var_os("SNODO_WRITE_GUIDE").is_some() {
        return std::fs::write(GUIDE, fresh).map_err(failed);
    }
    if stale.is_empty() { Ok(()) } else { Err(format!("stale:\n{}", stale.join("\n"))) }
}

/// From the root of the tree, where `cargo xtask` starts this.
const GUIDE: &str = "docs/guides/terminal.md";
