//! Fetching metadata, place by place.

use crate::error::{Error, ErrorKind};
use crate::metadata::resource::{Candidate, Comparison, Resource};
use crate::metadata::server::{self, Equality, Server};
use crate::place::Place;
use crate::web::{Members, Web};

/// Finds out who protects a server: in the place that its challenge named and nowhere else, or else
/// in the well-known places.
///
/// # Errors
///
/// [`ErrorKind::Discovery`]: no place has a document. [`ErrorKind::Unreachable`]: the last place did
/// not answer, so nobody knows. And those of [`Resource::read`].
pub(crate) async fn resource(
    web: &Web,
    url: &str,
    named: Option<&str>,
    comparison: Comparison,
) -> Result<Resource, Error> {
    let server = Place::read(url)
        .map_err(|why| Error::new(ErrorKind::Usage, format!("the URL of the server {why}")))?;
    let candidates = match named {
        Some(named) => vec![Candidate::named(named, &server)],
        None => Candidate::well_known(&server),
    };
    let mut last = nothing("no place to look for protected resource metadata");
    for candidate in &candidates {
        let members = match document(web, &candidate.url).await {
            Ok(members) => members,
            Err(error) if error.kind() == ErrorKind::Policy => return Err(error),
            Err(error) => {
                last = error;
                continue;
            }
        };
        match Resource::read(&members, candidate, &server, comparison) {
            Err(error) if error.kind() == ErrorKind::Malformed => last = error,
            read => return read,
        }
    }
    Err(last.while_("who protects this server is unknown"))
}

/// Gets the metadata of an issuer.
///
/// # Errors
///
/// As [`resource`], and [`ErrorKind::Mismatch`] where a place has the document of another issuer.
pub(crate) async fn server(web: &Web, issuer: &str, equality: Equality) -> Result<Server, Error> {
    server::check_issuer(issuer, web.policy())?;
    let place = web.policy().place(issuer)?;
    let mut last = nothing("no place to look for authorization server metadata");
    for url in server::candidates(&place) {
        match document(web, &url).await {
            Ok(members) => match Server::read(&members, issuer, equality)? {
                Some(server) => return Ok(server),
                None => last = nothing(&format!("{url} has no authorization server metadata")),
            },
            Err(error) => last = error,
        }
    }
    Err(last.while_(&format!("the authorization server {issuer:?} is unknown")))
}

/// The object at a URL.
async fn document(web: &Web, url: &str) -> Result<Members, Error> {
    let answer = web.get(url).await?;
    match (answer.status.as_u16(), answer.object()) {
        (200, Some(members)) => Ok(members),
        (200, None) => Err(nothing(&format!("{url} is no JSON object"))),
        (status @ 500.., _) => {
            Err(Error::new(ErrorKind::Unreachable, format!("{url} answered HTTP {status}")))
        }
        (status, _) => Err(nothing(&format!("{url} answered HTTP {status}"))),
    }
}

fn nothing(why: &str) -> Error {
    Error::new(ErrorKind::Discovery, why)
}
