//! One login with an authorization code: what is asked, and whether what comes back answers it.
//!
//! Everything that the code will be used with is written down before anybody is sent away. Metadata
//! that changes meanwhile, or belongs to another server, cannot lead the code elsewhere.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind};
use crate::form::{self, Form};
use crate::metadata::server::Server;
use crate::place::Place;
use crate::policy::Policy;
use crate::random::{sha256, unguessable};
use crate::scopes::Scopes;
use crate::secret::Secret;
use crate::web::printable;

/// A login that was begun. It is used up by its answer, whatever that is.
#[derive(Debug)]
pub(crate) struct Login {
    state: Secret,
    verifier: Secret,
    /// Of metadata that was found good.
    issuer: String,
    sends_issuer: bool,
    redirect: String,
}

/// What a login is for.
pub(crate) struct Purpose<'a> {
    pub(crate) server: &'a Server,
    pub(crate) client: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) scopes: &'a Scopes,
    pub(crate) redirect: &'a str,
}

/// What to do with a server that does not say that it knows PKCE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unadvertised {
    /// It is used with PKCE all the same: servers of 2025-06-18 need not say so.
    Accept,
    #[default]
    Refuse,
}

impl Login {
    /// Begins a login, and gives the URL to send a person to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`]: the server has no such flow, or not with PKCE by S256.
    /// [`ErrorKind::Policy`]: its endpoint is not to be opened. [`ErrorKind::Usage`]: the redirect
    /// URI is neither `https` nor on this machine.
    pub(crate) fn begin(
        purpose: &Purpose<'_>,
        policy: &Policy,
        unadvertised: Unadvertised,
    ) -> Result<(Self, String), Error> {
        let Purpose { server, client, resource, scopes, redirect } = *purpose;
        let endpoint = check_server(server, unadvertised)?;
        policy.check(endpoint)?;
        check_redirect(redirect)?;
        let login = Self {
            state: unguessable()?,
            verifier: unguessable()?,
            issuer: server.issuer.clone(),
            sends_issuer: server.sends_issuer,
            redirect: redirect.to_owned(),
        };
        let url = Form::default()
            .with("response_type", "code")
            .with("client_id", client)
            .with("redirect_uri", redirect)
            .with("code_challenge", sha256(login.verifier.expose()))
            .with("code_challenge_method", "S256")
            .with("state", login.state.clone())
            .with("resource", resource)
            .with_some("scope", scopes.parameter().as_deref())
            // Without it servers of OpenID Connect (Core 1.0, section 11) pass over `offline_access`.
            .with_some("prompt", scopes.ask_offline().then_some("consent"))
            .behind(endpoint);
        Ok((login, url))
    }

    pub(crate) fn state(&self) -> &Secret {
        &self.state
    }

    /// Takes the answer: the URL that the person came back by, or its query. Gives the form that
    /// buys a token with the code.
    ///
    /// The state is looked at first, then the issuer; before both are right nothing else of the
    /// answer is used or shown, and no error in it is believed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`]: it is no answer to this login. [`ErrorKind::Declined`] and
    /// [`ErrorKind::Refused`], with the server's own word.
    pub(crate) fn finish(self, answer: &str) -> Result<Form, Error> {
        let answer = Answer::read(answer)?;
        let state = answer.value("state").map(Secret::new);
        if state.as_ref() != Some(&self.state) {
            return Err(mismatch("the answer to the login has another state, or none"));
        }
        match answer.value("iss") {
            Some(issuer) if issuer == self.issuer => {}
            Some(_) => {
                let why = format!("the answer to the login is not from {:?}", self.issuer);
                return Err(mismatch(&why));
            }
            None if self.sends_issuer => {
                let why = format!("the answer to the login lacks the issuer {:?}", self.issuer);
                return Err(mismatch(&why));
            }
            None => {}
        }
        if let Some(code) = answer.value("error") {
            return Err(refusal(code, answer.value("error_description")));
        }
        let code = answer.value("code").ok_or_else(|| {
            Error::new(ErrorKind::Malformed, "the answer to the login has no code")
        })?;
        Ok(Form::grant("authorization_code")
            .with("code", code)
            .with("redirect_uri", self.redirect)
            .with("code_verifier", self.verifier))
    }
}

/// The parameters of an answer. None of them may be there twice (OAuth 2.1, section 3.1).
struct Answer(BTreeMap<String, Secret>);

impl Answer {
    fn read(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (text, _) = text.split_once('#').unwrap_or((text, ""));
        let query = text.split_once('?').map_or(text, |(_, query)| query);
        let mut parameters = BTreeMap::new();
        for (name, value) in form::pairs(query) {
            if parameters.insert(name.into_owned(), Secret::new(value)).is_some() {
                return Err(mismatch("the answer to the login has a parameter twice"));
            }
        }
        Ok(Self(parameters))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::expose).filter(|value| !value.is_empty())
    }
}

