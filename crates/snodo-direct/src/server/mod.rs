//! A server from closures.

mod answer;
mod call;
mod dress;
mod offers;
mod template;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use snodo_transport::{BoxFuture, Exchange, Incoming};
use snodo_types::{
    Body, CallToolResult, CompleteParams, CompleteResult, ErrorObject, GetPromptResult,
    Implementation, Message, Prompt, ProtocolVersion, Raw, ReadResourceResult, Resource,
    ResourceTemplate, Tool,
};

pub use self::call::Call;
use self::offers::Offers;
use self::template::Pattern;
pub use self::template::ResourceRequest;
use crate::{Context, Runtime};

/// A server in this process, built from closures.
///
/// One server speaks all the versions it enables, on every connection: each request is answered
/// in the version that it, or the session it belongs to, names. Handlers run in the caller's task
/// and get what the client sent, decoded, and a [`Call`]; an `Err` of theirs is the JSON-RPC error
/// that the client sees. A tool that fails in its work says so with [`CallToolResult::error`].
///
/// What is not offered is not declared, and asking for it is answered by -32601. Definitions and
/// results go out as they were made; what belongs to a version (`resultType`, cache hints,
/// `serverInfo` in `_meta`) is added or left out here. Cloning is cheap.
///
/// It offers no subscriptions, no tasks and no questions to the client.
///
/// ```
/// use serde_json::{Value, json};
/// use snodo_direct::{Call, Server};
/// use snodo_types::{CallToolResult, ErrorObject};
///
/// async fn count(args: Value, call: Call) -> Result<CallToolResult, ErrorObject> {
///     let to = args["to"].as_u64().unwrap_or(3);
///     for step in 1..=to {
///         call.progress(step as f64, Some(to as f64), None).await;
///     }
///     Ok(CallToolResult::from_text("done"))
/// }
///
/// let server = Server::new("demo", "0.1.0")
///     .title("Demo")
///     .instructions("Counts.")
///     .tool("count", json!({ "type": "object" }), count);
/// ```
#[derive(Clone)]
pub struct Server(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    info: Implementation,
    instructions: Option<String>,
    /// Newest first.
    versions: Vec<ProtocolVersion>,
    page_size: NonZeroUsize,
    tools: Offers<ToolHandler>,
    resources: Offers<ResourceHandler>,
    templates: Offers<(Pattern, ResourceHandler)>,
    /// With the arguments that have to be given.
    prompts: Offers<(Vec<String>, PromptHandler)>,
    completion: Option<CompletionHandler>,
}

/// What a handler comes to.
type Work<T> = BoxFuture<'static, Result<T, ErrorObject>>;
/// Takes the arguments; fails at once where they are none of its own.
type ToolHandler =
    Arc<dyn Fn(&Raw, Call) -> Result<Work<CallToolResult>, serde_json::Error> + Send + Sync>;
type PromptHandler =
    Arc<dyn Fn(&Raw, Call) -> Result<Work<GetPromptResult>, serde_json::Error> + Send + Sync>;
type ResourceHandler = Arc<dyn Fn(ResourceRequest, Call) -> Work<ReadResourceResult> + Send + Sync>;
type CompletionHandler = Arc<dyn Fn(CompleteParams, Call) -> Work<CompleteResult> + Send + Sync>;

