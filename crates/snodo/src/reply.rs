//! A complete answer: typed, and as the server sent it.

use std::fmt;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use snodo_types::{Body, Error, Kept, Message};

/// The complete answer to a request.
///
/// It reads as a `T`; [`raw`](Self::raw) is the result object as the server sent it, unknown
/// members included.
///
/// ```
/// # use snodo::{Client, direct};
/// # async fn show(client: Client) -> Result<(), snodo::Error> {
/// let reply = client.call_tool("echo", serde_json::json!({ "text": "hi" })).await?;
/// println!("{} of {}", reply.text(), reply.raw());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Reply<T> {
    message: Message,
    value: T,
}

impl<T> Reply<T> {
    /// The text of the result object, as the server sent it.
    #[must_use]
    pub fn raw(&self) -> &str {
        match self.message.body() {
            Body::Result { result, .. } => result,
            // `read` lets nothing else become a reply.
            _ => "null",
        }
    }

    /// Whether the answer was kept, in place of fetched just now; and if so, how it stood.
    #[must_use]
    pub fn kept(&self) -> Option<Kept> {
        self.message.outside().and_then(|outside| outside.kept)
    }

    /// The typed answer alone.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Reply<T> {
    pub(crate) fn value_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: DeserializeOwned> Reply<T> {
    /// Reads the result that a message carries.
    pub(crate) fn read(message: Message) -> Result<Self, Error> {
        if !matches!(message.body(), Body::Result { .. }) {
            return Err(Error::decode("it is no result"));
        }
        match message.decode() {
            Ok(value) => Ok(Self { message, value }),
            Err(error) => Err(Error::decode(error.to_string())),
        }
    }
}

impl<T> Deref for Reply<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
