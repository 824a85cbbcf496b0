//! A client over a byte pipe in memory, and the hand that plays its server line by line.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use snodo::stdio::Pipe;
use snodo::transport::Connect;
use snodo::types::{TransportError, TransportFault};
use snodo::{Builder, Client, Error, ProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::baseline::{self, Reply};
use super::client::Baseline;
use super::value::parsed;

/// The server's end of a pipe. It belongs on a runtime whose clock stands.
pub(crate) struct Wire {
    reader: ReadHalf<DuplexStream>,
    writer: WriteHalf<DuplexStream>,
    /// What was read and is no whole line yet.
    rest: Vec<u8>,
    version: ProtocolVersion,
}

impl Wire {
    /// Begins to connect a client, which may speak all versions of the era of this one.
    pub(crate) fn begin(
        builder: Builder,
        version: ProtocolVersion,
    ) -> (JoinHandle<Result<Client, Error>>, Self) {
        let stateless = version == ProtocolVersion::V2026_07_28;
        let initialize = [ProtocolVersion::V2025_11_25, ProtocolVersion::V2025_06_18];
        let era = if stateless { vec![version] } else { initialize.to_vec() };
        Self::begin_with(builder.protocol(era), version)
    }

    fn begin_with(
        builder: Builder,
        version: ProtocolVersion,
    ) -> (JoinHandle<Result<Client, Error>>, Self) {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(near);
        let pipe = Once(Mutex::new(Some(Pipe::new(reader, writer))));
        let connecting = tokio::spawn(async move { builder.connect(pipe).await });
        let (reader, writer) = tokio::io::split(far);
        (connecting, Self { reader, writer, rest: Vec::new(), version })
    }

    /// Connects a client that speaks this version, and nothing else.
    pub(crate) async fn connect(
        builder: Builder,
        version: ProtocolVersion,
    ) -> Result<(Client, Self), String> {
        let (connecting, mut wire) = Self::begin_with(builder.protocol([version]), version);
        for _ in 0..2 {
            for line in wire.lines().await {
                wire.answer(&line).await?;
            }
        }
        let connected = connecting.await.map_err(|error| error.to_string())?;
        let client = connected.map_err(|error| format!("the client does not connect: {error}"))?;
        Ok((client, wire))
    }

    /// Every whole line that the client wrote, once it has nothing left to do.
    pub(crate) async fn lines(&mut self) -> Vec<String> {
        settle().await;
        loop {
            tokio::select! {
                biased;
                read = self.reader.read_buf(&mut self.rest) => {
                    if !matches!(read, Ok(1..)) {
                        break;
                    }
                }
                () = std::future::ready(()) => break,
            }
        }
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect()
    }

    /// Writes a line, and lets the client do what it leads to.
    pub(crate) async fn say(&mut self, text: &str) -> Result<(), String> {
        let line = format!("{text}\n");
        let written = self.writer.write_all(line.as_bytes()).await;
        settle().await;
        written.map_err(|error| format!("the client takes no more: {error}"))
    }

    /// Answers a line as the baseline of the version does.
    pub(crate) async fn answer(&mut self, line: &str) -> Result<(), String> {
        let message = parsed(line);
        let id = message.get("id").cloned().unwrap_or_default();
        let stateless = self.version == ProtocolVersion::V2026_07_28;
        let baseline = if stateless { Baseline::Modern } else { Baseline::Legacy };
        let reply = baseline::reply(baseline, &baseline::tools([]), &message);
        self.reply(&id, reply).await
    }

    /// Answers a request with a result.
    pub(crate) async fn result(&mut self, request: &str, result: &str) -> Result<(), String> {
        let id = parsed(request).get("id").cloned().unwrap_or_default();
        // The text goes as it is: decoding it and writing it again might mend it.
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await
    }

    async fn reply(&mut self, id: &Value, reply: Reply) -> Result<(), String> {
        match reply.response(id) {
            Some(response) => self.say(&response.to_string()).await,
            None => Ok(()),
        }
    }
}

/// Runs a future on a runtime whose clock stands: it moves only once nobody has anything to do.
pub(crate) fn on_standing_clock<T>(
    future: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| format!("no runtime for it: {error}"))?
        .block_on(future)
}

/// Lets everything run that can.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// A connector with one connection to give.
struct Once(Mutex<Option<Pipe>>);

impl Connect for Once {
    type Transport = Pipe;

    async fn connect(&self) -> Result<Pipe, TransportError> {
        let pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gone = || TransportError::new(TransportFault::Connect, "the one pipe is taken");
        pipe.ok_or_else(gone)
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed("the scripted peer")
    }
}
