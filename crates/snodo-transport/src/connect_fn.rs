//! A way to a server from one function.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;

use snodo_types::TransportError;

use crate::{Connect, Transport};

/// A way to a server that makes a transport by calling `function`, anew for each connection.
///
/// Errors and logs call it "the server", unless it is [named](ConnectFn::named).
///
/// ```
/// use snodo_transport::{Connect, Exchange, Transport, connect_fn};
/// use snodo_types::{Envelope, TransportError};
///
/// struct Mute;
///
/// impl Transport for Mute {
///     fn exchange(&self, _: Envelope) -> Exchange {
///         Exchange::sent()
///     }
/// }
///
/// let server = connect_fn(|| async { Ok::<_, TransportError>(Mute) }).named("the mute one");
/// assert_eq!(server.target(), "the mute one");
/// ```
pub fn connect_fn<F, G, T>(function: F) -> ConnectFn<F>
where
    F: Fn() -> G + Send + Sync + 'static,
    G: Future<Output = Result<T, TransportError>> + Send,
    T: Transport,
{
    ConnectFn { function, name: Cow::Borrowed("the server") }
}

/// The way to a server that [`connect_fn`] makes.
///
/// ```
/// # use snodo_transport::connect_fn;
/// let same = connect_fn(|| async { Ok(snodo_transport::from_fn(|_| async { Ok(None) })) });
/// let again = same.clone();
/// # let _ = again;
/// ```
#[derive(Clone)]
#[must_use]
pub struct ConnectFn<F> {
    function: F,
    name: Cow<'static, str>,
}

impl<F> ConnectFn<F> {
    /// What errors and logs call the server. It must not hold a secret.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }
}

impl<F, G, T> Connect for ConnectFn<F>
where
    F: Fn() -> G + Send + Sync + 'static,
    G: Future<Output = Result<T, TransportError>> + Send,
    T: Transport,
{
    type Transport = T;

    fn connect(&self) -> impl Future<Output = Result<T, TransportError>> + Send {
        (self.function)()
    }

    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }
}

impl<F> fmt::Debug for ConnectFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectFn").field("name", &self.name).finish_non_exhaustive()
    }
}