/// The endpoint to send people to, of a server that has what the flow needs.
fn check_server(server: &Server, unadvertised: Unadvertised) -> Result<&str, Error> {
    let lacks =
        |what: &str| Error::new(ErrorKind::Unsupported, format!("{} {what}", server.issuer));
    let says = |names: &Option<Vec<String>>, wanted: &str| {
        names.as_ref().map(|names| names.iter().any(|name| name == wanted))
    };
    if says(&server.response_types, "code") == Some(false) {
        return Err(lacks("gives no authorization codes"));
    }
    match (says(&server.challenge_methods, "S256"), unadvertised) {
        (Some(true), _) | (None, Unadvertised::Accept) => {}
        (Some(false), _) => return Err(lacks("knows PKCE, but not by S256")),
        (None, Unadvertised::Refuse) => return Err(lacks("does not say that it knows PKCE")),
    }
    server.authorization_endpoint.as_deref().ok_or_else(|| lacks("has no page for people"))
}

/// A redirect URI is `https`, or on this machine; anything else can be claimed by others.
fn check_redirect(redirect: &str) -> Result<(), Error> {
    let fault = match Place::read(redirect) {
        Ok(place) if place.fragment.is_some() => "has a fragment",
        Ok(place) if place.https || place.is_loopback() => return Ok(()),
        Ok(_) => "is neither https nor on this machine",
        Err(why) => why,
    };
    Err(Error::new(ErrorKind::Usage, format!("the redirect URI {fault}")))
}

fn refusal(code: &str, description: Option<&str>) -> Error {
    let code = printable(code);
    let mut message = format!("the login ended with {code}");
    if let Some(description) = description {
        message.push_str(&format!(" ({})", printable(description)));
    }
    let kind = if code == "access_denied" { ErrorKind::Declined } else { ErrorKind::Refused };
    Error::new(kind, message).with_code(&code)
}

fn mismatch(why: &str) -> Error {
    Error::new(ErrorKind::Mismatch, why)
}

#[cfg(test)]
mod tests {
    use super::{Login, Purpose, Unadvertised};
    use crate::error::{Error, ErrorKind};
    use crate::form::{Form, pairs};
    use crate::metadata::server::Server;
    use crate::policy::Policy;
    use crate::random::sha256;
    use crate::scopes::Scopes;

    const ISSUER: &str = "https://as.example";

    fn server() -> Server {
        Server::undocumented(ISSUER)
    }

    fn begin(
        server: &Server,
        redirect: &str,
        rule: Unadvertised,
    ) -> Result<(Login, String), Error> {
        let scopes = Scopes::read("a b");
        let resource = "https://mcp.example";
        let purpose = Purpose { server, client: "c", resource, scopes: &scopes, redirect };
        Login::begin(&purpose, &Policy::new(), rule)
    }

    fn begun(server: &Server) -> (Login, String) {
        begin(server, "http://127.0.0.1:1/cb", Unadvertised::Refuse).expect("begun")
    }

    // AUTH-04, AUTH-80, AUTH-81, AUTH-86, AUTH-87, AUTH-114, AUTH-117
    #[test]
    fn a_login_asks_for_a_code_with_all_that_protects_it() {
        let (login, url) = begun(&server());
        let (endpoint, query) = url.split_once('?').expect("a query");
        assert_eq!(endpoint, "https://as.example/authorize");
        let asked: Vec<_> = pairs(query).collect();
        let asked: Vec<_> = asked.iter().map(|(name, value)| (&**name, &**value)).collect();
        let challenge = sha256(login.verifier.expose());
        assert_eq!(
            asked,
            [
                ("response_type", "code"),
                ("client_id", "c"),
                ("redirect_uri", "http://127.0.0.1:1/cb"),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
                ("state", login.state.expose()),
                ("resource", "https://mcp.example"),
                ("scope", "a b"),
            ]
        );
        assert!(query.contains("resource=https%3A%2F%2Fmcp.example&"), "{query}");
        assert!(!query.contains(login.verifier.expose()));
        assert_ne!(begun(&server()).1, url);
    }

    // AUTH-126
    #[test]
    fn consent_is_asked_for_with_offline_access_and_never_else() {
        let asked = |scopes: &str| {
            let (server, scopes) = (server(), Scopes::read(scopes));
            let (resource, redirect) = ("https://mcp.example", "http://127.0.0.1/cb");
            let purpose =
                Purpose { server: &server, client: "c", resource, scopes: &scopes, redirect };
            let begun = Login::begin(&purpose, &Policy::new(), Unadvertised::Refuse);
            begun.expect("begun").1.ends_with("&prompt=consent")
        };
        assert!(asked("a offline_access"));
        assert!(!asked("a"));
    }

    // AUTH-83, AUTH-84, AUTH-85
    #[test]
    fn a_server_that_does_not_say_s256_is_refused_but_for_a_switch() {
        let redirect = "http://127.0.0.1/cb";
        let mut server = server();
        for (methods, rule, fine) in [
            (None, Unadvertised::Refuse, false),
            (None, Unadvertised::Accept, true),
            (Some(vec!["plain".to_owned()]), Unadvertised::Accept, false),
            (Some(Vec::new()), Unadvertised::Accept, false),
        ] {
            server.challenge_methods = methods;
            let begun = begin(&server, redirect, rule);
            match begun {
                Ok(_) => assert!(fine),
                Err(error) => assert_eq!((error.kind(), fine), (ErrorKind::Unsupported, false)),
            }
        }
    }

