//! One request with everything that belongs to it, credentials and their second tries included.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, StatusCode};
use snodo_types::{Fingerprint, TransportError, TransportFault};
use tokio::time::timeout;

use crate::backend::{Answer, Backend, Outgoing};
use crate::body::Body;
use crate::credentials::{Asked, Erased, Notes, Refusal, Verdict};
use crate::errands::Errands;
use crate::headers::{Templates, grant};
use crate::limits::Limits;
use crate::patience::Patience;
use crate::status;
use crate::target::Target;

/// What a connector and all its transports share.
pub(crate) struct Wire {
    pub(crate) target: Arc<Target>,
    pub(crate) limits: Limits,
    pub(crate) templates: Templates,
    pub(crate) backend: Backend,
    pub(crate) credentials: Option<Arc<dyn Erased>>,
    /// For the credentials.
    pub(crate) errands: Option<Errands>,
    pub(crate) patience: Patience,
    /// For whom requests are sent, by the fixed headers.
    pub(crate) caller: Fingerprint,
}

/// A request as its sender gives it.
pub(crate) struct Draft {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Set while something of it may be on its way to the server.
    pub(crate) written: Option<Arc<AtomicBool>>,
    /// Where waiting for a person is noted.
    pub(crate) notes: Option<Notes>,
}

impl Wire {
    /// A place for notes, if anybody may write some.
    pub(crate) fn notes(&self) -> Option<Notes> {
        self.credentials.as_ref().and_then(|who| who.hold()).map(|_| Notes::default())
    }

    /// Sends a request; a refusal comes back once the credentials know no better.
    ///
    /// Gives the answer, and whether the request had carried an `Authorization`.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` keeps its argument twice, and past a kilobyte a future costs a slow allocation"
    )]
    pub(crate) fn send(
        &self,
        draft: Draft,
    ) -> impl Future<Output = Result<(Answer, bool), TransportError>> + Send + use<'_> {
        async move {
            if let (Some(credentials), Some(errands)) = (self.credentials.as_deref(), &self.errands)
            {
                return Box::pin(self.send_as(credentials, errands, draft)).await;
            }
            if let Some(notes) = &draft.notes {
                notes.name(|| Some(self.caller)).await;
            }
            let known = draft.headers.contains_key(AUTHORIZATION);
            let answer = self.backend.send(self.request(draft)).await?;
            Ok((answer, known))
        }
    }

    async fn send_as(
        &self,
        credentials: &dyn Erased,
        errands: &Errands,
        draft: Draft,
    ) -> Result<(Answer, bool), TransportError> {
        let (hold, notes) = (credentials.hold(), draft.notes.as_ref());
        let mut resends = 0;
        let mut before: Option<(Vec<String>, HeaderMap)> = None;
        loop {
            let asked = Asked { method: &draft.method, url: self.target.url(), errands };
            let sent = held(hold, notes, credentials.authorize(asked)).await?;
            if let Some(notes) = notes {
                notes.name(|| Some(self.caller.and(credentials.caller(&sent)?))).await;
            }
            let mut headers = draft.headers.clone();
            grant(&mut headers, &sent)?;
            let known = headers.contains_key(AUTHORIZATION);
            let mut answer = self.backend.send(self.request(draft.with(headers))).await?;
            credentials.seen(&answer.headers);
            let challenges = status::challenges(&answer.headers);
            if !refuses(answer.status, &challenges) || resends == MOST_RESENDS {
                return Ok((answer, known));
            }
            if let Some(written) = &draft.written {
                written.store(false, Ordering::Release);
            }
            // A person may take minutes; no connection waits for them.
            let kept = answer.body.beginning(self.limits.body_bytes.min(status::MOST_READ)).await;
            answer.body = Body::kept(kept.into());
            let refusal = (challenges, sent);
            if before.as_ref() == Some(&refusal) {
                return Ok((answer, known));
            }
            let (challenges, sent) = before.insert(refusal);
            let status = answer.status.as_u16();
            let headers = &answer.headers;
            let refusal = Refusal { request: asked, status, challenges, headers, sent, resends };
            let verdict = held(hold, notes, credentials.refused(refusal)).await?;
            match verdict {
                Verdict::GiveUp => return Ok((answer, known)),
                Verdict::Retry => resends += 1,
            }
        }
    }

    fn request(&self, draft: Draft) -> Request<Outgoing> {
        let mut request = Request::new(Outgoing::new(draft.body, draft.written));
        *request.method_mut() = draft.method;
        *request.uri_mut() = self.target.path().clone();
        *request.headers_mut() = draft.headers;
        request
    }
}

impl Draft {
    /// The same request with other headers.
    fn with(&self, headers: HeaderMap) -> Self {
        Self {
            method: self.method.clone(),
            headers,
            body: self.body.clone(),
            written: self.written.clone(),
            notes: None,
        }
    }
}

/// Runs a future of the credentials, which may wait for a person so long and no longer.
async fn held<T>(
    hold: Option<Duration>,
    notes: Option<&Notes>,
    future: impl Future<Output = Result<T, TransportError>>,
) -> Result<T, TransportError> {
    let Some(limit) = hold else { return future.await };
    let within = async {
        timeout(limit, future).await.unwrap_or_else(|_| {
            let why = format!("no credentials were had within {limit:?}");
            Err(TransportError::new(TransportFault::Credentials, why))
        })
    };
    match notes {
        Some(notes) => notes.around(within).await,
        None => within.await,
    }
}

fn refuses(status: StatusCode, challenges: &[String]) -> bool {
    status == StatusCode::UNAUTHORIZED
        || (status == StatusCode::FORBIDDEN && !challenges.is_empty())
}

/// How often a request is sent again because its credentials were refused.
const MOST_RESENDS: u32 = 3;
