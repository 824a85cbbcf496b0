//! What carries one request and brings its answer: the only door to the network.
//!
//! Everything above it knows requests and answers; everything below knows sockets. Other people's
//! services and layers stand here, boxed; without any of them the pool is called as it is.

mod request_body;
mod response_body;
mod service;

use std::sync::Arc;

use http::{HeaderMap, Request, StatusCode};
use snodo_types::TransportError;

use crate::body::Body;
use crate::dial::Dial;
use crate::limits::Limits;
use crate::pool::Pool;

pub use self::request_body::RequestBody;
pub use self::response_body::ResponseBody;
pub use self::service::HttpService;
pub(crate) use self::service::Stack;

/// How requests reach the server.
#[derive(Clone)]
pub(crate) enum Backend {
    Pool(Arc<Pool>),
    Stack(HttpService),
}

/// How a request names its place (RFC 9112, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By the whole URL.
    Absolute,
    /// By path and query.
    Origin,
}

/// A response whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

impl Backend {
    pub(crate) fn new(dial: Dial, limits: Limits, stack: &Stack) -> Self {
        let pool = || Pool::new(dial, limits);
        if stack.is_empty() { Self::Pool(pool()) } else { Self::Stack(stack.build(pool)) }
    }

    /// How requests name their place.
    pub(crate) fn form(&self) -> Form {
        match self {
            Self::Pool(pool) => pool.form(),
            Self::Stack(_) => Form::Absolute,
        }
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the request up: over HTTP/1.1 that closes its connection.
    pub(crate) async fn send(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Answer, TransportError> {
        match self {
            Self::Pool(pool) => pool.send(request).await,
            Self::Stack(service) => service.send(request).await,
        }
    }
}
