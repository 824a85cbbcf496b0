//! Log messages of a server. Deprecated in 2026-07-28, still part of it.

use crate::object::object;
use crate::{Members, Meta, Raw};

/// How bad it is: the eight levels of syslog, from `Debug` to `Emergency`.
///
/// ```
/// use snodo_types::LoggingLevel;
///
/// assert_eq!(LoggingLevel::from("warning"), LoggingLevel::Warning);
/// assert!(LoggingLevel::Warning.severity() < LoggingLevel::Critical.severity());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For those who look for a fault.
    Debug,
    /// What goes on.
    Info,
    /// Normal, but worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part does not work.
    Critical,
    /// Somebody has to do something at once.
    Alert,
    /// Nothing works.
    Emergency,
    /// A level that the protocol does not know, as it came.
    Other(Box<str>),
}

/// A message to the log: the params of `notifications/message`.
///
/// ```
/// use snodo_types::{LogMessage, LoggingLevel};
///
/// let message: LogMessage = serde_json::from_str(r#"{"level":"info","data":"ready"}"#)?;
/// assert_eq!(message.level, LoggingLevel::Info);
/// assert_eq!(message.data().text(), "\"ready\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogMessage {
    /// How bad it is.
    pub level: LoggingLevel,
    /// Which part of the server speaks.
    pub logger: Option<String>,
    /// What it says: any JSON value; absent where a server left it out.
    pub data: Option<Raw>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

/// The params of `logging/setLevel`, in the versions opened by `initialize`.
///
/// ```
/// use snodo_types::{LoggingLevel, SetLevelParams};
///
/// let params = SetLevelParams::new(LoggingLevel::Debug);
/// assert_eq!(serde_json::to_string(&params)?, r#"{"level":"debug"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetLevelParams {
    /// From which level on messages are wanted.
    pub level: LoggingLevel,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl LoggingLevel {
    /// From 0 for `Debug` to 7 for `Emergency`; an unknown level counts as 1, `Info`.
    #[must_use]
    pub fn severity(&self) -> u8 {
        match self {
            Self::Debug => 0,
            Self::Info | Self::Other(_) => 1,
            Self::Notice => 2,
            Self::Warning => 3,
            Self::Error => 4,
            Self::Critical => 5,
            Self::Alert => 6,
            Self::Emergency => 7,
        }
    }
}

impl LogMessage {
    /// A message of a level.
    #[must_use]
    pub fn new(level: LoggingLevel, data: impl Into<Raw>) -> Self {
        let data = Some(data.into());
        Self { level, logger: None, data, meta: None, other: Members::new() }
    }

    /// Sets which part of the server speaks.
    #[must_use]
    pub fn with_logger(mut self, logger: impl Into<String>) -> Self {
        self.logger = Some(logger.into());
        self
    }

    /// What it says; `null` where a server said nothing.
    #[must_use]
    pub fn data(&self) -> Raw {
        self.data.clone().unwrap_or_else(Raw::null)
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl SetLevelParams {
    /// Asks for messages from this level on.
    #[must_use]
    pub fn new(level: LoggingLevel) -> Self {
        Self { level, meta: None, other: Members::new() }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

object! {
    words LoggingLevel {
        Debug: "debug",
        Info: "info",
        Notice: "notice",
        Warning: "warning",
        Error: "error",
        Critical: "critical",
        Alert: "alert",
        Emergency: "emergency",
    }
}

object! {
    impl LogMessage {
        required level: "level",
        optional logger: "logger",
        any data: "data",
        optional meta: "_meta";
        other
    }
}

object! {
    impl SetLevelParams {
        required level: "level",
        optional meta: "_meta";
        other
    }
}

#[cfg(test)]
mod tests {
    use super::{LogMessage, LoggingLevel};

    // LOG-02
    #[test]
    fn a_message_may_say_anything_null_included() {
        for text in [r#"{"level":"info","data":null}"#, r#"{"level":"odd","data":[{"a":1.50}]}"#] {
            let message: LogMessage = serde_json::from_str(text).expect("a message");
            assert_eq!(serde_json::to_string(&message).expect("text"), text);
        }
        let silent: LogMessage = serde_json::from_str(r#"{"level":"alert"}"#).expect("a message");
        assert!(silent.data.is_none() && silent.data().is_null());
    }

    #[test]
    fn the_levels_are_in_the_order_of_their_weight() {
        let words =
            ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
        let weights = words.map(|word| LoggingLevel::from(word).severity());
        assert_eq!(weights, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
