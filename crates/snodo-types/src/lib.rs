//! The words of the Model Context Protocol.
//!
//! Messages, nouns, errors and envelopes, without a runtime, a clock or IO. Everything that is
//! read keeps what it does not know, so that it can be written out again.

mod annotations;
mod cache;
mod call_tool;
mod cancelled;
mod capabilities;
mod completion;
mod content;
mod elicitation;
mod envelope;
mod error;
mod error_data;
mod fingerprint;
mod icon;
mod implementation;
mod input;
mod json;
mod jsonrpc;
mod lens;
mod lifecycle;
mod logging;
mod members;
mod meta;
mod object;
mod one_or_many;
mod opaque;
mod page;
mod progress;
mod prompt;
mod raw;
mod resource;
mod result;
mod role;
mod root;
mod routing;
mod sampling;
mod schema_fault;
mod steers;
mod subscription;
mod task;
mod task_extension;
mod tool;
mod trace_context;
mod transport_error;
mod version;

pub use annotations::Annotations;
pub use cache::{CacheHints, CacheScope, Kept};
pub use call_tool::{CallToolParams, CallToolResult, StructuredError};
pub use cancelled::Cancelled;
pub use capabilities::{ClientCapabilities, ServerCapabilities};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference,
};
pub use content::{
    Content, EmbeddedResource, MediaContent, OtherContent, TextContent, ToolResult, ToolUse,
};
pub use elicitation::{
    Choice, ElicitAction, ElicitMode, ElicitParams, ElicitResult, ElicitationComplete, EnumItems,
    FieldKind, FormField, FormSchema, PrimitiveSchema,
};
pub use envelope::{Abandon, Envelope, InboxLimits, Overflow};
pub use error::{Cause, Error, Kind};
pub use error_data::{MissingCapability, UnsupportedVersion, UrlElicitations};
pub use fingerprint::Fingerprint;
pub use icon::{Icon, Theme};
pub use implementation::Implementation;
pub use input::{InputRequest, InputRequests, InputRequired, InputResponses, Outcome};
pub use json::read_json;
pub use jsonrpc::{
    Body, Concern, ErrorObject, MalformedMessage, Message, Outside, RequestId, SessionId,
    answered_id,
};
pub use lifecycle::{DiscoverResult, InitializeParams, InitializeResult, MetaParams};
pub use logging::{LogMessage, LoggingLevel, SetLevelParams};
pub use members::Members;
pub use meta::{Meta, MetaKey};
pub use one_or_many::OneOrMany;
pub use opaque::{RequestState, TaskId};
pub use page::{
    Item, LeftOut, LeftOutItem, ListParams, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListTasksResult, ListToolsResult, Page,
};
pub use progress::{Progress, ProgressToken};
pub use prompt::{GetPromptParams, GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use raw::Raw;
pub use resource::{
    ReadResourceParams, ReadResourceResult, Resource, ResourceContents, ResourceParams,
    ResourceTemplate,
};
pub use result::{EmptyResult, ResultType};
pub use role::Role;
pub use root::{Root, Roots};
pub use routing::Routing;
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingMessage, ToolChoice, ToolChoiceMode,
};
pub use schema_fault::{SchemaFault, SchemaSide};
pub use steers::steers;
pub use subscription::{SubscriptionFilter, SubscriptionParams};
pub use task::{CreateTaskResult, RelatedTask, Task, TaskMetadata, TaskParams, TaskStatus};
pub use task_extension::{DetailedTask, UpdateTaskParams};
pub use tool::{TaskSupport, Tool, ToolAnnotations, ToolExecution};
pub use trace_context::{InvalidTraceContext, TraceContext};
pub use transport_error::{Processed, TransportError, TransportFault};
pub use version::{ProtocolVersion, UnknownVersion};

#[cfg(test)]
#[path = "built_tests.rs"]
mod built;
