//! Where a request stands in a trace (W3C Trace Context).

use std::fmt;

use crate::{Error, Raw};

/// Where a request stands in a trace: W3C Trace Context, checked.
///
/// It goes into a request's `_meta` as `traceparent` and `tracestate`, in every version of the
/// protocol; 2026-07-28 reserves these names (basic, "OpenTelemetry trace context").
///
/// ```
/// use snodo_types::TraceContext;
///
/// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")?
///     .with_state("vendor=t61rcWkgMzE")?;
/// assert_eq!(trace.state(), Some("vendor=t61rcWkgMzE"));
/// assert!(TraceContext::new("0af7651916cd43dd8448eb211c80319c").is_err());
/// # Ok::<(), snodo_types::InvalidTraceContext>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    parent: Box<str>,
    state: Option<Box<str>>,
}

impl TraceContext {
    /// In `_meta`: the trace and the span a request belongs to.
    pub const PARENT: &'static str = "traceparent";
    /// In `_meta`: what tracing systems add to that.
    pub const STATE: &'static str = "tracestate";
    /// In `_meta`: what the caller hands down the trace (W3C Baggage).
    pub const BAGGAGE: &'static str = "baggage";

    /// Checks a member of a `_meta` that is given by hand: what stands under
    /// [`PARENT`](Self::PARENT), [`STATE`](Self::STATE) or [`BAGGAGE`](Self::BAGGAGE) has to be a
    /// text of that format. Other names may hold anything.
    ///
    /// ```
    /// use snodo_types::{Raw, TraceContext};
    ///
    /// assert!(TraceContext::check("baggage", &Raw::parse(r#""tenant=a,user=b;private""#)?).is_ok());
    /// assert!(TraceContext::check("traceparent", &Raw::parse("7")?).is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The value is no text of that format.
    pub fn check(name: &str, value: &Raw) -> Result<(), InvalidTraceContext> {
        let (member, fits): (_, fn(&str) -> bool) = match name {
            Self::PARENT => (Self::PARENT, is_parent),
            Self::STATE => (Self::STATE, is_state),
            Self::BAGGAGE => (Self::BAGGAGE, is_baggage),
            _ => return Ok(()),
        };
        match value.decode::<String>() {
            Ok(text) if fits(&text) => Ok(()),
            _ => Err(InvalidTraceContext { member }),
        }
    }

    /// Takes a `traceparent`: version, trace id, parent id and flags, in lower-case hexadecimal with
    /// hyphens between. Versions above `00` may have more behind that, 512 bytes in all.
    ///
    /// # Errors
    ///
    /// The text is none, or one of the two ids is zero.
    pub fn new(traceparent: impl Into<String>) -> Result<Self, InvalidTraceContext> {
        let parent = traceparent.into();
        match is_parent(&parent) {
            true => Ok(Self { parent: parent.into(), state: None }),
            false => Err(InvalidTraceContext { member: Self::PARENT }),
        }
    }

    /// Adds a `tracestate`: pairs `key=value` with commas between, at most 32 of them and 512 bytes.
    ///
    /// # Errors
    ///
    /// The text is none, or a key comes twice.
    pub fn with_state(
        mut self,
        tracestate: impl Into<String>,
    ) -> Result<Self, InvalidTraceContext> {
        let state = tracestate.into();
        if !is_state(&state) {
            return Err(InvalidTraceContext { member: Self::STATE });
        }
        self.state = Some(state.into());
        Ok(self)
    }

    /// The `traceparent`.
    #[must_use]
    pub fn parent(&self) -> &str {
        &self.parent
    }

    /// The `tracestate`, if there is one.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

/// A text that is no `traceparent`, no `tracestate`, or no `baggage`.
///
/// ```
/// use snodo_types::{Error, TraceContext};
///
/// let invalid = TraceContext::new("no trace").expect_err("too short");
/// assert_eq!(invalid.to_string(), "the traceparent is not one of W3C Trace Context");
/// assert_eq!(Error::from(invalid).code(), -32602);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTraceContext {
    member: &'static str,
}

impl InvalidTraceContext {
    /// Which of them it is: `traceparent`, `tracestate` or `baggage`.
    #[must_use]
    pub fn member(&self) -> &'static str {
        self.member
    }
}

impl fmt::Display for InvalidTraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = match self.member {
            TraceContext::BAGGAGE => "W3C Baggage",
            _ => "W3C Trace Context",
        };
        write!(f, "the {} is not one of {format}", self.member)
    }
}

impl std::error::Error for InvalidTraceContext {}

impl From<InvalidTraceContext> for Error {
    /// -32602, protocol.
    fn from(invalid: InvalidTraceContext) -> Self {
        Self::usage(invalid.to_string())
    }
}

