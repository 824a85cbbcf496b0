//! From an entry of a configuration to a client.

use std::borrow::Cow;

use snodo::http::Http;
use snodo::stdio::Stdio;
use snodo::transport::Connect;
use snodo::types::TransportError;
use snodo::{Builder, Client, Error};
use snodo_config::{Entry, Server};
use snodo_sse_legacy::SseLegacy;

/// Connects to the server of an entry.
///
/// Errors and logs call the server by its name in the configuration: its command line may hold what
/// a variable held.
///
/// ```no_run
/// # async fn run() -> Result<(), snodo::Error> {
/// let config = snodo_config::Config::find();
/// let Some(entry) = config.get("files") else { return Ok(()) };
/// let client = snodo_host::open(entry, snodo::Client::builder()).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The entry makes no sense (usage, with the words of its fault); see [`Builder::connect`].
///
/// # Cancel safety
///
/// Dropping the future leaves nothing behind: what was started is ended.
pub async fn open(entry: &Entry, builder: Builder) -> Result<Client, Error> {
    let name = entry.name();
    match entry.server() {
        Ok(server) => Way::to(server)?.connect(name, builder).await,
        Err(fault) => Err(Error::usage(format!("the entry of {name}: {fault}"))),
    }
}

/// How the server of an entry is reached, to be changed before it is.
///
/// ```no_run
/// use snodo_host::Way;
///
/// # async fn run(server: &snodo_config::Server) -> Result<(), snodo::Error> {
/// let way = match Way::to(server)? {
///     Way::Stdio(stdio) => Way::Stdio(stdio.env("LOG_LEVEL", "debug")),
///     other => other,
/// };
/// let client = way.connect("files", snodo::Client::builder()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Way {
    /// By a URL.
    Http(Box<Http>),
    /// By a URL, over the HTTP+SSE transport of 2024-11-05.
    Sse(Box<Http>),
    /// By a process that is started.
    Stdio(Stdio),
}

impl Way {
    /// The way that a configuration describes.
    ///
    /// # Errors
    ///
    /// A URL or a header cannot be one (usage).
    pub fn to(server: &Server) -> Result<Self, Error> {
        match server {
            Server::Http(http) => Ok(Self::Http(Box::new(request(http)?))),
            Server::Sse(http) => Ok(Self::Sse(Box::new(request(http)?))),
            Server::Stdio(stdio) => {
                let mut to = Stdio::new(stdio.command()).args(stdio.args());
                for (variable, value) in stdio.env() {
                    to = match value {
                        Some(value) => to.env(variable, value),
                        None => to.env_remove(variable),
                    };
                }
                if let Some(folder) = stdio.cwd() {
                    to = to.current_dir(folder);
                }
                Ok(Self::Stdio(to))
            }
            _ => Err(Error::usage("the entry is of a kind that is not known here")),
        }
    }

    /// Connects; errors and logs call the server by this name.
    ///
    /// # Errors
    ///
    /// See [`Builder::connect`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind: what was started is ended.
    pub async fn connect(self, name: impl Into<String>, builder: Builder) -> Result<Client, Error> {
        let name = name.into();
        match self {
            Self::Http(to) => builder.connect(Named { name, to: *to }).await,
            Self::Sse(to) => builder.connect(Named { name, to: SseLegacy::new(*to) }).await,
            Self::Stdio(to) => builder.connect(Named { name, to }).await,
        }
    }
}

fn request(http: &snodo_config::Http) -> Result<Http, Error> {
    let mut to = Http::new(http.url())?;
    for (header, value) in http.headers() {
        to = to.header(header, value)?;
    }
    Ok(to)
}

/// A server under another name.
#[derive(Debug)]
pub(crate) struct Named<C> {
    pub(crate) name: String,
    pub(crate) to: C,
}

impl<C: Connect> Connect for Named<C> {
    type Transport = C::Transport;

    async fn connect(&self) -> Result<C::Transport, TransportError> {
        self.to.connect().await
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn origin(&self) -> Option<String> {
        self.to.origin()
    }
}
