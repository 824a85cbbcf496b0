//! Cases of `decode/`: the text of a result, read by a client that asked for it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use snodo::types::{Content, InputRequired, Item, Outcome, Page};
use snodo::{Client, ListKind, ProtocolVersion};

use super::Verdict;
use super::head;
use super::later::Need;
use super::store::CaseFile;
use super::value::{compact_at, parsed, shown};
use super::wire::{Wire, on_standing_clock};

/// A file of `decode/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecodeCase {
    method: String,
    raw: String,
    expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    #[serde(default)]
    must_include: Vec<String>,
    may_include: Option<Vec<String>>,
    exactly: Option<Vec<String>>,
    #[serde(default)]
    warns_about_missing: bool,
    content_len: Option<usize>,
    texts: Option<Vec<String>>,
    structured: Option<Value>,
    result_type: Option<String>,
    request_state: Option<String>,
    messages_len: Option<usize>,
    resources: Option<Vec<String>>,
    roundtrip: Option<String>,
}

/// What a client made of a result.
#[derive(Debug, Default)]
struct Read {
    /// The names in a list.
    names: Vec<String>,
    /// The names of what was left out, and how many there are.
    left_out: Vec<String>,
    left_out_count: usize,
    /// The URIs of resources.
    uris: Vec<String>,
    contents: Option<usize>,
    texts: Vec<String>,
    structured: Option<Value>,
    messages: Option<usize>,
    asked: Option<InputRequired>,
    result_type: Option<String>,
    /// The typed result, written out again.
    written: String,
}

/// Runs a case on each version that it applies to.
pub(crate) fn run(file: &CaseFile) -> Result<Verdict, Need> {
    let text = file.text("json").map_err(Need::unknown)?;
    let (head, case) = head::read::<DecodeCase>(&text)?;
    if !METHODS.contains(&case.method.as_str()) {
        return Err(Need::unknown(format!("the result of {}", case.method)));
    }
    let mut faults = Vec::new();
    for version in head.versions {
        let found = match on_standing_clock(case.ask(version)) {
            Ok(read) => case.expect.check(&case.raw, &read),
            Err(fault) => vec![fault],
        };
        faults.extend(found.into_iter().map(|fault| format!("[{version}] {fault}")));
    }
    Ok(Verdict::of(faults))
}

