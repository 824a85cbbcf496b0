//! What answers a server's questions: the caller's own functions, by kind.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};
use snodo_engine::{Answer, Answering, HandlerFailure, Question, fill_defaults, page_host};
use snodo_transport::BoxFuture;
use snodo_types::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Error, FormSchema,
    Implementation, InputResponses, Raw, Roots,
};

/// A form that a server wants the user to fill in.
///
/// The handler shows it, lets the user change or refuse it, and answers with one of
/// [`accept`](Self::accept), [`decline`](Self::decline) and [`cancel`](Self::cancel). Never accept
/// without the user (2026-07-28, elicitation, "User Interaction Model").
///
/// ```
/// use snodo::Client;
/// use serde_json::json;
///
/// let builder = Client::builder().on_form(|form| async move {
///     println!("{} asks: {}", form.server_name(), form.message());
///     form.accept(json!({ "name": "Ada" }))
/// });
/// # let _ = builder;
/// ```
#[derive(Clone, Debug)]
pub struct Form {
    asked: ElicitParams,
    server: Option<Implementation>,
}

impl Form {
    /// What the server wants to know, in words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.asked.message
    }

    /// The schema as the server sent it.
    #[must_use]
    pub fn schema(&self) -> Option<&Raw> {
        self.asked.requested_schema.as_ref()
    }

    /// The schema read: its fields in the server's order.
    ///
    /// # Errors
    ///
    /// The schema is none of a form.
    pub fn fields(&self) -> Result<FormSchema, HandlerError> {
        Ok(self.asked.form()?)
    }

    /// Who asks. For people: it proves nothing.
    #[must_use]
    pub fn server(&self) -> Option<&Implementation> {
        self.server.as_ref()
    }

    /// The name of who asks, or a word for a server that did not tell.
    #[must_use]
    pub fn server_name(&self) -> &str {
        name_of(self.server.as_ref())
    }

    /// All that the server sent.
    #[must_use]
    pub fn params(&self) -> &ElicitParams {
        &self.asked
    }

    /// The user filled it in: anything written as a JSON object. What is left out is filled with the
    /// schema's defaults; the whole is checked against the schema before it is sent.
    ///
    /// # Errors
    ///
    /// The content is not an object.
    pub fn accept(&self, content: impl Serialize) -> Result<ElicitResult, HandlerError> {
        let content = Raw::of(&content)?;
        let filled = match self.schema() {
            Some(schema) => fill_defaults(schema, &content).map_err(HandlerError::new)?,
            None => content,
        };
        Ok(ElicitResult::accept(filled))
    }

    /// The user said no.
    ///
    /// # Errors
    ///
    /// Never; it is what a handler returns.
    pub fn decline(&self) -> Result<ElicitResult, HandlerError> {
        Ok(ElicitResult::decline())
    }

    /// The user closed the form without an answer.
    ///
    /// # Errors
    ///
    /// Never; it is what a handler returns.
    pub fn cancel(&self) -> Result<ElicitResult, HandlerError> {
        Ok(ElicitResult::cancel())
    }
}

/// A page that a server wants the user to open.
///
/// Show the whole URL and its host, and open it only with the user's consent, where neither this
/// program nor a model sees it; never fetch it (2026-07-28, elicitation, "Safe URL Handling").
/// Pages that are neither `https` nor on this machine never reach a handler.
///
/// ```
/// use snodo::Client;
/// use snodo::types::ElicitResult;
///
/// # async fn ask_user(host: &str) -> bool { !host.is_empty() }
/// let builder = Client::builder().on_url(|page| async move {
///     if ask_user(page.host()).await { Ok(ElicitResult::consent()) } else { Ok(ElicitResult::decline()) }
/// });
/// # let _ = builder;
/// ```
#[derive(Clone, Debug)]
pub struct UrlRequest {
    asked: ElicitParams,
    url: String,
    host: String,
    server: Option<Implementation>,
}

