//! The two kinds of tasks.

use serde::{Deserialize, Serialize};
use snodo::Client;
use snodo::dialect::{Era, dialect};

use crate::extension::GET;

/// Which tasks a version has, and so what is said about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Those of the core, where the client asks for a task.
    Core,
    /// Those of the extension, where the server makes one unasked.
    Extension,
}

impl Kind {
    /// The tasks that are spoken of on a connection; `None` where its version has none.
    pub(crate) fn of(client: &Client) -> Option<Self> {
        let dialect = dialect(client.protocol());
        match dialect.era() {
            Era::Stateless => Some(Self::Extension),
            _ => dialect.admit(GET).is_ok().then_some(Self::Core),
        }
    }
}
