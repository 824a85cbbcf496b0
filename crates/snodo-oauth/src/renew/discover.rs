//! Who protects the server, and how that one is spoken to.

use std::sync::Arc;

use crate::config::Undocumented;
use crate::error::{Error, ErrorKind};
use crate::metadata::discover;
use crate::metadata::resource::{self, Resource};
use crate::metadata::server::Server;
use crate::place::Place;
use crate::renew::Renewal;
use crate::session::Plan;

impl Renewal {
    /// Finds out anew.
    pub(super) async fn discover(&self, named: Option<&str>) -> Result<Arc<Plan>, Error> {
        let config = &self.shared.config;
        let url = &self.session.url;
        let found = discover::resource(&self.web, url, named, config.comparison).await;
        let resource = match (found, &config.undocumented) {
            (Err(error), Undocumented::Issuer(issuer)) if is_absence(&error) => {
                undocumented(url, issuer.clone())?
            }
            (Err(error), Undocumented::Origin) if is_absence(&error) => {
                return self.by_origin().await;
            }
            (found, _) => found?,
        };
        let issuer = self.choose(&resource).await;
        let server = discover::server(&self.web, &issuer, config.equality).await?;
        Ok(self.session.set_plan(Plan { resource, server }))
    }

    /// The way of 2025-03-26: the origin of the server is its own authorization server.
    async fn by_origin(&self) -> Result<Arc<Plan>, Error> {
        let url = &self.session.url;
        let origin = Place::read(url).map(|place| place.base.to_owned()).unwrap_or_default();
        let resource = undocumented(url, origin.clone())?;
        let server = discover::server(&self.web, &origin, self.shared.config.equality).await;
        let server = match server {
            Err(error) if is_absence(&error) => Server::undocumented(&origin),
            server => server?,
        };
        Ok(self.session.set_plan(Plan { resource, server }))
    }

    /// One of the servers that protect the resource: by the caller's choice, else one that we have
    /// something for, else the first.
    async fn choose(&self, resource: &Resource) -> String {
        let config = &self.shared.config;
        let servers = &resource.servers;
        let mut chosen = config.choose.as_ref().and_then(|choose| choose(servers));
        if chosen.is_none() && servers.len() > 1 {
            for (at, issuer) in servers.iter().enumerate() {
                if chosen.is_none() && self.has_something_for(issuer).await {
                    chosen = Some(at);
                }
            }
        }
        let chosen = chosen.and_then(|at| servers.get(at)).or_else(|| servers.first());
        chosen.cloned().unwrap_or_default()
    }

    async fn has_something_for(&self, issuer: &str) -> bool {
        let configured = &self.shared.config.registrations;
        if configured.iter().any(|client| client.issuer.as_deref() == Some(issuer)) {
            return true;
        }
        let used = self.session.tokens().is_some_and(|tokens| tokens.origin.issuer == issuer);
        used || matches!(self.shared.records.registration(issuer).await, Ok(Some(_)))
    }
}

fn undocumented(url: &str, issuer: String) -> Result<Resource, Error> {
    let place = Place::read(url).map_err(|why| Error::new(ErrorKind::Usage, why))?;
    let identifier = resource::identifier(&place);
    Ok(Resource { identifier, servers: vec![issuer], scopes: Vec::new() })
}

/// Whether nothing was there, rather than something wrong, or nobody knows.
fn is_absence(error: &Error) -> bool {
    error.kind() == ErrorKind::Discovery
}
