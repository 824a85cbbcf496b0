//! A new token for a refresh token.

use crate::endpoint::Endpoint;
use crate::error::{Error, ErrorKind};
use crate::form::Form;
use crate::renew::{Renewal, is_good};
use crate::session::Plan;
use crate::tokens::{Request, Tokens};

impl Renewal {
    /// Refreshes tokens of the server in the plan; tells whether there is a new token.
    ///
    /// A refresh token may be good for one use. So the store is locked first and read again: what
    /// another process got meanwhile is used instead.
    ///
    /// # Errors
    ///
    /// Nobody knows whether there could be one: the server did not answer, say. A refresh token that
    /// was refused is no error; it is forgotten.
    pub(super) async fn refresh(&self, plan: &Plan, old: &Tokens) -> Result<bool, Error> {
        let _lock = self.shared.records.lock(&old.origin).await?;
        let newer = self.kept(old).await;
        if let Some(newer) = &newer
            && is_good(newer)
        {
            self.session.set_tokens(Some(newer.clone()));
            return Ok(true);
        }
        let old = newer.as_ref().unwrap_or(old);
        let Some(refresh) = &old.refresh else { return Ok(false) };
        let Some(client) = self.client_of(&old.origin).await? else { return Ok(false) };
        let endpoint = Endpoint {
            web: &self.web,
            server: &plan.server,
            client: &client,
            key: old.bound.as_ref(),
            nonces: &self.shared.nonces,
        };
        let form = Form::grant("refresh_token").with("refresh_token", refresh.clone());
        let answer = endpoint.ask(form, &old.origin.resource).await?;
        let (scopes, key) = (&old.requested, old.bound.clone());
        let request = Request { scopes, origin: &old.origin, key, old: Some(old) };
        match Tokens::read(&answer, &request) {
            Ok(tokens) => {
                self.use_tokens(tokens).await;
                Ok(true)
            }
            Err(error) if is_over(&error) => {
                tracing::debug!(%error, "a refresh token is over");
                self.forget_tokens(old).await;
                if error.code() != Some("invalid_grant") {
                    self.forget_registration(&client).await;
                }
                Ok(false)
            }
            Err(error) => Err(error.while_("a token could not be refreshed")),
        }
    }
}

/// Whether a refusal says that the same will never be taken.
fn is_over(error: &Error) -> bool {
    error.kind() == ErrorKind::Refused
        && matches!(
            error.code(),
            Some("invalid_grant" | "invalid_client" | "unauthorized_client" | "invalid_scope")
        )
}
