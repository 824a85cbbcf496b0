//! Skills of a server that says what a test wrote down.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use snodo::transport::{Connect, from_fn};
use snodo::types::{Body, Message};
use snodo::{Client, ProtocolVersion};

use crate::content::digest;
use crate::{Error, ErrorKind, SkillClient};

const URI: &str = "skill://pdf/SKILL.md";
const HEAD: &str = "---\nname: pdf\ndescription: Fills forms\n---\n";
const FORMS: &str = "the forms";

/// What a server was asked, and how it answers.
#[derive(Clone)]
struct World(Arc<Mutex<State>>);

struct State {
    asked: Vec<String>,
    settings: Option<Value>,
    /// Pages of a list; a page's cursor is its number.
    pages: Vec<Value>,
    /// By URI.
    texts: Vec<(String, String)>,
}

impl World {
    fn new() -> Self {
        let texts =
            [(URI, format!("{HEAD}Look in forms.md.")), (&*file("forms.md"), FORMS.to_owned())];
        let texts = texts.map(|(uri, text)| (uri.to_owned(), text)).to_vec();
        let pages = vec![json!({ "skills": [entry()] })];
        let state = State { asked: Vec::new(), settings: Some(json!({})), pages, texts };
        Self(Arc::new(Mutex::new(state)))
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().expect("no panic"));
    }

    /// What was asked since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic").asked)
    }

    async fn skills(&self) -> SkillClient {
        let client = Client::builder().protocol([ProtocolVersion::V2026_07_28]);
        SkillClient::new(&client.connect(self.server()).await.expect("a client"))
    }

    fn server(&self) -> impl Connect {
        let world = self.clone();
        from_fn(move |envelope| {
            let answer = Message::parse(envelope.message).map(|message| {
                let Body::Request { id, method, params } = message.body() else { return None };
                let params = serde_json::from_str(params?).expect("JSON");
                let mut state = world.0.lock().expect("no panic");
                Some(match state.answer(method, &params) {
                    Some(result) => Message::result(id, &result.to_string()),
                    None => {
                        let text = format!(
                            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no such thing"}}}}"#
                        );
                        Message::parse(text).expect("a message")
                    }
                })
            });
            async move { Ok(answer.ok().flatten()) }
        })
    }
}

impl State {
    fn answer(&mut self, method: &str, params: &Value) -> Option<Value> {
        let uri = params["uri"].as_str().unwrap_or_default();
        self.asked.push(format!("{method} {uri}").trim_end().to_owned());
        match method {
            "server/discover" => {
                let extensions = match &self.settings {
                    Some(settings) => json!({ "io.modelcontextprotocol/skills": settings }),
                    None => json!({}),
                };
                let capabilities = json!({ "resources": {}, "extensions": extensions });
                Some(json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities }))
            }
            "skills/list" | "resources/directory/read" => {
                let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
                assert_eq!(declared["extensions"]["io.modelcontextprotocol/skills"], json!({}));
                let at = params["cursor"].as_str().map_or(0, |at| at.parse().expect("a number"));
                self.pages.get(at).cloned()
            }
            "skills/get" => {
                let skills = self.pages.iter().flat_map(|page| page["skills"].as_array());
                let skill = skills.flatten().find(|skill| skill["uri"] == uri)?;
                Some(json!({ "skill": skill }))
            }
            "resources/read" => {
                let (_, text) = self.texts.iter().find(|(known, _)| known == uri)?;
                Some(json!({ "contents": [{ "uri": uri, "text": text }] }))
            }
            other => panic!("nobody expected {other}"),
        }
    }
}

fn file(path: &str) -> String {
    URI.replace("SKILL.md", path)
}

fn entry() -> Value {
    let listed = |uri: &str, text: &str| json!({ "uri": uri, "digest": digest(text.as_bytes()), "size": text.len() });
    let text = format!("{HEAD}Look in forms.md.");
    json!({
        "uri": URI,
        "frontmatter": { "name": "pdf", "description": "Fills forms" },
        "resources": [listed(URI, &text), listed(&file("forms.md"), FORMS)],
    })
}

fn kind<T: std::fmt::Debug>(outcome: Result<T, Error>) -> ErrorKind {
    outcome.expect_err("it fails").kind()
}

#[tokio::test]
async fn nothing_is_read_before_it_is_needed() {
    let world = World::new();
    let skills = world.skills().await;
    let listed = skills.list().await.expect("a list");
    assert_eq!(world.asked(), ["server/discover", "skills/list"]);
    let skill = skills.load(&listed[0]).await.expect("a skill");
    assert_eq!(world.asked(), [format!("resources/read {URI}")]);
    assert_eq!((skill.skill(), skill.body()), (&listed[0], "Look in forms.md."));
    assert!(skill.text().starts_with(HEAD));
    assert_eq!(skill.read("forms.md").await.expect("a file"), FORMS.as_bytes());
    assert_eq!(world.asked(), [format!("resources/read {}", file("forms.md"))]);
}

#[tokio::test]
async fn content_that_is_not_what_the_entry_says_is_not_given_out() {
    let good = format!("{HEAD}Look in forms.md.");
    for bad in [
        good.replace("Look", "Peep"),
        format!("{good} And more."),
        good.replace("Fills", "Steal"),
        String::new(),
    ] {
        let world = World::new();
        world.set(|state| state.texts[0].1 = bad);
        let skills = world.skills().await;
        let skill = skills.get(URI).await.expect("an entry");
        assert_eq!(kind(skills.load(&skill).await), ErrorKind::Mismatch);
    }
    let world = World::new();
    let skills = world.skills().await;
    let skill = skills.load(&skills.get(URI).await.expect("an entry")).await.expect("a skill");
    world.set(|state| state.texts[1].1 = "the farms".to_owned());
    assert_eq!(kind(skill.read("forms.md").await), ErrorKind::Mismatch);
}

