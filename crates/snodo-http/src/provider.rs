//! Headers that somebody gives anew for each request.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use http::{HeaderMap, Method};
use snodo_transport::BoxFuture;
use snodo_types::TransportError;

use crate::connector::Http;

/// A function that is asked before each request.
#[derive(Clone)]
pub(crate) struct Provider(Arc<Function>);

type Function = dyn Fn(&Method, &str) -> Given + Send + Sync;

type Given = BoxFuture<'static, Result<HeaderMap, TransportError>>;

impl Http {
    /// Asks for further headers before every request of any kind, with its method and its URL: a
    /// tenant, a trace, a key that changes.
    ///
    /// They replace fixed headers of the same name and give way to those of a single call and of
    /// [`credentials`](Self::credentials). Values are never shown. Headers of the transport and of
    /// the protocol are refused when they come; then, and where the function fails, the request is
    /// not sent. The function's time is the request's.
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue};
    /// use snodo_http::Http;
    ///
    /// let server = Http::new("http://localhost:3000/mcp")?.header_provider(|_, _| async {
    ///     Ok(HeaderMap::from_iter([(
    ///         http::HeaderName::from_static("x-tenant"),
    ///         HeaderValue::from_static("blue"),
    ///     )]))
    /// });
    /// # let _ = server;
    /// # Ok::<(), snodo_types::TransportError>(())
    /// ```
    pub fn header_provider<F, G>(self, function: F) -> Self
    where
        F: Fn(&Method, &str) -> G + Send + Sync + 'static,
        G: Future<Output = Result<HeaderMap, TransportError>> + Send + 'static,
    {
        let boxed = move |method: &Method, url: &str| -> Given { Box::pin(function(method, url)) };
        self.with(|http| http.provider = Some(Provider(Arc::new(boxed))))
    }
}

impl Provider {
    pub(crate) async fn headers(
        &self,
        method: &Method,
        url: &str,
    ) -> Result<HeaderMap, TransportError> {
        (self.0)(method, url).await
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Provider")
    }
}
