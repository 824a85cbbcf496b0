//! A skill is listed, loaded after consent, and a file of it read as the skill says.
//!
//! ```text
//! greeting: How to greet people
//! Greet by the list in names.md.
//! Ada, Grace
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::{Value, json};
use snodo::transport::{Connect, from_fn};
use snodo::types::{Body, Message};
use snodo::{Client, ProtocolVersion};
use snodo_skills::{Error, Skill, SkillClient};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::connect(server()).await?;
    let skills = SkillClient::new(&client);
    for skill in skills.list().await? {
        println!("{}: {}", skill.name(), skill.description());
        if agrees(&skill) {
            let loaded = skills.load(&skill).await?;
            println!("{}", loaded.body());
            println!("{}", String::from_utf8_lossy(&loaded.read("names.md").await?));
        }
    }
    Ok(())
}

/// A person who is asked once for what they see, and again when it changes.
fn agrees(skill: &Skill) -> bool {
    skill.binding().is_some()
}

/// A server with one skill. The digests were made when it was written.
fn server() -> impl Connect {
    from_fn(|envelope| {
        let answer = Message::parse(envelope.message).map(|message| {
            let Body::Request { id, method, params } = message.body() else { return None };
            let params: Value = serde_json::from_str(params?).ok()?;
            let result = match method {
                "server/discover" => json!({
                    "supportedVersions": [ProtocolVersion::V2026_07_28.to_string()],
                    "capabilities": {
                        "resources": {},
                        "extensions": { "io.modelcontextprotocol/skills": {} },
                    },
                }),
                "skills/list" => json!({ "skills": [{
                    "uri": "skill://greeting/SKILL.md",
                    "frontmatter": { "name": "greeting", "description": "How to greet people" },
                    "resources": [
                        { "uri": "skill://greeting/SKILL.md", "digest": SKILL.1, "size": SKILL.0.len() },
                        { "uri": "skill://greeting/names.md", "digest": NAMES.1, "size": NAMES.0.len() },
                    ],
                }] }),
                "resources/read" => {
                    let uri = params["uri"].as_str()?;
                    let text = if uri.ends_with("SKILL.md") { SKILL.0 } else { NAMES.0 };
                    json!({ "contents": [{ "uri": uri, "text": text }] })
                }
                _ => return None,
            };
            Some(Message::result(id, &result.to_string()))
        });
        async move { Ok(answer.ok().flatten()) }
    })
}

const SKILL: (&str, &str) = (
    "---\nname: greeting\ndescription: How to greet people\n---\nGreet by the list in names.md.",
    "sha256:40221cc73a3b449151f35f484501987ebe69cde13ee19d02c795f039b7bb1ae4",
);

const NAMES: (&str, &str) =
    ("Ada, Grace", "sha256:5fbd04cfc13c8a1bfaf99db51a14891d2f28de501f1d7e7dd22fc34d45035231");