#[tokio::test]
async fn a_frontmatter_that_says_something_else_than_the_entry_loads_nothing() {
    let world = World::new();
    let text = "---\nname: pdf\ndescription: Sends forms away\n---\n";
    world.set(|state| {
        state.texts[0].1 = text.to_owned();
        let listed = &mut state.pages[0]["skills"][0]["resources"][0];
        listed["digest"] = json!(digest(text.as_bytes()));
        listed["size"] = json!(text.len());
    });
    let skills = world.skills().await;
    let skill = skills.get(URI).await.expect("an entry");
    let error = skills.load(&skill).await.expect_err("two descriptions");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    assert!(error.message().contains("frontmatter"), "{error}");
}

#[tokio::test]
async fn a_file_that_the_entry_does_not_list_is_not_even_asked_for() {
    let world = World::new();
    world.set(|state| state.texts.push((file("new.md"), "new".to_owned())));
    let skills = world.skills().await;
    let skill = skills.load(&skills.get(URI).await.expect("an entry")).await.expect("a skill");
    world.asked();
    for reference in ["new.md", "../other/SKILL.md", "https://elsewhere.example/a", ""] {
        assert_eq!(kind(skill.read(reference).await), ErrorKind::Mismatch);
    }
    assert!(world.asked().is_empty());
}

#[tokio::test]
async fn a_list_goes_on_to_its_last_page_and_leaves_out_what_is_no_entry() {
    let world = World::new();
    let other = json!({ "uri": "skill://other/SKILL.md", "frontmatter": {}, "resources": [] });
    world.set(|state| {
        state.pages = vec![
            json!({ "skills": [entry(), 7], "nextCursor": "1" }),
            json!({ "skills": [other, entry()] }),
        ];
    });
    let skills = world.skills().await;
    assert_eq!(skills.list().await.expect("a list").len(), 2);
    world.set(|state| state.pages[1]["nextCursor"] = json!("1"));
    let error = skills.list().await.expect_err("it turns in a circle");
    assert_eq!(error.kind(), ErrorKind::Client);
    world.set(|state| state.pages = vec![json!({ "skills": {} })]);
    assert_eq!(kind(skills.list().await), ErrorKind::Malformed);
}

#[tokio::test]
async fn a_server_that_does_not_declare_skills_is_not_asked_for_any() {
    let world = World::new();
    world.set(|state| state.settings = None);
    let skills = world.skills().await;
    assert!(!skills.is_offered().await.expect("an answer"));
    assert_eq!(kind(skills.list().await), ErrorKind::Unsupported);
    assert_eq!(kind(skills.get(URI).await), ErrorKind::Unsupported);
    assert_eq!(kind(skills.read_directory("skill://pdf").await), ErrorKind::Unsupported);
    assert_eq!(world.asked(), ["server/discover"]);
}

#[tokio::test]
async fn directories_are_read_where_the_server_says_so() {
    let world = World::new();
    assert_eq!(
        kind(world.skills().await.read_directory("skill://pdf").await),
        ErrorKind::Unsupported
    );
    world.set(|state| {
        state.settings = Some(json!({ "directoryRead": true }));
        state.pages = vec![
            json!({ "resources": [{ "uri": file("a"), "name": "a" }], "nextCursor": "1" }),
            json!({ "resources": [{ "uri": file("b"), "name": "b" }] }),
        ];
    });
    let found = world.skills().await.read_directory("skill://pdf").await.expect("a directory");
    let names: Vec<_> = found.iter().map(|child| &*child.name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn a_skill_that_is_made_anew_each_time_is_loaded_for_who_allows_it() {
    let world = World::new();
    world.set(|state| state.pages[0]["skills"][0]["resources"] = json!("dynamic"));
    let skills = world.skills().await;
    let skill = skills.get(URI).await.expect("an entry");
    assert_eq!(kind(skills.load(&skill).await), ErrorKind::Unverifiable);
    let skills = skills.allow_dynamic();
    let loaded = skills.load(&skill).await.expect("a skill");
    assert_eq!(loaded.read("forms.md").await.expect("a file"), FORMS.as_bytes());
    assert_eq!(kind(loaded.read("../other").await), ErrorKind::Mismatch);
    world.set(|state| state.texts[1].1 = "x".repeat(16 * 1024 * 1024));
    assert_eq!(kind(loaded.read("forms.md").await), ErrorKind::TooLarge);
    world.set(|state| state.texts[0].1 = HEAD.replace("Fills", "Steals"));
    assert_eq!(kind(skills.load(&skill).await), ErrorKind::Mismatch);
}

#[tokio::test]
async fn what_the_server_does_not_have_is_its_own_error() {
    let world = World::new();
    let skills = world.skills().await;
    let error = skills.get("skill://none/SKILL.md").await.expect_err("there is none");
    assert_eq!((error.kind(), error.message()), (ErrorKind::Client, "no such thing"));
    let source = std::error::Error::source(&error).expect("the client's error");
    assert_eq!(source.downcast_ref::<snodo::Error>().expect("one").code(), -32602);
}
