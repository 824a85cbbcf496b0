//! Hints about whom a piece of content is for.

use crate::object::object;
use crate::{Members, Role};

/// Hints on content and resources: for whom, how important, how old.
///
/// They are hints: whatever is not as it should be reads as absent, and stays in
/// [`other`](Self::other).
///
/// ```
/// use snodo_types::{Annotations, Role};
///
/// let hints: Annotations = serde_json::from_str(r#"{"audience":["user"],"priority":0.5}"#)?;
/// assert_eq!(hints.audience, Some(vec![Role::User]));
/// assert_eq!(hints.priority, Some(0.5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is for.
    pub audience: Option<Vec<Role>>,
    /// From 0, wholly optional, to 1, effectively required.
    pub priority: Option<f64>,
    /// When it was last changed, as the server writes times (ISO 8601).
    pub last_modified: Option<String>,
    /// Members without a name here.
    pub other: Members,
}

object! {
    impl Annotations {
        optional audience: "audience",
        optional priority: "priority",
        optional last_modified: "lastModified";
        other
    }
}