/// Trace Context, "traceparent Header Field Values".
fn is_parent(text: &str) -> bool {
    if text.len() > MAX_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    let parts: Vec<&str> = text.splitn(5, '-').collect();
    let (version, trace, parent, flags, more) = match parts[..] {
        [version, trace, parent, flags] => (version, trace, parent, flags, false),
        [version, trace, parent, flags, _] => (version, trace, parent, flags, true),
        _ => return false,
    };
    is_hex(version, 2)
        && is_hex(trace, 32)
        && is_hex(parent, 16)
        && is_hex(flags, 2)
        && version != "ff"
        && !(version == "00" && more)
        && [trace, parent].iter().all(|id| id.bytes().any(|byte| byte != b'0'))
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Trace Context, "tracestate Header Field Values".
fn is_state(text: &str) -> bool {
    if text.len() > MAX_BYTES {
        return false;
    }
    let members: Vec<&str> =
        text.split(',').map(|member| member.trim_matches([' ', '\t'])).collect();
    let mut keys: Vec<&str> = Vec::new();
    for member in &members {
        // Empty members are allowed, and are nobody's.
        if member.is_empty() {
            continue;
        }
        match member.split_once('=') {
            Some((key, value)) if is_key(key) && is_value(value) && !keys.contains(&key) => {
                keys.push(key);
            }
            _ => return false,
        }
    }
    members.len() <= MAX_MEMBERS
}

/// Baggage, "baggage HTTP Header Format": members with commas between, each a key, a value and
/// properties with semicolons before them.
fn is_baggage(text: &str) -> bool {
    let spaces = [' ', '\t'];
    let member = |member: &str| {
        let mut parts = member.split(';').map(|part| part.trim_matches(spaces));
        let named = parts.next().and_then(|part| part.split_once('='));
        let named = named.is_some_and(|(key, value)| {
            is_token(key.trim_end_matches(spaces)) && is_octets(value.trim_start_matches(spaces))
        });
        named
            && parts.all(|property| match property.split_once('=') {
                None => is_token(property),
                Some((key, value)) => {
                    is_token(key.trim_end_matches(spaces))
                        && is_octets(value.trim_start_matches(spaces))
                }
            })
    };
    text.len() <= MAX_BAGGAGE_BYTES
        && text.split(',').count() <= MAX_BAGGAGE_MEMBERS
        && text.split(',').all(member)
}

/// RFC 7230, "token".
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

/// Visible ASCII but for what the format means by itself; may be empty.
fn is_octets(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte))
}

/// A name, or a name at a system.
fn is_key(key: &str) -> bool {
    let rest = |text: &str| {
        text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/".contains(&byte)
        })
    };
    let name = |text: &str, most: usize| {
        text.len() <= most
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && rest(text)
    };
    match key.split_once('@') {
        None => name(key, 256),
        Some((tenant, system)) => {
            let first = |first: char| first.is_ascii_lowercase() || first.is_ascii_digit();
            tenant.len() <= 241 && tenant.starts_with(first) && rest(tenant) && name(system, 14)
        }
    }
}

/// Spaces around it are gone by now.
fn is_value(value: &str) -> bool {
    let fits = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
    (1..=256).contains(&value.len()) && value.bytes().all(fits)
}

