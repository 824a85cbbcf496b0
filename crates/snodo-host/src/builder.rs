//! The list of servers, before any is connected.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use snodo::transport::Connect;
use snodo::{Client, Error};
use snodo_config::Config;
use tokio::task::JoinSet;

use crate::host::{Host, Member};
use crate::limits::Limits;
use crate::link::{Named, Way};
use crate::names::prefixes;

/// A host that is not connected yet.
///
/// ```
/// use snodo::stdio::Stdio;
/// use snodo_host::{Host, Limits};
///
/// let builder = Host::builder()
///     .options(snodo::Client::builder().max_pages(20))
///     .server("files", Stdio::new("npx").args(["-y", "server-filesystem", "/srv/files"]))
///     .limits("files", Limits::default().calls_at_once(4));
/// # let _ = builder;
/// ```
#[must_use = "a builder does nothing until it connects"]
pub struct Builder {
    options: snodo::Builder,
    /// For servers that have none of their own.
    limits: Limits,
    own_limits: Vec<(String, Limits)>,
    servers: Vec<(String, Opener)>,
}

/// How to come by a client.
type Opener = Box<dyn FnOnce(snodo::Builder) -> Opening + Send>;

type Opening = Pin<Box<dyn Future<Output = Result<Client, Error>> + Send>>;

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            options: Client::builder(),
            limits: Limits::default(),
            own_limits: Vec::new(),
            servers: Vec::new(),
        }
    }

    /// What every client is made with: versions, handlers, timeouts, a cache. Servers that were
    /// connected elsewhere keep what they have.
    pub fn options(mut self, options: snodo::Builder) -> Self {
        self.options = options;
        self
    }

    /// Limits for each server that has none of its own.
    pub fn limits_for_all(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits of the servers of this name.
    pub fn limits(mut self, name: impl Into<String>, limits: Limits) -> Self {
        self.own_limits.push((name.into(), limits));
        self
    }

    /// Adds a server, which errors and logs call by this name.
    pub fn server(mut self, name: impl Into<String>, to: impl Connect) -> Self {
        let name = name.into();
        let named = Named { name: name.clone(), to };
        self.servers.push((name, Box::new(move |builder| Box::pin(builder.connect(named)))));
        self
    }

    /// Adds a server that is connected already.
    pub fn client(mut self, name: impl Into<String>, client: Client) -> Self {
        self.servers.push((name.into(), Box::new(move |_| Box::pin(async move { Ok(client) }))));
        self
    }

    /// Adds every server of a configuration that is not switched off and not hidden by another. An
    /// entry that makes no sense becomes a server that could not be connected.
    pub fn config(mut self, config: &Config) -> Self {
        let entries = config.entries().iter();
        for entry in entries.filter(|entry| !entry.is_disabled() && !entry.is_hidden()) {
            let name = entry.name().to_owned();
            let server = entry
                .server()
                .cloned()
                .map_err(|fault| Error::usage(format!("the entry of {name}: {fault}")));
            let of = name.clone();
            let way: Opener = Box::new(move |builder| {
                Box::pin(async move { Way::to(&server?)?.connect(of, builder).await })
            });
            self.servers.push((name, way));
        }
        self
    }

    /// Connects to all servers at once, and returns when each has answered, failed or taken longer
    /// than its limit.
    ///
    /// It does not fail: a server that could not be connected is told by its [`Member`], with the
    /// entry's fault, the server's error, or -32001 where it took too long.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind: what was started is ended.
    pub async fn connect(self) -> Host {
        let names: Vec<String> = self.servers.iter().map(|(name, _)| name.clone()).collect();
        let limits: Vec<Limits> = names.iter().map(|name| self.limits_of(name)).collect();
        // Its tasks are aborted when it is dropped.
        let mut running = JoinSet::new();
        for (at, (_, way)) in self.servers.into_iter().enumerate() {
            let (opening, longest) = (way(self.options.clone()), limits[at].connect);
            running.spawn(async move {
                let opened = tokio::time::timeout(longest, opening).await;
                (at, opened.unwrap_or_else(|_| Err(Error::timeout(longest))))
            });
        }
        let mut opened: Vec<Option<Result<Client, Error>>> = names.iter().map(|_| None).collect();
        while let Some(ended) = running.join_next().await {
            if let Ok((at, result)) = ended {
                opened[at] = Some(result);
            }
        }
        let prefixes = prefixes(names.iter().map(String::as_str));
        let members = names.into_iter().zip(prefixes).zip(limits).zip(opened);
        let members = members.map(|(((name, prefix), limits), opened)| {
            let gone = || Err(Error::usage("connecting ended in a panic"));
            Member::new(name, prefix, limits, opened.unwrap_or_else(gone))
        });
        Host::new(members.collect())
    }

    /// What was said last counts.
    fn limits_of(&self, name: &str) -> Limits {
        let own = self.own_limits.iter().rev().find(|(of, _)| of == name);
        own.map_or(self.limits, |(_, limits)| *limits)
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.servers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Builder").field("servers", &names).finish_non_exhaustive()
    }
}
