//! Going through the rounds of a server that asks before it answers (2026-07-28, multi round-trip
//! requests).

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use snodo_dialect::{Asks, Dialect};
use snodo_types::{
    Cause, ElicitAction, ElicitParams, ElicitResult, Error, ErrorObject, InputRequired,
    InputResponses, Kind, Raw, UrlElicitations,
};

use crate::question::{Answering, Question, Unanswerable};

/// Counts the rounds of one call and reads what each asks.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    answering: Answering,
    answered: usize,
    limit: usize,
}

/// What a round wants.
#[derive(Debug)]
pub(crate) enum Round {
    /// These answered, in this order, under these ids.
    Ask(Vec<(String, Question)>),
    /// The same request again, after a while.
    Wait(Duration),
}

/// A handler that did not answer.
///
/// ```
/// let (id, reason) = ("name".to_owned(), "nobody is there".to_owned());
/// assert_eq!(snodo_engine::HandlerFailure { id, reason }.id, "name");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by the driver")]
pub struct HandlerFailure {
    /// Which question it was for.
    pub id: String,
    /// What it said.
    pub reason: String,
}

/// A server that only wants the request again is given this long.
const PACE: Duration = Duration::from_millis(250);

impl Rounds {
    /// Rounds for which there are these handlers; without any, questions go to the caller.
    pub(crate) fn new(answering: Answering, limit: usize) -> Self {
        Self { answering, answered: 0, limit }
    }

    /// Whether anybody here answers questions.
    pub(crate) fn answer(&self) -> bool {
        self.answering.any()
    }

    /// Whether there was a round.
    pub(crate) fn were_any(&self) -> bool {
        self.answered > 0
    }

    /// The pages that have to be opened before a request goes through, where an error says so and the
    /// version knows such errors (2025-11-25, elicitation, "URL Elicitation Required Error").
    pub(crate) fn pages(
        &self,
        error: &Error,
        dialect: &dyn Dialect,
    ) -> Option<Vec<(String, Question)>> {
        let asks = error.code() == ErrorObject::URL_ELICITATION_REQUIRED && self.answering.url;
        let known = dialect.catalog().entry("notifications/elicitation/complete").is_some();
        let wanted: UrlElicitations = error.data().filter(|_| asks && known)?.decode().ok()?;
        let page = |(place, params): (usize, ElicitParams)| {
            (params.url.is_some()).then(|| (place.to_string(), Question::Url(params)))
        };
        let pages: Vec<_> = wanted.elicitations.into_iter().enumerate().filter_map(page).collect();
        (!pages.is_empty()).then_some(pages)
    }

    /// Reads a round. Nothing is asked unless all of it can be.
    pub(crate) fn next(&mut self, asked: &InputRequired) -> Result<Round, Error> {
        if self.answered >= self.limit {
            let text = format!("the server still asks for input after {} rounds", self.limit);
            return Err(Error::new(Kind::Transport, Error::TRANSPORT, text)
                .with_data(json!({ "maxInputRounds": self.limit }))
                .with_cause(Cause::MaxInputRounds { asked: Box::new(asked.clone()) }));
        }
        self.answered += 1;
        if let Some(requests) = asked.other.get("inputRequests") {
            return Err(unreadable(requests, asked));
        }
        // What cannot be sent back as it came would be lost without a word.
        if asked.other.get("requestState").is_some() {
            return Err(malformed("`requestState` is no text".to_owned(), asked));
        }
        let mut questions = Vec::new();
        for (id, request) in asked.requests() {
            let params = request.params.as_ref().map(Raw::text);
            match Question::read(&request.method, params, self.answering, Asks::ALL) {
                Ok(question) => questions.push((id.to_owned(), question)),
                Err(Unanswerable::Malformed(why)) => {
                    return Err(malformed(format!("{id:?}: {why}"), asked));
                }
                Err(Unanswerable::Mode(kind) | Unanswerable::Nobody(kind)) => {
                    return Err(nobody(Some(kind), asked));
                }
            }
        }
        match (questions.is_empty(), &asked.request_state) {
            (false, _) => Ok(Round::Ask(questions)),
            (true, Some(_)) => Ok(Round::Wait(PACE)),
            (true, None) => {
                Err(malformed("there is nothing to answer and no `requestState`".to_owned(), asked))
            }
        }
    }
}

/// Reads what a server asks, in the order in which it is to be answered.
///
/// # Errors
///
/// A question that nobody answers (-32602), or one that is malformed (-32000): nothing is asked.
pub fn questions(
    asked: &InputRequired,
    answering: Answering,
) -> Result<Vec<(String, Question)>, Error> {
    match Rounds::new(answering, 1).next(asked)? {
        Round::Ask(questions) => Ok(questions),
        Round::Wait(_) => Ok(Vec::new()),
    }
}

/// Whether every page that was asked for may be opened.
pub(crate) fn all_accepted(answers: &InputResponses) -> bool {
    let accepted = |answer: &Raw| {
        answer.decode::<ElicitResult>().is_ok_and(|said| said.action == ElicitAction::Accept)
    };
    answers.iter().all(|(_, answer)| accepted(answer))
}

/// A handler failed, or what it gave is no answer: -32603, execution.
#[must_use]
pub fn handler_failed(id: String, reason: String, asked: InputRequired) -> Error {
    let text = format!("the handler of the input request {id:?} failed: {reason}");
    Error::new(Kind::Execution, ErrorObject::INTERNAL_ERROR, text).with_cause(Cause::InputHandler {
        id,
        reason,
        asked: Box::new(asked),
    })
}

/// `inputRequests` as a whole could not be read.
fn unreadable(requests: &Raw, asked: &InputRequired) -> Error {
    let Ok(entries) = requests.decode::<HashMap<String, Raw>>() else {
        return malformed("`inputRequests` is not an object".to_owned(), asked);
    };
    let nameless = |entry: &&Raw| {
        let members = entry.decode::<HashMap<String, Raw>>();
        members.is_ok_and(|members| !members.contains_key("method"))
    };
    match entries.values().find(nameless) {
        Some(_) => nobody(None, asked),
        None => malformed("an input request is not an object with a `method`".to_owned(), asked),
    }
}

fn nobody(kind: Option<String>, asked: &InputRequired) -> Error {
    let text = match &kind {
        Some(kind) => {
            format!("the server asks for input of kind {kind}, and there is no handler for it")
        }
        None => "the server asks for input without naming a method".to_owned(),
    };
    Error::new(Kind::Protocol, ErrorObject::INVALID_PARAMS, text)
        .with_cause(Cause::NoInputHandler { kind, asked: Box::new(asked.clone()) })
}

fn malformed(reason: String, asked: &InputRequired) -> Error {
    let text = format!("the server asks for input in a way that cannot be answered: {reason}");
    Error::new(Kind::Transport, Error::TRANSPORT, text)
        .with_cause(Cause::MalformedInput { reason, asked: Box::new(asked.clone()) })
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
