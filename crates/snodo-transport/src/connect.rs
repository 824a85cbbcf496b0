//! The trait that makes a transport.

use std::borrow::Cow;
use std::future::Future;

use snodo_types::TransportError;

use crate::Transport;

/// How to reach a server.
///
/// A client calls [`connect`](Self::connect) when it opens, and again when the connection has to
/// be made anew: after a probe that an older server did not take, after a lost session, after a
/// process that ended. What should outlive one connection (a pool of sockets) belongs here.
///
/// An implementation writes `async fn connect`:
///
/// ```
/// use std::borrow::Cow;
///
/// use snodo_transport::{Connect, Exchange, Transport};
/// use snodo_types::{Envelope, TransportError};
///
/// struct Bus;
///
/// impl Transport for Bus {
///     fn exchange(&self, _: Envelope) -> Exchange {
///         Exchange::generate(|_| async { Ok(()) })
///     }
/// }
///
/// /// Where a bus is found.
/// struct BusAddress(String);
///
/// impl Connect for BusAddress {
///     type Transport = Bus;
///
///     async fn connect(&self) -> Result<Bus, TransportError> {
///         Ok(Bus)
///     }
///
///     fn target(&self) -> Cow<'_, str> {
///         self.0.as_str().into()
///     }
/// }
///
/// assert_eq!(BusAddress("bus:orders".to_owned()).target(), "bus:orders");
/// ```
pub trait Connect: Send + Sync + 'static {
    /// What carries the messages.
    type Transport: Transport;

    /// Makes a connection.
    ///
    /// # Errors
    ///
    /// The server cannot be reached or started.
    ///
    /// # Cancel safety
    ///
    /// Whoever gives up connecting drops the future: what it began ends with it.
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, TransportError>> + Send;

    /// What errors and logs call the server: a command, a URL. It must not hold a secret.
    fn target(&self) -> Cow<'_, str> {
        Cow::Borrowed("the server")
    }

    /// A name for the server as it is reached from here, the same wherever it is reached so, in
    /// other processes too: who connects to the same name may share public results. `None` unless
    /// written. It must not hold a secret, and nothing may be left out of it that decides what the
    /// server answers, but for who asks.
    fn origin(&self) -> Option<String> {
        None
    }
}
