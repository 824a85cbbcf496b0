//! A way to a server over byte streams of any kind.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::io;

use snodo_transport::Connect;
use snodo_types::{TransportError, TransportFault};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::Pipe;

/// A server at the other end of a byte stream (TCP, a Unix socket, a tunnel, a pipe in memory), as
/// newline-delimited messages.
///
/// The function opens a stream, anew for each connection: a client makes one when it opens, another
/// where an older server did not take the question that a newer one is asked first, and another
/// after one that ended. A source and a sink apart become one stream by `tokio::io::join`.
///
/// ```
/// use snodo_stdio::Streams;
/// use snodo_transport::Connect;
/// use tokio::net::TcpStream;
///
/// let server = Streams::new(|| TcpStream::connect("127.0.0.1:9000")).named("the orders");
/// assert_eq!(server.target(), "the orders");
/// ```
#[derive(Clone)]
#[must_use]
pub struct Streams<F> {
    open: F,
    name: Cow<'static, str>,
    max_line_bytes: usize,
}

impl<F, G, S> Streams<F>
where
    F: Fn() -> G + Send + Sync + 'static,
    G: Future<Output = io::Result<S>> + Send,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    /// Takes the function that opens a stream. Errors and logs call the server "a byte stream",
    /// unless it is [named](Self::named).
    pub fn new(open: F) -> Self {
        let name = Cow::Borrowed("a byte stream");
        Self { open, name, max_line_bytes: Pipe::MAX_LINE_BYTES }
    }

    /// What errors and logs call the server. It must not hold a secret.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// The longest line that is read; [`Pipe::MAX_LINE_BYTES`] unless set.
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.max_line_bytes = bytes;
        self
    }
}

impl<F, G, S> Connect for Streams<F>
where
    F: Fn() -> G + Send + Sync + 'static,
    G: Future<Output = io::Result<S>> + Send,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    type Transport = Pipe;

    /// Opens a stream.
    ///
    /// # Errors
    ///
    /// [`Connect`](TransportFault::Connect), with what the function gave below it.
    async fn connect(&self) -> Result<Pipe, TransportError> {
        let stream = (self.open)().await.map_err(|error| {
            let why = format!("no stream could be opened: {error}");
            TransportError::new(TransportFault::Connect, why).with_source(error).not_processed()
        })?;
        let (reader, writer) = tokio::io::split(stream);
        Ok(Pipe::with_max_line_bytes(reader, writer, self.max_line_bytes))
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }
}

impl<F> fmt::Debug for Streams<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams")
            .field("name", &self.name)
            .field("max_line_bytes", &self.max_line_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use snodo_transport::{Connect, Incoming, Transport};
    use snodo_types::{Message, Processed, TransportFault};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

    use super::Streams;

    /// Answers one line with a result of so many bytes.
    fn server(far: DuplexStream, bytes: usize) {
        tokio::spawn(async move {
            let (read, mut write) = tokio::io::split(far);
            let mut lines = BufReader::new(read).lines();
            lines.next_line().await.expect("bytes").expect("a line");
            let answer =
                Message::result(&1.into(), &format!("{{\"a\":\"{}\"}}", "x".repeat(bytes)));
            write.write_all(format!("{}\n", answer.text()).as_bytes()).await.expect("room");
        });
    }

    #[tokio::test]
    async fn each_connection_is_a_stream_of_its_own() {
        let opened = AtomicUsize::new(0);
        let streams = Streams::new(move || {
            let (near, far) = tokio::io::duplex(1024);
            server(far, 10 * opened.fetch_add(1, Ordering::Relaxed));
            async move { Ok(near) }
        });
        let streams = streams.max_line_bytes(65);
        for fits in [true, true, true, false] {
            let pipe = streams.connect().await.expect("a connection");
            let mut exchange = pipe.exchange(Message::request(&1.into(), "ask", None).into());
            match exchange.next().await {
                Some(Ok(Incoming::Message(_))) => assert!(fits),
                Some(Err(error)) => {
                    assert_eq!((error.fault(), fits), (TransportFault::TooLarge, false))
                }
                other => panic!("unexpected: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_stream_that_cannot_be_opened_says_why() {
        let streams = Streams::new(|| async {
            Err::<DuplexStream, _>(io::Error::other("nobody is at home"))
        });
        let error = streams.connect().await.expect_err("no stream");
        assert_eq!((error.fault(), error.processed()), (TransportFault::Connect, Processed::No));
        assert_eq!(error.to_string(), "no stream could be opened: nobody is at home");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("nobody is at home"));
        assert_eq!(
            format!("{streams:?}"),
            "Streams { name: \"a byte stream\", max_line_bytes: 16777216, .. }"
        );
    }
}
