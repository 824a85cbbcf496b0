//! Showing a token endpoint who asks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use crate::error::{Error, ErrorKind};
use crate::form::{self, Form};
use crate::identity::Registration;
use crate::jwt;
use crate::metadata::server::Server;

/// How a client authenticates. Never two of them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Basic,
    /// Nothing but the id.
    None,
    Post,
    PrivateKeyJwt,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Basic => "client_secret_basic",
            Self::None => "none",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::Basic, Self::None, Self::Post, Self::PrivateKeyJwt];
        all.into_iter().find(|method| method.name() == name)
    }

    /// How a client does it at a server: as its registration says, else by the first way that the
    /// server takes and the client has something for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`]: there is none.
    pub(crate) fn of(client: &Registration, server: &Server) -> Result<Self, Error> {
        let takes = |method: Self| match &server.auth_methods {
            Some(methods) => methods.iter().any(|name| name == method.name()),
            // RFC 8414, section 2.
            None => method == Self::Basic,
        };
        let has = |method: Self| match method {
            Self::Basic | Self::Post => client.secret.is_some(),
            Self::None => true,
            Self::PrivateKeyJwt => client.key.is_some(),
        };
        if let Some(said) = client.method.filter(|method| has(*method)) {
            return Ok(said);
        }
        if let Some(key) = &client.key
            && (takes(Self::PrivateKeyJwt) || server.auth_methods.is_none())
        {
            let signs = |names: &Vec<String>| names.iter().any(|name| name == key.algorithm());
            if server.auth_algorithms.as_ref().is_none_or(signs) {
                return Ok(Self::PrivateKeyJwt);
            }
        }
        let fits = |method: &Self| has(*method) && takes(*method);
        if let Some(method) = [Self::Basic, Self::Post, Self::None].into_iter().find(fits) {
            return Ok(method);
        }
        if client.secret.is_none() && client.key.is_none() {
            return Ok(Self::None);
        }
        let takes = server.auth_methods.as_ref().map_or_else(String::new, |names| names.join(", "));
        let why = format!("{} authenticates clients by {takes} alone", server.issuer);
        Err(Error::new(ErrorKind::Unsupported, why))
    }
}

/// Adds to a request what shows who asks.
pub(crate) fn authenticate(
    method: Method,
    client: &Registration,
    issuer: &str,
    form: Form,
) -> Result<(Form, HeaderMap), Error> {
    let secret = || client.secret.as_ref().ok_or_else(|| missing("secret"));
    let mut headers = HeaderMap::new();
    let form = match method {
        // A workload that nobody registered has none.
        Method::None => form.with_some("client_id", Some(&client.id)),
        Method::Basic => {
            headers.insert(AUTHORIZATION, basic(&client.id, secret()?.expose())?);
            form
        }
        Method::Post => {
            form.with("client_id", &*client.id).with("client_secret", secret()?.clone())
        }
        Method::PrivateKeyJwt => {
            let key = client.key.as_ref().ok_or_else(|| missing("key"))?;
            form.with("client_assertion_type", JWT_BEARER)
                .with("client_assertion", jwt::assertion(&client.id, issuer, key)?)
        }
    };
    Ok((form, headers))
}

/// Each part in the encoding of forms, then both in base64 (OAuth 2.1, section 2.4.1).
fn basic(id: &str, secret: &str) -> Result<HeaderValue, Error> {
    let both = STANDARD.encode(format!("{}:{}", form::encode(id), form::encode(secret)));
    let value = HeaderValue::from_str(&format!("Basic {both}"));
    let mut value = value.map_err(|_| missing("secret that a header can carry"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn missing(what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("the registration has no {what}"))
}

const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;

    use super::{Method, authenticate};
    use crate::error::ErrorKind;
    use crate::form::Form;
    use crate::identity::Registration;
    use crate::metadata::server::Server;

    fn server(methods: Option<&[&str]>) -> Server {
        let mut server = Server::undocumented("https://as");
        server.auth_methods = methods.map(|names| names.iter().map(ToString::to_string).collect());
        server
    }

    // AUTH-107, AUTH-108, AUTH-69
    #[test]
    fn a_client_does_as_it_was_told_or_as_the_server_takes_it() {
        let public = || Registration::new("c");
        let secret = || public().secret("s");
        let said = |method| Registration { method: Some(method), ..secret() };
        for (client, methods, expected) in [
            (said(Method::Post), Some(&["client_secret_basic"][..]), Method::Post),
            (said(Method::None), Some(&["client_secret_basic"]), Method::None),
            (secret(), Some(&["client_secret_post", "client_secret_basic"]), Method::Basic),
            (secret(), Some(&["client_secret_post", "none"]), Method::Post),
            (secret(), Some(&["none"]), Method::None),
            (secret(), None, Method::Basic),
            (public(), None, Method::None),
            (public(), Some(&["client_secret_basic"]), Method::None),
        ] {
            let found = Method::of(&client, &server(methods)).expect("a method");
            assert_eq!(found, expected, "{client:?} {methods:?}");
        }
        let error = Method::of(&secret(), &server(Some(&["tls_client_auth"]))).expect_err("none");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }

    fn shown(method: Method, client: &Registration) -> (String, Option<String>) {
        let shown = authenticate(method, client, "https://as", Form::grant("g")).expect("shown");
        let header = shown.1.get(AUTHORIZATION).map(|value| {
            assert!(value.is_sensitive());
            value.to_str().expect("text").to_owned()
        });
        (shown.0.encode(), header)
    }

    // AUTH-108, AUTH-109, AUTH-110
    #[test]
    fn each_way_shows_itself_and_nothing_of_another() {
        let client = Registration::new("c d").secret("p:\u{e4} %");
        let none = shown(Method::None, &client);
        assert_eq!(none, ("grant_type=g&client_id=c+d".to_owned(), None));
        let post = shown(Method::Post, &client);
        let body = "grant_type=g&client_id=c+d&client_secret=p%3A%C3%A4+%25";
        assert_eq!(post, (body.to_owned(), None));
        // `c+d:p%3A%C3%A4+%25`
        let basic = shown(Method::Basic, &client);
        let header = "Basic YytkOnAlM0ElQzMlQTQrJTI1";
        assert_eq!(basic, ("grant_type=g".to_owned(), Some(header.to_owned())));
    }
}