impl UrlRequest {
    fn new(asked: ElicitParams, server: Option<Implementation>) -> Result<Self, HandlerError> {
        let url = asked.url.clone().unwrap_or_default();
        match page_host(&url) {
            Some(host) => Ok(Self { host: host.to_owned(), asked, url, server }),
            None => Err(HandlerError::new("the page is neither https nor on this machine")),
        }
    }

    /// Why the page is to be opened, in words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.asked.message
    }

    /// The URL, whole, as the server sent it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host the page is on: what the user has to see before consenting. A name in which a
    /// label begins with `xn--` shows other letters than it is written with: warn.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Who asks. For people: it proves nothing.
    #[must_use]
    pub fn server(&self) -> Option<&Implementation> {
        self.server.as_ref()
    }

    /// All that the server sent.
    #[must_use]
    pub fn params(&self) -> &ElicitParams {
        &self.asked
    }
}

/// A message that a server wants of the client's model.
///
/// ```
/// use snodo::Client;
/// use snodo::types::{Content, CreateMessageResult};
///
/// let builder = Client::builder().on_sampling(|asked| async move {
///     let question = asked.params().messages.len();
///     Ok(CreateMessageResult::new("my-model", Content::text(format!("{question} messages"))))
/// });
/// # let _ = builder;
/// ```
#[derive(Clone, Debug)]
pub struct Sampling {
    asked: CreateMessageParams,
    server: Option<Implementation>,
}

impl Sampling {
    /// All that the server sent: messages, the most tokens, preferences.
    #[must_use]
    pub fn params(&self) -> &CreateMessageParams {
        &self.asked
    }

    /// Who asks. For people: it proves nothing.
    #[must_use]
    pub fn server(&self) -> Option<&Implementation> {
        self.server.as_ref()
    }
}

/// A server's wish to know where it may work.
///
/// ```
/// use snodo::Client;
/// use snodo::types::Roots;
///
/// let builder = Client::builder().on_roots(|_| async { Ok(Roots::new().with("file:///work", "work")) });
/// # let _ = builder;
/// ```
#[derive(Clone, Debug)]
pub struct RootsRequest {
    server: Option<Implementation>,
}

impl RootsRequest {
    /// Who asks. For people: it proves nothing.
    #[must_use]
    pub fn server(&self) -> Option<&Implementation> {
        self.server.as_ref()
    }
}

/// Why a handler did not answer.
///
/// Made from any error with `?`, or from a sentence. The caller of the request sees the reason; a
/// server that asked by itself does not.
///
/// ```
/// use snodo::HandlerError;
///
/// fn read() -> Result<String, HandlerError> {
///     Ok(std::fs::read_to_string("/does/not/exist")?)
/// }
/// assert!(read().expect_err("no such file").reason().contains("No such file"));
/// ```
#[derive(Debug)]
pub struct HandlerError {
    reason: String,
    rejected: bool,
}

impl HandlerError {
    /// A handler that failed, and why.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), rejected: false }
    }

    /// The user said no to a message of the model (forms and pages have their own way to say so).
    #[must_use]
    pub fn rejected() -> Self {
        Self { reason: "the user said no".to_owned(), rejected: true }
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub(crate) fn is_rejected(&self) -> bool {
        self.rejected
    }
}

impl<E: std::error::Error> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

type Asked<Q, A> = Arc<dyn Fn(Q) -> BoxFuture<'static, Result<A, HandlerError>> + Send + Sync>;

/// The handlers of a client, by kind.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    form: Option<Asked<Form, ElicitResult>>,
    url: Option<Asked<UrlRequest, ElicitResult>>,
    sampling: Option<Asked<Sampling, CreateMessageResult>>,
    roots: Option<Asked<RootsRequest, Roots>>,
    /// The model may use tools: declared by the caller.
    pub(crate) sampling_tools: bool,
}

