//! Who a client or a server is.

use crate::object::object;
use crate::{Icon, Members, Raw, lens};

/// The name and version of a client or a server, for people and logs.
///
/// Nothing may be decided by it (basic, "`_meta`": display, logging and debugging only).
///
/// ```
/// use snodo_types::Implementation;
///
/// let agent = Implementation::new("agent", "1.4.0").with_title("The agent");
/// assert_eq!(
///     serde_json::to_string(&agent)?,
///     r#"{"name":"agent","title":"The agent","version":"1.4.0"}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Implementation {
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// The version; empty where the peer did not say.
    pub version: String,
    /// What it does. Not before 2025-11-25.
    pub description: Option<String>,
    /// Where to read more. Not before 2025-11-25.
    pub website_url: Option<String>,
    /// Icons, as they came; read by [`icons`](Self::icons). Not before 2025-11-25.
    pub icons: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl Implementation {
    /// A name and a version.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            website_url: None,
            icons: None,
            other: Members::new(),
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what it does.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets where to read more.
    #[must_use]
    pub fn with_website_url(mut self, url: impl Into<String>) -> Self {
        self.website_url = Some(url.into());
        self
    }

    /// Sets the icons.
    #[must_use]
    pub fn with_icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.icons = Some(Icon::list(icons));
        self
    }

    /// The icons that can be read.
    #[must_use]
    pub fn icons(&self) -> Vec<Icon> {
        lens::hints(self.icons.as_ref())
    }

    /// The name to show: the title, or else the name.
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    impl Implementation {
        required name: "name",
        optional title: "title",
        default version: "version",
        optional description: "description",
        optional website_url: "websiteUrl",
        optional icons: "icons";
        other
    }
}