const MAX_BYTES: usize = 512;
const MAX_MEMBERS: usize = 32;
/// Baggage, "Limits": what everybody has to hand on is the most that is sent.
const MAX_BAGGAGE_BYTES: usize = 8192;
const MAX_BAGGAGE_MEMBERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::TraceContext;
    use crate::Raw;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    fn stateful(state: &str) -> bool {
        let trace = TraceContext::new(format!("00-{TRACE}-{SPAN}-01")).expect("a parent");
        trace.with_state(state).is_ok()
    }

    // META-11, S-39
    #[test]
    fn a_parent_is_a_version_two_ids_and_flags() {
        let long = format!("01-{TRACE}-{SPAN}-01-{}", "x".repeat(456));
        assert_eq!(long.len(), 512);
        for parent in [
            format!("00-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-00"),
            format!("00-{TRACE}-{SPAN}-ff"),
            format!("cc-{TRACE}-{SPAN}-01"),
            format!("cc-{TRACE}-{SPAN}-01-what-comes-later"),
            format!("01-{TRACE}-{SPAN}-01-"),
            long.clone(),
        ] {
            assert_eq!(TraceContext::new(parent.clone()).expect(&parent).parent(), parent);
        }
        let zeros = "0".repeat(32);
        for parent in [
            String::new(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00-{TRACE}-{SPAN}-01-"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{TRACE}-{SPAN}-01\n"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("0-{TRACE}-{SPAN}-01"),
            format!("0G-{TRACE}-{SPAN}-01"),
            format!("00-{zeros}-{SPAN}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{}-01", SPAN.to_uppercase()),
            format!("00-{TRACE}-{SPAN}-0A"),
            format!("00-{}-{SPAN}-01", &TRACE[1..]),
            format!("00_{TRACE}_{SPAN}_01"),
            format!("cc-{TRACE}-{SPAN}-01.later"),
            format!("cc-{TRACE}-{SPAN}-01-ü"),
            format!(" 00-{TRACE}-{SPAN}-01"),
            format!("{long}x"),
        ] {
            let invalid = TraceContext::new(parent.clone()).expect_err(&parent);
            assert_eq!(invalid.member(), "traceparent");
        }
    }

    // META-11, S-39
    #[test]
    fn a_state_is_a_list_of_pairs() {
        let key = "k".repeat(256);
        let tenant = format!("{}@{}=1", "9".repeat(241), "s".repeat(14));
        for state in [
            "",
            ",",
            "a=1",
            "a=1,b=2",
            "a=1 , \t b=2,,",
            "a_-*/9=x y",
            "1a@sys=v",
            "a= lead",
            "a=!\"#$%&'()*+-./:;<>?@[]^_`{|}~",
            &format!("{key}=1"),
            &tenant,
            &format!("a={}", "v".repeat(256)),
        ] {
            assert!(stateful(state), "{state:?}");
        }
        for state in [
            "a",
            "a=",
            "a= ",
            "=1",
            "a=1=2",
            "A=1",
            "1a=1",
            "a b=1",
            "a =1",
            "a=1,a=2",
            "a=\u{1}",
            "a=ü",
            "a=b\tc",
            "a@=1",
            "@s=1",
            "a@1s=1",
            "a@b@c=1",
            "a.b=1",
            "a=1;b=2\n",
            &format!("{key}k=1"),
            &format!("9{tenant}"),
            &format!("a@{}=1", "s".repeat(15)),
            &format!("a={}", "v".repeat(257)),
        ] {
            assert!(!stateful(state), "{state:?}");
        }
    }

    // META-11
    #[test]
    fn a_state_has_32_members_and_512_bytes_at_most() {
        let members =
            |count: usize| (0..count).map(|at| format!("k{at}=v")).collect::<Vec<_>>().join(",");
        assert!(stateful(&members(32)));
        assert!(!stateful(&members(33)));
        let bytes = |count: usize| format!("a={},b={}", "v".repeat(252), "v".repeat(count - 257));
        assert!(bytes(512).len() == 512 && stateful(&bytes(512)));
        assert!(!stateful(&bytes(513)));
    }

    // META-11
    #[test]
    fn what_is_given_by_hand_under_a_reserved_name_has_that_name_s_format() {
        let checked = |name: &str, value: serde_json::Value| {
            TraceContext::check(name, &Raw::from(value)).map_err(|invalid| invalid.member())
        };
        let parent = format!("00-{TRACE}-{SPAN}-01");
        assert_eq!(checked("traceparent", parent.clone().into()), Ok(()));
        assert_eq!(checked("tracestate", "a=1".into()), Ok(()));
        assert_eq!(checked("com.example/traceparent", 7.into()), Ok(()));
        for wrong in [serde_json::Value::Null, 7.into(), serde_json::json!({}), "00-x".into()] {
            assert_eq!(checked("traceparent", wrong.clone()), Err("traceparent"));
            assert_eq!(checked("tracestate", wrong.clone()), Err("tracestate"));
            assert_eq!(checked("baggage", wrong), Err("baggage"));
        }
    }

    // META-11
    #[test]
    fn baggage_is_a_list_of_members_with_properties() {
        let fits = |text: &str| {
            TraceContext::check("baggage", &Raw::from(serde_json::Value::from(text))).is_ok()
        };
        let long = format!("k={}", "v".repeat(8190));
        let many = vec!["k=v"; 64].join(",");
        for text in ["k=v", "k=", "k = v", "k=a%20b", "a=1, b=2 ; p ; q=3", "k=a=b", &long, &many] {
            assert!(fits(text), "{text:?}");
        }
        let (too_long, too_many) = (format!("{long}v"), format!("{many},k=v"));
        for text in [
            "", "k", "=v", "k=v,", "k=a b", "k=\"v\"", "k=ü", "k(=v", "k=v;", "k=v;p(", &too_long,
            &too_many,
        ] {
            assert!(!fits(text), "{text:?}");
        }
    }
}
