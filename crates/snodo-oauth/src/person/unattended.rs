//! Nobody: for servers that ask nothing, as they do in tests.

use http::header::LOCATION;
use http::{HeaderMap, Method};

use crate::error::Error;
use crate::person::{Departure, Person, Visit};

/// Asks for the page itself and takes the redirect that comes at once.
///
/// A server that wants a person to do anything answers with a page, which is an error here.
///
/// ```
/// use snodo_oauth::Unattended;
///
/// let person = Unattended::new("http://localhost:3000/callback");
/// # let _ = person;
/// ```
#[derive(Clone, Debug)]
pub struct Unattended {
    redirect: String,
}

impl Unattended {
    /// Nobody has to listen at the redirect URI: the redirect is read, not followed.
    #[must_use]
    pub fn new(redirect: impl Into<String>) -> Self {
        Self { redirect: redirect.into() }
    }
}

impl Person for Unattended {
    async fn prepare(&self, _before: Option<&str>) -> Result<Visit, Error> {
        Ok(Visit::new(self.redirect.clone(), fetch))
    }
}

async fn fetch(departure: Departure) -> Result<String, Error> {
    let Departure { url, errands, .. } = departure;
    let answer = errands.send(Method::GET, &url, HeaderMap::new(), Vec::new()).await?;
    let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let status = answer.status().as_u16();
    location.map(str::to_owned).ok_or_else(|| {
        Error::person(format!("the server wants a person: it answered HTTP {status}, no redirect"))
    })
}
