//! What others have vouched for already: a platform for a workload, an identity provider for a
//! person.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Error;
use crate::secret::Secret;

/// Gives an assertion whenever one is needed; most live for minutes, so it is asked anew each time.
///
/// Every `Fn() -> impl Future<Output = Result<Secret, Error>>` is one.
///
/// ```
/// use snodo_oauth::{Assertions, Error, Secret};
///
/// /// A token that Kubernetes writes anew before it ends.
/// async fn projected() -> Result<Secret, Error> {
///     let read = tokio::fs::read_to_string("/var/run/secrets/tokens/mcp").await;
///     read.map(Secret::new).map_err(|error| Error::store(error.to_string()))
/// }
/// fn is_source(_: impl Assertions) {}
/// is_source(projected);
/// ```
///
/// # Cancel safety
///
/// A call that is given up leaves the future alone. It is dropped when tokens are no longer wanted: after
/// [signing out](crate::OAuth::sign_out), and with the credentials.
pub trait Assertions: Send + Sync + 'static {
    /// An assertion that is good now.
    ///
    /// # Errors
    ///
    /// It cannot be had.
    fn assertion(&self) -> impl Future<Output = Result<Secret, Error>> + Send;
}

impl<F, G> Assertions for F
where
    F: Fn() -> G + Send + Sync + 'static,
    G: Future<Output = Result<Secret, Error>> + Send,
{
    fn assertion(&self) -> impl Future<Output = Result<Secret, Error>> + Send {
        self()
    }
}

impl Assertions for Secret {
    /// Always the same: for an assertion that lives as long as the program.
    async fn assertion(&self) -> Result<Self, Error> {
        Ok(self.clone())
    }
}

/// [`Assertions`] behind a pointer.
#[derive(Clone)]
pub(crate) struct Source(Arc<dyn Erased>);

impl Source {
    pub(crate) fn new(assertions: impl Assertions) -> Self {
        Self(Arc::new(assertions))
    }

    pub(crate) async fn assertion(&self) -> Result<Secret, Error> {
        self.0.assertion().await
    }
}

trait Erased: Send + Sync {
    fn assertion(&self) -> Pin<Box<dyn Future<Output = Result<Secret, Error>> + Send + '_>>;
}

impl<A: Assertions> Erased for A {
    fn assertion(&self) -> Pin<Box<dyn Future<Output = Result<Secret, Error>> + Send + '_>> {
        Box::pin(Assertions::assertion(self))
    }
}
