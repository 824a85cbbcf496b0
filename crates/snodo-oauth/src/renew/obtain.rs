//! A token that nothing was there for yet.

use std::sync::Arc;

use tokio::time::timeout;

use crate::code::{Login, Purpose};
use crate::config::{Grant, Possession};
use crate::dpop::DpopKey;
use crate::endpoint::Endpoint;
use crate::error::{Error, ErrorKind};
use crate::form::Form;
use crate::identity::Registration;
use crate::key::ES256;
use crate::person::{self, Departure};
use crate::renew::Renewal;
use crate::scopes::{Offline, Scopes, settle_offline};
use crate::session::{Failure, Plan};
use crate::tokens::{Origin, Request, Tokens};

impl Renewal {
    /// Gets a token with these scopes, by the way that was chosen.
    pub(super) async fn obtain(
        &self,
        plan: &Plan,
        wanted: Scopes,
        proof: bool,
    ) -> Result<(), Error> {
        let config = &self.shared.config;
        let key = self.key(plan, proof)?;
        let offline = match config.grant {
            Grant::Person(_) => config.offline,
            // There is no refresh token to be had without a person.
            _ => Offline::Unwanted,
        };
        let scopes = settle_offline(wanted, &plan.server, offline);
        match &config.grant {
            Grant::Person(person) => self.login(plan, &**person, &scopes, key).await,
            Grant::ClientCredentials => {
                let client = self.machine(plan).await?;
                let form = Form::grant("client_credentials");
                self.exchange(plan, &client, form, &scopes, key).await
            }
            Grant::Workload(source, id) => {
                let client = Registration::new(id.as_deref().unwrap_or_default());
                let form = Form::grant(JWT_BEARER).with("assertion", source.assertion().await?);
                self.exchange(plan, &client, form, &scopes, key).await
            }
            Grant::Enterprise(provider) => {
                if plan
                    .server
                    .grant_types
                    .as_ref()
                    .is_some_and(|types| !types.iter().any(|kind| kind == JWT_BEARER))
                {
                    let why = format!("{} takes no assertion as a grant", plan.server.issuer);
                    return Err(Error::new(ErrorKind::Unsupported, why));
                }
                let client = self.machine(plan).await?;
                let grant = provider.grant(&self.web, plan, scopes.parameter().as_deref()).await?;
                let form = Form::grant(JWT_BEARER).with("assertion", grant);
                let done = self.exchange(plan, &client, form, &scopes, key).await;
                if done.is_err() {
                    provider.drop_grants(&plan.server.issuer);
                }
                done
            }
        }
    }

    /// Sends a person to the server and spends the code that they come back with.
    async fn login(
        &self,
        plan: &Plan,
        person: &dyn person::Erased,
        scopes: &Scopes,
        key: Option<Arc<DpopKey>>,
    ) -> Result<(), Error> {
        self.session.check(scopes)?;
        let (client, form) = match self.ask_person(plan, person, scopes).await {
            Err(error) if error.kind() == ErrorKind::Declined => {
                self.session.fail(scopes, Failure::Declined);
                return Err(error);
            }
            asked => asked?,
        };
        let done = self.exchange(plan, &client, form, scopes, key.clone()).await;
        let Err(error) = &done else { return done };
        let unknown = matches!(error.code(), Some("invalid_client" | "unauthorized_client"));
        if !unknown || !self.forget_registration(&client).await {
            return done;
        }
        // The server forgot what it had registered: once more from the start, and only once.
        let (client, form) = self.ask_person(plan, person, scopes).await?;
        self.exchange(plan, &client, form, scopes, key).await
    }

    async fn ask_person(
        &self,
        plan: &Plan,
        person: &dyn person::Erased,
        scopes: &Scopes,
    ) -> Result<(Registration, Form), Error> {
        let config = &self.shared.config;
        let (client, visit) = self.enter(plan, person).await?;
        let purpose = Purpose {
            server: &plan.server,
            client: &client.id,
            resource: &plan.resource.identifier,
            scopes,
            redirect: &visit.redirect,
        };
        let (login, url) = Login::begin(&purpose, self.web.policy(), config.unadvertised)?;
        let (state, errands) = (login.state().clone(), self.web.errands().clone());
        let gone = (visit.go)(Departure { url, state, errands });
        let answer = timeout(config.patience, gone).await.unwrap_or_else(|_| {
            Err(Error::person(format!("nobody came back within {:?}", config.patience)))
        });
        Ok((client, login.finish(&answer?)?))
    }

    /// Exchanges a grant for a token, and uses it from then on.
    async fn exchange(
        &self,
        plan: &Plan,
        client: &Registration,
        form: Form,
        scopes: &Scopes,
        key: Option<Arc<DpopKey>>,
    ) -> Result<(), Error> {
        let resource = &plan.resource.identifier;
        // A code stands for scopes that were settled when a person was asked.
        let form = match self.shared.config.grant {
            Grant::Person(_) => form,
            _ => form.with_some("scope", scopes.parameter().as_deref()),
        };
        let endpoint = Endpoint {
            web: &self.web,
            server: &plan.server,
            client,
            key: key.as_ref(),
            nonces: &self.shared.nonces,
        };
        let answer = endpoint.ask(form, resource).await?;
        let origin = Origin {
            issuer: plan.server.issuer.clone(),
            client: client.id.clone(),
            resource: resource.clone(),
        };
        let request = Request { scopes, origin: &origin, key, old: None };
        self.use_tokens(Tokens::read(&answer, &request)?).await;
        Ok(())
    }

    /// The key to bind a token to: where that is configured, and the server takes proofs or wants
    /// one. The one in use serves on.
    fn key(&self, plan: &Plan, proof: bool) -> Result<Option<Arc<DpopKey>>, Error> {
        let takes = |names: &Vec<String>| names.iter().any(|name| name == ES256);
        let fits = proof || plan.server.dpop_algorithms.as_ref().is_some_and(takes);
        if self.shared.config.possession == Possession::Bearer || !fits {
            return Ok(None);
        }
        let used = self.session.tokens().and_then(|tokens| tokens.bound.clone());
        match used {
            Some(key) => Ok(Some(key)),
            None => DpopKey::generate().map(|key| Some(Arc::new(key))),
        }
    }
}

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