impl Handlers {
    pub(crate) fn set_form<G>(&mut self, handler: impl Fn(Form) -> G + Send + Sync + 'static)
    where
        G: Future<Output = Result<ElicitResult, HandlerError>> + Send + 'static,
    {
        self.form = Some(erase(handler));
    }

    pub(crate) fn set_url<G>(&mut self, handler: impl Fn(UrlRequest) -> G + Send + Sync + 'static)
    where
        G: Future<Output = Result<ElicitResult, HandlerError>> + Send + 'static,
    {
        self.url = Some(erase(handler));
    }

    pub(crate) fn set_sampling<G>(
        &mut self,
        handler: impl Fn(Sampling) -> G + Send + Sync + 'static,
    ) where
        G: Future<Output = Result<CreateMessageResult, HandlerError>> + Send + 'static,
    {
        self.sampling = Some(erase(handler));
    }

    pub(crate) fn set_roots<G>(
        &mut self,
        handler: impl Fn(RootsRequest) -> G + Send + Sync + 'static,
    ) where
        G: Future<Output = Result<Roots, HandlerError>> + Send + 'static,
    {
        self.roots = Some(erase(handler));
    }

    /// Which kinds there is a handler for.
    pub(crate) fn answering(&self) -> Answering {
        Answering {
            form: self.form.is_some(),
            roots: self.roots.is_some(),
            sampling: self.sampling.is_some(),
            sampling_tools: self.sampling_tools,
            url: self.url.is_some(),
        }
    }

    /// Lets a handler answer, and checks what it says.
    pub(crate) async fn answer(
        &self,
        question: Question,
        server: Option<Implementation>,
    ) -> Result<Raw, HandlerError> {
        let answer = self.ask(&question, server).await?;
        answer.write(&question).map_err(HandlerError::new)
    }

    async fn ask(
        &self,
        question: &Question,
        server: Option<Implementation>,
    ) -> Result<Answer, HandlerError> {
        let nobody = || HandlerError::new("there is no handler");
        Ok(match question {
            Question::Form(asked) => {
                let handler = self.form.as_ref().ok_or_else(nobody)?;
                Answer::Elicitation(handler(Form { asked: asked.clone(), server }).await?)
            }
            Question::Url(asked) => {
                let handler = self.url.as_ref().ok_or_else(nobody)?;
                Answer::Elicitation(handler(UrlRequest::new(asked.clone(), server)?).await?)
            }
            Question::Sampling(asked) => {
                let handler = self.sampling.as_ref().ok_or_else(nobody)?;
                Answer::Sampling(Box::new(
                    handler(Sampling { asked: (**asked).clone(), server }).await?,
                ))
            }
            Question::Roots(_) => {
                let handler = self.roots.as_ref().ok_or_else(nobody)?;
                Answer::Roots(handler(RootsRequest { server }).await?)
            }
            _ => return Err(nobody()),
        })
    }

    /// What the handlers imply, added to what the caller declared; a declared leaf wins.
    pub(crate) fn capabilities(&self, declared: &Raw) -> Result<Raw, Error> {
        let unreadable =
            |error: serde_json::Error| Error::usage(format!("the client's capabilities: {error}"));
        let mut declared: Map<String, Value> = declared.decode().map_err(unreadable)?;
        let elicits = self.form.is_some() || self.url.is_some();
        if elicits && declared.get("elicitation").is_some_and(|modes| modes == &json!({})) {
            // The empty object means forms alone; beside a mode it would mean nothing.
            declared.insert("elicitation".to_owned(), json!({ "form": {} }));
        }
        let implied = [
            (self.form.is_some(), json!({ "elicitation": { "form": {} } })),
            (self.url.is_some(), json!({ "elicitation": { "url": {} } })),
            (self.sampling.is_some(), json!({ "sampling": {} })),
            (self.roots.is_some(), json!({ "roots": {} })),
        ];
        for (_, implied) in implied.into_iter().filter(|(installed, _)| *installed) {
            if let Value::Object(implied) = implied {
                merge(&mut declared, implied)?;
            }
        }
        Ok(Value::Object(declared).into())
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handlers").field(&self.answering()).finish()
    }
}

/// Answers questions one after the other, in their order; the first that fails is the last asked.
pub(crate) async fn answer_all(
    handlers: Arc<Handlers>,
    questions: Vec<(String, Question)>,
    server: Option<Implementation>,
) -> Result<InputResponses, HandlerFailure> {
    let mut answers = InputResponses::new();
    for (id, question) in questions {
        match handlers.answer(question, server.clone()).await {
            Ok(answer) => answers = answers.with(id, &answer),
            Err(error) => return Err(HandlerFailure { id, reason: error.reason }),
        }
    }
    Ok(answers)
}

fn erase<Q: 'static, A: 'static, G>(handler: impl Fn(Q) -> G + Send + Sync + 'static) -> Asked<Q, A>
where
    G: Future<Output = Result<A, HandlerError>> + Send + 'static,
{
    Arc::new(move |question| Box::pin(handler(question)))
}

fn merge(declared: &mut Map<String, Value>, implied: Map<String, Value>) -> Result<(), Error> {
    for (name, value) in implied {
        match (declared.get_mut(&name), value) {
            (None, value) => {
                declared.insert(name, value);
            }
            (Some(Value::Object(declared)), Value::Object(implied)) => merge(declared, implied)?,
            (Some(_), Value::Object(_)) => {
                let text = format!(
                    "the client's capability {name} is an object, since there is a handler for it"
                );
                return Err(Error::usage(text));
            }
            (Some(_), _) => {}
        }
    }
    Ok(())
}

fn name_of(server: Option<&Implementation>) -> &str {
    server.map_or("the server", |server| server.title.as_deref().unwrap_or(&server.name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use snodo_types::Raw;

    use super::Handlers;

    fn with_form_and_url() -> Handlers {
        let mut handlers = Handlers::default();
        handlers.set_form(|form| async move { form.decline() });
        handlers.set_url(|_| async { Ok(snodo_types::ElicitResult::decline()) });
        handlers
    }

    fn declare(handlers: &Handlers, declared: Value) -> Result<Value, snodo_types::Error> {
        handlers
            .capabilities(&Raw::from(declared))
            .map(|merged| merged.decode().expect("an object"))
    }

    // S-25, S-51, ELI-01
    #[test]
    fn handlers_declare_what_they_answer_and_a_declared_leaf_wins() {
        let handlers = with_form_and_url();
        let both = json!({ "elicitation": { "form": {}, "url": {} } });
        assert_eq!(declare(&handlers, json!({})).expect("merged"), both);
        assert_eq!(declare(&handlers, json!({ "elicitation": {} })).expect("merged"), both);
        let own =
            json!({ "elicitation": { "form": { "x": 1 } }, "roots": { "listChanged": true } });
        let merged = declare(&handlers, own).expect("merged");
        let wanted = json!({ "elicitation": { "form": { "x": 1 }, "url": {} }, "roots": { "listChanged": true } });
        assert_eq!(merged, wanted);
    }

    // S-52, S-53, DISC-05
    #[test]
    fn models_and_roots_are_declared_too() {
        let mut handlers = Handlers::default();
        handlers.set_roots(|_| async { Ok(snodo_types::Roots::new()) });
        handlers.set_sampling(|_| async { Err(super::HandlerError::rejected()) });
        let merged = declare(&handlers, json!({ "sampling": { "tools": {} } })).expect("merged");
        assert_eq!(merged, json!({ "sampling": { "tools": {} }, "roots": {} }));
        assert_eq!(
            declare(&Handlers::default(), json!({ "elicitation": {} })).expect("kept"),
            json!({ "elicitation": {} })
        );
    }

    // S-25
    #[test]
    fn a_capability_that_is_no_object_beside_its_handler_is_refused() {
        let error =
            declare(&with_form_and_url(), json!({ "elicitation": true })).expect_err("no object");
        assert_eq!(error.code(), -32602);
    }
}
