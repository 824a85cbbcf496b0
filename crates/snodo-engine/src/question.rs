//! What a server asks a client for, and what it may be told.

use serde::Deserialize;
use serde_json::value::RawValue;
use snodo_dialect::Asks;
use snodo_types::{
    Content, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitMode, ElicitParams,
    ElicitResult, MetaParams, Raw, Role, Roots, SamplingMessage,
};

use crate::form;
use crate::page::page_host;

/// Something a server wants to know before it goes on.
///
/// ```
/// use snodo_engine::Question;
/// use snodo_types::ElicitParams;
///
/// let asked = r#"{"message":"Whose?","requestedSchema":{"type":"object","properties":{}}}"#;
/// let question = Question::Form(serde_json::from_str::<ElicitParams>(asked)?);
/// assert_eq!(question.kind(), "form");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// A form for the user.
    Form(ElicitParams),
    /// Where the server may work.
    Roots(MetaParams),
    /// A message of the client's model.
    Sampling(Box<CreateMessageParams>),
    /// A page for the user to open.
    Url(ElicitParams),
}

/// What a question was answered with.
///
/// ```
/// use snodo_engine::{Answer, Question};
/// use snodo_types::{MetaParams, Roots};
///
/// let question = Question::Roots(MetaParams::default());
/// let written = Answer::Roots(Roots::new().with("file:///srv/files", "files")).write(&question)?;
/// assert_eq!(written.text(), r#"{"roots":[{"uri":"file:///srv/files","name":"files"}]}"#);
/// let elsewhere = Roots::new().with("https://example.com", "a page");
/// assert!(Answer::Roots(elsewhere).write(&question).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// What the user said to a form or a page.
    Elicitation(ElicitResult),
    /// Where the server may work.
    Roots(Roots),
    /// What the model said.
    Sampling(Box<CreateMessageResult>),
}

/// Which questions there is somebody to answer.
///
/// ```
/// let nobody = snodo_engine::Answering::default();
/// assert!(!nobody.any());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "one member for each kind of question")]
pub struct Answering {
    /// Forms.
    pub form: bool,
    /// Roots.
    pub roots: bool,
    /// Messages of a model.
    pub sampling: bool,
    /// Messages of a model that may use tools.
    pub sampling_tools: bool,
    /// Pages.
    pub url: bool,
}

/// Why a question is not put to anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unanswerable {
    /// Its parameters are not what its kind has.
    Malformed(String),
    /// There is somebody for the method, but not for this mode of it.
    Mode(String),
    /// There is nobody for it.
    Nobody(String),
}

impl Answering {
    /// Whether there is anybody at all.
    #[must_use]
    pub fn any(self) -> bool {
        self.form || self.roots || self.sampling || self.url
    }

    fn asks(self, question: &Question) -> bool {
        match question {
            Question::Form(_) => self.form,
            Question::Roots(_) => self.roots,
            Question::Sampling(_) => self.sampling,
            Question::Url(_) => self.url,
        }
    }
}

impl Question {
    /// Reads what was asked: its kind, then its parameters, then whether anybody answers it. What the
    /// version's servers may not ask is answered by nobody.
    pub(crate) fn read(
        method: &str,
        params: Option<&str>,
        answering: Answering,
        asks: Asks,
    ) -> Result<Self, Unanswerable> {
        let question = match method {
            "elicitation/create" => elicitation(params, answering, asks)?,
            "roots/list" => Self::Roots(read_params(Some(params.unwrap_or("{}")), &[])?),
            "sampling/createMessage" => {
                let asked: CreateMessageParams = read_params(params, &["messages", "maxTokens"])?;
                check_tool_use(&asked.messages).map_err(Unanswerable::Malformed)?;
                let tools = answering.sampling_tools && asks.tools;
                if asked.needs_tools() && answering.sampling && !tools {
                    return Err(Unanswerable::Mode("sampling/createMessage with tools".to_owned()));
                }
                Self::Sampling(Box::new(asked))
            }
            _ => return Err(Unanswerable::Nobody(method.to_owned())),
        };
        if answering.asks(&question) {
            Ok(question)
        } else {
            Err(Unanswerable::Nobody(question.kind().to_owned()))
        }
    }

    /// What handlers and errors call it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Form(_) => "form",
            Self::Roots(_) => "roots",
            Self::Sampling(_) => "sampling",
            Self::Url(_) => "url",
        }
    }
}

impl Answer {
    /// Writes the answer, if it is one to this question.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn write(&self, question: &Question) -> Result<Raw, String> {
        match (self, question) {
            (Self::Elicitation(result), Question::Form(asked)) => {
                match (&asked.requested_schema, &result.content) {
                    (_, Some(_)) if result.action != ElicitAction::Accept => {
                        let text = "only an accepted form has content";
                        return Err(format!("{text}: {:?}", result.action));
                    }
                    (Some(schema), content) if result.action == ElicitAction::Accept => {
                        let empty = Raw::empty_object();
                        form::check(schema, content.as_ref().unwrap_or(&empty))?;
                    }
                    _ => {}
                }
                write_elicitation(result)
            }
            (Self::Elicitation(result), Question::Url(_)) if result.content.is_some() => {
                Err(format!("an answer to a page has no content: {:?}", result.action))
            }
            (Self::Elicitation(result), Question::Url(_)) => write_elicitation(result),
            (Self::Roots(roots), Question::Roots(_)) => {
                check_roots(roots)?;
                write(roots)
            }
            (Self::Sampling(result), Question::Sampling(_)) => {
                check_message(result)?;
                write(&**result)
            }
            _ => Err(format!("it is no answer to a question of kind {}", question.kind())),
        }
    }
}

