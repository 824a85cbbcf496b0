//! The one step that a program cannot do: a person who looks at a page and agrees.

mod browser;
mod loopback;
mod paste;
mod unattended;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use snodo_http::Errands;

pub use browser::{Opener, SystemBrowser};
pub use loopback::LoopbackListener;
pub use paste::Paste;
pub use unattended::Unattended;

use crate::error::Error;
use crate::secret::Secret;

/// Sends a person to a page, and takes what comes back.
///
/// ```
/// use snodo_oauth::{Departure, Error, Person, Visit};
///
/// /// A program with a page of its own.
/// struct Site;
///
/// impl Person for Site {
///     async fn prepare(&self, _before: Option<&str>) -> Result<Visit, Error> {
///         Ok(Visit::new("https://agent.example.com/callback", |departure: Departure| async move {
///             show(&departure.url);
///             // The whole URL that the person came back by, or its query.
///             Ok(came_back(&departure.state).await)
///         }))
///     }
/// }
/// # fn show(_: &str) {}
/// # async fn came_back(_: &snodo_oauth::Secret) -> String { String::new() }
/// ```
///
/// # Cancel safety
///
/// A call that is given up leaves the future alone. It is dropped when tokens are no longer wanted: after
/// [signing out](crate::OAuth::sign_out), and with the credentials.
pub trait Person: Send + Sync + 'static {
    /// Gets ready for one login: from here on somebody waits at the redirect URI.
    ///
    /// `before` is a redirect URI that the server knows already. Whoever can choose uses it again,
    /// and saves a registration.
    ///
    /// # Errors
    ///
    /// [`Error::person`]: nobody can be sent anywhere.
    fn prepare(&self, before: Option<&str>) -> impl Future<Output = Result<Visit, Error>> + Send;
}

/// A login that somebody is ready for. Dropping it puts everything away.
///
/// ```
/// use snodo_oauth::{Error, Visit};
///
/// let nobody = Visit::new("http://localhost/callback", |_| async {
///     Err(Error::person("nobody is at home"))
/// });
/// # let _ = nobody;
/// ```
#[must_use]
pub struct Visit {
    pub(crate) redirect: String,
    pub(crate) go: Box<dyn FnOnce(Departure) -> Going + Send>,
}

type Going = Pin<Box<dyn Future<Output = Result<String, Error>> + Send>>;

impl Visit {
    /// A visit that comes back by a redirect URI: `https`, or on this machine.
    ///
    /// `go` sends the person away and gives the whole URL that they came back by, or its query:
    /// everything in it is needed. It is dropped when nobody waits any longer.
    pub fn new<F, G>(redirect: impl Into<String>, go: F) -> Self
    where
        F: FnOnce(Departure) -> G + Send + 'static,
        G: Future<Output = Result<String, Error>> + Send + 'static,
    {
        Self { redirect: redirect.into(), go: Box::new(|departure| Box::pin(go(departure))) }
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit").field("redirect", &self.redirect).finish_non_exhaustive()
    }
}

/// Where a person is sent.
///
/// ```
/// # use snodo_oauth::Departure;
/// fn page(departure: &Departure) -> &str {
///     &departure.url
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Departure {
    /// The page to open. It was checked: `https`, or `http` on this machine where that is allowed.
    /// It is for a browser, never for a shell.
    pub url: String,
    /// The `state` that the right answer has; another answer is to be ignored.
    pub state: Secret,
    /// For a step that needs no person.
    pub errands: Errands,
}

impl fmt::Debug for Departure {
    /// The URL holds the state, and stays out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Departure").finish_non_exhaustive()
    }
}

/// A [`Person`] behind a pointer.
pub(crate) trait Erased: Send + Sync {
    fn prepare<'a>(&'a self, before: Option<&'a str>) -> Preparing<'a>;
}

type Preparing<'a> = Pin<Box<dyn Future<Output = Result<Visit, Error>> + Send + 'a>>;

impl<P: Person> Erased for P {
    fn prepare<'a>(&'a self, before: Option<&'a str>) -> Preparing<'a> {
        Box::pin(Person::prepare(self, before))
    }
}