impl Server {
    /// A server with this name and version that offers nothing yet, in every version of
    /// [`ProtocolVersion::ALL`].
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            info: Implementation::new(name, version),
            instructions: None,
            versions: ProtocolVersion::ALL.to_vec(),
            page_size: NonZeroUsize::MAX,
            tools: Offers::default(),
            resources: Offers::default(),
            templates: Offers::default(),
            prompts: Offers::default(),
            completion: None,
        }))
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.edit(|inner| inner.info.title = Some(title.into()))
    }

    /// How to use it, for the model.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.edit(|inner| inner.instructions = Some(instructions.into()))
    }

    /// The versions it enables; all of them unless set. Without any, every request is refused.
    #[must_use]
    pub fn versions(self, versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        self.edit(|inner| {
            inner.versions = versions.into_iter().collect();
            inner.versions.sort_unstable_by(|left, right| right.cmp(left));
            inner.versions.dedup();
        })
    }

    /// How many items a page of a list has, at least 1; unless set, every list is one page.
    #[must_use]
    pub fn page_size(self, items: usize) -> Self {
        self.edit(|inner| inner.page_size = NonZeroUsize::new(items).unwrap_or(NonZeroUsize::MIN))
    }

    /// A tool with the JSON Schema of its arguments, an object schema.
    ///
    /// The handler's first argument is what the client's arguments are decoded to; absent ones
    /// are `{}`. Arguments that cannot be decoded never reach it: since 2025-11-25 the model is
    /// told by a result with `isError`, before that the client by -32602 (server tools, "Error
    /// Handling"). The schema itself is not checked.
    ///
    /// A tool, resource, template or prompt takes the place of one with the same name or URI.
    #[must_use]
    pub fn tool<A, F, G>(
        self,
        name: impl Into<String>,
        input_schema: impl Into<Raw>,
        handler: F,
    ) -> Self
    where
        A: DeserializeOwned,
        F: Fn(A, Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<CallToolResult, ErrorObject>> + Send + 'static,
    {
        self.tool_with(Tool::new(name, input_schema), handler)
    }

    /// A tool by its whole definition; else as [`tool`](Self::tool).
    #[must_use]
    pub fn tool_with<A, F, G>(self, tool: Tool, handler: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(A, Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<CallToolResult, ErrorObject>> + Send + 'static,
    {
        let run: ToolHandler =
            Arc::new(move |arguments, call| Ok(Box::pin(handler(arguments.decode()?, call))));
        self.edit(|inner| inner.tools.add(&tool.name, &tool, run))
    }

    /// A resource, which is read by its exact URI.
    ///
    /// ```
    /// use snodo_direct::Server;
    /// use snodo_types::{ReadResourceResult, Resource, ResourceContents};
    ///
    /// let note = Resource::new("note://1", "shopping");
    /// let server = Server::new("demo", "0.1.0").resource(note, |request, _call| async move {
    ///     let contents = ResourceContents::text(request.uri(), "buy milk");
    ///     Ok(ReadResourceResult::new(vec![contents]))
    /// });
    /// ```
    #[must_use]
    pub fn resource<F, G>(self, resource: Resource, handler: F) -> Self
    where
        F: Fn(ResourceRequest, Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<ReadResourceResult, ErrorObject>> + Send + 'static,
    {
        let run: ResourceHandler = Arc::new(move |request, call| Box::pin(handler(request, call)));
        self.edit(|inner| inner.resources.add(&resource.uri, &resource, run))
    }

    /// A template, by which every URI is read that fits it and is no resource of its own; of
    /// several that fit, the first added.
    ///
    /// Expressions of the forms `{name}` and `{+name}` are understood. The first takes the place
    /// of one character or more up to a `/`, `?` or `#`, the second of any; their values are
    /// percent-decoded. A template with another expression is listed and fits nothing, nor does
    /// any fit a URI longer than 2 KiB.
    ///
    /// ```
    /// use snodo_direct::Server;
    /// use snodo_types::{ReadResourceResult, ResourceContents, ResourceTemplate};
    ///
    /// let user = ResourceTemplate::new("users://{id}", "user");
    /// let server = Server::new("demo", "0.1.0").template(user, |request, _call| async move {
    ///     let text = format!("user {}", request.variable("id").unwrap_or_default());
    ///     Ok(ReadResourceResult::new(vec![ResourceContents::text(request.uri(), text)]))
    /// });
    /// ```
    #[must_use]
    pub fn template<F, G>(self, template: ResourceTemplate, handler: F) -> Self
    where
        F: Fn(ResourceRequest, Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<ReadResourceResult, ErrorObject>> + Send + 'static,
    {
        let run: ResourceHandler = Arc::new(move |request, call| Box::pin(handler(request, call)));
        let pattern = Pattern::parse(&template.uri_template);
        self.edit(|inner| inner.templates.add(&template.uri_template, &template, (pattern, run)))
    }

    /// A prompt.
    ///
    /// The handler's first argument is what the client's arguments, an object of strings, are
    /// decoded to. Arguments that cannot be decoded, or lack one that the definition requires,
    /// never reach it: the client gets -32602.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use snodo_direct::Server;
    /// use snodo_types::{GetPromptResult, Prompt, PromptArgument, PromptMessage};
    ///
    /// let review = Prompt::new("review").with_argument(PromptArgument::required("code"));
    /// let server = Server::new("demo", "0.1.0").prompt(
    ///     review,
    ///     |args: HashMap<String, String>, _call| async move {
    ///         let text = format!("Review this: {}", args["code"]);
    ///         Ok(GetPromptResult::new(vec![PromptMessage::user(text)]))
    ///     },
    /// );
    /// ```
    #[must_use]
    pub fn prompt<A, F, G>(self, prompt: Prompt, handler: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(A, Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<GetPromptResult, ErrorObject>> + Send + 'static,
    {
        let run: PromptHandler =
            Arc::new(move |arguments, call| Ok(Box::pin(handler(arguments.decode()?, call))));
        let required = prompt.arguments().iter().filter(|argument| argument.is_required());
        let required = required.map(|argument| argument.name.clone()).collect();
        self.edit(|inner| inner.prompts.add(&prompt.name, &prompt, (required, run)))
    }

    /// Completes the arguments of prompts and templates, all of them.
    ///
    /// Of more than 100 values the first 100 are sent, with the number of all (server utilities,
    /// "Completion").
    ///
    /// ```
    /// use snodo_direct::Server;
    /// use snodo_types::CompleteResult;
    ///
    /// let server = Server::new("demo", "0.1.0").completion(|params, _call| async move {
    ///     let languages = ["python", "ruby", "rust"].into_iter();
    ///     Ok(CompleteResult::new(languages.filter(|name| name.starts_with(&params.argument.value))))
    /// });
    /// ```
    #[must_use]
    pub fn completion<F, G>(self, handler: F) -> Self
    where
        F: Fn(CompleteParams, Call) -> G + Send + Sync + 'static,
        G: Future<Output = Result<CompleteResult, ErrorObject>> + Send + 'static,
    {
        let run: CompletionHandler = Arc::new(move |params, call| Box::pin(handler(params, call)));
        self.edit(|inner| inner.completion = Some(run))
    }

    fn edit(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl Runtime for Server {
    fn versions(&self) -> Vec<ProtocolVersion> {
        self.0.versions.clone()
    }

    fn dispatch(&self, message: Message, context: Context) -> Exchange {
        if !matches!(message.body(), Body::Request { .. }) {
            // Nothing that a client tells changes anything here; what it gives up, it drops.
            return Exchange::sent();
        }
        let inner = Arc::clone(&self.0);
        Exchange::generate(|sender| async move {
            let sender = Arc::new(sender);
            if let Body::Request { id, method, params } = message.body() {
                let answer = inner.answer(method, params, context, Arc::clone(&sender)).await;
                let response = match answer {
                    Ok(result) => Message::result(id, &result),
                    Err(error) => Message::error(Some(id), &error),
                };
                sender.send(Incoming::Message(response)).await;
            }
            Ok(())
        })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.0.info)
            .field("versions", &self.0.versions)
            .finish_non_exhaustive()
    }
}
