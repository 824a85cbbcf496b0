//! Faults of HTTP, and of what is below it.

use std::time::Duration;

use snodo::Client;
use snodo::http::{Http, HttpVersion};

use super::wire::{AUTHORITY, EXPIRED, Server};
use super::{Doing, Era, builder, calls_with_progress, changes, closes, hears, settled, timed};

/// What goes wrong on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Reset,
    HalfClose,
    BlackHole,
    SlowLoris,
    CutChunk,
    TooLong,
    TooShort,
    Refused,
    Unanswered,
    TlsAlert,
    Expired,
    NoSuchName,
}

impl super::Fault for Fault {
    const ALL: &'static [Self] = &[
        Self::Reset,
        Self::HalfClose,
        Self::BlackHole,
        Self::SlowLoris,
        Self::CutChunk,
        Self::TooLong,
        Self::TooShort,
        Self::Refused,
        Self::Unanswered,
        Self::TlsAlert,
        Self::Expired,
        Self::NoSuchName,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::HalfClose => "half-close",
            Self::BlackHole => "black hole",
            Self::SlowLoris => "slow loris",
            Self::CutChunk => "chunk cut",
            Self::TooLong => "length too great",
            Self::TooShort => "length too small",
            Self::Refused => "refused",
            Self::Unanswered => "unanswered",
            Self::TlsAlert => "TLS alert",
            Self::Expired => "expired certificate",
            Self::NoSuchName => "no such name",
        }
    }

    fn applies(self, doing: Doing, era: Era) -> bool {
        match (self, doing, era) {
            // A client of this version has nothing to say at its end.
            (_, Doing::Close, Era::Modern) => false,
            // The same in each of them: a name is looked up for each connection.
            (Self::NoSuchName, doing, _) => doing == Doing::Connect,
            // No connection is made.
            (fault, Doing::Progress, _) => !fault.meets_connections(),
            _ => true,
        }
    }

    async fn play(self, doing: Doing, era: Era) -> Result<String, String> {
        let server = Server::start(self, doing, era).await;
        let told = self.meets(doing, era, self.http(&server)).await?;
        match settled(|| server.open() == 0).await {
            true => Ok(told),
            false => Err(format!("{told}, and {} connections are LEFT", server.open())),
        }
    }
}

impl Fault {
    /// Whether it is new connections that are at fault, and not what comes over them.
    pub(super) fn meets_connections(self) -> bool {
        match self {
            Self::Refused
            | Self::Unanswered
            | Self::TlsAlert
            | Self::Expired
            | Self::NoSuchName => true,
            Self::Reset
            | Self::HalfClose
            | Self::BlackHole
            | Self::SlowLoris
            | Self::CutChunk
            | Self::TooLong
            | Self::TooShort => false,
        }
    }

    fn http(self, server: &Server) -> Http {
        let port = server.address.port();
        let origin = match self {
            Self::TlsAlert | Self::Expired => format!("https://127.0.0.1:{port}"),
            // A label is too long by one letter, so that no name server is asked.
            Self::NoSuchName => format!("http://{}:{port}", "n".repeat(64)),
            _ => format!("http://127.0.0.1:{port}"),
        };
        let http = Http::new(format!("{origin}/mcp")).expect("a URL");
        let http = http.root_certificates(format!("{AUTHORITY}{EXPIRED}")).expect("certificates");
        let http = http
            .http_version(HttpVersion::Http1)
            .connect_timeout(CONNECT)
            .resume_delay(Duration::from_millis(50));
        // Where connections are at fault, each request has one of its own.
        if self.meets_connections() { http.pool_idle(0) } else { http }
    }

    async fn meets(self, doing: Doing, era: Era, http: Http) -> Result<String, String> {
        if doing == Doing::Connect {
            return timed(async {
                let client = builder(era).connect(http).await?;
                // A client of this version alone has nothing to ask when it connects.
                if era == Era::Modern { client.discover().await.map(drop) } else { Ok(()) }
            })
            .await;
        }
        let client = builder(era).connect(http).await.map_err(|error| error.to_string())?;
        match doing {
            Doing::Connect | Doing::Call => {
                if self.meets_connections() {
                    strikes(&client).await?;
                }
                timed(async { client.call_tool("struck", ()).await }).await
            }
            Doing::Progress => calls_with_progress(&client).await,
            Doing::Input => timed(async { client.call_tool("struck", ()).await }).await,
            Doing::Listen => {
                let listening = client.listen(changes()).await;
                let mut events = listening.map_err(|error| error.to_string())?;
                strikes(&client).await?;
                Ok(hears(&mut events).await)
            }
            Doing::Close => {
                if self.meets_connections() {
                    strikes(&client).await?;
                }
                closes(&client).await
            }
        }
    }
}

/// Tells the server that it is time; this call itself is answered.
async fn strikes(client: &Client) -> Result<(), String> {
    client.call_tool("strike", ()).await.map(drop).map_err(|error| format!("strike: {error}"))
}

#[tokio::test]
async fn of_a_certificate_that_expired_its_owner_is_told_so() {
    let server = Server::start(Fault::Expired, Doing::Connect, Era::Legacy).await;
    let connected = builder(Era::Legacy).connect(Fault::Expired.http(&server)).await;
    let error = connected.expect_err("nobody vouches for it any more").to_string();
    assert!(error.contains("expired"), "{error}");
}

/// Name lookup, TCP and TLS together.
const CONNECT: Duration = Duration::from_secs(1);
