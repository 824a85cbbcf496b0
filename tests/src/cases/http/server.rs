//! The scripted server: listeners on the loopback interface, on a runtime of their own.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::runtime::Runtime;

use super::connection;
use super::record::Record;
use super::rule::Rule;
use super::state::State;
use crate::cases::baseline;
use crate::cases::client::Baseline;

/// What a scripted server does.
#[derive(Clone, Debug)]
pub struct Scripted {
    pub(crate) baseline: Baseline,
    pub(crate) server: ServerScript,
    pub(crate) rules: Vec<Rule>,
    pub(crate) tools: Vec<String>,
}

/// The `server` member.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerScript {
    pub(crate) session: Option<String>,
    rotate: bool,
    bind: Option<String>,
    pub(crate) refused: bool,
    idle_close_ms: Option<u64>,
}

/// A scripted server that runs. It ends, with every connection, when it is dropped.
pub struct Server {
    /// Apart from the client's, so that what the client leaves can be counted.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
}

/// What the connections of a server share.
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) idle: Option<Duration>,
}

impl Scripted {
    /// A script from the text of its rules, in the format of the cases.
    ///
    /// # Errors
    ///
    /// The text is not a list of rules.
    pub fn new(baseline: &str, rules: &str) -> Result<Self, serde_json::Error> {
        Ok(Self {
            baseline: serde_json::from_str(&format!("{baseline:?}"))?,
            server: ServerScript::default(),
            rules: serde_json::from_str(rules)?,
            tools: baseline::tools([]),
        })
    }

    /// The names of the listeners; the first is the MCP server.
    fn hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> =
            self.rules.iter().filter_map(|rule| rule.pattern.host.clone()).collect();
        hosts.sort();
        hosts.dedup();
        let main = if hosts.iter().any(|host| host == "rs") { "rs" } else { "a" };
        hosts.retain(|host| host != main);
        hosts.insert(0, main.to_owned());
        hosts
    }
}

impl ServerScript {
    /// Whether each `initialize` gets a session of its own.
    pub(crate) fn rotates(&self) -> bool {
        self.rotate || self.session.as_deref() == Some("rotate")
    }
}

impl Server {
    /// Listens, and answers from now on.
    ///
    /// # Errors
    ///
    /// There is no port, or no thread, to be had.
    pub fn start(script: Scripted) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("scripted-server")
            .enable_all()
            .build()?;
        let mut listeners = Vec::new();
        let mut origins = BTreeMap::new();
        for host in script.hosts() {
            let address = script.server.bind.as_deref().unwrap_or("127.0.0.1");
            let address = address.parse().map_err(std::io::Error::other)?;
            let listener = TcpListener::bind(SocketAddr::new(address, 0))?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            origins.insert(host.clone(), format!("http://{address}"));
            listeners.push((host, listener));
        }
        let idle = script.server.idle_close_ms.map(Duration::from_millis);
        let refused = script.server.refused;
        let shared = Arc::new(Shared { state: Mutex::new(State::new(script, origins)), idle });
        if !refused {
            for (host, listener) in listeners {
                runtime.spawn(accept(listener, host, Arc::clone(&shared)));
            }
        }
        Ok(Self { runtime: Some(runtime), shared })
    }

    /// The base URL of the MCP server, without a path.
    #[must_use]
    pub fn origin(&self) -> String {
        let state = self.shared.lock();
        let main = state.script.hosts().remove(0);
        state.origins.get(&main).cloned().unwrap_or_default()
    }

    /// The base URL of one of its listeners.
    pub(crate) fn origin_of(&self, host: &str) -> Option<String> {
        self.shared.lock().origins.get(host).cloned()
    }

    /// What was seen so far.
    pub(crate) fn record(&self) -> Record {
        self.shared.lock().record.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("origin", &self.origin()).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, host: String, shared: Arc<Shared>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(connection::serve(stream, host.clone(), Arc::clone(&shared)));
    }
}
