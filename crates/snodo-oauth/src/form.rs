//! Pairs of names and values, as forms and queries carry them.

use std::borrow::Cow;
use std::fmt;

use form_urlencoded::Serializer;

use crate::secret::Secret;

/// A form that is filled in: `application/x-www-form-urlencoded`.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(&'static str, Secret)>);

impl Form {
    pub(crate) fn grant(kind: &str) -> Self {
        Self::default().with("grant_type", kind)
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Secret>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Adds a value, if there is one that says anything.
    pub(crate) fn with_some(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) if !value.is_empty() => self.with(name, value),
            _ => self,
        }
    }

    pub(crate) fn encode(&self) -> String {
        let pairs = self.0.iter().map(|(name, value)| (name, value.expose()));
        Serializer::new(String::new()).extend_pairs(pairs).finish()
    }

    /// The URL with the pairs behind whatever query it has.
    pub(crate) fn behind(&self, url: &str) -> String {
        let (url, _) = url.split_once('#').unwrap_or((url, ""));
        let joint = match url.split_once('?') {
            None => "?",
            Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
            Some(_) => "&",
        };
        format!("{url}{joint}{}", self.encode())
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// One value in the encoding of forms.
pub(crate) fn encode(value: &str) -> String {
    form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

/// The pairs of a text in the encoding of forms.
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::Form;

    // AUTH-86
    #[test]
    fn a_query_that_a_url_has_is_kept() {
        let form = Form::default().with("a", "x y&z").with_some("b", Some("")).with_some("c", None);
        for (url, expected) in [
            ("https://as/authorize", "https://as/authorize?a=x+y%26z"),
            ("https://as/authorize?tenant=1", "https://as/authorize?tenant=1&a=x+y%26z"),
            ("https://as/authorize?", "https://as/authorize?a=x+y%26z"),
            ("https://as/authorize#top", "https://as/authorize?a=x+y%26z"),
        ] {
            assert_eq!(form.behind(url), expected);
        }
    }

    #[test]
    fn what_a_form_holds_is_not_shown() {
        let form = Form::grant("password").with("client_secret", "s3cret");
        assert_eq!(format!("{form:?}"), r#"["grant_type", "client_secret"]"#);
    }
}
