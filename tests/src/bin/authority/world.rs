//! What every flow has: the servers, a way to them, a person.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use snodo::http::{Errands, Http};
use snodo::{Client, ProtocolVersion};
use snodo_oauth::internal::{Kept, kept};
use snodo_oauth::{Builder, FileStore, LoopbackListener, OAuth, Policy};

use crate::browser::Browser;
use crate::server::Servers;

/// The servers, with a store of their own.
///
/// # Drop behavior
///
/// The store's folder is removed, the servers end.
pub(crate) struct World {
    pub(crate) servers: Servers,
    pub(crate) browser: Browser,
    folder: PathBuf,
}

impl World {
    pub(crate) fn new(servers: Servers) -> Result<Self, String> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let folder = format!("snodo-authority-{}-{number}", std::process::id());
        let browser = Browser::new(way(&servers)?.errands());
        Ok(Self { servers, browser, folder: std::env::temp_dir().join(folder) })
    }

    /// The way to the servers, which are on this machine and have certificates of a private authority.
    pub(crate) fn http(&self) -> Result<Http, String> {
        way(&self.servers)
    }

    pub(crate) fn errands(&self) -> Result<Errands, String> {
        Ok(self.http()?.errands())
    }

    /// Credentials of the person at the browser, kept in the world's file.
    pub(crate) fn person(&self) -> Builder {
        self.settled(OAuth::person(LoopbackListener::new(self.browser.clone())))
    }

    pub(crate) fn settled(&self, builder: Builder) -> Builder {
        let policy = Policy::new().allow_loopback();
        builder.policy(policy).store(self.store()).patience(Duration::from_secs(20))
    }

    fn store(&self) -> FileStore {
        FileStore::new(self.folder.join("credentials.json"))
    }

    /// What the file has for the MCP server.
    pub(crate) async fn kept(&self) -> Result<Kept, String> {
        let kept = kept(self.store(), "snodo", &self.servers.mcp).await;
        kept.map_err(|error| error.to_string())?.ok_or_else(|| "nothing is kept".to_owned())
    }

    /// A client, as if in a process of its own.
    pub(crate) async fn client(&self, oauth: OAuth) -> Result<Client, String> {
        self.client_at(oauth, ProtocolVersion::V2026_07_28).await
    }

    pub(crate) async fn client_at(
        &self,
        oauth: OAuth,
        version: ProtocolVersion,
    ) -> Result<Client, String> {
        let client = Client::builder().protocol([version]);
        let client = client.connect(self.http()?.credentials(oauth)).await;
        client.map_err(|error| format!("connecting: {error}; {:?}", error.cause()))
    }

    /// Ends the token in use before its time; gives what was kept with it.
    pub(crate) async fn end_token(&mut self) -> Result<Kept, String> {
        let kept = self.kept().await?;
        self.servers.wish(json!({ "wish": "end", "token": kept.access })).await?;
        Ok(kept)
    }

    /// Whether a refresh token could still be spent.
    pub(crate) async fn is_refreshable(&mut self, kept: &Kept) -> Result<bool, String> {
        let wish = json!({ "wish": "refreshable", "token": kept.refresh });
        Ok(self.servers.wish(wish).await? == Value::Bool(true))
    }

    /// Holds what happened since the last time against what was to happen.
    pub(crate) async fn expect(&mut self, wanted: &[&str]) -> Result<(), String> {
        expect("what happened", self.servers.log().await?, wanted)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Calls a tool.
pub(crate) async fn call(client: &Client, tool: &str) -> Result<(), String> {
    let said = client.call_tool(tool, json!({})).await;
    let said = said.map_err(|error| format!("{tool}: {error}; {:?}", error.cause()))?;
    expect("the tool's text", said.text(), format!("you may {tool}"))
}

/// Calls a tool several times at once.
pub(crate) async fn call_at_once(clients: &[Client], times: usize) -> Result<(), String> {
    let clients: Arc<[Client]> = clients.into();
    let calls: Vec<_> = (0..times)
        .map(|at| {
            let clients = Arc::clone(&clients);
            tokio::spawn(async move { call(&clients[at % clients.len()], "read").await })
        })
        .collect();
    for call in calls {
        call.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

pub(crate) fn expect<F, W>(what: &str, found: F, wanted: W) -> Result<(), String>
where
    F: PartialEq<W> + std::fmt::Debug,
    W: std::fmt::Debug,
{
    if found == wanted { Ok(()) } else { Err(format!("{what} is {found:?}, expected {wanted:?}")) }
}

fn way(servers: &Servers) -> Result<Http, String> {
    let http = Http::new(&servers.mcp).and_then(|http| http.root_certificates(&servers.authority));
    http.map_err(|error| error.to_string())
}
