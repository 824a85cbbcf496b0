//! Other people's services and layers, by the traits of tower.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HOST;
use http::{Request, Response};
use snodo_transport::BoxFuture;
use snodo_types::{TransportError, TransportFault};
use tower_layer::Layer;
use tower_service::Service;

use super::{Answer, RequestBody, ResponseBody};
use crate::body::Body;
use crate::connector::Http;
use crate::pool::Pool;

/// What a layer wraps: it sends a request and brings the response.
///
/// Requests name the whole URL and carry all their headers, credentials included. A body is given
/// on as it comes; a layer that gathers it holds up streams.
///
/// ```
/// fn send<S: Clone>(service: &S) -> S {
///     service.clone()
/// }
/// # let _: fn(&snodo_http::HttpService) -> snodo_http::HttpService = send;
/// ```
#[derive(Clone)]
pub struct HttpService(Arc<dyn Erased>);

/// A service without its type.
trait Erased: Send + Sync {
    fn send(&self, request: Request<RequestBody>) -> BoxFuture<'static, Sent>;
}

type Sent = Result<Answer, TransportError>;

/// What stands between messages and sockets.
#[derive(Clone, Default)]
pub(crate) struct Stack {
    service: Option<HttpService>,
    /// The outermost first.
    layers: Vec<AnyLayer>,
}

/// A layer without its type.
type AnyLayer = Arc<dyn Fn(HttpService) -> HttpService + Send + Sync>;

impl Http {
    /// Puts a layer around every request, redirects and second tries with other credentials
    /// counted one by one; the first layer is the outermost. Without layers nothing is paid.
    ///
    /// A layer sees secrets in headers: it must not show them. An error of its own becomes a
    /// [`TransportError`] of the class [`Connect`](TransportFault::Connect); one that is a
    /// [`TransportError`] already is handed on.
    ///
    /// ```
    /// use snodo_http::Http;
    /// use tower::limit::ConcurrencyLimitLayer;
    ///
    /// let server = Http::new("http://localhost:3000/mcp")?.layer(ConcurrencyLimitLayer::new(8));
    /// # let _ = server;
    /// # Ok::<(), snodo_types::TransportError>(())
    /// ```
    pub fn layer<L, S, B>(self, layer: L) -> Self
    where
        L: Layer<HttpService, Service = S> + Send + Sync + 'static,
        S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        S::Future: Send + 'static,
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let wrap = move |inner| HttpService(Arc::new(Wrapped(layer.layer(inner))));
        self.with(|http| http.stack.layers.push(Arc::new(wrap)))
    }

    /// Sends requests by a service of the caller's, in place of this crate's own sockets.
    ///
    /// Nothing that is about connections applies then: timeouts, pool, TLS, proxies, versions of
    /// HTTP. Errors become what [`layer`](Self::layer) says.
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use http::{Request, Response};
    /// use http_body_util::Full;
    /// use snodo_http::{Http, RequestBody};
    ///
    /// let recorded = tower::service_fn(|request: Request<RequestBody>| async move {
    ///     Ok::<_, Infallible>(Response::new(Full::new(request.into_body().bytes().clone())))
    /// });
    /// let server = Http::new("http://recorded/mcp")?.service(recorded);
    /// # let _ = server;
    /// # Ok::<(), snodo_types::TransportError>(())
    /// ```
    pub fn service<S, B>(self, service: S) -> Self
    where
        S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        S::Future: Send + 'static,
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let service = HttpService(Arc::new(Wrapped(service)));
        self.with(|http| http.stack.service = Some(service))
    }
}

impl Stack {
    pub(crate) fn is_empty(&self) -> bool {
        self.service.is_none() && self.layers.is_empty()
    }

    /// The same way with nothing around it.
    pub(crate) fn without_layers(&self) -> Self {
        Self { service: self.service.clone(), layers: Vec::new() }
    }

    pub(super) fn build(&self, pool: impl FnOnce() -> Arc<Pool>) -> HttpService {
        let innermost = match &self.service {
            Some(service) => service.clone(),
            None => HttpService(Arc::new(Innermost(pool()))),
        };
        self.layers.iter().rev().fold(innermost, |inner, layer| layer(inner))
    }
}

impl HttpService {
    pub(super) fn send(&self, request: Request<RequestBody>) -> BoxFuture<'static, Sent> {
        self.0.send(request)
    }
}

impl Service<Request<RequestBody>> for HttpService {
    type Response = Response<ResponseBody>;
    type Error = TransportError;
    type Future = BoxFuture<'static, Result<Self::Response, TransportError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let sent = self.send(request);
        Box::pin(async move {
            let answer = sent.await?;
            let mut response = Response::new(ResponseBody(answer.body));
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpService")
    }
}

/// What stands behind every layer.
struct Innermost(Arc<Pool>);

impl Erased for Innermost {
    fn send(&self, mut request: Request<RequestBody>) -> BoxFuture<'static, Sent> {
        let pool = Arc::clone(&self.0);
        pool.reshape(&mut request);
        Box::pin(async move { pool.send(request).await })
    }
}

struct Wrapped<S>(S);

impl<S, B> Erased for Wrapped<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send + 'static,
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    fn send(&self, mut request: Request<RequestBody>) -> BoxFuture<'static, Sent> {
        let mut service = self.0.clone();
        // Whoever speaks HTTP below makes it of the URL.
        request.headers_mut().remove(HOST);
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(name)?;
            let (head, body) = service.call(request).await.map_err(name)?.into_parts();
            Ok(Answer { status: head.status, headers: head.headers, body: inside(body) })
        })
    }
}

/// A body that came through a layer untouched is what it was.
fn inside<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut body = Some(body);
    let any: &mut dyn Any = &mut body;
    match any.downcast_mut::<Option<ResponseBody>>().and_then(Option::take) {
        Some(own) => own.0,
        None => body.map_or_else(|| Body::kept(Bytes::new()), Body::foreign),
    }
}

/// An error that is not of this side becomes one.
pub(crate) fn name(error: impl Into<Box<dyn Error + Send + Sync>>) -> TransportError {
    match error.into().downcast::<TransportError>() {
        Ok(error) => *error,
        Err(other) => {
            let why = format!("the service that carries HTTP failed: {other}");
            TransportError::new(TransportFault::Connect, why).with_source(Foreign(other))
        }
    }
}

/// A boxed error as one that has a size.
#[derive(Debug)]
struct Foreign(Box<dyn Error + Send + Sync>);

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Foreign {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
