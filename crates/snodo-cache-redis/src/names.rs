//! What things are called on Redis.

use snodo::cache::{Group, Key};

/// The names of what belongs to one key.
pub(crate) struct Names {
    /// The result.
    pub(crate) entry: String,
    /// Who fetches it.
    pub(crate) claim: String,
    /// In which generation its server and its group are.
    pub(crate) generations: [String; 2],
}

/// Keys longer than this are not for Redis: 4 KiB.
const LONGEST_KEY: usize = 4 * 1024;

impl Names {
    /// `None` for a key that is too long.
    pub(crate) fn of(prefix: &str, key: &Key) -> Option<Self> {
        let text = key.text();
        (text.len() <= LONGEST_KEY).then(|| Self {
            entry: format!("{prefix}:result:{text}"),
            claim: format!("{prefix}:claim:{text}"),
            generations: [
                generation(prefix, &key.group().whole()),
                generation(prefix, key.group()),
            ],
        })
    }
}

/// In which generation a group is.
pub(crate) fn generation(prefix: &str, group: &Group) -> String {
    format!("{prefix}:generation:{}", group.text())
}
