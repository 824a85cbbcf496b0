//! Who the caller is: the trait behind every `Authorization`.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use snodo_transport::{BoxFuture, Incoming};
use snodo_types::{Fingerprint, TransportError};

use crate::errands::Errands;

/// Where the headers that identify the caller come from.
///
/// [`authorize`](Self::authorize) is asked before every request of any kind: messages, replies,
/// the GET stream, the DELETE at the end. When the server refuses (401, or 403 with a challenge)
/// [`refused`](Self::refused) decides whether the request is sent again. A request is sent again
/// at most 3 times, and never when the same challenge came for the same headers.
///
/// An error is the exchange's. It must hold no secret; [`TransportFault::Credentials`] says that
/// they could not be had.
///
/// [`TransportFault::Credentials`]: snodo_types::TransportFault::Credentials
///
/// ```
/// use http::HeaderMap;
/// use snodo_http::{Asked, Credentials};
/// use snodo_types::TransportError;
///
/// struct Key(http::HeaderValue);
///
/// impl Credentials for Key {
///     async fn authorize(&self, _: Asked<'_>) -> Result<HeaderMap, TransportError> {
///         Ok(HeaderMap::from_iter([(http::header::AUTHORIZATION, self.0.clone())]))
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// All futures run within the exchange that needs them, and are dropped with it.
pub trait Credentials: Send + Sync + 'static {
    /// The headers for one request; none is an answer too.
    ///
    /// They replace fixed headers of the same name. Headers of the transport itself are refused.
    ///
    /// # Errors
    ///
    /// The credentials cannot be had; the request is not sent.
    fn authorize(
        &self,
        request: Asked<'_>,
    ) -> impl Future<Output = Result<HeaderMap, TransportError>> + Send;

    /// Decides what a refusal leads to. Unless written, the refusal stands.
    ///
    /// # Errors
    ///
    /// New credentials cannot be had; the error takes the place of the refusal.
    fn refused(
        &self,
        _refusal: Refusal<'_>,
    ) -> impl Future<Output = Result<Verdict, TransportError>> + Send {
        ready(Ok(Verdict::GiveUp))
    }

    /// Sees the headers of every response, for what servers hand out in passing (a nonce).
    fn seen(&self, _headers: &HeaderMap) {}

    /// For whom a request is sent that carries these headers of [`authorize`](Self::authorize):
    /// what the server says to one caller alone is given from a cache to nobody else. `None` says
    /// that it is not known; then such answers are not kept.
    ///
    /// Unless written, other headers are another caller, a refreshed token too. Write it where the
    /// headers of one caller change with every request (a proof), or where you know better who it
    /// is: the name of an account lets answers outlive a token.
    fn caller(&self, sent: &HeaderMap) -> Option<Fingerprint> {
        Some(fingerprint(sent))
    }

    /// How long at most each of the futures may wait for a person; `None` where they never do.
    ///
    /// While one waits, the clock of the call stands. Past the limit the request fails.
    fn hold(&self) -> Option<Duration> {
        None
    }
}

/// The request that wants credentials.
///
/// ```
/// # use snodo_http::Asked;
/// fn binds_to(request: Asked<'_>) -> (&str, &str) {
///     (request.method.as_str(), request.url)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Asked<'a> {
    /// `POST`, `GET` or `DELETE`.
    pub method: &'a Method,
    /// The whole URL, without a fragment.
    pub url: &'a str,
    /// Runs requests to other servers by the way that this one goes.
    pub errands: &'a Errands,
}

/// How a server refused.
///
/// ```
/// # use snodo_http::Refusal;
/// fn wants_more(refusal: Refusal<'_>) -> bool {
///     refusal.status == 403 && refusal.challenges.iter().any(|text| text.contains("insufficient_scope"))
/// }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Refusal<'a> {
    /// The request.
    pub request: Asked<'a>,
    /// 401, or 403 with a challenge.
    pub status: u16,
    /// The values of all `WWW-Authenticate` headers, as they came.
    pub challenges: &'a [String],
    /// All headers of the response.
    pub headers: &'a HeaderMap,
    /// What [`authorize`](Credentials::authorize) had given.
    pub sent: &'a HeaderMap,
    /// How often the request was sent again before this.
    pub resends: u32,
}

