//! Typed results that are read in one pass: no tagged or untagged enum of serde
//! (both buffer the value first), and JSON nobody asked for stays raw.

use json_scan::{Cursor, Malformed};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench-lean","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

#[derive(Serialize)]
pub struct Empty {}

#[derive(Serialize)]
pub struct Page<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}

fn number(o: &mut Vec<u8>, mut n: u64) {
    let mut d = [0u8; 20];
    let mut i = 20;
    loop {
        i -= 1;
        d[i] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    o.extend_from_slice(&d[i..]);
}

fn head(o: &mut Vec<u8>, id: u64, method: &str) {
    o.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    number(o, id);
    o.extend_from_slice(br#","method":""#);
    o.extend_from_slice(method.as_bytes());
    o.extend_from_slice(br#"","params":{"#);
    o.extend_from_slice(META.as_bytes());
}

pub fn tool_call(o: &mut Vec<u8>, id: u64, name: &str, args: &impl Serialize) {
    head(o, id, "tools/call");
    o.extend_from_slice(br#","name":"#);
    let _ = serde_json::to_writer(&mut *o, name);
    o.extend_from_slice(br#","arguments":"#);
    let _ = serde_json::to_writer(&mut *o, args);
    o.extend_from_slice(b"}}");
}

/// `params` is an object; its members follow `_meta`.
pub fn plain(o: &mut Vec<u8>, id: u64, method: &str, params: &impl Serialize) {
    head(o, id, method);
    let at = o.len();
    let _ = serde_json::to_writer(&mut *o, params);
    if o[at..].len() <= 2 {
        o.truncate(at);
        o.push(b'}');
    } else {
        o[at] = b',';
    }
    o.push(b'}');
}

#[derive(Deserialize)]
pub struct Answer<R> {
    pub result: Option<R>,
    pub error: Option<RpcError>,
}

#[derive(Deserialize, Debug)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Box<RawValue>>,
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let data = self.data.as_deref().map_or("", RawValue::get);
        write!(f, "{} ({}) {data}", self.message, self.code)
    }
}
impl std::error::Error for RpcError {}

#[derive(Deserialize)]
#[serde(transparent)]
pub struct Any(#[allow(dead_code)] Box<RawValue>);

#[derive(Deserialize)]
struct FlatContent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    text: Option<String>,
    data: Option<String>,
    #[serde(rename = "mimeType")]
    mime_type: Option<String>,
    uri: Option<String>,
    resource: Option<Json>,
    annotations: Option<Json>,
    #[serde(rename = "_meta")]
    meta: Option<Json>,
}

#[allow(dead_code)]
pub enum Content {
    Text { text: String, annotations: Option<Json>, meta: Option<Json> },
    Image { data: String, mime_type: String },
    Audio { data: String, mime_type: String },
    Link { uri: String },
    Resource { resource: Json },
    Other,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let f = FlatContent::deserialize(d)?;
        let missing = serde::de::Error::missing_field;
        Ok(match &*f.kind {
            "text" => Content::Text {
                text: f.text.ok_or_else(|| missing("text"))?,
                annotations: f.annotations,
                meta: f.meta,
            },
            "image" | "audio" => {
                let data = f.data.ok_or_else(|| missing("data"))?;
                let mime_type = f.mime_type.ok_or_else(|| missing("mimeType"))?;
                if f.kind == "image" {
                    Content::Image { data, mime_type }
                } else {
                    Content::Audio { data, mime_type }
                }
            }
            "resource_link" => Content::Link { uri: f.uri.ok_or_else(|| missing("uri"))? },
            "resource" => {
                Content::Resource { resource: f.resource.ok_or_else(|| missing("resource"))? }
            }
            _ => Content::Other,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
pub struct CallToolResult {
    pub result_type: Option<String>,
    pub content: Vec<Content>,
    pub structured_content: Option<Json>,
    pub is_error: Option<bool>,
    #[serde(rename = "_meta")]
    pub meta: Option<Json>,
}

impl CallToolResult {
    pub fn text(&self) -> Option<&str> {
        match self.content.first() {
            Some(Content::Text { text, .. }) => Some(text),
            _ => None,
        }
    }
}

/// JSON kept as text.
pub struct Json(pub Box<str>);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let r: &RawValue = Deserialize::deserialize(d)?;
        Ok(Json(r.get().into()))
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub input_schema: Option<Json>,
    pub output_schema: Option<Json>,
    pub annotations: Option<Json>,
    pub icons: Option<Json>,
    #[serde(rename = "_meta")]
    pub meta: Option<Json>,
}

impl Tool {
    pub fn checked(&self) -> bool {
        !self.name.is_empty() && self.input_schema.as_ref().is_some_and(|s| s.0.starts_with('{'))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTools {
    pub tools: Vec<Tool>,
    pub next_cursor: Option<String>,
}

#[derive(Deserialize)]
pub struct Note<'a> {
    #[serde(borrow)]
    pub method: Cow<'a, str>,
    #[serde(borrow)]
    pub params: Option<NoteParams<'a>>,
}
#[derive(Deserialize)]
pub struct NoteParams<'a> {
    #[serde(borrow, rename = "_meta")]
    pub meta: Option<NoteMeta<'a>>,
    pub uri: Option<String>,
}
#[derive(Deserialize)]
pub struct NoteMeta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
    pub subscription: Option<&'a RawValue>,
}

const USUAL: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// The id of an answer without reading the answer: servers put it near the front.
/// Members in another order are found by a full scan.
pub fn peek_id(line: &[u8]) -> Option<u64> {
    if let Some(rest) = line.strip_prefix(USUAL) {
        let n = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        if n > 0 && matches!(rest.get(n), Some(b',' | b'}')) {
            return rest[..n]
                .iter()
                .try_fold(0u64, |a, c| a.checked_mul(10)?.checked_add(u64::from(c - b'0')));
        }
    }
    #[derive(Deserialize)]
    struct Id {
        id: Option<u64>,
        method: Option<serde::de::IgnoredAny>,
    }
    let i: Id = serde_json::from_slice(line).ok()?;
    if i.method.is_some() { None } else { i.id }
}

pub fn result<R: serde::de::DeserializeOwned>(line: &[u8]) -> bench_kit::Result<R> {
    let a: Answer<R> = serde_json::from_slice(line)?;
    match (a.result, a.error) {
        (Some(r), None) => Ok(r),
        (_, Some(e)) => Err(e.into()),
        _ => Err("neither a result nor an error".into()),
    }
}

/// A result that can also be read without serde, in one pass.
pub trait Scan: Sized {
    fn scan(c: &mut Cursor<'_>) -> Result<Self, Malformed>;
}

fn json(v: &[u8]) -> Result<Json, Malformed> {
    Ok(Json(std::str::from_utf8(v).map_err(|_| Malformed)?.into()))
}

impl Scan for Any {
    fn scan(c: &mut Cursor<'_>) -> Result<Self, Malformed> {
        serde_json::from_slice(c.skip()?).map_err(|_| Malformed)
    }
}

impl Scan for CallToolResult {
    fn scan(c: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let mut out = CallToolResult {
            result_type: None,
            content: Vec::new(),
            structured_content: None,
            is_error: None,
            meta: None,
        };
        c.object(|k, c| {
            match k {
                b"content" => c.array(|c| {
                    let (mut text, mut kind, mut annotations, mut meta) = (None, None, None, None);
                    c.object(|k, c| {
                        match k {
                            b"type" => kind = Some(c.skip()?),
                            b"text" => text = Some(c.string()?),
                            b"annotations" => annotations = Some(json(c.skip()?)?),
                            b"_meta" => meta = Some(json(c.skip()?)?),
                            _ => {
                                c.skip()?;
                            }
                        }
                        Ok(())
                    })?;
                    // The other kinds would go to serde with the element's raw text.
                    if kind != Some(b"\"text\"") {
                        return Err(Malformed);
                    }
                    out.content.push(Content::Text {
                        text: text.ok_or(Malformed)?,
                        annotations,
                        meta,
                    });
                    Ok(())
                })?,
                b"resultType" => out.result_type = Some(c.string()?),
                b"isError" => out.is_error = Some(c.skip()? == b"true"),
                b"structuredContent" => out.structured_content = Some(json(c.skip()?)?),
                b"_meta" => out.meta = Some(json(c.skip()?)?),
                _ => {
                    c.skip()?;
                }
            }
            Ok(())
        })?;
        Ok(out)
    }
}

impl Scan for ListTools {
    fn scan(c: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let mut out = ListTools { tools: Vec::new(), next_cursor: None };
        c.object(|k, c| {
            match k {
                b"tools" => c.array(|c| {
                    let mut t = Tool::default();
                    c.object(|k, c| {
                        match k {
                            b"name" => t.name = c.string()?,
                            b"title" => t.title = Some(c.string()?),
                            b"description" => t.description = Some(c.string()?),
                            b"inputSchema" => t.input_schema = Some(json(c.skip()?)?),
                            b"outputSchema" => t.output_schema = Some(json(c.skip()?)?),
                            b"annotations" => t.annotations = Some(json(c.skip()?)?),
                            b"icons" => t.icons = Some(json(c.skip()?)?),
                            b"_meta" => t.meta = Some(json(c.skip()?)?),
                            _ => {
                                c.skip()?;
                            }
                        }
                        Ok(())
                    })?;
                    out.tools.push(t);
                    Ok(())
                })?,
                b"nextCursor" => out.next_cursor = Some(c.string()?),
                _ => {
                    c.skip()?;
                }
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// One incoming message in one pass: an answer's id, or an update's URI.
pub enum Message {
    Answer(u64),
    Update(String),
    Other,
}

pub fn incoming(line: &[u8], scan: bool) -> Message {
    if !scan {
        if let Some(id) = peek_id(line) {
            return Message::Answer(id);
        }
        if let Ok(Note { method, params: Some(p) }) = serde_json::from_slice::<Note>(line) {
            let ours = p.meta.as_ref().is_some_and(|m| m.subscription.is_some());
            if let ("notifications/resources/updated", true, Some(uri)) = (&*method, ours, p.uri) {
                return Message::Update(uri);
            }
        }
        return Message::Other;
    }
    if line.starts_with(USUAL)
        && let Some(id) = peek_id(line)
    {
        return Message::Answer(id);
    }
    let (mut id, mut method, mut ours, mut uri) = (None, None, false, None);
    let read = Cursor::new(line).object(|k, c| {
        match k {
            b"id" => id = c.integer()?,
            b"method" => method = Some(c.skip()?),
            b"params" => c.object(|k, c| {
                match k {
                    b"uri" => uri = Some(c.string()?),
                    b"_meta" => c.object(|k, c| {
                        ours |= k == b"io.modelcontextprotocol/subscriptionId";
                        c.skip()?;
                        Ok(())
                    })?,
                    _ => {
                        c.skip()?;
                    }
                }
                Ok(())
            })?,
            _ => {
                c.skip()?;
            }
        }
        Ok(())
    });
    match (read, method, id, uri) {
        (Ok(()), None, Some(id), _) => Message::Answer(id),
        (Ok(()), Some(b"\"notifications/resources/updated\""), _, Some(uri)) if ours => {
            Message::Update(uri)
        }
        _ => Message::Other,
    }
}

pub fn scanned<R: Scan>(line: &[u8]) -> bench_kit::Result<R> {
    let (mut result, mut error) = (None, None);
    Cursor::new(line)
        .object(|k, c| {
            match k {
                b"result" => result = Some(R::scan(c)?),
                b"error" => error = Some(c.skip()?),
                _ => {
                    c.skip()?;
                }
            }
            Ok(())
        })
        .map_err(|_| "malformed answer")?;
    match (result, error) {
        (Some(r), None) => Ok(r),
        (_, Some(e)) => Err(serde_json::from_slice::<RpcError>(e)?.into()),
        _ => Err("neither a result nor an error".into()),
    }
}

pub fn read<R: Scan + serde::de::DeserializeOwned>(
    line: &[u8],
    scan: bool,
) -> bench_kit::Result<R> {
    if scan { scanned(line) } else { result(line) }
}
