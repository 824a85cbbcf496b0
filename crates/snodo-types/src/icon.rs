//! Icons.

use crate::object::object;
use crate::{Members, OneOrMany, Raw};

/// A picture a program may show beside a name. Not before 2025-11-25.
///
/// Nothing here fetches it. Whoever does takes [`is_safe`](Self::is_safe) as the first of several
/// checks: no credentials, a bounded size, and the type told from the bytes.
///
/// ```
/// use snodo_types::Icon;
///
/// let icon = Icon::new("https://example.com/a.png").with_mime_type("image/png");
/// assert!(icon.is_safe());
/// assert!(!Icon::new("javascript:alert(1)").is_safe());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Icon {
    /// Where it is: an `https:` or `data:` URI.
    pub src: String,
    /// Its type, where the source does not tell.
    pub mime_type: Option<String>,
    /// For which sizes it is made (`48x48`), or `any`; some servers send one string.
    pub sizes: Option<OneOrMany<String>>,
    /// For which background it is made.
    pub theme: Option<Theme>,
    /// Members without a name here.
    pub other: Members,
}

/// The background an [`Icon`] is made for.
///
/// ```
/// use snodo_types::Theme;
/// assert_eq!(Theme::from("dark"), Theme::Dark);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Theme {
    /// A dark background.
    Dark,
    /// A light background.
    Light,
    /// A theme that the protocol does not know, as it came.
    Other(Box<str>),
}

impl Icon {
    /// An icon at this URI.
    #[must_use]
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: None, theme: None, other: Members::new() }
    }

    /// Sets the type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the sizes.
    #[must_use]
    pub fn with_sizes<I: Into<String>>(mut self, sizes: impl IntoIterator<Item = I>) -> Self {
        self.sizes = Some(OneOrMany::many(sizes.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets the theme.
    #[must_use]
    pub fn with_theme(mut self, theme: Theme) -> Self {
        self.theme = Some(theme);
        self
    }

    /// Icons as the value of a member.
    pub(crate) fn list(icons: impl IntoIterator<Item = Self>) -> Raw {
        let icons: Vec<Self> = icons.into_iter().collect();
        Raw::of(&icons).expect("icons are strings")
    }

    /// Whether the source is of a scheme that may be fetched at all: `https:` or `data:`.
    ///
    /// Plain `http:` is not (basic, "Icons": the security list names only these two).
    #[must_use]
    pub fn is_safe(&self) -> bool {
        let scheme = self.src.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| {
            scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("data")
        })
    }
}

object! {
    impl Icon {
        required src: "src",
        optional mime_type: "mimeType",
        optional sizes: "sizes",
        optional theme: "theme";
        other
    }
}

object! {
    words Theme {
        Dark: "dark",
        Light: "light",
    }
}

#[cfg(test)]
mod tests {
    use super::Icon;

    // ICON-03, ICON-05
    #[test]
    fn only_https_and_data_are_safe_to_fetch() {
        for src in ["https://a/b.png", "HTTPS://a/b.png", "data:image/png;base64,AA"] {
            assert!(Icon::new(src).is_safe(), "{src}");
        }
        for src in ["http://a/", "file:///a", "javascript:x", "ftp://a", "ws://a", "app:x", "x"] {
            assert!(!Icon::new(src).is_safe(), "{src}");
        }
    }
}
