//! Getting a client id from a server that knows nothing of us (RFC 7591).

use serde_json::{Value, json};

use crate::error::{Error, ErrorKind};
use crate::identity::authenticate::Method;
use crate::identity::{Application, Registration};
use crate::metadata::server::Server;
use crate::web::{Answer, Web, text, texts};

/// Registers a program for one redirect URI.
///
/// # Errors
///
/// [`ErrorKind::Unsupported`]: the server registers nobody. [`ErrorKind::Refused`], with the
/// server's own words: common where it does not like the redirect URI.
pub(crate) async fn register(
    web: &Web,
    server: &Server,
    application: &Application,
    redirect: &str,
) -> Result<Registration, Error> {
    let endpoint = server.registration_endpoint.as_ref().ok_or_else(|| {
        let why = format!("{} registers no clients by itself", server.issuer);
        Error::new(ErrorKind::Unsupported, why)
    })?;
    let answer = web.post_json(endpoint, &request(server, application, redirect)).await?;
    read(&answer, &server.issuer)
}

fn request(server: &Server, application: &Application, redirect: &str) -> Value {
    let mut document = application.described(&[redirect.to_owned()]);
    document["token_endpoint_auth_method"] = json!(method(server).name());
    document
}

/// The way to authenticate that is asked for: none, where the server takes that, for a secret on a
/// person's machine is none.
fn method(server: &Server) -> Method {
    let Some(names) = &server.auth_methods else { return Method::Basic };
    let takes = |method: &Method| names.iter().any(|name| name == method.name());
    [Method::None, Method::Basic, Method::Post].into_iter().find(takes).unwrap_or(Method::None)
}

fn read(answer: &Answer, issuer: &str) -> Result<Registration, Error> {
    if !matches!(answer.status.as_u16(), 200 | 201) {
        return Err(answer.refusal(&format!("the registration at {issuer}")));
    }
    let members = answer.object().unwrap_or_default();
    let id = text(&members, "client_id").ok_or_else(|| {
        Error::new(ErrorKind::Malformed, format!("the registration at {issuer} gave no client id"))
    })?;
    let mut client = Registration::new(id).issuer(issuer);
    if let Some(secret) = text(&members, "client_secret") {
        client = client.secret(secret);
    }
    // Servers that are not strict write the number as a text; 0 means never.
    let expires = members.get("client_secret_expires_at");
    client.expires = expires.and_then(number).filter(|seconds| *seconds > 0);
    client.method = text(&members, "token_endpoint_auth_method").and_then(Method::named);
    client.redirects = texts(&members, "redirect_uris").unwrap_or_default();
    Ok(client)
}

/// A whole number, or one that is written as a text; anything else says nothing.
pub(crate) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{read, request};
    use crate::error::ErrorKind;
    use crate::identity::authenticate::Method;
    use crate::identity::{Application, ApplicationType};
    use crate::metadata::server::Server;
    use crate::web::Answer;

    // AUTH-62, AUTH-63, AUTH-64, AUTH-68, AUTH-69
    #[test]
    fn a_registration_says_what_kind_of_program_it_is_for() {
        let mut server = Server::undocumented("https://as");
        let application = Application::new("Agent");
        let asked = request(&server, &application, "http://127.0.0.1:5000/callback");
        let expected = json!({
            "client_name": "Agent",
            "redirect_uris": ["http://127.0.0.1:5000/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "application_type": "native",
            "token_endpoint_auth_method": "none",
        });
        assert_eq!(asked, expected);
        let kind = |application: &Application, redirect| {
            request(&server, application, redirect)["application_type"].clone()
        };
        assert_eq!(kind(&application, "https://agent.example.com/callback"), "web");
        let native = application.clone().kind(ApplicationType::Native);
        assert_eq!(kind(&native, "https://agent.example.com/callback"), "native");
        for (methods, expected) in [
            (None, "client_secret_basic"),
            (Some(vec!["client_secret_post", "client_secret_basic"]), "client_secret_basic"),
            (Some(vec!["client_secret_post"]), "client_secret_post"),
        ] {
            server.auth_methods =
                methods.map(|names: Vec<_>| names.into_iter().map(str::to_owned).collect());
            let asked = request(&server, &application, "http://localhost/");
            assert_eq!(asked["token_endpoint_auth_method"], expected);
        }
    }

    fn answered(status: u16, body: &str) -> Answer {
        Answer::of(status, "application/json", body)
    }

    // AUTH-49, AUTH-62
    #[test]
    fn what_is_empty_in_an_answer_is_absent() {
        let body = r#"{"client_id":"c","client_secret":"","client_secret_expires_at":"0",
            "token_endpoint_auth_method":null,"client_uri":null,"redirect_uris":["http://x/"]}"#;
        let client = read(&answered(201, body), "https://as").expect("registered");
        assert_eq!((&*client.id, client.issuer.as_deref()), ("c", Some("https://as")));
        assert!(client.secret.is_none() && client.expires.is_none() && client.method.is_none());
        let body = r#"{"client_id":"c","client_secret":"s","client_secret_expires_at":"1700000000",
            "token_endpoint_auth_method":"client_secret_post"}"#;
        let client = read(&answered(200, body), "https://as").expect("registered");
        assert_eq!((client.expires, client.method), (Some(1_700_000_000), Some(Method::Post)));
        assert!(client.is_over(std::time::SystemTime::now()));
    }

    // AUTH-65, AUTH-66
    #[test]
    fn a_refusal_is_told_in_the_server_s_words() {
        let body = r#"{"error":"invalid_redirect_uri","error_description":"no loopback here"}"#;
        let error = read(&answered(400, body), "https://as").expect_err("refused");
        assert_eq!(
            (error.kind(), error.code()),
            (ErrorKind::Refused, Some("invalid_redirect_uri"))
        );
        assert!(error.message().contains("no loopback here"), "{error}");
        let error = read(&answered(201, "{}"), "https://as").expect_err("no id");
        assert_eq!(error.kind(), ErrorKind::Malformed);
    }
}
