//! The calls of each scenario.

use serde_json::{Value, json};
use snodo::http::Http;
use snodo::types::TransportError;
use snodo::{Builder, Client};
use snodo_skills::{ErrorKind, SkillClient};

use crate::{Failure, Task, credentials};

type Done = Result<(), Failure>;

pub(crate) async fn run(task: &Task) -> Done {
    match task.scenario.as_str() {
        "initialize" | "json-schema-ref-no-deref" => list(task).await,
        "tools_call" => tools_call(task).await,
        "elicitation-sep1034-client-defaults" => elicitation_defaults(task).await,
        "sse-retry" => sse_retry(task).await,
        "request-metadata" => request_metadata(task).await,
        "sep-2322-client-request-state" => request_state(task).await,
        "http-standard-headers" => standard_headers(task).await,
        "http-custom-headers" => custom_headers(task).await,
        "http-invalid-tool-headers" => invalid_tool_headers(task).await,
        "json-schema-2020-12-preservation" => schema_preservation(task).await,
        "sep-2640-client-no-prefetch" => skills(task).await,
        "sep-2640-client-verify-digest"
        | "sep-2640-client-verify-frontmatter"
        | "sep-2640-client-verify-size" => tampered_skill(task).await,
        "auth/client-credentials-jwt"
        | "auth/client-credentials-basic"
        | "auth/enterprise-managed-authorization"
        | "auth/wif-jwt-bearer" => list(task).await,
        scenario if scenario.starts_with("auth/") => authorized(task).await,
        _ => Err(Failure::Unknown),
    }
}

async fn list(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    client.list_tools().await?;
    client.close().await;
    Ok(())
}

async fn tools_call(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    let tools = client.list_tools().await?;
    let add = tools.iter().find(|tool| tool.name == "add_numbers");
    let add = add.ok_or_else(|| missing("no tool `add_numbers` is listed"))?;
    let sum = client.call_tool(add, json!({ "a": 5, "b": 3 })).await?;
    if sum.text().is_empty() {
        return Err(missing("the sum came without a text"));
    }
    client.close().await;
    Ok(())
}

async fn elicitation_defaults(task: &Task) -> Done {
    // The user changes nothing: the library fills in the defaults.
    let client = builder(task, json!({})).on_form(|form| async move { form.accept(json!({})) });
    let client = client.connect(target(task)?).await?;
    client.call_tool("test_client_elicitation_defaults", json!({})).await?;
    client.close().await;
    Ok(())
}

async fn sse_retry(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    client.call_tool("test_reconnection", json!({})).await?;
    client.close().await;
    Ok(())
}

async fn request_metadata(task: &Task) -> Done {
    let capabilities = json!({ "roots": {}, "sampling": {}, "elicitation": {} });
    let client = connect(task, capabilities).await?;
    client.list_tools().await?;
    client.list_tools().await?;
    client.close().await;
    Ok(())
}

async fn request_state(task: &Task) -> Done {
    let confirm = json!({ "confirmed": true });
    let client = builder(task, json!({})).on_form(move |form| {
        let confirm = confirm.clone();
        async move { form.accept(confirm) }
    });
    let client = client.connect(target(task)?).await?;
    for tool in [
        "test_mrtr_echo_state",
        "test_mrtr_no_state",
        "test_mrtr_unrelated",
        "test_mrtr_no_result_type",
    ] {
        client.call_tool(tool, json!({})).await?;
    }
    client.close().await;
    Ok(())
}

async fn standard_headers(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    client.list_tools().await?;
    client.call_tool("test_headers", json!({})).await?;
    let resources = client.list_resources().await?;
    let first = resources.first().ok_or_else(|| missing("no resource is listed"))?;
    client.read_resource(&first.uri).await?;
    client.list_prompts().await?;
    client.get_prompt("test_prompt", json!({})).await?;
    client.close().await;
    Ok(())
}

async fn custom_headers(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    let tools = client.list_tools().await?;
    let calls = task.context["toolCalls"].as_array();
    for call in calls.ok_or_else(|| missing("the context names no calls"))? {
        let name = call["name"].as_str().unwrap_or_default();
        let tool = tools.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| Failure::Step(format!("no tool `{name}` is listed")))?;
        client.call_tool(tool, &call["arguments"]).await?;
    }
    client.close().await;
    Ok(())
}

async fn invalid_tool_headers(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    for tool in client.list_tools().await? {
        client.call_tool(&tool, json!({ "region": "us-west1" })).await?;
    }
    client.close().await;
    Ok(())
}

async fn schema_preservation(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    let tools = client.list_tools().await?;
    let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
    let tool = tool.ok_or_else(|| missing("the tool with the schema is not listed"))?;
    client.call_tool("json_schema_echo", json!({ "schema": tool.input_schema })).await?;
    client.close().await;
    Ok(())
}

async fn skills(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    SkillClient::new(&client).list().await?;
    client.close().await;
    Ok(())
}

/// The skill is another one than its entry says, so that it is not loaded and no file of it read.
async fn tampered_skill(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    let skills = SkillClient::new(&client);
    for skill in skills.list().await? {
        match skills.load(&skill).await {
            Err(error) if error.kind() == ErrorKind::Mismatch => {}
            Err(error) => return Err(error.into()),
            Ok(loaded) => {
                for file in skill.files().unwrap_or_default() {
                    loaded.read(file.uri()).await?;
                }
                return Err(missing("a skill that was tampered with is loaded"));
            }
        }
    }
    client.close().await;
    Ok(())
}

/// The flow that serves nearly all authorization scenarios.
async fn authorized(task: &Task) -> Done {
    let client = connect(task, json!({})).await?;
    client.list_tools().await?;
    client.call_tool("test-tool", json!({})).await?;
    client.close().await;
    Ok(())
}

fn missing(what: &str) -> Failure {
    Failure::Step(what.to_owned())
}

/// Connects in the one version that the fixture speaks.
async fn connect(task: &Task, capabilities: Value) -> Result<Client, Failure> {
    Ok(builder(task, capabilities).connect(target(task)?).await?)
}

fn builder(task: &Task, capabilities: Value) -> Builder {
    Client::builder().protocol([task.version]).capabilities(capabilities)
}

fn target(task: &Task) -> Result<Http, Failure> {
    let http = Http::new(&task.url)
        .map_err(|error: TransportError| Failure::Step(format!("{}: {error}", task.url)))?;
    Ok(http.credentials(credentials::of(task)?))
}