impl fmt::Debug for Refusal<'_> {
    /// Leaves out what was sent, and response headers: both may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusal")
            .field("status", &self.status)
            .field("challenges", &self.challenges)
            .field("resends", &self.resends)
            .finish_non_exhaustive()
    }
}

/// What a refusal leads to.
///
/// ```
/// assert_ne!(snodo_http::Verdict::Retry, snodo_http::Verdict::GiveUp);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a request is sent again or it is not")]
pub enum Verdict {
    /// The refusal stands.
    GiveUp,
    /// The request is sent again, with what [`authorize`](Credentials::authorize) gives now.
    Retry,
}

/// [`Credentials`] behind a pointer.
pub(crate) trait Erased: Send + Sync {
    fn authorize<'a>(
        &'a self,
        request: Asked<'a>,
    ) -> BoxFuture<'a, Result<HeaderMap, TransportError>>;
    fn refused<'a>(
        &'a self,
        refusal: Refusal<'a>,
    ) -> BoxFuture<'a, Result<Verdict, TransportError>>;
    fn seen(&self, headers: &HeaderMap);
    fn caller(&self, sent: &HeaderMap) -> Option<Fingerprint>;
    fn hold(&self) -> Option<Duration>;
}

impl<C: Credentials> Erased for C {
    fn authorize<'a>(
        &'a self,
        request: Asked<'a>,
    ) -> BoxFuture<'a, Result<HeaderMap, TransportError>> {
        Box::pin(Credentials::authorize(self, request))
    }

    fn refused<'a>(
        &'a self,
        refusal: Refusal<'a>,
    ) -> BoxFuture<'a, Result<Verdict, TransportError>> {
        Box::pin(Credentials::refused(self, refusal))
    }

    fn seen(&self, headers: &HeaderMap) {
        Credentials::seen(self, headers);
    }

    fn caller(&self, sent: &HeaderMap) -> Option<Fingerprint> {
        Credentials::caller(self, sent)
    }

    fn hold(&self) -> Option<Duration> {
        Credentials::hold(self)
    }
}

/// Of headers, in whatever order they came.
pub(crate) fn fingerprint<'a>(
    headers: impl IntoIterator<Item = (&'a HeaderName, &'a HeaderValue)>,
) -> Fingerprint {
    let mut lines: Vec<_> =
        headers.into_iter().map(|(name, value)| (name.as_str(), value)).collect();
    lines.sort_by_key(|(name, _)| *name);
    let parts = lines.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    Fingerprint::of(&parts.collect::<Vec<_>>())
}

/// What the credentials' futures want the reader of an exchange to know: that they wait, and no
/// longer do, and for whom they speak. At most five notes for each of the few times a request is
/// sent.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    queue: Arc<Mutex<VecDeque<Incoming>>>,
    /// Whether the reader wants to know for whom a request is sent.
    names_caller: bool,
}

impl Notes {
    /// For a reader who wants to know for whom a request is sent.
    pub(crate) fn naming() -> Self {
        Self { names_caller: true, ..Self::default() }
    }

    /// Tells the reader for whom a request is sent, and goes on once he has heard it and asks for
    /// more.
    pub(crate) async fn name(&self, caller: impl FnOnce() -> Option<Fingerprint>) {
        let Some(caller) = Some(caller).filter(|_| self.names_caller).and_then(|tell| tell())
        else {
            return;
        };
        self.add(Incoming::Caller(caller));
        let mut told = false;
        poll_fn(|cx| match std::mem::replace(&mut told, true) {
            true => Poll::Ready(()),
            false => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await
    }

    pub(crate) fn take(&self) -> Option<Incoming> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Runs a future that may wait for a person, and notes when it does.
    pub(crate) async fn around<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut held = false;
        poll_fn(|cx| {
            let polled = future.as_mut().poll(cx);
            match (&polled, held) {
                (Poll::Pending, false) => self.add(Incoming::Held),
                (Poll::Ready(_), true) => self.add(Incoming::Released),
                _ => {}
            }
            held = polled.is_pending();
            polled
        })
        .await
    }

    fn add(&self, note: Incoming) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(note);
    }
}
