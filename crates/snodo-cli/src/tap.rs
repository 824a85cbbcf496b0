//! The wire, shown as it passes.

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use snodo::transport::{Abilities, BoxFuture, Connect, Exchange, Incoming, Transport};
use snodo::types::{Envelope, Routing, TransportError};

use crate::{log, safe};

/// How much of the wire is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Hidden,
    /// The beginning of each message.
    Short,
    /// Each message to its end.
    Whole,
}

/// A server whose messages are shown on the error stream, and which may have another name.
#[derive(Debug)]
pub(crate) struct Tap<C> {
    to: C,
    wire: Wire,
    name: Option<String>,
}

impl<C> Tap<C> {
    pub(crate) fn new(to: C, wire: Wire) -> Self {
        Self { to, wire, name: None }
    }

    pub(crate) fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

impl<C: Connect> Connect for Tap<C> {
    type Transport = Tap<C::Transport>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        self.wire.tell("*", &format!("connecting to {}", self.target()));
        let connected = self.to.connect().await;
        if let Err(error) = &connected {
            self.wire.tell("*", &error.to_string());
        }
        Ok(Tap::new(connected?, self.wire))
    }

    fn target(&self) -> Cow<'_, str> {
        self.name.as_deref().map_or_else(|| self.to.target(), Cow::Borrowed)
    }

    fn origin(&self) -> Option<String> {
        self.to.origin()
    }
}

impl<T: Transport> Transport for Tap<T> {
    fn exchange(&self, envelope: Envelope) -> Exchange {
        self.wire.tell(">", &envelope.message);
        self.wire.watch(self.to.exchange(envelope))
    }

    fn abilities(&self) -> Abilities {
        self.to.abilities()
    }

    fn unsolicited(&self, routing: Routing) -> Option<Exchange> {
        self.to.unsolicited(routing).map(|exchange| self.wire.watch(exchange))
    }

    fn close(&self, routing: Routing, limit: Duration) -> BoxFuture<'static, ()> {
        self.wire.tell("*", "closing");
        self.to.close(routing, limit)
    }
}

impl Wire {
    fn watch(self, exchange: Exchange) -> Exchange {
        if self == Self::Hidden { exchange } else { Exchange::new(Watched(exchange, self)) }
    }

    fn tell(self, sign: &str, text: &str) {
        if self == Self::Hidden {
            return;
        }
        let hidden = hide(text);
        let cut = match self {
            Self::Whole => None,
            _ => hidden.char_indices().nth(SHORT),
        };
        match cut {
            Some((at, _)) => log::tell(&format!(
                "{sign} {}… ({} bytes; -vv shows all)",
                safe::line(&hidden[..at]),
                text.len()
            )),
            None => log::tell(&format!("{sign} {}", safe::line(&hidden))),
        }
    }
}

struct Watched(Exchange, Wire);

impl Stream for Watched {
    type Item = Result<Incoming, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = Pin::new(&mut self.0).poll_next(cx);
        match &polled {
            Poll::Ready(Some(Ok(Incoming::Message(message)))) => self.1.tell("<", message.text()),
            Poll::Ready(Some(Err(error))) => self.1.tell("*", &error.to_string()),
            _ => {}
        }
        polled
    }
}

/// The text of a message without the values of members whose names say that they are secret.
fn hide(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut kept = 0;
    let mut name: Option<&str> = None;
    let mut rest = 0;
    while let Some((start, end)) = next_string(text, rest) {
        let inner = &text[start + 1..end - 1];
        let after = text[end..].trim_start();
        if after.starts_with(':') {
            name = Some(inner);
        } else {
            if name.take().is_some_and(is_secret) || inner.starts_with("Bearer ") {
                shown.push_str(&text[kept..start]);
                shown.push_str("\"(hidden)\"");
                kept = end;
            }
        }
        rest = end;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[kept..]);
    Cow::Owned(shown)
}

/// Where the next string of a JSON text begins and ends, its quotes included.
fn next_string(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text[from..].find('"')?;
    let bytes = text.as_bytes();
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some((start, at + 1)),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn is_secret(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    // What pairs progress with its request is no secret.
    name != "progresstoken" && SECRETS.iter().any(|secret| name.ends_with(secret))
}

const SECRETS: [&str; 9] = [
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "password",
    "secret",
    "token",
];

/// How many characters of a message -v shows.
const SHORT: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::hide;

    #[test]
    fn what_is_called_a_secret_is_hidden() {
        let text = r#"{"api_key" : "a\"b","x":["token"],"progressToken":"p","n":{"accessToken":"t"},"password":7,"h":"Bearer z"}"#;
        let shown = r#"{"api_key" : "(hidden)","x":["token"],"progressToken":"p","n":{"accessToken":"(hidden)"},"password":7,"h":"(hidden)"}"#;
        assert_eq!(hide(text), shown);
        for odd in ["", "\"", "{\"a", "\"\\", "é\"ü"] {
            assert_eq!(hide(odd), odd);
        }
    }
}
