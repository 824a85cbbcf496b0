//! Which type is which definition.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use snodo_types::*;

/// A type that a definition is read into.
pub(crate) trait Noun:
    'static + Clone + Debug + PartialEq + Serialize + DeserializeOwned
{
    /// What it holds that it has no name for; `None` for what is no object.
    fn others(&self) -> Option<&Members> {
        None
    }

    /// Whether it is more than carried along.
    fn is_understood(&self) -> bool {
        true
    }
}

/// What is done with a definition.
pub(crate) enum Rule {
    /// It is read into a type, and checked.
    Type(Read),
    /// It has no type of its own, for this reason.
    LeftOut(&'static str),
}

/// Reads a document, and tells what it has become or why it could not be read.
pub(crate) type Read = fn(&Value) -> Result<Reading, String>;

/// What a document has become.
pub(crate) struct Reading {
    /// What the type has no name for.
    pub(crate) others: Option<Vec<(String, Value)>>,
    /// What it writes.
    pub(crate) written: Value,
}

/// The rule for a definition; `None` where nobody has thought of it.
pub(crate) fn rule(table: &str, definition: &str) -> Option<Rule> {
    if let Some((_, reason)) = LEFT_OUT.iter().find(|(name, _)| *name == definition) {
        return Some(Rule::LeftOut(reason));
    }
    let definition = without_alternative(definition);
    let is_extension = table == "tasks-extension";
    tasks(is_extension, definition)
        .or_else(|| results(definition))
        .or_else(|| params(definition))
        .or_else(|| values(definition))
}

fn results(definition: &str) -> Option<Rule> {
    Some(match definition {
        "CallToolResult" => of::<CallToolResult>(),
        "CompleteResult" => of::<CompleteResult>(),
        "CompleteResult.completion" => of::<Completion>(),
        "CreateMessageResult" => of::<CreateMessageResult>(),
        "DiscoverResult" => of::<DiscoverResult>(),
        "ElicitResult" => of::<ElicitResult>(),
        "EmptyResult"
        | "GetTaskPayloadResult"
        | "Result"
        | "SubscriptionsListenResult"
        | "UpdateTaskResult" => of::<EmptyResult>(),
        "GetPromptResult" => of::<GetPromptResult>(),
        "InitializeResult" => of::<InitializeResult>(),
        "InputRequiredResult" => of::<InputRequired>(),
        "ListPromptsResult" => of::<ListPromptsResult>(),
        "ListResourceTemplatesResult" => of::<ListResourceTemplatesResult>(),
        "ListResourcesResult" => of::<ListResourcesResult>(),
        "ListRootsResult" => of::<Roots>(),
        "ListTasksResult" => of::<ListTasksResult>(),
        "ListToolsResult" => of::<ListToolsResult>(),
        "ReadResourceResult" => of::<ReadResourceResult>(),
        _ => return None,
    })
}

/// Params have a name of their own since 2025-11-25; before, they stand within their request.
fn params(definition: &str) -> Option<Rule> {
    let name = definition.replace("Request.params", "RequestParams");
    Some(match name.replace("Notification.params", "NotificationParams").as_str() {
        "CallToolRequestParams" => of::<CallToolParams>(),
        "CancelledNotificationParams" => of::<Cancelled>(),
        "CompleteRequestParams" => of::<CompleteParams>(),
        "CompleteRequestParams.argument" => of::<CompletionArgument>(),
        "CompleteRequestParams.context" => of::<CompletionContext>(),
        "CreateMessageRequestParams" => of::<CreateMessageParams>(),
        "ElicitRequestFormParams" | "ElicitRequestParams" | "ElicitRequestURLParams" => {
            of::<ElicitParams>()
        }
        "ElicitRequestFormParams.requestedSchema" | "ElicitRequestParams.requestedSchema" => {
            of::<FormSchema>()
        }
        "ElicitationCompleteNotificationParams" => of::<ElicitationComplete>(),
        "GetPromptRequestParams" => of::<GetPromptParams>(),
        "InitializeRequestParams" => of::<InitializeParams>(),
        "InitializedNotificationParams"
        | "JSONRPCNotificationParams"
        | "JSONRPCRequestParams"
        | "ListRootsRequestParams"
        | "NotificationParams"
        | "Notification.params"
        | "PingRequestParams"
        | "PromptListChangedNotificationParams"
        | "Request.params"
        | "RequestParams"
        | "ResourceListChangedNotificationParams"
        | "RootsListChangedNotificationParams"
        | "ToolListChangedNotificationParams" => of::<MetaParams>(),
        "ListPromptsRequestParams"
        | "ListResourceTemplatesRequestParams"
        | "ListResourcesRequestParams"
        | "ListToolsRequestParams"
        | "PaginatedRequestParams" => of::<ListParams>(),
        "LoggingMessageNotificationParams" => of::<LogMessage>(),
        "ProgressNotificationParams" => of::<Progress>(),
        "ReadResourceRequestParams" => of::<ReadResourceParams>(),
        "ResourceRequestParams"
        | "ResourceUpdatedNotificationParams"
        | "SubscribeRequestParams"
        | "UnsubscribeRequestParams" => of::<ResourceParams>(),
        "SetLevelRequestParams" => of::<SetLevelParams>(),
        "SubscriptionsAcknowledgedNotificationParams" | "SubscriptionsListenRequestParams" => {
            of::<SubscriptionParams>()
        }
        _ => return None,
    })
}

/// Tasks have the same names in 2025-11-25 and in the extension, and other shapes.
fn tasks(is_extension: bool, definition: &str) -> Option<Rule> {
    Some(match (is_extension, definition) {
        (
            _,
            "CancelTaskRequest.params" | "GetTaskPayloadRequest.params" | "GetTaskRequest.params",
        ) => of::<TaskParams>(),
        (_, "TaskStatus") => word::<TaskStatus>(),
        (false, "CancelTaskResult" | "GetTaskResult" | "Task" | "TaskStatusNotificationParams") => {
            of::<Task>()
        }
        (false, "CreateTaskResult") => of::<CreateTaskResult>(),
        (false, "RelatedTaskMetadata") => of::<RelatedTask>(),
        (false, "TaskMetadata") => of::<TaskMetadata>(),
        (true, "CancelTaskResult") => of::<EmptyResult>(),
        (
            true,
            "CancelledTask"
            | "CompletedTask"
            | "CreateTaskResult"
            | "DetailedTask"
            | "FailedTask"
            | "GetTaskResult"
            | "InputRequiredTask"
            | "Task"
            | "TaskStatusNotification.params"
            | "TaskStatusNotificationParams"
            | "WorkingTask",
        ) => of::<DetailedTask>(),
        (true, "TaskSubscriptionAcknowledgedNotifications" | "TaskSubscriptionNotifications") => {
            of::<SubscriptionFilter>()
        }
        (true, "UpdateTaskRequest.params") => of::<UpdateTaskParams>(),
        _ => return None,
    })
}

fn values(definition: &str) -> Option<Rule> {
    Some(match definition {
        "Annotations" => of::<Annotations>(),
        "AudioContent"
        | "ContentBlock"
        | "EmbeddedResource"
        | "ImageContent"
        | "ResourceLink"
        | "SamplingMessageContentBlock"
        | "TextContent"
        | "ToolResultContent"
        | "ToolUseContent" => of::<Content>(),
        "BlobResourceContents" | "ResourceContents" | "TextResourceContents" => {
            of::<ResourceContents>()
        }
        "BooleanSchema"
        | "EnumSchema"
        | "LegacyTitledEnumSchema"
        | "MultiSelectEnumSchema"
        | "NumberSchema"
        | "PrimitiveSchemaDefinition"
        | "SingleSelectEnumSchema"
        | "StringSchema"
        | "TitledMultiSelectEnumSchema"
        | "TitledSingleSelectEnumSchema"
        | "UntitledMultiSelectEnumSchema"
        | "UntitledSingleSelectEnumSchema" => of::<PrimitiveSchema>(),
        "Error"
        | "HeaderMismatchError.error"
        | "InternalError"
        | "InvalidParamsError"
        | "InvalidRequestError"
        | "JSONRPCError.error"
        | "MethodNotFoundError"
        | "MissingRequiredClientCapabilityError.error"
        | "ParseError"
        | "URLElicitationRequiredError.error"
        | "UnsupportedProtocolVersionError.error" => of::<ErrorObject>(),
        "Icon" => of::<Icon>(),
        "Implementation" => of::<Implementation>(),
        "InputRequest" => of::<InputRequest>(),
        "InputRequests" => of::<InputRequests>(),
        "InputResponses" => of::<InputResponses>(),
        "LoggingLevel" => word::<LoggingLevel>(),
        "MissingRequiredClientCapabilityError.error.data" => of::<MissingCapability>(),
        "ModelHint" => of::<ModelHint>(),
        "ModelPreferences" => of::<ModelPreferences>(),
        "ProgressToken" => of::<ProgressToken>(),
        "Prompt" => of::<Prompt>(),
        "PromptArgument" => of::<PromptArgument>(),
        "PromptMessage" => of::<PromptMessage>(),
        "PromptReference" | "ResourceTemplateReference" => of::<CompletionReference>(),
        "RequestId" => of::<RequestId>(),
        "Resource" => of::<Resource>(),
        "ResourceTemplate" => of::<ResourceTemplate>(),
        "Role" => word::<Role>(),
        "Root" => of::<Root>(),
        "SamplingMessage" => of::<SamplingMessage>(),
        "SubscriptionFilter" => of::<SubscriptionFilter>(),
        "TitledMultiSelectEnumSchema.items" | "UntitledMultiSelectEnumSchema.items" => {
            of::<EnumItems>()
        }
        "TitledMultiSelectEnumSchema.items.anyOf[]" | "TitledSingleSelectEnumSchema.oneOf[]" => {
            of::<Choice>()
        }
        "Tool" => of::<Tool>(),
        "ToolAnnotations" => of::<ToolAnnotations>(),
        "ToolChoice" => of::<ToolChoice>(),
        "ToolExecution" => of::<ToolExecution>(),
        "URLElicitationRequiredError.error.data" => of::<UrlElicitations>(),
        "UnsupportedProtocolVersionError.error.data" => of::<UnsupportedVersion>(),
        _ => return None,
    })
}

/// `DetailedTask/3` is one of several shapes of `DetailedTask`.
fn without_alternative(definition: &str) -> &str {
    definition.split_once('/').map_or(definition, |(name, _)| name)
}

/// The definition is read into this type.
fn of<T: Noun>() -> Rule {
    Rule::Type(read::<T>)
}

/// The definition is read into this enum of words, and the word is one of those it knows.
fn word<T: Noun>() -> Rule {
    Rule::Type(read_word::<T>)
}

fn read_word<T: Noun>(document: &Value) -> Result<Reading, String> {
    let value: T = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
    if format!("{value:?}").starts_with("Other(") {
        return Err(format!("{document} is not a word that is known"));
    }
    read::<T>(document)
}

fn read<T: Noun>(document: &Value) -> Result<Reading, String> {
    let text = document.to_string();
    let value: T = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if !value.is_understood() {
        return Err(format!("{text} is only carried along"));
    }
    let tree: T = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&value).map_err(|error| error.to_string())?;
    let again: T = serde_json::from_str(&written).map_err(|error| error.to_string())?;
    if again != value || again != value.clone() {
        return Err(format!("{written} reads as something else than {text}"));
    }
    let same = |tree: &T| serde_json::to_value(tree).map_err(|error| error.to_string());
    if same(&tree)? != same(&value)? {
        return Err(format!("{text} reads otherwise from a tree than from a text"));
    }
    let others = value.others().map(|others| {
        let pairs = others
            .iter()
            .map(|(name, raw)| (name.to_owned(), raw.decode::<Value>().expect("JSON")));
        pairs.collect()
    });
    Ok(Reading { others, written: serde_json::from_str(&written).expect("JSON") })
}

