//! A listener on this machine that a browser comes back to.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::error::Error;
use crate::form;
use crate::person::{Departure, Opener, Person, Visit};
use crate::place::Place;
use crate::secret::Secret;

/// Opens the page in a browser, and waits for the browser to come back to this machine.
///
/// It listens on loopback alone, for IPv4 and IPv6, on a port of its own for each login, and for as
/// long as the login lasts. What comes without the right `state` is refused and does not end the
/// login: any page in the browser can send it. The first with the right one ends it. The page that
/// the person then sees repeats nothing of what came.
///
/// The redirect URI is `http://127.0.0.1:PORT/callback`. Some servers compare the port too, though
/// they should not (RFC 8252, section 7.3), or take nothing but `localhost`:
///
/// ```
/// use snodo_oauth::{LoopbackListener, SystemBrowser};
///
/// let listener = LoopbackListener::new(SystemBrowser).port(8976).localhost().path("/oauth");
/// # let _ = listener;
/// ```
#[must_use]
pub struct LoopbackListener {
    opener: Arc<dyn Opener>,
    port: Option<u16>,
    host: Host,
    path: String,
    page: Arc<str>,
}

#[derive(Clone, Copy, Debug)]
enum Host {
    Address,
    Name,
}

impl LoopbackListener {
    /// Opens pages by `opener`: [`SystemBrowser`](crate::SystemBrowser), or a function.
    pub fn new(opener: impl Opener) -> Self {
        let (port, host, path) = (None, Host::Address, "/callback".to_owned());
        Self { opener: Arc::new(opener), port, host, path, page: PAGE.into() }
    }

    /// Listens on this port. Unless set, it is the port of the last login or a random one.
    pub fn port(self, port: u16) -> Self {
        Self { port: Some(port), ..self }
    }

    /// Says `localhost` in the redirect URI instead of the address.
    pub fn localhost(self) -> Self {
        Self { host: Host::Name, ..self }
    }

    /// The path of the redirect URI; `/callback` unless set. It begins with a slash and has no query.
    pub fn path(self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self }
    }

    /// The page, in HTML, that is shown when the browser came back.
    pub fn page(self, html: impl Into<Arc<str>>) -> Self {
        Self { page: html.into(), ..self }
    }

    /// The redirect URI with a port, or without one: as a metadata document lists it.
    #[must_use]
    pub fn redirect_uri(&self, port: Option<u16>) -> String {
        let host = match self.host {
            Host::Address => "127.0.0.1",
            Host::Name => "localhost",
        };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("http://{host}{port}{}", self.path)
    }

    /// The port of a redirect URI that could have been one of ours.
    fn port_of(&self, redirect: &str) -> Option<u16> {
        let port = Place::read(redirect).ok()?.port;
        (redirect == self.redirect_uri(Some(port))).then_some(port)
    }
}

impl Person for LoopbackListener {
    async fn prepare(&self, before: Option<&str>) -> Result<Visit, Error> {
        let wished = self.port.or_else(|| before.and_then(|before| self.port_of(before)));
        let doors = match Doors::open(wished.unwrap_or(0)).await {
            // A port that somebody else has by now was only a wish.
            Err(_) if self.port.is_none() && wished.is_some() => Doors::open(0).await,
            opened => opened,
        };
        let failed = |error: io::Error| Error::person(format!("nothing can listen here: {error}"));
        let doors = doors.map_err(failed)?;
        let (opener, page) = (Arc::clone(&self.opener), Arc::clone(&self.page));
        let (redirect, path) = (self.redirect_uri(Some(doors.port)), self.path.clone());
        Ok(Visit::new(redirect, move |departure: Departure| async move {
            let failed = |error| Error::person(format!("the browser could not be opened: {error}"));
            opener.open(&departure.url).map_err(failed)?;
            let wanted = Arc::new(Wanted { path, state: departure.state, page });
            doors.wait(&wanted).await
        }))
    }
}

impl fmt::Debug for LoopbackListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackListener")
            .field("port", &self.port)
            .field("host", &self.host)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The same port on both loopback addresses; `localhost` may be either.
