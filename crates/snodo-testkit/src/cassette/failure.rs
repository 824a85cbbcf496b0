//! Failures of transports, as a line of a transcript holds them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use snodo_types::{Processed, TransportError, TransportFault};

/// A [`TransportError`], written down. What servers demand of credentials is left out.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Failure {
    fault: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processed: Option<String>,
}

impl Failure {
    pub(super) fn of(error: &TransportError, message: String) -> Self {
        let known = FAULTS.iter().find(|(fault, _)| *fault == error.fault());
        let processed = match error.processed() {
            Processed::No => Some("no".to_owned()),
            Processed::Unlikely => Some("unlikely".to_owned()),
            _ => None,
        };
        Self {
            fault: known.map_or("closed", |(_, name)| name).to_owned(),
            message,
            status: error.status(),
            retry_after_ms: error
                .retry_after()
                .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            exit: error.exit().map(str::to_owned),
            processed,
        }
    }

    /// Reads the text of a `!` line; what is no such text is the message of a closed connection.
    pub(super) fn read(text: &str) -> TransportError {
        let failure: Self = serde_json::from_str(text)
            .unwrap_or_else(|_| Self { message: text.to_owned(), ..Self::default() });
        failure.into_error()
    }

    fn into_error(self) -> TransportError {
        let known = FAULTS.iter().find(|(_, name)| *name == self.fault);
        let fault = known.map_or(TransportFault::Closed, |(fault, _)| *fault);
        let mut error = TransportError::new(fault, self.message);
        if let Some(status) = self.status {
            error = error.with_status(status);
        }
        if let Some(wait) = self.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(wait));
        }
        if let Some(exit) = self.exit {
            error = error.with_exit(exit);
        }
        match self.processed.as_deref() {
            Some("no") => error.not_processed(),
            Some("unlikely") => error.hardly_processed(),
            _ => error,
        }
    }
}

const FAULTS: [(TransportFault, &str); 13] = [
    (TransportFault::Closed, "closed"),
    (TransportFault::Connect, "connect"),
    (TransportFault::Credentials, "credentials"),
    (TransportFault::Exited, "exited"),
    (TransportFault::Malformed, "malformed"),
    (TransportFault::Spawn, "spawn"),
    (TransportFault::Status, "status"),
    (TransportFault::StreamEnded, "stream_ended"),
    (TransportFault::Timeout, "timeout"),
    (TransportFault::Tls, "tls"),
    (TransportFault::TooLarge, "too_large"),
    (TransportFault::Unsupported, "unsupported"),
    (TransportFault::Usage, "usage"),
];