macro_rules! nouns {
    ($($Type:ty),* $(,)?) => {
        $(impl Noun for $Type {
            fn others(&self) -> Option<&Members> {
                Some(&self.other)
            }
        })*
    };
}

nouns! {
    Annotations, CallToolParams, CallToolResult, Cancelled, Choice, CompleteParams, CompleteResult, Completion,
    CompletionArgument, CompletionContext, CompletionReference, CreateMessageParams, CreateMessageResult,
    CreateTaskResult, DetailedTask, DiscoverResult, ElicitParams, ElicitResult, ElicitationComplete, EmptyResult,
    EnumItems, FormSchema, GetPromptParams, GetPromptResult, Icon, Implementation, InitializeParams, InitializeResult,
    InputRequest, InputRequired, ListParams, LogMessage, MetaParams, MissingCapability, ModelHint, ModelPreferences,
    PrimitiveSchema, Progress, Prompt, PromptArgument, PromptMessage, ReadResourceParams, ReadResourceResult,
    RelatedTask, Resource, ResourceContents, ResourceParams, ResourceTemplate, Root, Roots, SamplingMessage,
    SetLevelParams, SubscriptionFilter, SubscriptionParams, Task, TaskMetadata, TaskParams, Tool, ToolAnnotations,
    ToolChoice, ToolExecution, UnsupportedVersion, UpdateTaskParams, UrlElicitations,
}

