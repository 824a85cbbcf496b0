//! Values that are wiped from memory when the last who holds them is gone.

use bytes::Bytes;
use http::HeaderValue;
use zeroize::Zeroizing;

/// A header value that is wiped with its last clone and never shown; `None` where no header can
/// carry it.
///
/// What a connection has written out of it is beyond reach.
pub(crate) fn header_value(text: Zeroizing<String>) -> Option<HeaderValue> {
    // What is ASCII and passes here is visible, a space or a tab.
    let plain = text.is_ascii();
    let value = HeaderValue::from_maybe_shared(Bytes::from_owner(Wiped(text)));
    let mut value = value.ok().filter(|_| plain)?;
    value.set_sensitive(true);
    Some(value)
}

struct Wiped(Zeroizing<String>);

impl AsRef<[u8]> for Wiped {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::header_value;

    #[test]
    fn a_value_is_what_it_was_and_is_not_shown() {
        let value = header_value(Zeroizing::new("Bearer t0ken".to_owned())).expect("a value");
        assert_eq!(value, "Bearer t0ken");
        assert!(value.is_sensitive() && !format!("{value:?}").contains("t0ken"));
        for text in ["a\r\nb", "a\0", "caf\u{e9}", "\u{7f}"] {
            assert!(header_value(Zeroizing::new(text.to_owned())).is_none(), "{text:?}");
        }
    }
}
