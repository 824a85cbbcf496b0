//! What a program says about itself.

use serde_json::{Value, json};

use crate::error::{Error, ErrorKind};
use crate::key::SigningKey;
use crate::place::Place;

/// What a program tells an authorization server that does not know it.
///
/// ```
/// use snodo_oauth::Application;
///
/// let application = Application::new("Agent")
///     .uri("https://agent.example.com")
///     .metadata_document("https://agent.example.com/oauth.json")?;
/// let hosted = application.to_document(["http://127.0.0.1/callback"]).expect("it has a URL");
/// assert_eq!(hosted["client_id"], "https://agent.example.com/oauth.json");
/// # Ok::<(), snodo_oauth::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Application {
    pub(crate) name: String,
    uri: Option<String>,
    logo: Option<String>,
    software: Option<(String, String)>,
    kind: Option<ApplicationType>,
    pub(crate) document: Option<String>,
    pub(crate) key: Option<SigningKey>,
}

/// What kind of program it is; servers allow each other redirect URIs.
///
/// ```
/// # use snodo_oauth::{Application, ApplicationType};
/// let behind_a_proxy = Application::new("Agent").kind(ApplicationType::Web);
/// # let _ = behind_a_proxy;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "OpenID Connect registration knows two")]
pub enum ApplicationType {
    /// On a person's machine: desktop, terminal, or a page that is reached by localhost.
    Native,
    /// A site that others reach.
    Web,
}

impl Application {
    /// A program by its name, which is shown to people.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            uri: None,
            logo: None,
            software: None,
            kind: None,
            document: None,
            key: None,
        }
    }

    /// Its home page.
    pub fn uri(self, uri: impl Into<String>) -> Self {
        Self { uri: Some(uri.into()), ..self }
    }

    /// The URL of its logo.
    pub fn logo(self, uri: impl Into<String>) -> Self {
        Self { logo: Some(uri.into()), ..self }
    }

    /// An id that stays the same over all installations, and the version of this one.
    pub fn software(self, id: impl Into<String>, version: impl Into<String>) -> Self {
        Self { software: Some((id.into(), version.into())), ..self }
    }

    /// What kind of program it is. Unless set, it is native if it is answered on this machine.
    pub fn kind(self, kind: ApplicationType) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// The URL of its metadata document, which is its client id at every server that reads such
    /// documents. What has to be found there is [`to_document`](Self::to_document).
    ///
    /// It is sent and compared by the letter.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`]: the URL is not `https`, or has no path, or `.` or `..` in it, or a
    /// fragment, or a user name.
    pub fn metadata_document(self, url: impl Into<String>) -> Result<Self, Error> {
        let url = url.into();
        check_document(&url).map_err(|why| {
            Error::new(ErrorKind::Usage, format!("the URL of a metadata document {why}"))
        })?;
        Ok(Self { document: Some(url), ..self })
    }

    /// The private key by which the owner of the metadata document signs in; its public half is put
    /// in the document.
    pub fn key(self, key: SigningKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// What has to be found at the URL of the metadata document, with these redirect URIs; `None`
    /// where no URL is set.
    ///
    /// Servers compare a redirect URI with those in the document. Where the port is chosen at run
    /// time, list the loopback ones without a port: most servers then ignore it (RFC 8252, section
    /// 7.3). For others choose a fixed port.
    #[must_use]
    pub fn to_document<I>(&self, redirects: I) -> Option<Value>
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let url = self.document.as_ref()?;
        let redirects: Vec<String> = redirects.into_iter().map(Into::into).collect();
        let mut document = self.described(&redirects);
        document["client_id"] = json!(url);
        document["token_endpoint_auth_method"] = json!("none");
        if let Some(key) = &self.key {
            let mut public = key.public();
            public["alg"] = json!(key.algorithm());
            public["use"] = json!("sig");
            if let Some(id) = key.id() {
                public["kid"] = json!(id);
            }
            document["token_endpoint_auth_method"] = json!("private_key_jwt");
            document["token_endpoint_auth_signing_alg"] = json!(key.algorithm());
            document["jwks"] = json!({ "keys": [public] });
        }
        Some(document)
    }

    /// What a registration and a document have in common.
    pub(crate) fn described(&self, redirects: &[String]) -> Value {
        let local = |uri: &String| Place::read(uri).is_ok_and(|place| place.is_loopback());
        let kind = self.kind.unwrap_or_else(|| {
            if redirects.iter().all(local) { ApplicationType::Native } else { ApplicationType::Web }
        });
        let mut document = json!({
            "client_name": self.name,
            "redirect_uris": redirects,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "application_type": match kind {
                ApplicationType::Native => "native",
                ApplicationType::Web => "web",
            },
        });
        let (id, version) = self.software.clone().unzip();
        for (name, value) in [
            ("client_uri", &self.uri),
            ("logo_uri", &self.logo),
            ("software_id", &id),
            ("software_version", &version),
        ] {
            if let Some(value) = value {
                document[name] = json!(value);
            }
        }
        document
    }
}

/// What a client id has to look like (draft-ietf-oauth-client-id-metadata-document-00, section 3).
fn check_document(url: &str) -> Result<(), &'static str> {
    let place = Place::read(url)?;
    if !place.https {
        return Err("is not https");
    }
    if place.path.len() < 2 {
        return Err("has no path");
    }
    let dots =
        |segment: &str| matches!(&*segment.to_ascii_lowercase(), "." | ".." | "%2e" | "%2e%2e");
    if place.path.split('/').any(dots) {
        return Err("has `.` or `..` in its path");
    }
    if place.fragment.is_some() {
        return Err("has a fragment");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Application;

    // AUTH-51, AUTH-52
    #[test]
    fn a_metadata_document_has_an_https_url_with_a_path_which_stays_as_it_is() {
        for url in [
            "https://example.com/client.json",
            "https://Example.com:443/a//b?x=1",
            "https://example.com/a/",
        ] {
            let application = Application::new("a").metadata_document(url).expect(url);
            assert_eq!(application.document.as_deref(), Some(url));
        }
        for url in [
            "http://example.com/client.json",
            "http://localhost/client.json",
            "https://example.com",
            "https://example.com/",
            "https://example.com/a/../b",
            "https://example.com/./b",
            "https://example.com/%2E%2e/b",
            "https://example.com/a#b",
            "https://me@example.com/a",
            "example.com/a",
        ] {
            assert!(Application::new("a").metadata_document(url).is_err(), "{url}");
        }
    }

    // AUTH-53, AUTH-54, AUTH-55, AUTH-68
    #[test]
    fn the_document_says_what_a_server_has_to_find() {
        let redirects = ["http://127.0.0.1/callback", "http://[::1]/callback"];
        let application = Application::new("Agent").software("s", "1.0");
        assert_eq!(application.to_document(redirects), None);
        let url = "https://example.com/client.json";
        let application = application.metadata_document(url).expect("a URL");
        assert_eq!(
            application.to_document(redirects),
            Some(json!({
                "client_id": url,
                "client_name": "Agent",
                "redirect_uris": redirects,
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "application_type": "native",
                "token_endpoint_auth_method": "none",
                "software_id": "s",
                "software_version": "1.0",
            }))
        );
    }
}
