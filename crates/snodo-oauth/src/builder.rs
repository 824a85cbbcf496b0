//! How credentials are set up.

use std::sync::Arc;
use std::time::Duration;

use crate::assertion::{Assertions, Source};
use crate::code::Unadvertised;
use crate::config::{Config, Grant, Possession, Undocumented};
use crate::enterprise::Enterprise;
use crate::identity::{Application, Registration};
use crate::metadata::resource::Comparison;
use crate::metadata::server::Equality;
use crate::oauth::OAuth;
use crate::person::Person;
use crate::policy::Policy;
use crate::scopes::{Offline, Scopes, Wish};
use crate::store::records::Records;
use crate::store::{MemoryStore, Store};

impl OAuth {
    /// Credentials of a person, who agrees at a page of the authorization server.
    pub fn person(person: impl Person) -> Builder {
        Builder::new(Grant::Person(Arc::new(person)))
    }

    /// Credentials of a program for itself (`client_credentials`), by a registration that was made
    /// beforehand: with a secret, or with a key.
    ///
    /// A client that does so declares the extension [`CLIENT_CREDENTIALS`](crate::CLIENT_CREDENTIALS).
    pub fn client_credentials(registration: Registration) -> Builder {
        Builder::new(Grant::ClientCredentials).registration(registration)
    }

    /// Credentials of a workload, by what its platform vouches for it: a Kubernetes service account,
    /// a cloud's instance identity (RFC 7523, section 2.1).
    pub fn workload(assertions: impl Assertions) -> Builder {
        Builder::new(Grant::Workload(Source::new(assertions), None))
    }

    /// Credentials of a person, by a policy of their organisation at its identity provider.
    ///
    /// The registration is this program's at the server's own authorization server. A client that
    /// does so declares the extension [`ENTERPRISE`](crate::ENTERPRISE).
    pub fn enterprise(provider: Enterprise, registration: Registration) -> Builder {
        Builder::new(Grant::Enterprise(Arc::new(provider))).registration(registration)
    }
}

/// Sets up [`OAuth`] credentials.
///
/// ```
/// use std::time::Duration;
///
/// use snodo_oauth::{Application, FileStore, OAuth, Paste};
///
/// let oauth = OAuth::person(Paste::terminal())
///     .application(Application::new("Agent").metadata_document("https://agent.example.com/oauth.json")?)
///     .store(FileStore::new("credentials.json"))
///     .patience(Duration::from_secs(120))
///     .build();
/// # let _ = oauth;
/// # Ok::<(), snodo_oauth::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Builder {
    config: Config,
    /// Waits for the name of the application.
    records: Option<RecordsOf>,
}

struct RecordsOf(Box<dyn FnOnce(&str) -> Records + Send>);

impl std::fmt::Debug for RecordsOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecordsOf")
    }
}

impl Builder {
    fn new(grant: Grant) -> Self {
        Self { config: Config::new(grant), records: None }
    }

    /// What the program says about itself where nobody knows it. Its name also keeps what it stores
    /// apart from what others store.
    pub fn application(self, application: Application) -> Self {
        self.with(|config| config.application = application)
    }

    /// Adds a registration that was made beforehand. It comes before all other ways to get a client
    /// id, and is shown to the server it belongs to alone.
    pub fn registration(self, registration: Registration) -> Self {
        self.with(|config| config.registrations.push(registration))
    }

    /// The client id of a workload, where its server wants one.
    pub fn client_id(self, id: impl Into<String>) -> Self {
        let id = id.into();
        self.with(|config| {
            if let Grant::Workload(_, known) = &mut config.grant {
                *known = Some(id);
            }
        })
    }

    /// Where credentials are kept; in memory unless set.
    pub fn store(self, store: impl Store) -> Self {
        let records = RecordsOf(Box::new(move |name| Records::new(store, name)));
        Self { records: Some(records), ..self }
    }

    /// Which URLs may be used that servers name.
    pub fn policy(self, policy: Policy) -> Self {
        self.with(|config| config.policy = policy)
    }

    /// Asks for these scopes (a list with spaces) besides those that the server names.
    pub fn also_scopes(self, scopes: &str) -> Self {
        self.with(|config| config.wish = Wish::Also(Scopes::read(scopes)))
    }

    /// Asks for these scopes (a list with spaces) instead of those that the server names at first.
    pub fn only_scopes(self, scopes: &str) -> Self {
        self.with(|config| config.wish = Wish::Only(Scopes::read(scopes)))
    }

    /// Does not ask for `offline_access`, which is asked for where the server offers it. A server may
    /// give a refresh token all the same.
    pub fn without_offline_access(self) -> Self {
        self.with(|config| config.offline = Offline::Unwanted)
    }

    /// Binds tokens to a key of this program, where the server can (DPoP, RFC 9449).
    pub fn proof_of_possession(self) -> Self {
        self.with(|config| config.possession = Possession::Proven)
    }

    /// Picks one of several authorization servers, by its place in the list. `None`: one for which
    /// there are credentials, else the first.
    pub fn choose_server(
        self,
        choose: impl Fn(&[String]) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        self.with(|config| config.choose = Some(Arc::new(choose)))
    }

    /// How long a person may take; 300 seconds unless set. The clocks of the calls that wait stand
    /// meanwhile.
    pub fn patience(self, limit: Duration) -> Self {
        self.with(|config| config.patience = limit)
    }

    /// The issuer for servers that publish no protected resource metadata, which are otherwise not
    /// spoken to.
    pub fn fallback_issuer(self, issuer: impl Into<String>) -> Self {
        let issuer = issuer.into();
        self.with(|config| config.undocumented = Undocumented::Issuer(issuer))
    }

    /// Takes the origin of a server that publishes no protected resource metadata for its
    /// authorization server, with `/authorize`, `/token` and `/register` if that publishes nothing
    /// either: the way of version 2025-03-26, which later ones gave up.
    pub fn allow_undocumented_servers(self) -> Self {
        self.with(|config| config.undocumented = Undocumented::Origin)
    }

    /// Uses PKCE with a server that does not say that it knows it: 2025-06-18 let them be silent.
    /// The versions since then want such a server refused.
    pub fn allow_unadvertised_pkce(self) -> Self {
        self.with(|config| config.unadvertised = Unadvertised::Accept)
    }

    /// Takes the metadata of an issuer though one of both names ends with a slash and the other does
    /// not. By all versions they are two issuers.
    pub fn allow_issuer_slash(self) -> Self {
        self.with(|config| config.equality = Equality::SlashAside)
    }

    /// Takes protected resource metadata only if its `resource` is exactly what its place stands for
    /// (RFC 9728, section 3.3). Unless set, the same origin and a path that leads to the server do.
    pub fn require_exact_resource(self) -> Self {
        self.with(|config| config.comparison = Comparison::Exact)
    }

    /// The credentials.
    #[must_use]
    pub fn build(self) -> OAuth {
        let name = &self.config.application.name;
        let records = match self.records {
            Some(RecordsOf(make)) => make(name),
            None => Records::new(MemoryStore::new(), name),
        };
        OAuth::new(self.config, records)
    }

    fn with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }
}