struct Doors {
    port: u16,
    first: TcpListener,
    second: Option<TcpListener>,
}

impl Doors {
    async fn open(port: u16) -> io::Result<Self> {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(first) => {
                let port = first.local_addr()?.port();
                let second = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await.ok();
                Ok(Self { port, first, second })
            }
            Err(_) if port == 0 => {
                let first = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await?;
                Ok(Self { port: first.local_addr()?.port(), first, second: None })
            }
            Err(error) => Err(error),
        }
    }

    /// Waits for the one answer; what else comes is turned away.
    async fn wait(self, wanted: &Arc<Wanted>) -> Result<String, Error> {
        let mut guests: JoinSet<Option<String>> = JoinSet::new();
        loop {
            tokio::select! {
                Some(left) = guests.join_next() => {
                    if let Ok(Some(query)) = left {
                        return Ok(query);
                    }
                }
                accepted = self.accept() => match accepted {
                    // A browser opens connections ahead that say nothing; a flood finds no room.
                    Ok((stream, _)) if guests.len() < MOST_GUESTS => {
                        let wanted = Arc::clone(wanted);
                        guests.spawn(async move {
                            timeout(PATIENCE, wanted.receive(stream)).await.ok().flatten()
                        });
                    }
                    Ok(_) => {}
                    // No file descriptor is left, say: asking at once again would change nothing.
                    Err(_) => sleep(BREATH).await,
                },
            }
        }
    }

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        match &self.second {
            None => self.first.accept().await,
            Some(second) => tokio::select! {
                accepted = self.first.accept() => accepted,
                accepted = second.accept() => accepted,
            },
        }
    }
}

/// The answer that is waited for.
struct Wanted {
    path: String,
    state: Secret,
    page: Arc<str>,
}

impl Wanted {
    /// Reads a request and answers it; gives its query if it is the one.
    async fn receive(&self, mut stream: TcpStream) -> Option<String> {
        let line = request_line(&mut stream).await?;
        let (status, query) = self.judge(&line);
        let body = if query.is_some() { &*self.page } else { TURNED_AWAY };
        let answer =
            format!("HTTP/1.1 {status}\r\n{HEADERS}content-length: {}\r\n\r\n{body}", body.len());
        // The login goes on though the person may not see the page.
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
        query
    }

    fn judge(&self, line: &str) -> (&'static str, Option<String>) {
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path != self.path {
            return ("404 Not Found", None);
        }
        if method != "GET" {
            return ("405 Method Not Allowed", None);
        }
        let mut states = form::pairs(query).filter(|(name, _)| name == "state");
        let right = states.next().is_some_and(|(_, state)| Secret::new(state) == self.state);
        if right { ("200 OK", Some(query.to_owned())) } else { ("400 Bad Request", None) }
    }
}

/// The first line of a request, once its head is there as a whole.
async fn request_line(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut piece = [0; 2048];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&piece[..read]);
        if head.len() > LONGEST {
            return None;
        }
    }
    let end = head.windows(2).position(|window| window == b"\r\n")?;
    head.truncate(end);
    String::from_utf8(head).ok()
}

/// The same for all: nothing may be fetched, kept, or told to others.
const HEADERS: &str = "content-type: text/html; charset=utf-8\r\ncache-control: no-store\r\n\
    content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
    referrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\nconnection: close\r\n";

const PAGE: &str = "<!doctype html><meta charset=\"utf-8\"><title>Done</title>\
    <p>That was all. You can close this page and go back to the program.</p>\n";

const TURNED_AWAY: &str = "<!doctype html><meta charset=\"utf-8\"><title>Nothing here</title>\
    <p>Nothing is waiting for this.</p>\n";

/// How long one connection may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a listener that fails is left alone.
const BREATH: Duration = Duration::from_millis(50);

/// The longest head of a request.
const LONGEST: usize = 64 * 1024;

/// The most connections at once.
const MOST_GUESTS: usize = 32;
