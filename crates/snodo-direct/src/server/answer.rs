//! Answering a request in the version that it names.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use snodo_dialect::{Era, Role, dialect};
use snodo_transport::Sender;
use snodo_types::{
    CallToolParams, CallToolResult, CompleteParams, DiscoverResult, ErrorObject, GetPromptParams,
    InitializeParams, InitializeResult, ListParams, LoggingLevel, Members, Meta, ProtocolVersion,
    Raw, ReadResourceParams, ServerCapabilities, SetLevelParams,
};

use super::dress::{self, Dress, ListResult};
use super::offers::Offers;
use super::{Call, Inner, ResourceRequest};
use crate::{Context, Session};

/// What comes back for a request: the text of a result.
type Answer = Result<String, ErrorObject>;

impl Inner {
    /// Answers one request.
    pub(super) async fn answer(
        &self,
        method: &str,
        params: Option<&str>,
        context: Context,
        sender: Arc<Sender>,
    ) -> Answer {
        let params = params.unwrap_or("{}");
        let head: Head<'_> = read(params)?;
        let meta = head.meta.map(|meta| Raw::from(meta.to_owned()));
        let version = self.version_of(method, &head, Meta::of(meta.as_ref()), &context)?;
        let entry = dialect(version).catalog().entry(method);
        if !entry.is_some_and(|entry| entry.has(Role::ClientRequest)) {
            return Err(not_found(method));
        }
        let call = Call::new(version, meta, context.clone(), sender)?;
        let request = Request { server: self, method, params, version, call };
        match method {
            "completion/complete" => request.complete().await,
            "initialize" => request.initialize(&context),
            "logging/setLevel" => request.set_level(&context),
            "ping" => Ok("{}".to_owned()),
            "prompts/get" => request.get_prompt().await,
            "prompts/list" => request.list("prompts", &self.prompts),
            "resources/list" => request.list_resources("resources", &self.resources),
            "resources/read" => request.read_resource().await,
            "resources/templates/list" => {
                request.list_resources("resourceTemplates", &self.templates)
            }
            "server/discover" => request.discover(),
            "tools/call" => request.call_tool().await,
            "tools/list" => request.list("tools", &self.tools),
            _ => Err(not_found(method)),
        }
    }

    /// The version in which a request is to be answered: the one it names, where that needs no
    /// session; else that of the session.
    fn version_of(
        &self,
        method: &str,
        head: &Head<'_>,
        meta: Meta<'_>,
        context: &Context,
    ) -> Result<ProtocolVersion, ErrorObject> {
        let named = meta.protocol_version();
        let stateless = named.as_deref().and_then(|text| self.enabled(text, Era::Stateless));
        if let Some(version) = stateless {
            let capabilities = meta.text(Meta::CLIENT_CAPABILITIES);
            if !capabilities.is_some_and(|text| text.starts_with('{')) {
                return Err(lacks(Meta::CLIENT_CAPABILITIES));
            }
            return Ok(version);
        }
        let opening = self.newest(Era::Initialize);
        if method == "initialize" {
            let asked =
                head.protocol_version.and_then(|text| serde_json::from_str(text.get()).ok());
            return opening.ok_or_else(|| self.unsupported(asked.unwrap_or("")));
        }
        if let Some(session) = context.session() {
            return Ok(session.version);
        }
        match (opening, named) {
            // A ping may come before a session is open (lifecycle, "Initialization").
            (Some(version), None) if method == "ping" => Ok(version),
            (Some(version), _) if self.newest(Era::Stateless).is_none() => {
                match dialect(version).catalog().entry(method) {
                    Some(_) => Err(ErrorObject::new(
                        ErrorObject::INVALID_REQUEST,
                        "no session is open: `initialize` comes first",
                    )),
                    None => Err(not_found(method)),
                }
            }
            (_, Some(named)) => Err(self.unsupported(&named)),
            (_, None) => Err(lacks(Meta::PROTOCOL_VERSION)),
        }
    }

    fn enabled(&self, text: &str, era: Era) -> Option<ProtocolVersion> {
        let version = text.parse().ok()?;
        (self.versions.contains(&version) && dialect(version).era() == era).then_some(version)
    }

    fn newest(&self, era: Era) -> Option<ProtocolVersion> {
        self.versions.iter().copied().find(|version| dialect(*version).era() == era)
    }

