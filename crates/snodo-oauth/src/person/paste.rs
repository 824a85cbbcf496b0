//! A person who carries the answer over by hand: no browser is near, or nothing can listen.

use std::fmt;
use std::future::Future;
use std::io::{self, BufRead as _, Write as _};
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Error;
use crate::person::{Departure, Person, Visit};

/// Shows the URL, and asks for the one that the browser ended up at.
///
/// Nothing listens at the redirect URI, so that the browser shows an error there; its address line
/// has the answer all the same.
///
/// ```
/// use snodo_oauth::{Error, Paste};
///
/// let terminal = Paste::terminal();
/// let own = Paste::new(|url: String| async move {
///     ask_somehow(&url).await.ok_or_else(|| Error::person("nothing was pasted"))
/// });
/// # async fn ask_somehow(_: &str) -> Option<String> { None }
/// # let _ = (terminal, own);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Paste {
    redirect: String,
    ask: Arc<Ask>,
}

type Ask =
    dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<String, Error>> + Send>> + Send + Sync;

impl Paste {
    /// Asks by a function: it is given the URL to show, and gives what was pasted.
    pub fn new<F, G>(ask: F) -> Self
    where
        F: Fn(String) -> G + Send + Sync + 'static,
        G: Future<Output = Result<String, Error>> + Send + 'static,
    {
        let redirect = "http://127.0.0.1/callback".to_owned();
        Self { redirect, ask: Arc::new(move |url| Box::pin(ask(url))) }
    }

    /// Asks on the terminal: writes to the standard error, and reads a line of the standard input.
    ///
    /// The line is read by a thread that stays until there is one, whoever still waits for it.
    pub fn terminal() -> Self {
        Self::new(|url| async move {
            let asked = tokio::task::spawn_blocking(move || on_terminal(&url)).await;
            let asked = asked.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::Interrupted)));
            asked.map_err(|error| Error::person(format!("nothing was pasted: {error}")))
        })
    }

    /// The redirect URI; `http://127.0.0.1/callback` unless set.
    pub fn redirect(self, uri: impl Into<String>) -> Self {
        Self { redirect: uri.into(), ..self }
    }
}

impl Person for Paste {
    async fn prepare(&self, _before: Option<&str>) -> Result<Visit, Error> {
        let ask = Arc::clone(&self.ask);
        Ok(Visit::new(self.redirect.clone(), move |departure: Departure| ask(departure.url)))
    }
}

impl fmt::Debug for Paste {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paste").field("redirect", &self.redirect).finish_non_exhaustive()
    }
}

fn on_terminal(url: &str) -> io::Result<String> {
    let text = format!(
        "Open this page, and agree:\n\n{url}\n\nThe browser then ends up at a page that it cannot \
         show. Paste that page's address: "
    );
    io::stderr().write_all(text.as_bytes())?;
    io::stderr().flush()?;
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line),
    }
}
