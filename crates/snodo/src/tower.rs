//! Layers around whole calls, by the traits of tower.

use std::sync::Arc;
use std::task::{Context, Poll};

use snodo_transport::BoxFuture;
use snodo_types::{Error, ErrorObject, Kind, Message, Outcome};
use tower_layer::Layer;
use tower_service::Service;

use crate::Builder;
use crate::call::Call;
use crate::layers::{Calls, Erased};
use crate::running::Answer;

impl Builder {
    /// Puts a layer around every call, rounds and retries of it included; the first layer is the
    /// outermost. Without layers nothing is paid.
    ///
    /// Until the innermost service is called the client watches the call's timeout, so that
    /// waiting in a layer counts; from then on the call keeps its own time. An error of a layer's
    /// own becomes -32603, kind `Execution`.
    ///
    /// ```
    /// use snodo::Client;
    /// use tower::limit::ConcurrencyLimitLayer;
    ///
    /// let builder = Client::builder().layer(ConcurrencyLimitLayer::new(8));
    /// # let _ = builder;
    /// ```
    pub fn layer<L, S>(mut self, layer: L) -> Self
    where
        L: Layer<Calls, Service = S> + Send + Sync + 'static,
        S: Service<Call, Response = Outcome<Message>> + Clone + Send + 'static,
        S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        S::Future: Send + 'static,
    {
        let wrap = move |inner| Calls(Box::new(Wrapped(layer.layer(inner))));
        self.layers.0.push(Arc::new(wrap));
        self
    }
}

impl Service<Call> for Calls {
    type Response = Outcome<Message>;
    type Error = Error;
    type Future = BoxFuture<'static, Answer>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, call: Call) -> Self::Future {
        self.0.call(call)
    }
}

struct Wrapped<S>(S);

impl<S> Erased for Wrapped<S>
where
    S: Service<Call, Response = Outcome<Message>> + Clone + Send + 'static,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S::Future: Send + 'static,
{
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(cx).map_err(name)
    }

    fn call(&mut self, call: Call) -> BoxFuture<'static, Answer> {
        let answer = self.0.call(call);
        Box::pin(async move { answer.await.map_err(name) })
    }

    fn again(&self) -> Calls {
        Calls(Box::new(Self(self.0.clone())))
    }
}

/// A layer's own error becomes one of this side.
fn name(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    match error.into().downcast::<Error>() {
        Ok(error) => *error,
        Err(other) => {
            let text = format!("a layer of the client refused the call: {other}");
            Error::new(Kind::Execution, ErrorObject::INTERNAL_ERROR, text)
        }
    }
}
