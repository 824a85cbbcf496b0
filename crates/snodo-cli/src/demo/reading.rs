//! The resources and prompts of the demo, and how their arguments may go on.

use serde::Deserialize;
use snodo::direct::{Call, ResourceRequest, Server};
use snodo::types::{
    CompleteParams, CompleteResult, ErrorObject, GetPromptResult, Prompt, PromptArgument,
    PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

/// Adds resources, a template, prompts and completion to a server.
pub(super) fn add(server: Server) -> Server {
    let readme = Resource::new("demo://readme", "readme")
        .with_description("What this server is for")
        .with_mime_type("text/plain");
    let pixel = Resource::new("demo://pixel", "pixel")
        .with_description("A picture of one pixel")
        .with_mime_type("image/gif");
    let greeting = ResourceTemplate::new("demo://greeting/{name}", "greeting")
        .with_description("A greeting for anybody")
        .with_mime_type("text/plain");
    let greet = Prompt::new("greet")
        .with_description("Asks for a greeting")
        .with_argument(PromptArgument::required("name").with_description("Whom to greet"))
        .with_argument(PromptArgument::optional("language").with_description("In which language"));
    let introduce = Prompt::new("introduce").with_description("Asks the model to introduce itself");
    server
        .resource(readme, read_readme)
        .resource(pixel, read_pixel)
        .template(greeting, read_greeting)
        .prompt(greet, render_greet)
        .prompt(introduce, render_introduce)
        .completion(complete)
}

async fn read_readme(
    request: ResourceRequest,
    _call: Call,
) -> Result<ReadResourceResult, ErrorObject> {
    let text = "This server is built into snodo. It is there to try a client on.\n";
    Ok(ReadResourceResult::new(vec![plain(request.uri(), text)]))
}

async fn read_pixel(
    request: ResourceRequest,
    _call: Call,
) -> Result<ReadResourceResult, ErrorObject> {
    let contents = ResourceContents::blob(request.uri(), PIXEL).with_mime_type("image/gif");
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn read_greeting(
    request: ResourceRequest,
    _call: Call,
) -> Result<ReadResourceResult, ErrorObject> {
    let name = request.variable("name").unwrap_or("you");
    Ok(ReadResourceResult::new(vec![plain(request.uri(), &format!("Hello, {name}!\n"))]))
}

fn plain(uri: &str, text: &str) -> ResourceContents {
    ResourceContents::text(uri, text).with_mime_type("text/plain")
}

#[derive(Deserialize)]
struct Greet {
    name: String,
    language: Option<String>,
}

async fn render_greet(arguments: Greet, _call: Call) -> Result<GetPromptResult, ErrorObject> {
    let Greet { name, language } = arguments;
    let language = language.map_or_else(String::new, |language| format!(" in {language}"));
    Ok(GetPromptResult::new(vec![PromptMessage::user(format!("Greet {name}{language}."))]))
}

async fn render_introduce(
    _arguments: serde_json::Value,
    _call: Call,
) -> Result<GetPromptResult, ErrorObject> {
    Ok(GetPromptResult::new(vec![
        PromptMessage::user("Who are you?"),
        PromptMessage::assistant("I will say so in one sentence."),
    ]))
}

async fn complete(params: CompleteParams, _call: Call) -> Result<CompleteResult, ErrorObject> {
    let known: &[&str] = match params.argument.name.as_str() {
        "language" => &["English", "Esperanto", "French", "German"],
        "name" => &["Ada", "Alan", "Grace"],
        _ => &[],
    };
    let typed = params.argument.value.to_lowercase();
    let fitting = known.iter().filter(|value| value.to_lowercase().starts_with(&typed));
    Ok(CompleteResult::new(fitting.copied()))
}

/// The smallest picture there is.
const PIXEL: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