fn elicitation(
    params: Option<&str>,
    answering: Answering,
    asks: Asks,
) -> Result<Question, Unanswerable> {
    #[derive(Deserialize)]
    struct Mode {
        #[serde(default)]
        mode: Option<ElicitMode>,
    }

    let mode = params
        .and_then(|params| serde_json::from_str::<Mode>(params).ok())
        .and_then(|params| params.mode);
    let some = answering.form || answering.url;
    let missing = |kind: &str| match some {
        true => Unanswerable::Mode(kind.to_owned()),
        false => Unanswerable::Nobody(kind.to_owned()),
    };
    match mode {
        None | Some(ElicitMode::Form) => {
            let asked = read_params(params, &["message", "requestedSchema"])?;
            if answering.form { Ok(Question::Form(asked)) } else { Err(missing("form")) }
        }
        Some(ElicitMode::Url) => {
            let asked: ElicitParams = read_params(params, &["message", "url"])?;
            if !(answering.url && asks.pages) {
                return Err(missing("url"));
            }
            match asked.url.as_deref().and_then(page_host) {
                Some(_) => Ok(Question::Url(asked)),
                None => Err(Unanswerable::Malformed(
                    "the page is neither https nor on this machine".to_owned(),
                )),
            }
        }
        Some(_) => Err(missing("elicitation/create")),
    }
}

fn read_params<T: serde::de::DeserializeOwned>(
    params: Option<&str>,
    needed: &[&str],
) -> Result<T, Unanswerable> {
    let malformed = |why: String| Unanswerable::Malformed(why);
    let Some(params) = params else { return Err(malformed("`params` is missing".to_owned())) };
    let members: std::collections::HashMap<String, &RawValue> = serde_json::from_str(params)
        .map_err(|_| malformed("`params` is not an object".to_owned()))?;
    let absent = |name: &&&str| members.get(**name).is_none_or(|value| value.get() == "null");
    if let Some(name) = needed.iter().find(absent) {
        return Err(malformed(format!("`{name}` is missing")));
    }
    serde_json::from_str(params).map_err(|error| malformed(error.to_string()))
}

/// 2025-11-25 and 2026-07-28, sampling, "Message Content Constraints": results of tools stand
/// alone in a user's message, and each use of a tool is answered by the very next one.
fn check_tool_use(messages: &[SamplingMessage]) -> Result<(), String> {
    let mut used: Vec<&str> = Vec::new();
    for message in messages {
        let blocks = &*message.content;
        let results: Vec<&str> = blocks.iter().filter_map(tool_result).collect();
        if !results.is_empty() && results.len() != blocks.len() {
            return Err("results of tools stand beside other content".to_owned());
        }
        if let Some(missing) = used.iter().find(|id| !results.contains(id)) {
            return Err(format!("the use of a tool {missing:?} has no result in the next message"));
        }
        used = match message.role {
            Role::Assistant => blocks.iter().filter_map(tool_use).collect(),
            _ => Vec::new(),
        };
    }
    match used.first() {
        Some(missing) => Err(format!("the use of a tool {missing:?} has no result")),
        None => Ok(()),
    }
}

fn tool_use(block: &Content) -> Option<&str> {
    match block {
        Content::ToolUse(used) => Some(&used.id),
        _ => None,
    }
}

fn tool_result(block: &Content) -> Option<&str> {
    match block {
        Content::ToolResult(result) => Some(&result.tool_use_id),
        _ => None,
    }
}

/// 2026-07-28, roots, "Data Types" and "Security Considerations".
fn check_roots(roots: &Roots) -> Result<(), String> {
    for root in &roots.roots {
        if !root.is_file() {
            return Err(format!("a root is a file:// URI, and {:?} is none", root.uri));
        }
        if root.climbs() {
            return Err(format!("a root is written without `..`, unlike {:?}", root.uri));
        }
    }
    Ok(())
}

fn check_message(result: &CreateMessageResult) -> Result<(), String> {
    if result.content.is_empty() {
        return Err("a message has at least one block of content".to_owned());
    }
    let fits = |block: &Content| {
        matches!(
            block,
            Content::Text(_)
                | Content::Image(_)
                | Content::Audio(_)
                | Content::ToolUse(_)
                | Content::ToolResult(_)
        )
    };
    match (&result.role, result.content.iter().all(fits)) {
        (Role::Assistant | Role::User, true) => Ok(()),
        (Role::Assistant | Role::User, false) => {
            Err("a message holds content that no model says".to_owned())
        }
        (role, _) => Err(format!("{role} is no role")),
    }
}

fn write_elicitation(result: &ElicitResult) -> Result<Raw, String> {
    match &result.action {
        ElicitAction::Accept | ElicitAction::Cancel | ElicitAction::Decline => write(result),
        other => Err(format!("{other} is no action")),
    }
}

fn write<T: serde::Serialize>(value: &T) -> Result<Raw, String> {
    Raw::of(value).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
