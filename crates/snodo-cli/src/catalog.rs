//! The configuration: which servers have names.

use std::path::PathBuf;

use snodo::Error;
use snodo_config::Config;

/// Reads the files that were named, or those in the usual places.
///
/// # Errors
///
/// A file that was named is not there or cannot be read (usage).
pub(crate) fn read(named: &[PathBuf]) -> Result<Config, Error> {
    if named.is_empty() {
        return Ok(Config::find());
    }
    if let Some(path) = named.iter().find(|path| !path.exists()) {
        return Err(Error::usage(format!("--config: there is no file {}", path.display())));
    }
    let config = Config::of_files(named);
    let broken = config.sources().iter().find_map(|source| Some((source, source.fault()?)));
    match broken {
        Some((source, fault)) => {
            Err(Error::usage(format!("--config {}: {fault}", source.path().display())))
        }
        None => Ok(config),
    }
}
