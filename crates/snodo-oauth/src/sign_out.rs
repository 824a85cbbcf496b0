//! Giving tokens back.

use std::sync::Arc;

use snodo_http::Errands;

use crate::error::{Error, ErrorKind};
use crate::form::Form;
use crate::identity::authenticate::{Method, authenticate};
use crate::metadata::discover;
use crate::oauth::OAuth;
use crate::place::Place;
use crate::renew::{Reach, Renewal};
use crate::tokens::Tokens;
use crate::web::Web;

impl OAuth {
    /// Forgets the tokens for an MCP server, and what a person declined there; tells the
    /// authorization server that they are not used any more, if it wants to know (RFC 7009).
    ///
    /// The next refusal of that server leads to a new login. A renewal that is under way is given up.
    ///
    /// # Errors
    ///
    /// The tokens are forgotten all the same, unless it is of kind [`ErrorKind::Store`]; the
    /// authorization server could not be told.
    ///
    /// # Cancel safety
    ///
    /// Dropped in the middle, this process has forgotten the tokens; the store may still hold them, and
    /// the authorization server may not have been told.
    pub async fn sign_out(&self, url: &str, errands: &Errands) -> Result<(), Error> {
        let url = canonical(url)?;
        let session = self.session(&url).await?;
        let tokens = session.tokens();
        session.clear();
        let Some(tokens) = tokens else { return Ok(()) };
        let shared = Arc::clone(self.shared());
        shared.records.forget(&tokens.origin).await?;
        let web = Web::new(errands, &shared.config.policy);
        Renewal { shared, session, web, reach: Reach::Refresh }.revoke(&tokens).await
    }
}

impl Renewal {
    /// Revokes the refresh token, and with it what came of it; without one, the token itself.
    async fn revoke(&self, tokens: &Tokens) -> Result<(), Error> {
        let (issuer, equality) = (&tokens.origin.issuer, self.shared.config.equality);
        let server = discover::server(&self.web, issuer, equality).await?;
        let Some(endpoint) = &server.revocation_endpoint else { return Ok(()) };
        let Some(client) = self.client_of(&tokens.origin).await? else { return Ok(()) };
        let (token, hint) = match &tokens.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&tokens.access, "access_token"),
        };
        let form = Form::default().with("token", token.clone()).with("token_type_hint", hint);
        let method = Method::of(&client, &server)?;
        let (form, headers) = authenticate(method, &client, issuer, form)?;
        let answer = self.web.post_form(endpoint, headers, &form).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        Err(answer.refusal(&format!("the revocation endpoint of {issuer}")))
    }
}

/// The URL as requests have it.
fn canonical(url: &str) -> Result<String, Error> {
    let place = Place::read(url)
        .map_err(|why| Error::new(ErrorKind::Usage, format!("the URL of the server {why}")))?;
    let path = if place.path.is_empty() { "/" } else { place.path };
    let query = place.query.map(|query| format!("?{query}")).unwrap_or_default();
    Ok(format!("{}{path}{query}", place.origin()))
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn a_url_is_known_by_the_form_that_requests_have() {
        for (url, expected) in [
            ("https://Example.com", "https://example.com/"),
            ("HTTPS://example.com:443/mcp?key=k#top", "https://example.com/mcp?key=k"),
            ("http://[::1]:80", "http://[::1]/"),
        ] {
            assert_eq!(canonical(url).expect(url), expected);
        }
    }
}
