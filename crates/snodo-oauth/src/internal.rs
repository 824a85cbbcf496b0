//! Entry points for tests, not for use.

use snodo_http::Errands;

use crate::error::Error;
use crate::identity::Registration;
use crate::metadata::discover;
use crate::metadata::resource::{Candidate, Comparison};
use crate::metadata::server::{self, Equality, Server};
use crate::place::Place;
use crate::policy::Policy;
use crate::scopes::Scopes;
use crate::secret::Secret;
use crate::store::Store;
use crate::store::records::Records;
use crate::tokens::{Origin, Tokens};
use crate::web::Web;

/// What a store holds for an MCP server.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "tests write it out")]
pub struct Kept {
    /// The issuer.
    pub issuer: String,
    /// The client id.
    pub client: String,
    /// The resource.
    pub resource: String,
    /// The access token.
    pub access: String,
    /// The refresh token.
    pub refresh: Option<String>,
    /// The scopes that were granted.
    pub scope: String,
    /// When the token ends, in seconds of the Unix clock.
    pub ends: Option<u64>,
}

/// Where the metadata of a protected resource is looked for.
///
/// # Errors
///
/// The URL is none.
pub fn protected_resource_places(url: &str) -> Result<Vec<String>, &'static str> {
    let places = Candidate::well_known(&Place::read(url)?);
    Ok(places.into_iter().map(|candidate| candidate.url).collect())
}

/// Where the metadata of an issuer is looked for.
///
/// # Errors
///
/// The issuer is no URL.
pub fn authorization_server_places(issuer: &str) -> Result<Vec<String>, &'static str> {
    Ok(server::candidates(&Place::read(issuer)?))
}

/// Whether a document is the metadata of an issuer.
///
/// # Errors
///
/// It is that of another one.
pub fn is_metadata_of(issuer: &str, document: &str) -> Result<bool, Error> {
    let members = serde_json::from_str(document).unwrap_or_default();
    Server::read(&members, issuer, Equality::Exact).map(|read| read.is_some())
}

/// Finds out which issuer protects a server that named this place, or none.
///
/// # Errors
///
/// As for a flow.
pub async fn issuer_of(
    url: &str,
    named: Option<&str>,
    errands: &Errands,
    policy: &Policy,
) -> Result<String, Error> {
    let web = Web::new(errands, policy);
    let resource = discover::resource(&web, url, named, Comparison::default()).await?;
    let issuer = resource.servers.first().cloned().unwrap_or_default();
    Ok(discover::server(&web, &issuer, Equality::Exact).await?.issuer)
}

/// Puts tokens in a store, as a login would have.
///
/// # Errors
///
/// The store fails.
pub async fn keep(
    store: impl Store,
    application: &str,
    url: &str,
    kept: Kept,
) -> Result<(), Error> {
    let Kept { issuer, client, resource, access, refresh, scope, ends } = kept;
    let scopes = Scopes::read(&scope);
    let tokens = Tokens {
        access: Secret::new(access),
        bound: None,
        refresh: refresh.map(Secret::new),
        ends,
        stale: ends,
        granted: scopes.clone(),
        requested: scopes,
        origin: Origin { issuer, client, resource },
    };
    Records::new(store, application).keep(url, &tokens).await
}

/// Puts a registration in a store, as a server would have given it for a redirect URI.
///
/// # Errors
///
/// The store fails.
pub async fn keep_registration(
    store: impl Store,
    application: &str,
    client: &str,
    issuer: &str,
    redirect: &str,
) -> Result<(), Error> {
    let mut client = Registration::new(client).issuer(issuer);
    client.redirects = vec![redirect.to_owned()];
    Records::new(store, application).keep_registration(issuer, Some(&client)).await
}

/// What a store holds for an MCP server.
///
/// # Errors
///
/// The store fails.
pub async fn kept(store: impl Store, application: &str, url: &str) -> Result<Option<Kept>, Error> {
    let tokens = Records::new(store, application).tokens_of(url).await?;
    Ok(tokens.map(|tokens| Kept {
        issuer: tokens.origin.issuer.clone(),
        client: tokens.origin.client.clone(),
        resource: tokens.origin.resource.clone(),
        access: tokens.access.expose().to_owned(),
        refresh: tokens.refresh.as_ref().map(|refresh| refresh.expose().to_owned()),
        scope: tokens.granted.parameter().unwrap_or_default(),
        ends: tokens.ends,
    }))
}
