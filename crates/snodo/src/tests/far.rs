//! The far end of a byte pipe: each test reads and writes its lines.

use std::sync::Mutex;

use serde_json::{Value, json};
use snodo_stdio::Pipe;
use snodo_transport::Connect;
use snodo_types::{TransportError, TransportFault};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::{SECOND, session};
use crate::{Builder, Client};

/// The far end of a pipe.
pub(crate) struct Far {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

/// The near end, which connects once.
pub(crate) struct Near(Mutex<Option<DuplexStream>>);

impl Far {
    /// Both ends of a pipe that holds so many bytes each way.
    pub(crate) fn new(size: usize) -> (Near, Self) {
        let (near, far) = tokio::io::duplex(size);
        let (input, output) = tokio::io::split(far);
        (Near(Mutex::new(Some(near))), Self { lines: BufReader::new(input).lines(), output })
    }

    /// A client whose session this end has opened.
    pub(crate) async fn open(builder: Builder) -> (Client, Self) {
        let (near, mut far) = Self::new(64 * 1024);
        let greeting = async {
            let hello = far.read().await;
            let version = hello["params"]["protocolVersion"].clone();
            let info = json!({ "name": "far", "version": "1" });
            let result =
                json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": info });
            far.answer(&hello, result).await;
            assert_eq!(far.read().await["method"], "notifications/initialized");
        };
        let (client, ()) = tokio::join!(builder.connect(near), greeting);
        (client.expect("a session"), far)
    }

    /// The same with nothing but the version set.
    pub(crate) async fn plain() -> (Client, Self) {
        Self::open(session()).await
    }

    /// The next message of the client.
    pub(crate) async fn read(&mut self) -> Value {
        let line = tokio::time::timeout(3600 * SECOND, self.lines.next_line()).await;
        let line = line.expect("it says something").expect("readable").expect("not the end");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Says so when the client sends nothing for a while.
    pub(crate) async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(SECOND, self.lines.next_line()).await.is_err()
    }

    /// Whether the client has closed its side.
    pub(crate) async fn is_over(&mut self) -> bool {
        self.lines.next_line().await.expect("readable").is_none()
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.say_all(&[message]).await;
    }

    /// Writes many lines at once.
    pub(crate) async fn say_all(&mut self, messages: &[Value]) {
        let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
        self.output.write_all(text.as_bytes()).await.expect("writable");
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// Asks the client something under a number of this side's.
    pub(crate) async fn ask(&mut self, id: u64, question: &Value) {
        self.say(question_of(id, question)).await;
    }
}

/// A question of a server's own.
pub(crate) fn question_of(id: u64, question: &Value) -> Value {
    let mut message = question.clone();
    message["jsonrpc"] = "2.0".into();
    message["id"] = id.into();
    message
}

impl Connect for Near {
    type Transport = Pipe;

    async fn connect(&self) -> Result<Pipe, TransportError> {
        let near = self.0.lock().expect("no test panics with it").take();
        let gone = || TransportError::new(TransportFault::Closed, "it connects once");
        let (reader, writer) = tokio::io::split(near.ok_or_else(gone)?);
        Ok(Pipe::new(reader, writer))
    }
}
