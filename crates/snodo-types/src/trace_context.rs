//! Where a request stands in a trace (W3C Trace Context).

use std::fmt;

use crate::Error;

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

/// A text that is no `traceparent`, or no `tracestate`.
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
    /// Which of the two it is: `traceparent` or `tracestate`.
    #[must_use]
    pub fn member(&self) -> &'static str {
        self.member
    }
}

impl fmt::Display for InvalidTraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} is not one of W3C Trace Context", self.member)
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

#[cfg(test)]
mod tests {
    use super::TraceContext;

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
}