    fn unsupported(&self, requested: &str) -> ErrorObject {
        let supported: Vec<&str> = self.versions.iter().map(|version| version.as_str()).collect();
        let text = "the server does not speak this protocol version";
        ErrorObject::new(ErrorObject::UNSUPPORTED_PROTOCOL_VERSION, text)
            .with_data(json!({ "supported": supported, "requested": requested }))
    }

    fn capabilities(&self) -> ServerCapabilities {
        let readable = !self.resources.is_empty() || !self.templates.is_empty();
        let declared = [
            ("tools", !self.tools.is_empty()),
            ("resources", readable),
            ("prompts", !self.prompts.is_empty()),
            ("completions", self.completion.is_some()),
            // Any handler may log.
            ("logging", true),
        ];
        declared
            .into_iter()
            .filter(|(_, offered)| *offered)
            .fold(ServerCapabilities::new(), |all, (name, _)| all.with(name, Raw::empty_object()))
    }
}

/// A request that may be asked in its version.
struct Request<'a> {
    server: &'a Inner,
    method: &'a str,
    params: &'a str,
    version: ProtocolVersion,
    call: Call,
}

impl Request<'_> {
    fn initialize(self, context: &Context) -> Answer {
        let params: InitializeParams = read(self.params)?;
        let asked = self.server.enabled(&params.protocol_version, Era::Initialize);
        let version = asked.unwrap_or(self.version);
        context.set_session(Session::new(version, params));
        let (capabilities, info) = (self.server.capabilities(), self.server.info.clone());
        let mut result = InitializeResult::new(version, capabilities, info);
        result.instructions.clone_from(&self.server.instructions);
        dress::text(&result)
    }

    fn discover(self) -> Answer {
        let versions = self.server.versions.iter().copied();
        let mut result = DiscoverResult::new(versions, self.server.capabilities());
        result.instructions.clone_from(&self.server.instructions);
        self.dressed(result)
    }

    fn set_level(self, context: &Context) -> Answer {
        let params: SetLevelParams = read(self.params)?;
        if let LoggingLevel::Other(level) = &params.level {
            return Err(invalid(format!("no log level: {level:?}")));
        }
        if let Some(session) = context.session() {
            let mut session = Session::clone(&session);
            session.log_level = Some(params.level);
            context.set_session(session);
        }
        Ok("{}".to_owned())
    }

    fn list_resources<H>(self, list: &'static str, offers: &Offers<H>) -> Answer {
        if self.server.resources.is_empty() && self.server.templates.is_empty() {
            return Err(not_found(self.method));
        }
        self.page(list, offers)
    }

    fn list<H>(self, list: &'static str, offers: &Offers<H>) -> Answer {
        if offers.is_empty() {
            return Err(not_found(self.method));
        }
        self.page(list, offers)
    }

    fn page<H>(self, list: &'static str, offers: &Offers<H>) -> Answer {
        let params: ListParams = read(self.params)?;
        if params.other.get("cursor").is_some() {
            return Err(invalid("the cursor is no text"));
        }
        let start = match &params.cursor {
            None => 0,
            Some(cursor) => place(cursor, offers.len())
                .ok_or_else(|| invalid("the cursor is none of this list"))?,
        };
        let Range { start, end } = start..start.saturating_add(self.server.page_size.get());
        let end = end.min(offers.len());
        let next_cursor = (end < offers.len()).then(|| end.to_string());
        self.dressed(ListResult::new(list, offers.definitions(start..end), next_cursor))
    }

    async fn call_tool(self) -> Answer {
        if self.server.tools.is_empty() {
            return Err(not_found(self.method));
        }
        let params: CallToolParams = read(self.params)?;
        let Some(handler) = self.server.tools.find(&params.name) else {
            return Err(invalid(format!("unknown tool: {:?}", params.name)));
        };
        let arguments = params.arguments.unwrap_or_default();
        if !arguments.is_object() {
            return Err(invalid("`arguments` is not an object"));
        }
        let result = match handler(&arguments, self.call.clone()) {
            Ok(work) => work.await?,
            Err(error) => self.refuse_arguments(&error)?,
        };
        self.dressed(result)
    }

    /// In the oldest versions wrong arguments are a fault of the protocol; since then the model is
    /// told, which can mend them (server tools, "Error Handling").
    fn refuse_arguments(&self, error: &serde_json::Error) -> Result<CallToolResult, ErrorObject> {
        let text = format!("the arguments are not what the tool takes: {error}");
        match self.version {
            ProtocolVersion::V2024_11_05
            | ProtocolVersion::V2025_03_26
            | ProtocolVersion::V2025_06_18 => Err(invalid(text)),
            _ => Ok(CallToolResult::error(text)),
        }
    }

    async fn read_resource(self) -> Answer {
        if self.server.resources.is_empty() && self.server.templates.is_empty() {
            return Err(not_found(self.method));
        }
        let ReadResourceParams { uri, .. } = read(self.params)?;
        let fitting = || {
            let mut templates = self.server.templates.handlers().iter();
            templates.find_map(|(pattern, run)| Some((run, pattern.fit(&uri)?)))
        };
        let exact = self.server.resources.find(&uri).map(|run| (run, Vec::new()));
        let Some((run, variables)) = exact.or_else(fitting) else {
            return Err(self.no_resource(&uri));
        };
        let result = run(ResourceRequest::new(uri, variables), self.call.clone()).await?;
        self.dressed(result)
    }

    /// A resource that is not there has a code of its own only in the initialize era (server
    /// resources, "Error Handling").
    fn no_resource(&self, uri: &str) -> ErrorObject {
        let code = match dialect(self.version).era() {
            Era::Initialize => -32002,
            _ => ErrorObject::INVALID_PARAMS,
        };
        ErrorObject::new(code, "no such resource").with_data(json!({ "uri": uri }))
    }

    async fn get_prompt(self) -> Answer {
        if self.server.prompts.is_empty() {
            return Err(not_found(self.method));
        }
        let params: GetPromptParams = read(self.params)?;
        let Some((required, handler)) = self.server.prompts.find(&params.name) else {
            return Err(invalid(format!("unknown prompt: {:?}", params.name)));
        };
        let texts =
            |arguments: &Members| arguments.iter().all(|(_, raw)| raw.text().starts_with('"'));
        let arguments = params.arguments.unwrap_or_default();
        if params.other.get("arguments").is_some() || !texts(&arguments) {
            return Err(invalid("`arguments` is not an object of texts"));
        }
        if let Some(missing) = required.iter().find(|name| arguments.get(name).is_none()) {
            return Err(invalid(format!("the argument {missing:?} is missing")));
        }
        let work = handler(&Raw::from(&arguments), self.call.clone());
        let work = work.map_err(|error| {
            invalid(format!("the arguments are not what the prompt takes: {error}"))
        })?;
        let result = work.await?;
        self.dressed(result)
    }

    async fn complete(self) -> Answer {
        let Some(handler) = &self.server.completion else { return Err(not_found(self.method)) };
        let params: CompleteParams = read(self.params)?;
        let reference = &params.reference;
        let whole = match reference.kind.as_str() {
            "ref/prompt" => reference.name.is_some(),
            "ref/resource" => reference.uri.is_some(),
            _ => false,
        };
        if !whole {
            return Err(invalid("`ref` names neither a prompt nor a resource"));
        }
        let mut result = handler(params, self.call.clone()).await?;
        let completion = &mut result.completion;
        if completion.values.len() > VALUES {
            let all = u64::try_from(completion.values.len()).unwrap_or(u64::MAX);
            completion.total.get_or_insert(all);
            completion.has_more = Some(true);
            completion.values.truncate(VALUES);
        }
        self.dressed(result)
    }

    fn dressed<T: Dress>(&self, result: T) -> Answer {
        dress::write(result, dialect(self.version).era(), &self.server.info)
    }
}

/// What tells the version, of the parameters of any request.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "protocolVersion")]
    protocol_version: Option<&'a RawValue>,
}

fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, ErrorObject> {
    serde_json::from_str(params).map_err(|error| invalid(format!("wrong parameters: {error}")))
}

/// Where a cursor of this server points to.
fn place(cursor: &str, length: usize) -> Option<usize> {
    cursor.parse().ok().filter(|place| (1..length).contains(place))
}

fn not_found(method: &str) -> ErrorObject {
    ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, format!("no such method: {method:?}"))
}

fn invalid(text: impl Into<String>) -> ErrorObject {
    ErrorObject::new(ErrorObject::INVALID_PARAMS, text)
}

/// Every stateless request says its version and what its client can do (basic, "`_meta`").
fn lacks(key: &str) -> ErrorObject {
    invalid(format!("`_meta` lacks {key:?}"))
}

/// The most values of one completion (server utilities, "Completion").
const VALUES: usize = 100;
