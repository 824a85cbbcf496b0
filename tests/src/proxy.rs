//! A TCP proxy that cuts connections when it is told to.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// Passes bytes between a client and a server that may change behind one address.
///
/// # Drop behavior
///
/// Dropping it closes the listener and every connection at once.
///
/// ```
/// use snodo_tests::Proxy;
///
/// # async fn put_between(server: std::net::SocketAddr) -> std::io::Result<()> {
/// let proxy = Proxy::to(server).await?;
/// let url = format!("http://{}/mcp", proxy.address());
/// proxy.cut_behind("\"progress\":1");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    /// Without one, whoever comes is hung up on.
    server: Mutex<Option<SocketAddr>>,
    /// What the scissors wait for in the server's words; they cut once.
    scissors: Mutex<Option<Vec<u8>>>,
    /// A new value ends every connection of before.
    cuts: watch::Sender<usize>,
    open: AtomicUsize,
}

impl Proxy {
    /// Starts to listen. It has to be called on a tokio runtime.
    ///
    /// # Errors
    ///
    /// No port can be had.
    pub async fn to(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server: Mutex::new(Some(server)),
            scissors: Mutex::default(),
            cuts: watch::Sender::new(0),
            open: AtomicUsize::new(0),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts another server behind it, or none; connections that are open stay with the old one.
    pub fn lead_to(&self, server: impl Into<Option<SocketAddr>>) {
        *self.shared.server() = server.into();
    }

    /// Ends every connection that is open now.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Ends the next connection on which the server says this, right behind it.
    pub fn cut_behind(&self, words: &str) {
        *self.shared.scissors() = Some(words.as_bytes().to_vec());
    }

    /// How many connections are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.shared.open.load(Ordering::Acquire)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn server(&self) -> MutexGuard<'_, Option<SocketAddr>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scissors(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.scissors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where these words are to be cut, if they are.
    fn cut_at(&self, words: &[u8]) -> Option<usize> {
        let mut scissors = self.scissors();
        let mark = scissors.as_ref()?;
        let at = words.windows(mark.len()).position(|window| window == mark)? + mark.len();
        *scissors = None;
        Some(at)
    }
}

/// Accepts until it is aborted; the connections are its own and end with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { continue };
                let (server, shared) = (*shared.server(), Arc::clone(&shared));
                let mut cuts = shared.cuts.subscribe();
                let Some(server) = server else { continue };
                connections.spawn(async move {
                    let _open = Open::new(&shared);
                    tokio::select! {
                        _ = cuts.changed() => {}
                        _ = pass(client, server, &shared) => {}
                    }
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Passes bytes both ways until either side ends, or the scissors cut.
async fn pass(client: TcpStream, server: SocketAddr, shared: &Shared) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut client_read, mut client_write) = client.into_split();
    let (mut server_read, mut server_write) = server.into_split();
    let asking = async {
        tokio::io::copy(&mut client_read, &mut server_write).await?;
        server_write.shutdown().await
    };
    let answering = async {
        // What was passed on last: the words of the scissors may come in two pieces.
        let mut words: Vec<u8> = Vec::new();
        loop {
            let before = words.len();
            if server_read.read_buf(&mut words).await? == 0 {
                return client_write.shutdown().await;
            }
            let cut = shared.cut_at(&words);
            client_write.write_all(&words[before..cut.unwrap_or(words.len()).max(before)]).await?;
            client_write.flush().await?;
            if cut.is_some() {
                // Give what was sent the time to arrive before the end does.
                tokio::time::sleep(ARRIVAL).await;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            words.drain(..words.len().saturating_sub(LONGEST_WORDS));
        }
    };
    // An end of the client's words alone is no end of the server's.
    tokio::select! {
        answered = answering => answered,
        Err(error) = asking => Err(error),
    }
}

/// Counts a connection while it is open.
struct Open<'a>(&'a Shared);

impl<'a> Open<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.open.fetch_add(1, Ordering::AcqRel);
        Self(shared)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

const ARRIVAL: Duration = Duration::from_millis(5);

/// The scissors may wait for at most so many bytes.
const LONGEST_WORDS: usize = 256;

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::Proxy;

    /// Says the same to whoever comes, in two pieces, and stays.
    async fn speaker() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    for piece in ["one tw", "o three"] {
                        socket.write_all(piece.as_bytes()).await.expect("somebody hears it");
                        socket.flush().await.expect("somebody hears it");
                        tokio::task::yield_now().await;
                    }
                    let _ = socket.read(&mut [0]).await;
                });
            }
        });
        address
    }

    async fn connect(proxy: &Proxy) -> TcpStream {
        TcpStream::connect(proxy.address()).await.expect("it listens")
    }

    async fn all(mut socket: TcpStream) -> String {
        let mut text = String::new();
        socket.read_to_string(&mut text).await.expect("an orderly end");
        text
    }

    #[tokio::test]
    async fn it_cuts_once_behind_the_words_and_everything_when_told() {
        let proxy = Proxy::to(speaker().await).await.expect("a port");
        proxy.cut_behind("two");
        assert_eq!(all(connect(&proxy).await).await, "one two");

        let mut whole = connect(&proxy).await;
        let mut text = [0; 13];
        whole.read_exact(&mut text).await.expect("uncut");
        assert_eq!((&text, proxy.open()), (b"one two three", 1));
        proxy.cut();
        assert_eq!(all(whole).await, "");

        proxy.lead_to(None);
        assert_eq!(all(connect(&proxy).await).await, "");
    }
}