impl DecodeCase {
    async fn ask(&self, version: ProtocolVersion) -> Result<Read, String> {
        let (client, mut wire) = Wire::connect(Client::builder(), version).await?;
        let method = self.method.clone();
        let asking = tokio::spawn(async move { ask(&client, &method).await });
        let lines = wire.lines().await;
        let request = lines.first().ok_or("the client asked nothing")?;
        wire.result(request, &self.raw).await?;
        asking.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}

async fn ask(client: &Client, method: &str) -> Result<Read, snodo::Error> {
    match method {
        "prompts/get" => {
            let Outcome::Complete(reply) = client.get_prompt("p", ()).outcome().await? else {
                return Ok(Read::default());
            };
            Ok(Read { messages: Some(reply.messages.len()), ..Read::of(&*reply) })
        }
        "prompts/list" => Ok(page(&*client.list_page(ListKind::PROMPTS, None).await?, |prompt| {
            (prompt.name.clone(), None)
        })),
        "resources/list" => {
            Ok(page(&*client.list_page(ListKind::RESOURCES, None).await?, |resource| {
                (resource.name.clone(), Some(resource.uri.clone()))
            }))
        }
        "resources/read" => {
            let Outcome::Complete(reply) = client.read_resource("r://1").outcome().await? else {
                return Ok(Read::default());
            };
            let uris = reply.contents.iter().map(|contents| contents.uri.clone()).collect();
            Ok(Read { contents: Some(reply.contents.len()), uris, ..Read::of(&*reply) })
        }
        "resources/templates/list" => {
            let page_of = client.list_page(ListKind::RESOURCE_TEMPLATES, None).await?;
            Ok(page(&*page_of, |template| (template.name.clone(), None)))
        }
        "tools/list" => Ok(page(&*client.list_page(ListKind::TOOLS, None).await?, |tool| {
            (tool.name.clone(), None)
        })),
        _ => call(client).await,
    }
}

async fn call(client: &Client) -> Result<Read, snodo::Error> {
    match client.call_tool("t", ()).outcome().await? {
        Outcome::Complete(reply) => {
            let texts = reply.content.iter().filter_map(|block| match block {
                Content::Text(text) => Some(text.text.clone()),
                _ => None,
            });
            Ok(Read {
                contents: Some(reply.content.len()),
                texts: texts.collect(),
                structured: reply.structured_content.as_ref().map(|raw| parsed(raw.text())),
                result_type: Some("complete".to_owned()),
                ..Read::of(&*reply)
            })
        }
        Outcome::InputRequired(asked) => Ok(Read {
            result_type: asked.result_type.as_ref().map(ToString::to_string),
            written: serde_json::to_string(&asked).unwrap_or_default(),
            asked: Some(asked),
            ..Read::default()
        }),
    }
}

/// What a page holds: the name and the URI of each item.
fn page<T: Item>(page: &Page<T>, names: impl Fn(&T) -> (String, Option<String>)) -> Read
where
    Page<T>: Serialize,
{
    let (names, uris): (Vec<_>, Vec<_>) = page.items.iter().map(names).unzip();
    let left_out = page.left_out.items().iter().filter_map(|item| item.name.clone()).collect();
    Read {
        names,
        uris: uris.into_iter().flatten().collect(),
        left_out,
        left_out_count: page.left_out.count(),
        ..Read::of(page)
    }
}

impl Read {
    fn of(typed: &impl Serialize) -> Self {
        Self { written: serde_json::to_string(typed).unwrap_or_default(), ..Self::default() }
    }
}

impl Expect {
    fn check(&self, raw: &str, read: &Read) -> Vec<String> {
        let mut faults = self.check_names(read);
        let mut same = |what: &str, is_same: bool, found: String| {
            if !is_same {
                faults.push(format!("{what}: {}", shown(&found)));
            }
        };
        let (contents, messages) = (read.contents, read.messages);
        same(
            "content",
            self.content_len.is_none() || self.content_len == contents,
            format!("{contents:?}"),
        );
        same(
            "messages",
            self.messages_len.is_none() || self.messages_len == messages,
            format!("{messages:?}"),
        );
        let texts = self.texts.as_ref().is_none_or(|texts| *texts == read.texts);
        same("texts", texts, format!("{:?}", read.texts));
        let structured = self.structured.is_none() || self.structured == read.structured;
        same("structured content", structured, format!("{:?}", read.structured));
        let uris = self.resources.as_ref().is_none_or(|uris| *uris == read.uris);
        same("resources", uris, format!("{:?}", read.uris));
        let result_type = self.result_type.is_none() || self.result_type == read.result_type;
        same("result type", result_type, format!("{:?}", read.result_type));
        let state = read.asked.as_ref().and_then(|asked| asked.request_state.as_ref());
        let state = state.map(|state| state.as_str().to_owned());
        same(
            "state",
            self.request_state.is_none() || self.request_state == state,
            format!("{state:?}"),
        );
        if let Some(pointer) = &self.roundtrip {
            let (came, goes) = (compact_at(raw, pointer), compact_at(&read.written, pointer));
            same("written out again", came.is_some() && came == goes, format!("{goes:?}"));
        }
        faults
    }

    fn check_names(&self, read: &Read) -> Vec<String> {
        let mut faults = Vec::new();
        let lost = self.must_include.iter().find(|name| !read.names.contains(name));
        faults.extend(lost.map(|name| format!("`{name}` is lost: {:?}", read.names)));
        if let Some(may) = &self.may_include {
            let mut names = read.names.iter();
            let more = names.find(|name| !may.contains(name) && !self.must_include.contains(name));
            faults.extend(more.map(|name| format!("`{name}` is there")));
        }
        if self.exactly.as_ref().is_some_and(|exactly| *exactly != read.names) {
            faults.push(format!("{:?} are there, expected {:?}", read.names, self.exactly));
        }
        if self.warns_about_missing {
            let expected = self.must_include.iter().chain(self.may_include.iter().flatten());
            let mut missing = expected.filter(|name| !read.names.contains(name));
            let silent = missing.find(|name| !read.left_out.contains(name));
            faults.extend(silent.map(|name| format!("nothing says that `{name}` is left out")));
        }
        if read.left_out.len() > read.left_out_count {
            faults.push(format!("{} are counted as left out", read.left_out_count));
        }
        faults
    }
}

const METHODS: &[&str] = &[
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];
