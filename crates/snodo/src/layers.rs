//! What stands between a request and the driver of its call.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use snodo_transport::BoxFuture;
use snodo_types::Error;

use crate::call::Call;
use crate::running::{Answer, Gate, Running, Stack};

/// What a layer wraps: it makes a call, rounds and retries included.
///
/// With the feature `tower` it is a `tower_service::Service` of [`Call`]; see `Builder::layer`.
///
/// ```
/// fn send<S: Clone>(service: &S) -> S {
///     service.clone()
/// }
/// # let _: fn(&snodo::Calls) -> snodo::Calls = send;
/// ```
pub struct Calls(pub(crate) Box<dyn Erased>);

/// A service of calls without its type.
pub(crate) trait Erased: Send {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>>;

    fn call(&mut self, call: Call) -> BoxFuture<'static, Answer>;

    fn again(&self) -> Calls;
}

/// The layers of a builder, the outermost first.
#[derive(Clone, Default)]
pub(crate) struct Layers(pub(crate) Vec<AnyLayer>);

/// A layer without its type.
pub(crate) type AnyLayer = Arc<dyn Fn(Calls) -> Calls + Send + Sync>;

impl Layers {
    /// The way of a call through all layers; `None` without any, which then cost nothing.
    pub(crate) fn stack(&self) -> Option<Stack> {
        if self.0.is_empty() {
            return None;
        }
        let innermost = Calls(Box::new(Innermost));
        let service = Mutex::new(self.0.iter().rev().fold(innermost, |inner, layer| layer(inner)));
        Some(Arc::new(move |call| {
            let mut service = service.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Box::pin(async move {
                poll_fn(|cx| service.0.poll_ready(cx)).await?;
                service.0.call(call).await
            })
        }))
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} layers", self.0.len())
    }
}

impl Clone for Calls {
    fn clone(&self) -> Self {
        self.0.again()
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Calls")
    }
}

/// What stands behind every layer. It holds nothing: a call brings its client along.
struct Innermost;

impl Erased for Innermost {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> BoxFuture<'static, Answer> {
        let mut waiting = Some(call);
        let mut running = None;
        Box::pin(poll_fn(move |cx| {
            if let Some(call) = waiting.take() {
                let held = call.gate.as_deref().map_or(Duration::ZERO, Gate::pass);
                running = Some(Running::unlayered(call, held));
            }
            running.as_mut().map_or(Poll::Pending, |running| running.poll(cx))
        }))
    }

    fn again(&self) -> Calls {
        Calls(Box::new(Self))
    }
}