    // AUTH-91, AUTH-92, AUTH-94
    #[test]
    fn nobody_is_sent_to_or_from_another_place_than_the_web() {
        for redirect in ["https://agent.example.com/cb", "http://localhost:3/cb", "http://[::1]/cb"]
        {
            assert!(begin(&server(), redirect, Unadvertised::Refuse).is_ok(), "{redirect}");
        }
        for redirect in ["http://agent.example.com/cb", "agent:/cb", "https://h/cb#x", ""] {
            let error = begin(&server(), redirect, Unadvertised::Refuse).expect_err(redirect);
            assert_eq!(error.kind(), ErrorKind::Usage);
        }
        for endpoint in
            ["javascript:alert(1)", "data:text/html,x", "file:///x", "http://as.example/"]
        {
            let server = Server { authorization_endpoint: Some(endpoint.into()), ..server() };
            let error = begin(&server, "http://localhost/", Unadvertised::Refuse).expect_err("no");
            assert_eq!(error.kind(), ErrorKind::Policy, "{endpoint}");
        }
    }

    /// What comes of an answer, `@` being the state.
    fn answered(sends_issuer: bool, answer: &str) -> Result<Form, Error> {
        let (login, _) = begun(&Server { sends_issuer, ..server() });
        let answer = answer.replace('@', login.state.expose());
        login.finish(&answer)
    }

    // AUTH-89, AUTH-90, AUTH-97, AUTH-98, AUTH-99
    #[test]
    fn the_issuer_of_an_answer_is_the_recorded_one_by_the_letter() {
        for (sends_issuer, issuer, fine) in [
            (true, "&iss=https%3A%2F%2Fas.example", true),
            (false, "&iss=https://as.example", true),
            (false, "", true),
            (true, "", false),
            (true, "&iss=", false),
            (true, "&iss=https%3A%2F%2Fevil.example.com", false),
            (false, "&iss=https%3A%2F%2Fevil.example.com", false),
            (true, "&iss=https%3A%2F%2Fas.example%2F", false),
            (true, "&iss=https%3A%2F%2FAS.example", false),
            (true, "&iss=https%3A%2F%2Fas.example%3A443", false),
        ] {
            let found =
                answered(sends_issuer, &format!("http://127.0.0.1/?code=x&state=@{issuer}"));
            assert_eq!(found.is_ok(), fine, "{issuer}");
            if let Err(error) = found {
                assert_eq!(error.kind(), ErrorKind::Mismatch);
            }
        }
    }

    // AUTH-87, AUTH-101, AUTH-102, AUTH-103
    #[test]
    fn an_answer_with_another_state_or_a_parameter_twice_is_thrown_away() {
        for answer in [
            "code=x",
            "code=x&state=other",
            "code=x&state=",
            "error=access_denied&state=other",
            "code=x&state=@&state=@",
            "code=x&state=@&code=y",
            "",
        ] {
            let error = answered(false, answer).expect_err(answer);
            assert_eq!(error.kind(), ErrorKind::Mismatch, "{answer}");
        }
        for answer in ["code=x&state=@", "?code=x&state=@", " http://h/cb?code=x&state=@#f\n"] {
            assert!(answered(false, answer).is_ok(), "{answer}");
        }
    }

    // AUTH-100, AUTH-104
    #[test]
    fn an_error_in_an_answer_is_told_only_once_its_sender_is_known() {
        let answer = "error=access_denied&error_description=s3cret&state=@&iss=https://evil";
        let error = answered(true, answer).expect_err("another issuer");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Mismatch, None));
        assert!(!format!("{error:?}").contains("s3cret"));

        let error = answered(false, "error=access_denied&error_description=no+way&state=@");
        let error = error.expect_err("declined");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Declined, Some("access_denied")));
        assert!(error.message().contains("no way"));
        let error = answered(false, "error=invalid_scope&state=@&code=x").expect_err("refused");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Refused, Some("invalid_scope")));
        let error = answered(false, "state=@").expect_err("no code");
        assert_eq!(error.kind(), ErrorKind::Malformed);
    }

    // AUTH-105
    #[test]
    fn a_code_is_spent_with_its_verifier_and_its_redirect_uri() {
        let (login, url) = begun(&server());
        let verifier = login.verifier.expose().to_owned();
        let answer = format!("code=x%20y&state={}", login.state.expose());
        let form = login.finish(&answer).expect("a code").encode();
        let redirect = "redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcb";
        let expected =
            format!("grant_type=authorization_code&code=x+y&{redirect}&code_verifier={verifier}");
        assert_eq!(form, expected);
        assert!(url.contains(&format!("code_challenge={}", sha256(&verifier))));
    }
}
