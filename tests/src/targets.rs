//! What the testkit plays, behind the transports of the library.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use snodo_direct::{Context, Runtime};
use snodo_stdio::Pipe;
use snodo_testkit::{Peer, ScriptedTransport};
use snodo_transport::{Connect, Exchange, Transport};
use snodo_types::{Envelope, Message, ProtocolVersion, TransportError};
use tokio::io::DuplexStream;

/// A target that is a fresh byte pipe for each connection.
///
/// ```
/// use snodo_tests::Pipes;
///
/// let target = Pipes::new(|| tokio::io::duplex(1024).0);
/// # let _ = target;
/// ```
#[derive(Clone)]
pub struct Pipes(Arc<dyn Fn() -> DuplexStream + Send + Sync>);

impl Pipes {
    /// `open` gives the client's end of a new pipe.
    pub fn new(open: impl Fn() -> DuplexStream + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

impl Connect for Pipes {
    type Transport = Pipe;

    async fn connect(&self) -> Result<Pipe, TransportError> {
        let (read, write) = tokio::io::split((self.0)());
        Ok(Pipe::new(read, write))
    }

    fn target(&self) -> Cow<'_, str> {
        "a pipe".into()
    }
}

impl fmt::Debug for Pipes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pipes")
    }
}

/// A transcript as a server in this process.
///
/// ```
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// use snodo_testkit::{Play, Transcript, Wire};
/// use snodo_tests::Scripted;
/// use snodo_transport::Connect;
/// use snodo_types::ProtocolVersion;
///
/// let play = Play::new(Transcript::parse("x", "? ping")?, Wire::Direct);
/// let server = Scripted::new(ProtocolVersion::V2026_07_28, play.memory().connect().await?);
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Scripted {
    version: ProtocolVersion,
    script: ScriptedTransport,
}

impl Scripted {
    /// A server of one version that says what the script says.
    #[must_use]
    pub fn new(version: ProtocolVersion, script: ScriptedTransport) -> Self {
        Self { version, script }
    }
}

impl Runtime for Scripted {
    fn versions(&self) -> Vec<ProtocolVersion> {
        vec![self.version]
    }

    fn dispatch(&self, message: Message, _context: Context) -> Exchange {
        // A reply of the client's has an id too, but it is one of the server's.
        let asks = matches!(message.body(), snodo_types::Body::Request { .. });
        let text = message.text().to_owned();
        let id = message.id().filter(|_| asks).and_then(snodo_types::RequestId::as_ours);
        self.script.exchange(match id {
            Some(id) => Envelope::request(id, text),
            None => Envelope::notification(text),
        })
    }
}

/// The testkit's peer as a server in this process.
///
/// ```
/// use snodo_testkit::Peer;
/// use snodo_tests::PeerRuntime;
///
/// let server = PeerRuntime(Peer::new());
/// # let _ = server;
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a name for the peer in another role")]
pub struct PeerRuntime(pub Peer);

impl Runtime for PeerRuntime {
    fn versions(&self) -> Vec<ProtocolVersion> {
        ProtocolVersion::ALL.to_vec()
    }

    fn dispatch(&self, message: Message, _context: Context) -> Exchange {
        self.0.answer(message.text().to_owned())
    }
}
