//! What a caller chose.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::assertion::Source;
use crate::code::Unadvertised;
use crate::enterprise::Enterprise;
use crate::identity::{Application, Registration};
use crate::metadata::resource::Comparison;
use crate::metadata::server::Equality;
use crate::person;
use crate::policy::Policy;
use crate::scopes::{Offline, Wish};

/// Everything that the builder sets.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) grant: Grant,
    pub(crate) application: Application,
    pub(crate) registrations: Vec<Registration>,
    pub(crate) policy: Policy,
    pub(crate) wish: Wish,
    pub(crate) offline: Offline,
    pub(crate) comparison: Comparison,
    pub(crate) equality: Equality,
    pub(crate) unadvertised: Unadvertised,
    pub(crate) undocumented: Undocumented,
    pub(crate) possession: Possession,
    pub(crate) choose: Option<Arc<Chooser>>,
    pub(crate) patience: Duration,
}

/// Picks one of several issuers.
pub(crate) type Chooser = dyn Fn(&[String]) -> Option<usize> + Send + Sync;

/// How tokens are got.
#[derive(Clone)]
pub(crate) enum Grant {
    ClientCredentials,
    Enterprise(Arc<Enterprise>),
    Person(Arc<dyn person::Erased>),
    /// With the client id, if there is one.
    Workload(Source, Option<String>),
}

/// Whether tokens are bound to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Possession {
    Bearer,
    /// Where the server takes proofs.
    Proven,
}

/// What to do about a server without protected resource metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undocumented {
    /// This issuer protects it.
    Issuer(String),
    /// Its own origin does, at fixed places if need be: the way of 2025-03-26.
    Origin,
    Refuse,
}

impl Config {
    pub(crate) fn new(grant: Grant) -> Self {
        Self {
            grant,
            application: Application::new("snodo"),
            registrations: Vec::new(),
            policy: Policy::new(),
            wish: Wish::default(),
            offline: Offline::default(),
            comparison: Comparison::default(),
            equality: Equality::default(),
            unadvertised: Unadvertised::default(),
            undocumented: Undocumented::Refuse,
            possession: Possession::Bearer,
            choose: None,
            patience: Duration::from_secs(300),
        }
    }

    /// Whether a client id that was kept may still be used, now that this is configured.
    pub(crate) fn knows(&self, client: &str) -> bool {
        let configured = self.registrations.iter().any(|registration| registration.id == client);
        configured
            || self.application.document.as_deref() == Some(client)
            || (self.registrations.is_empty() && matches!(self.grant, Grant::Person(_)))
            || matches!(&self.grant, Grant::Workload(_, id) if id.as_deref().unwrap_or_default() == client)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("application", &self.application.name)
            .field("policy", &self.policy)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
