//! The credentials: what is sent with each request, and what becomes of a refusal.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method};
use snodo_http::{Asked, Challenge, Credentials, Refusal, Verdict};
use snodo_types::{Fingerprint, TransportError, TransportFault};

use crate::config::{Config, Possession};
use crate::dpop::{self, DPOP, Nonces, Proven};
use crate::error::{Error, ErrorKind};
use crate::flight::Share;
use crate::place::Place;
use crate::renew::{Demand, Reach, Renewal};
use crate::secret::Secret;
use crate::session::Session;
use crate::store::records::Records;
use crate::tokens::Tokens;
use crate::web::Web;

/// Credentials that are got from authorization servers, as MCP servers ask for them.
///
/// Nothing happens before a server refuses a request. Then the server's authorization server is
/// looked up, a token is got, and the request is sent again. Later the token is renewed 30 seconds
/// before it ends, or after a refusal; all requests that need it wait for one renewal. It goes on
/// though a call that waits for it is given up.
///
/// Clones share everything. One value may serve several MCP servers: what belongs to one is never
/// shown to another.
///
/// ```
/// use snodo_http::Http;
/// use snodo_oauth::{Application, LoopbackListener, OAuth, SystemBrowser};
///
/// let oauth = OAuth::person(LoopbackListener::new(SystemBrowser))
///     .application(Application::new("Agent"))
///     .build();
/// let server = Http::new("https://mcp.example.com/mcp")?.credentials(oauth);
/// # let _ = server;
/// # Ok::<(), snodo_types::TransportError>(())
/// ```
///
/// # Drop behavior
///
/// With the last clone a renewal that is under way is given up, a login with it.
#[derive(Clone)]
pub struct OAuth(Arc<Owner>);

/// What all clones and all renewals share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) records: Records,
    pub(crate) nonces: Nonces,
    sessions: Mutex<Vec<Arc<Session>>>,
}

/// Ends what is under way when nobody has the credentials any more; renewals hold what they need,
/// but not this.
struct Owner(Arc<Shared>);

impl OAuth {
    pub(crate) fn new(config: Config, records: Records) -> Self {
        let (nonces, sessions) = (Nonces::default(), Mutex::default());
        Self(Arc::new(Owner(Arc::new(Shared { config, records, nonces, sessions }))))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.0
    }

    /// What is known about a server, the store included.
    pub(crate) async fn session(&self, url: &str) -> Result<Arc<Session>, Error> {
        let shared = self.shared();
        let session = shared.session(url);
        if !session.is_loaded() {
            let kept = shared.records.tokens_of(url).await?;
            session.load(kept.filter(|tokens| shared.config.knows(&tokens.origin.client)));
        }
        Ok(session)
    }

    /// Renews, or waits for who does, as long as the token that was sent is the one in use.
    async fn renew<W>(
        &self,
        session: &Arc<Session>,
        asked: Asked<'_>,
        sent: Option<&Secret>,
        work: impl Fn(Renewal) -> W,
    ) -> Result<(), Error>
    where
        W: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let config = &self.shared().config;
        for _ in 0..MOST_TURNS {
            let renewal = || Renewal {
                shared: Arc::clone(self.shared()),
                session: Arc::clone(session),
                web: Web::new(asked.errands, &config.policy),
                reach: if *asked.method == Method::DELETE { Reach::Refresh } else { Reach::Person },
            };
            let needed = || session.uses(sent);
            let share = session.flight.join(needed, || work(renewal())).await?;
            // What another began may have been for something else.
            if share == Share::Own || !session.uses(sent) {
                break;
            }
        }
        Ok(())
    }

    async fn headers(&self, asked: Asked<'_>) -> Result<HeaderMap, Error> {
        let session = self.session(asked.url).await?;
        let Some(tokens) = session.tokens() else { return Ok(HeaderMap::new()) };
        check_server(asked.url)?;
        if !tokens.is_stale(SystemTime::now()) {
            return self.show(asked, &tokens);
        }
        let renewed = self.renew(&session, asked, Some(&tokens.access), Renewal::before_end).await;
        if let Err(error) = renewed {
            if tokens.is_over(SystemTime::now()) {
                return Err(error);
            }
            tracing::warn!(%error, "a token that ends soon could not be renewed");
        }
        match session.tokens() {
            Some(tokens) => self.show(asked, &tokens),
            None => Ok(HeaderMap::new()),
        }
    }

    /// The headers that show a token.
    fn show(&self, asked: Asked<'_>, tokens: &Tokens) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let token = tokens.access.expose();
        let scheme = if tokens.bound.is_some() { PROVEN } else { BEARER };
        headers.insert(AUTHORIZATION, header(&format!("{scheme}{token}"))?);
        if let Some(key) = &tokens.bound {
            let nonce = self.shared().nonces.at(asked.url);
            let proof = key.prove(Proven {
                method: asked.method.as_str(),
                url: asked.url,
                token: Some(&tokens.access),
                nonce: nonce.as_deref(),
            })?;
            headers.insert(DPOP, header(&proof)?);
        }
        Ok(headers)
    }

    async fn judge(&self, refusal: Refusal<'_>) -> Result<Verdict, TransportError> {
        let challenges = Challenge::read(refusal.challenges);
        let ours = self.ours(&challenges);
        let said = ours.and_then(|challenge| challenge.parameter("error"));
        let url = refusal.request.url;
        self.shared().nonces.take(url, refusal.headers);
        if refusal.status == 401 && said == Some(dpop::USE_NONCE) {
            return Ok(self.judge_nonce(refusal));
        }
        let too_narrow = refusal.status == 403 && said == Some("insufficient_scope");
        let foreign = ours.is_none() && !challenges.is_empty();
        if (refusal.status == 403 && !too_narrow) || foreign {
            return Ok(Verdict::GiveUp);
        }
        check_server(url)?;
        let session = self.session(url).await?;
        let sent = sent(refusal.sent);
        if !session.uses(sent.as_ref()) {
            return Ok(Verdict::Retry);
        }
        if refusal.status == 401
            && let Some(token) = &sent
            && (refusal.resends > 0 || session.was_rejected(Some(token)))
        {
            session.reject(token);
            return Err(rejected(refusal, &session));
        }
        let demand = ours.map(Demand::of).unwrap_or_default();
        let work = |renewal: Renewal| {
            let demand = demand.clone();
            async move {
                if too_narrow {
                    renewal.step_up(demand).await
                } else {
                    renewal.after_refusal(demand).await
                }
            }
        };
        self.renew(&session, refusal.request, sent.as_ref(), work).await?;
        let renewed = !session.uses(sent.as_ref());
        Ok(if renewed { Verdict::Retry } else { Verdict::GiveUp })
    }

    /// A proof is wanted anew, with what the server said just now. If that was in it, it is refused.
    fn judge_nonce(&self, refusal: Refusal<'_>) -> Verdict {
        let proof = refusal.sent.get(DPOP).and_then(|proof| proof.to_str().ok());
        let known = self.shared().nonces.at(refusal.request.url);
        match proof {
            Some(proof) if known.is_some() && dpop::nonce_of(proof) != known => Verdict::Retry,
            _ => Verdict::GiveUp,
        }
    }

    /// The challenge that is meant for us: the first bearer one, or one for a proof.
    fn ours<'a>(&self, challenges: &'a [Challenge]) -> Option<&'a Challenge> {
        let bearer = challenges.iter().find(|challenge| challenge.is("bearer"));
        let proven = || challenges.iter().find(|challenge| challenge.is("dpop"));
        match self.shared().config.possession {
            Possession::Bearer => bearer,
            Possession::Proven => bearer.or_else(proven),
        }
    }
}

