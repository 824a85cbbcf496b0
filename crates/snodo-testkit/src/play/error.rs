//! What a client did that its transcript does not hold.

use std::fmt;

use crate::Transcript;
use crate::transcript::Line;

/// Where a performance left its transcript, and how.
///
/// `Display` gives the file and the number of the line, the line, and what came instead.
///
/// ```
/// use snodo_testkit::{Play, Transcript, Wire};
///
/// # async fn play() -> Result<(), snodo_testkit::TranscriptError> {
/// let mut play = Play::new(Transcript::parse("x.txt", "# one\n? fly")?, Wire::Pipe);
/// let error = play.run(async |_| Err("nobody can".to_owned())).await.expect_err("a fault");
/// assert_eq!(error.line(), 2);
/// assert_eq!(error.to_string(), "x.txt:2: nobody can\n  at: ? fly");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PlayError {
    name: String,
    line: usize,
    step: String,
    reason: String,
}

impl PlayError {
    pub(super) fn new(transcript: &Transcript, line: &Line, reason: String) -> Self {
        Self {
            name: transcript.name().to_owned(),
            line: line.number(),
            step: line.step().to_string(),
            reason,
        }
    }

    pub(super) fn after_the_end(transcript: &Transcript, reason: String) -> Self {
        let step = "the end".to_owned();
        Self { name: transcript.name().to_owned(), line: 0, step, reason }
    }

    /// The number of the line, from 1; 0 when it happened after the last.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// What came instead.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}\n  at: {}", self.name, self.line, self.reason, self.step)
    }
}

impl std::error::Error for PlayError {}
