//! One request to a token endpoint.

use std::sync::Arc;

use http::HeaderMap;

use crate::dpop::{DPOP, DpopKey, Nonces, Proven, USE_NONCE};
use crate::error::Error;
use crate::form::Form;
use crate::identity::Registration;
use crate::identity::authenticate::{Method, authenticate};
use crate::metadata::server::Server;
use crate::web::{Answer, Web, text};

/// A token endpoint, and who asks it.
pub(crate) struct Endpoint<'a> {
    pub(crate) web: &'a Web,
    pub(crate) server: &'a Server,
    pub(crate) client: &'a Registration,
    /// The key that the token is to be bound to.
    pub(crate) key: Option<&'a Arc<DpopKey>>,
    pub(crate) nonces: &'a Nonces,
}

impl Endpoint<'_> {
    /// Asks for a token for a resource.
    ///
    /// The request is sent once; once more only where the server wants a nonce in the proof, for
    /// then it has looked at nothing else.
    pub(crate) async fn ask(&self, form: Form, resource: &str) -> Result<Answer, Error> {
        let method = Method::of(self.client, self.server)?;
        let form = form.with("resource", resource);
        let answer = self.send(method, form.clone()).await?;
        if self.key.is_none() || !wants_nonce(&answer) {
            return Ok(answer);
        }
        self.send(method, form).await
    }

    async fn send(&self, method: Method, form: Form) -> Result<Answer, Error> {
        let url = &self.server.token_endpoint;
        // Each with an assertion and a proof of its own: neither is taken twice.
        let (form, mut headers) = authenticate(method, self.client, &self.server.issuer, form)?;
        self.prove(&mut headers)?;
        let answer = self.web.post_form(url, headers, &form).await?;
        self.nonces.take(url, &answer.headers);
        Ok(answer)
    }

    fn prove(&self, headers: &mut HeaderMap) -> Result<(), Error> {
        let Some(key) = self.key else { return Ok(()) };
        let url = &self.server.token_endpoint;
        let nonce = self.nonces.at(url);
        let proven = Proven { method: "POST", url, token: None, nonce: nonce.as_deref() };
        if let Ok(proof) = key.prove(proven)?.parse() {
            headers.insert(DPOP, proof);
        }
        Ok(())
    }
}

fn wants_nonce(answer: &Answer) -> bool {
    let refused = answer.status.as_u16() == 400 || answer.status.as_u16() == 401;
    refused && answer.object().is_some_and(|members| text(&members, "error") == Some(USE_NONCE))
}
