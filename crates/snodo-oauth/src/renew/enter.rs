//! Who we are to an authorization server.

use crate::config::{Config, Grant};
use crate::error::{Error, ErrorKind};
use crate::identity::{Registration, register};
use crate::person::{self, Visit};
use crate::renew::Renewal;
use crate::session::Plan;
use crate::tokens::Origin;

impl Renewal {
    /// The client for a login, with somebody who waits at a redirect URI that it may use.
    ///
    /// In this order: what was configured for the server, the metadata document where the server
    /// reads such, what the server gave before, what it gives now.
    pub(super) async fn enter(
        &self,
        plan: &Plan,
        person: &dyn person::Erased,
    ) -> Result<(Registration, Visit), Error> {
        let issuer = &plan.server.issuer;
        let other = match self.configured(issuer).await? {
            Configured::Here(client) => return Ok((client, person.prepare(None).await?)),
            Configured::Elsewhere(error) => Some(error),
            Configured::Nothing => None,
        };
        if let Some(client) = self.by_document()
            && plan.server.takes_metadata_documents
        {
            return Ok((client, person.prepare(None).await?));
        }
        if let Some(error) = other {
            return Err(error);
        }
        let known = self.shared.records.registration(issuer).await?;
        let known = known.filter(|client| !client.is_over(std::time::SystemTime::now()));
        let before = known.as_ref().and_then(|client| client.redirects.first());
        let visit = person.prepare(before.map(String::as_str)).await?;
        if let Some(client) = known
            && client.redirects.contains(&visit.redirect)
        {
            return Ok((client, visit));
        }
        let client = self.register(plan, &visit.redirect).await?;
        Ok((client, visit))
    }

    /// The client for a machine: configured, or nothing.
    pub(super) async fn machine(&self, plan: &Plan) -> Result<Registration, Error> {
        match self.configured(&plan.server.issuer).await? {
            Configured::Here(client) => Ok(client),
            Configured::Elsewhere(error) => Err(error),
            Configured::Nothing => {
                Err(Error::new(ErrorKind::Usage, "no registration is configured for this client"))
            }
        }
    }

    /// The client that tokens were given to.
    pub(crate) async fn client_of(&self, origin: &Origin) -> Result<Option<Registration>, Error> {
        let Config { registrations, grant, .. } = &self.shared.config;
        if let Some(client) = registrations.iter().find(|client| client.id == origin.client) {
            return Ok(Some(client.clone()));
        }
        if let Some(client) = self.by_document()
            && client.id == origin.client
        {
            return Ok(Some(client));
        }
        if let Grant::Workload(_, Some(id)) = grant
            && *id == origin.client
        {
            return Ok(Some(Registration::new(id)));
        }
        let known = self.shared.records.registration(&origin.issuer).await?;
        Ok(known.filter(|client| client.id == origin.client))
    }

    /// Forgets a client id that its server does not know any more; tells whether there was one.
    pub(super) async fn forget_registration(&self, client: &Registration) -> bool {
        let Some(issuer) = &client.issuer else { return false };
        let records = &self.shared.records;
        let known = records.registration(issuer).await.ok().flatten();
        if known.is_none_or(|known| known.id != client.id) {
            return false;
        }
        if let Err(error) = records.keep_registration(issuer, None).await {
            tracing::warn!(%error, "a registration that is over could not be forgotten");
        }
        true
    }

    fn by_document(&self) -> Option<Registration> {
        let application = &self.shared.config.application;
        let mut client = Registration::new(application.document.as_ref()?);
        client.key.clone_from(&application.key);
        Some(client)
    }

    async fn register(&self, plan: &Plan, redirect: &str) -> Result<Registration, Error> {
        let application = &self.shared.config.application;
        let registered = register::register(&self.web, &plan.server, application, redirect).await;
        let mut client = registered.map_err(|error| self.why_no_client(plan, error))?;
        // Some servers tell nothing, or all that they allow.
        client.redirects = vec![redirect.to_owned()];
        let issuer = &plan.server.issuer;
        if let Err(error) = self.shared.records.keep_registration(issuer, Some(&client)).await {
            tracing::warn!(%error, "a registration could not be kept");
        }
        Ok(client)
    }

    /// The error of a client that has no id: what was tried, and why each failed.
    fn why_no_client(&self, plan: &Plan, last: Error) -> Error {
        let document = match (
            &self.shared.config.application.document,
            plan.server.takes_metadata_documents,
        ) {
            (None, _) => "no metadata document is set",
            (Some(_), _) => "the server reads no metadata documents",
        };
        let issuer = &plan.server.issuer;
        let why = format!(
            "no client id could be had at {issuer}: none is configured; {document}; {}",
            last.message()
        );
        let error = Error::new(ErrorKind::Identity, why);
        match last.code() {
            Some(code) => error.with_code(code),
            None => error,
        }
    }

    /// What was configured for an issuer.
    async fn configured(&self, issuer: &str) -> Result<Configured, Error> {
        let mut other = None;
        for client in &self.shared.config.registrations {
            let bound = match &client.issuer {
                Some(issuer) => Some(issuer.clone()),
                None => self.shared.records.binding(&client.id).await?,
            };
            match bound {
                Some(bound) if bound == issuer => return Ok(Configured::Here(client.clone())),
                Some(bound) => other = Some((client, bound)),
                None => {
                    // Its metadata was found good: from now on it belongs there.
                    self.shared.records.bind(&client.id, issuer).await?;
                    return Ok(Configured::Here(client.clone()));
                }
            }
        }
        Ok(match other {
            None => Configured::Nothing,
            Some((client, bound)) => {
                let why = format!(
                    "the client {:?} belongs to {bound:?}, but the server is protected by {issuer:?} now",
                    client.id
                );
                Configured::Elsewhere(Error::new(ErrorKind::Identity, why))
            }
        })
    }
}

enum Configured {
    /// For another server only.
    Elsewhere(Error),
    Here(Registration),
    Nothing,
}