impl Credentials for OAuth {
    async fn authorize(&self, request: Asked<'_>) -> Result<HeaderMap, TransportError> {
        Ok(self.headers(request).await?)
    }

    async fn refused(&self, refusal: Refusal<'_>) -> Result<Verdict, TransportError> {
        self.judge(refusal).await
    }

    fn seen(&self, headers: &HeaderMap) {
        // Nobody says from where they are: only with a single server is that clear.
        if self.shared().config.possession == Possession::Proven
            && let [session] = &self.shared().sessions()[..]
        {
            self.shared().nonces.take(&session.url, headers);
        }
    }

    /// The token alone says who it is: a proof of possession is another one with each request.
    fn caller(&self, sent: &HeaderMap) -> Option<Fingerprint> {
        Some(Fingerprint::of(&[sent.get(AUTHORIZATION).map_or(b"", HeaderValue::as_bytes)]))
    }

    fn hold(&self) -> Option<Duration> {
        Some(self.shared().config.patience)
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("config", &self.shared().config).finish_non_exhaustive()
    }
}

impl Shared {
    fn session(&self, url: &str) -> Arc<Session> {
        let mut sessions = self.sessions();
        if let Some(known) = sessions.iter().find(|session| session.url == url) {
            return Arc::clone(known);
        }
        if sessions.len() >= MOST_SESSIONS {
            sessions.remove(0);
        }
        let session = Arc::new(Session::new(url));
        sessions.push(Arc::clone(&session));
        session
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        for session in self.0.sessions().iter() {
            session.flight.abort();
        }
    }
}

/// A token goes out over TLS, or not beyond this machine.
fn check_server(url: &str) -> Result<(), Error> {
    match Place::read(url) {
        Ok(place) if place.https || place.is_loopback() => Ok(()),
        _ => Err(Error::new(ErrorKind::Policy, "no token is sent to a server without TLS")),
    }
}

/// The token that a request carried.
fn sent(headers: &HeaderMap) -> Option<Secret> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let token = value.strip_prefix(BEARER).or_else(|| value.strip_prefix(PROVEN))?;
    Some(Secret::new(token))
}

fn header(value: &str) -> Result<HeaderValue, Error> {
    let value = HeaderValue::from_str(value);
    let mut value =
        value.map_err(|_| Error::new(ErrorKind::Malformed, "a token no header can carry"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A new token was refused: another one would be too.
fn rejected(refusal: Refusal<'_>, session: &Session) -> TransportError {
    let resource = session.tokens().map(|tokens| tokens.origin.resource.clone());
    let why = format!(
        "{} refuses the token that was just got for {:?}; it may be for another resource",
        refusal.request.url.split('?').next().unwrap_or_default(),
        resource.unwrap_or_default()
    );
    let error = Error::new(ErrorKind::Rejected, why);
    TransportError::new(TransportFault::Credentials, error.to_string())
        .with_status(refusal.status)
        .with_challenges(refusal.challenges.to_vec())
        .with_credential_sent()
        .not_processed()
        .with_source(error)
}

const BEARER: &str = "Bearer ";

const PROVEN: &str = "DPoP ";

/// How often one request waits for what others began before it gives up.
const MOST_TURNS: usize = 4;

/// How many MCP servers one value remembers; the one met first is forgotten first.
const MOST_SESSIONS: usize = 64;
