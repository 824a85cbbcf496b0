//! One request with everything that belongs to it: credentials and their second tries, redirects.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use snodo_types::{Fingerprint, Routing, TransportError, TransportFault};
use tokio::time::timeout;

use crate::backend::{Answer, Backend, Form, RequestBody};
use crate::body::Body;
use crate::credentials::{Asked, Erased, Notes, Refusal, Verdict, fingerprint};
use crate::decode::Codings;
use crate::errands::Errands;
use crate::headers::{Templates, grant, provide};
use crate::limits::Limits;
use crate::patience::Patience;
use crate::provider::Provider;
use crate::redirect;
use crate::status;
use crate::target::Target;

/// What a connector and all its transports share.
pub(crate) struct Wire {
    pub(crate) target: Arc<Target>,
    pub(crate) limits: Limits,
    pub(crate) templates: Templates,
    pub(crate) codings: Codings,
    pub(crate) backend: Backend,
    pub(crate) credentials: Option<Arc<dyn Erased>>,
    pub(crate) provider: Option<Provider>,
    /// For the credentials.
    pub(crate) errands: Option<Errands>,
    pub(crate) patience: Patience,
    /// For whom requests are sent, by the fixed headers.
    pub(crate) caller: Fingerprint,
}

/// A request as its sender gives it.
pub(crate) struct Draft<'a> {
    pub(crate) method: Method,
    pub(crate) routing: &'a Routing,
    /// Behind which event a stream goes on.
    pub(crate) last_event_id: Option<HeaderValue>,
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

    /// Sends a request; a refusal comes back once the credentials know no better, and a redirect
    /// where it is not to be followed.
    ///
    /// Gives the answer, and whether the request had carried an `Authorization`.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` keeps its argument twice, and past a kilobyte a future costs a slow allocation"
    )]
    pub(crate) fn send<'a>(
        &'a self,
        draft: Draft<'a>,
    ) -> impl Future<Output = Result<(Answer, bool), TransportError>> + Send + use<'a> {
        async move {
            if self.credentials.is_some() || self.provider.is_some() {
                return Box::pin(self.send_on(draft, None)).await;
            }
            let headers = self.templates.of(&draft)?;
            if let Some(notes) = &draft.notes {
                notes.name(|| Some(self.caller)).await;
            }
            let known = headers.contains_key(AUTHORIZATION);
            let answer = self.backend.send(self.request(&draft, headers, &self.target)).await?;
            if redirect::is_redirect(answer.status) {
                return Box::pin(self.send_on(draft, Some(answer))).await;
            }
            Ok((self.codings.unpack(answer), known))
        }
    }

    /// Sends until the answer is what the caller should see; the first may be there already.
    async fn send_on(
        &self,
        draft: Draft<'_>,
        mut first: Option<Answer>,
    ) -> Result<(Answer, bool), TransportError> {
        let mut at = Cow::Borrowed(&*self.target);
        let (mut resends, mut redirects) = (0, 0);
        let mut before: Option<(Vec<String>, HeaderMap)> = None;
        loop {
            let (headers, sent) = self.dress(&draft, &at).await?;
            let known = headers.contains_key(AUTHORIZATION);
            let mut answer = match first.take() {
                Some(answer) => answer,
                None => self.backend.send(self.request(&draft, headers, &at)).await?,
            };
            answer = self.codings.unpack(answer);
            if let Some(credentials) = &self.credentials {
                credentials.seen(&answer.headers);
            }
            if let Some(next) = redirect::followed(&at, answer.status, &answer.headers) {
                if redirects == redirect::MOST_REDIRECTS {
                    return Err(redirect::too_many(&self.target, answer.status, &next));
                }
                redirects += 1;
                draft.not_written();
                answer.body.drain().await;
                at = Cow::Owned(next);
                continue;
            }
            let challenges = status::challenges(&answer.headers);
            let (Some(credentials), Some(errands)) = (self.credentials.as_deref(), &self.errands)
            else {
                return Ok((answer, known));
            };
            if !refuses(answer.status, &challenges) || resends == MOST_RESENDS {
                return Ok((answer, known));
            }
            draft.not_written();
            // A person may take minutes; no connection waits for them.
            let kept = answer.body.beginning(self.limits.body_bytes.min(status::MOST_READ)).await;
            answer.body = Body::kept(kept.into());
            let refusal = (challenges, sent);
            if before.as_ref() == Some(&refusal) {
                return Ok((answer, known));
            }
            let (challenges, sent) = before.insert(refusal);
            let refusal = Refusal {
                request: Asked { method: &draft.method, url: at.url(), errands },
                status: answer.status.as_u16(),
                challenges,
                headers: &answer.headers,
                sent,
                resends,
            };
            let notes = draft.notes.as_ref();
            match held(credentials.hold(), notes, credentials.refused(refusal)).await? {
                Verdict::GiveUp => return Ok((answer, known)),
                Verdict::Retry => resends += 1,
            }
        }
    }

    /// All headers of a request, and those among them that credentials gave.
    async fn dress(
        &self,
        draft: &Draft<'_>,
        at: &Target,
    ) -> Result<(HeaderMap, HeaderMap), TransportError> {
        let (mut headers, mut caller) = (self.templates.of(draft)?, Some(self.caller));
        if let Some(provider) = &self.provider {
            let given = provider.headers(&draft.method, at.url()).await?;
            caller = caller.map(|caller| caller.and(fingerprint(&given)));
            provide(&mut headers, given, draft.routing)?;
        }
        let (mut sent, notes) = (HeaderMap::new(), draft.notes.as_ref());
        if let (Some(credentials), Some(errands)) = (self.credentials.as_deref(), &self.errands) {
            let asked = Asked { method: &draft.method, url: at.url(), errands };
            sent = held(credentials.hold(), notes, credentials.authorize(asked)).await?;
            caller = caller.zip(credentials.caller(&sent)).map(|(all, own)| all.and(own));
            grant(&mut headers, &sent)?;
        }
        if let Some(notes) = notes {
            notes.name(|| caller).await;
        }
        Ok((headers, sent))
    }

    fn request(&self, draft: &Draft<'_>, headers: HeaderMap, at: &Target) -> Request<RequestBody> {
        let body = RequestBody::new(draft.body.clone(), draft.written.clone());
        let mut request = Request::new(body);
        *request.method_mut() = draft.method.clone();
        *request.uri_mut() = self.uri(at).clone();
        *request.headers_mut() = headers;
        request
    }

    /// A place as requests name it.
    pub(crate) fn uri<'a>(&self, at: &'a Target) -> &'a Uri {
        match self.backend.form() {
            Form::Absolute => at.whole(),
            Form::Origin => at.path(),
        }
    }
}

impl<'a> Draft<'a> {
    /// A message.
    pub(crate) fn post(routing: &'a Routing, body: Bytes) -> Self {
        Self { body, ..Self::bare(Method::POST, routing) }
    }

    /// A request without a body.
    pub(crate) fn bare(method: Method, routing: &'a Routing) -> Self {
        let body = Bytes::new();
        Self { method, routing, last_event_id: None, body, written: None, notes: None }
    }

    /// The server has not taken it.
    fn not_written(&self) {
        if let Some(written) = &self.written {
            written.store(false, Ordering::Release);
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
