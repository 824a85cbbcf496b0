//! What was found out about a server, kept for a later connection.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use snodo_types::ProtocolVersion;

use crate::Client;
use crate::client::Core;

/// The version a server was found to speak. Saved and given to
/// [`Builder::verdict`](crate::Builder::verdict), it spares a later client the question.
///
/// It is written as the version's text. It belongs to one server configuration: another server, or
/// another version of it, may speak another version; a verdict that proves wrong is noticed and the
/// server is asked after all (2026-07-28, versioning, "Backward Compatibility with
/// Initialization-Based Versions").
///
/// ```
/// use snodo::Verdict;
///
/// let saved: Verdict = serde_json::from_str(r#""2025-11-25""#)?;
/// assert_eq!(saved.version().as_str(), "2025-11-25");
/// assert_eq!(serde_json::to_string(&saved)?, r#""2025-11-25""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict(ProtocolVersion);

impl Verdict {
    pub(crate) fn new(version: ProtocolVersion) -> Self {
        Self(version)
    }

    /// The version.
    #[must_use]
    pub fn version(self) -> ProtocolVersion {
        self.0
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

/// A call failed under a verdict that nothing has confirmed. Says whether the server speaks another
/// version after all; then there is a connection in it, and the call, which an older server cannot
/// have carried out without a session, may be made again.
///
/// # Cancel safety
///
/// Dropped in the middle, nothing was found out, and the next failure is doubted again.
pub(crate) async fn doubt(core: Arc<Core>, epoch: u64) -> bool {
    // One doubt is enough for all who failed meanwhile.
    let _turn = core.renewal.turn().await;
    if core.connection().epoch > epoch || core.is_closed() {
        return !core.is_closed();
    }
    if !core.believed.load(Ordering::Acquire) {
        return false;
    }
    if Client::of(Arc::clone(&core)).discover().beyond_doubt().await.is_ok() {
        core.believed.store(false, Ordering::Release);
        return false;
    }
    let before = core.connection().opened.dialect.version();
    match core.reconnect(epoch).await {
        Ok(connection) => {
            let revised = connection.opened.dialect.version() != before;
            core.revised.store(revised, Ordering::Release);
            core.believed.store(false, Ordering::Release);
            revised
        }
        Err(error) => {
            tracing::debug!(%error, "a kept verdict could not be revised");
            false
        }
    }
}