impl Noun for ErrorObject {}
impl Noun for InputRequests {}
impl Noun for InputResponses {}
impl Noun for LoggingLevel {}
impl Noun for RequestId {}
impl Noun for Role {}
impl Noun for TaskStatus {}

impl<T: Item + Clone + Debug + PartialEq + 'static> Noun for Page<T> {
    fn others(&self) -> Option<&Members> {
        Some(&self.other)
    }
}

impl Noun for Content {
    fn others(&self) -> Option<&Members> {
        match self {
            Self::Audio(block) | Self::Image(block) => Some(&block.other),
            Self::Resource(block) => Some(&block.other),
            Self::ResourceLink(block) => Some(&block.other),
            Self::Text(block) => Some(&block.other),
            Self::ToolResult(block) => Some(&block.other),
            Self::ToolUse(block) => Some(&block.other),
            _ => None,
        }
    }

    fn is_understood(&self) -> bool {
        !matches!(self, Self::Other(_))
    }
}

/// Definitions without a type of their own, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("BaseMetadata", "a base: its members stand in each heir"),
    ("CacheableResult", "a base: its members stand in each heir"),
    ("Icons", "a base: its member stands in each heir"),
    ("InputResponseRequestParams", "a base: its members stand in each heir"),
    ("PaginatedResult", "a base: its members stand in each heir"),
    ("TaskAugmentedRequestParams", "a base: its members stand in each heir"),
    ("Cursor", "a string"),
    ("ResultType", "an open string: the words are a version's and its extensions'"),
    ("JSONArray", "stays text: Raw"),
    ("JSONObject", "stays text: Raw"),
    ("JSONValue", "stays text: Raw"),
    ("MetaObject", "stays text: Raw, looked into by Meta"),
    ("CreateMessageRequest.params.metadata", "stays text: Raw"),
    ("CreateMessageRequestParams.metadata", "stays text: Raw"),
    ("TasksExtensionCapability", "stays text: Raw, an object without settings"),
    ("Tool.inputSchema", "stays text: Raw, a JSON Schema"),
    ("Tool.outputSchema", "stays text: Raw, a JSON Schema"),
    ("InputResponse", "a bare result of the three kinds, read by its request's method"),
];
