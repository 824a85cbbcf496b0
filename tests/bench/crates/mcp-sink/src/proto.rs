//! What the sink answers. Everything is written by hand into byte buffers.

use bytes::Bytes;
use json_scan::{Cursor, get, number, string};
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Mutex;

pub const MODERN: &str = "2026-07-28";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

pub struct Config {
    pub pages: usize,
    pub per_page: usize,
}

pub struct Sink {
    pub cfg: Config,
    page: PageTemplate,
    blobs: Mutex<HashMap<usize, Bytes>>,
}

/// The members of `params` that matter, raw.
struct Params<'a> {
    name: &'a [u8],
    args: &'a [u8],
    meta: &'a [u8],
    filter: &'a [u8],
    cursor: Option<&'a [u8]>,
    uri: Option<&'a [u8]>,
    version: Option<&'a [u8]>,
}

impl Default for Params<'_> {
    fn default() -> Self {
        Params {
            name: b"",
            args: b"{}",
            meta: b"{}",
            filter: b"{}",
            cursor: None,
            uri: None,
            version: None,
        }
    }
}

/// What to do with one incoming message.
pub enum Action {
    /// A notification or a response: nothing goes back.
    Nothing,
    /// One complete JSON-RPC response.
    Reply(Vec<u8>),
    /// A response in three pieces, so that a large text is not copied.
    Pieces(Vec<u8>, Bytes, &'static [u8]),
    /// The response after a pause.
    Later(u64, Vec<u8>),
    /// A run of notifications, then the response.
    Stream(Stream),
}

pub enum StreamKind {
    Progress {
        token: Vec<u8>,
    },
    /// Updates of the one resource subscribed to, or each of another one.
    Updates {
        uri: Option<Vec<u8>>,
    },
}

/// Produces notifications one at a time, then the final response.
pub struct Stream {
    kind: StreamKind,
    id: Vec<u8>,
    ack: Option<Vec<u8>>,
    next: usize,
    total: usize,
    last: Option<Vec<u8>>,
}

impl Stream {
    /// Appends the next message to `out` between `pre` and `post`; false at the end.
    pub fn push(&mut self, out: &mut Vec<u8>, pre: &[u8], post: &[u8]) -> bool {
        if let Some(a) = self.ack.take() {
            out.extend_from_slice(pre);
            out.extend_from_slice(&a);
            out.extend_from_slice(post);
            return true;
        }
        if self.next < self.total {
            self.next += 1;
            out.extend_from_slice(pre);
            match &self.kind {
                StreamKind::Progress { token } => {
                    out.extend_from_slice(
                        br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#,
                    );
                    out.extend_from_slice(token);
                    let _ = write!(out, r#","progress":{},"total":{}}}}}"#, self.next, self.total);
                }
                StreamKind::Updates { uri } => {
                    out.extend_from_slice(
                        br#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{""#,
                    );
                    out.extend_from_slice(SUBSCRIPTION_ID.as_bytes());
                    out.extend_from_slice(b"\":");
                    out.extend_from_slice(&self.id);
                    out.extend_from_slice(b"},\"uri\":\"");
                    match uri {
                        Some(u) => out.extend_from_slice(u),
                        None => {
                            let _ = write!(out, "bench://r/{:08}", self.next);
                        }
                    }
                    out.extend_from_slice(b"\"}}");
                }
            }
            out.extend_from_slice(post);
            return true;
        }
        if let Some(l) = self.last.take() {
            out.extend_from_slice(pre);
            out.extend_from_slice(&l);
            out.extend_from_slice(post);
            return true;
        }
        false
    }
}

struct PageTemplate {
    /// All tools of a page, comma separated, with the number of a tool as eight digits.
    body: Vec<u8>,
    /// Where the digits of each tool start.
    marks: Vec<usize>,
}

const BUILTIN: &str = concat!(
    r#"{"name":"echo","description":"Returns its text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},"#,
    r#"{"name":"blob","description":"Returns text of the size asked for.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer","minimum":0}},"required":["bytes"]}},"#,
    r#"{"name":"sleep","description":"Answers after a pause.","inputSchema":{"type":"object","properties":{"ms":{"type":"integer","minimum":0}},"required":["ms"]}},"#,
    r#"{"name":"progress","description":"Reports progress n times.","inputSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":0}},"required":["n"]}}"#
);

/// One realistic tool of about 1 kB; `########` stands for its number.
const TOOL: &str = r##"{"name":"crm_search_records_########","title":"Search records ########","description":"Search the records of workspace ######## with a full-text query and structured filters. Returns matching records ordered by relevance, with a cursor for the next page. Use it before creating a record, to avoid duplicates.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"query":{"type":"string","description":"Words to look for; supports \"quoted phrases\" and -exclusions.","minLength":1,"maxLength":512},"status":{"type":"string","enum":["open","pending","closed","archived"],"default":"open"},"limit":{"type":"integer","minimum":1,"maximum":200,"default":25},"created":{"type":"object","properties":{"after":{"type":"string","format":"date-time"},"before":{"type":"string","format":"date-time"}},"additionalProperties":false},"tags":{"type":"array","items":{"type":"string"},"maxItems":16}},"required":["query"],"additionalProperties":false},"annotations":{"title":"Search records","readOnlyHint":true,"openWorldHint":false}}"##;

impl PageTemplate {
    fn new(per_page: usize) -> Self {
        let mut body = Vec::new();
        let mut marks = Vec::new();
        for k in 0..per_page {
            if k > 0 {
                body.push(b',');
            }
            let base = body.len();
            body.extend_from_slice(TOOL.as_bytes());
            let mut at = base;
            while let Some(p) = memchr::memmem::find(&body[at..], b"########") {
                marks.push(at + p);
                at += p + 8;
            }
        }
        PageTemplate { body, marks }
    }
}

fn digits8(buf: &mut [u8], mut n: usize) {
    for i in (0..8).rev() {
        buf[i] = b'0' + (n % 10) as u8;
        n /= 10;
    }
}

const SERVER_INFO: &str = r#"{"name":"mcp-sink","version":"0.1.0"}"#;
const CAPS: &str =
    r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}}"#;
const META: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-sink","version":"0.1.0"}}"#;
const RESOURCE: &str = r#"{"uri":"bench://doc","name":"doc","mimeType":"text/plain"}"#;

fn head(id: &[u8], cap: usize) -> Vec<u8> {
    let mut o = Vec::with_capacity(cap + id.len() + 160);
    o.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    o.extend_from_slice(id);
    o.extend_from_slice(br#","result":{"#);
    o
}

fn modern_prefix(o: &mut Vec<u8>, modern: bool) {
    if modern {
        o.extend_from_slice(br#""resultType":"complete","#);
        o.extend_from_slice(META.as_bytes());
        o.push(b',');
    }
}

fn cacheable(o: &mut Vec<u8>, modern: bool) {
    if modern {
        o.extend_from_slice(br#","ttlMs":0,"cacheScope":"private""#);
    }
}

fn error(id: &[u8], code: i32, msg: &str, data: &str) -> Action {
    let mut o = Vec::new();
    let _ = write!(
        o,
        r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"{msg}"{data}}}}}"#,
        String::from_utf8_lossy(id)
    );
    Action::Reply(o)
}

/// Text of `n` decoded bytes: lines of 79 letters and a newline, as JSON escapes it.
fn blob_text(n: usize) -> Bytes {
    let mut v = Vec::with_capacity(n + n / 79 + 8);
    for i in 0..n {
        if i % 80 == 79 {
            v.extend_from_slice(b"\\n");
        } else {
            v.push(b'a' + (i % 26) as u8);
        }
    }
    Bytes::from(v)
}

impl Sink {
    pub fn new(cfg: Config) -> Self {
        let page = PageTemplate::new(cfg.per_page.max(1));
        Sink { cfg, page, blobs: Mutex::new(HashMap::new()) }
    }

    fn blob(&self, n: usize) -> Bytes {
        self.blobs.lock().unwrap().entry(n).or_insert_with(|| blob_text(n)).clone()
    }

    /// `modern` says whether the connection speaks 2026-07-28; it is set from the
    /// message itself where that says so.
    pub fn handle(&self, msg: &[u8], modern: &mut bool) -> Action {
        let mut p = Params::default();
        let (mut id, mut method): (Option<&[u8]>, Option<&[u8]>) = (None, None);
        // One pass; a response of the client's, or what is no JSON, is passed over.
        let read = Cursor::new(msg).object(|k, c| {
            match k {
                b"id" => id = Some(c.skip()?),
                b"method" => method = string(c.skip()?),
                b"params" => c.object(|k, c| {
                    let v = c.skip()?;
                    match k {
                        b"name" => p.name = string(v).unwrap_or(b""),
                        b"arguments" => p.args = v,
                        b"_meta" => p.meta = v,
                        b"cursor" => p.cursor = string(v),
                        b"uri" => p.uri = Some(v),
                        b"notifications" => p.filter = v,
                        b"protocolVersion" => p.version = string(v),
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {
                    c.skip()?;
                }
            }
            Ok(())
        });
        let (Ok(()), Some(id), Some(method)) = (read, id, method) else { return Action::Nothing };
        match method {
            b"tools/call" => self.call(id, &p, *modern),
            b"tools/list" => self.list(id, &p, *modern),
            b"server/discover" => {
                *modern = true;
                discover(id)
            }
            b"initialize" => {
                *modern = false;
                initialize(id, p.version)
            }
            b"subscriptions/listen" => self.listen(id, &p),
            b"resources/list" => {
                let mut o = head(id, 300);
                modern_prefix(&mut o, *modern);
                let _ = write!(o, r#""resources":[{RESOURCE}]"#);
                cacheable(&mut o, *modern);
                o.extend_from_slice(b"}}");
                Action::Reply(o)
            }
            b"resources/templates/list" => {
                let mut o = head(id, 300);
                modern_prefix(&mut o, *modern);
                o.extend_from_slice(br#""resourceTemplates":[]"#);
                cacheable(&mut o, *modern);
                o.extend_from_slice(b"}}");
                Action::Reply(o)
            }
            b"prompts/list" => {
                let mut o = head(id, 300);
                modern_prefix(&mut o, *modern);
                o.extend_from_slice(br#""prompts":[]"#);
                cacheable(&mut o, *modern);
                o.extend_from_slice(b"}}");
                Action::Reply(o)
            }
            b"resources/read" => {
                let uri = p.uri.unwrap_or(br#""bench://doc""#);
                let mut o = head(id, 300);
                modern_prefix(&mut o, *modern);
                o.extend_from_slice(
                    br#""contents":[{"mimeType":"text/plain","text":"Hello.","uri":"#,
                );
                o.extend_from_slice(uri);
                o.extend_from_slice(b"}]");
                cacheable(&mut o, *modern);
                o.extend_from_slice(b"}}");
                Action::Reply(o)
            }
            b"ping" | b"resources/subscribe" | b"resources/unsubscribe" | b"logging/setLevel" => {
                let mut o = head(id, 64);
                if *modern {
                    o.extend_from_slice(br#""resultType":"complete""#);
                }
                o.extend_from_slice(b"}}");
                Action::Reply(o)
            }
            _ => error(id, -32601, "Method not found", ""),
        }
    }

    fn call(&self, id: &[u8], p: &Params<'_>, modern: bool) -> Action {
        let Params { name, args, meta, .. } = *p;
        match name {
            b"echo" => {
                let text = get(args, "text").unwrap_or(b"\"\"");
                let mut o = head(id, text.len() + 160);
                modern_prefix(&mut o, modern);
                o.extend_from_slice(br#""content":[{"type":"text","text":"#);
                o.extend_from_slice(text);
                o.extend_from_slice(b"}]}}");
                Action::Reply(o)
            }
            b"blob" => {
                let n = get(args, "bytes").and_then(number).unwrap_or(0) as usize;
                let mut o = head(id, 160);
                modern_prefix(&mut o, modern);
                o.extend_from_slice(br#""content":[{"type":"text","text":""#);
                Action::Pieces(o, self.blob(n), br#""}]}}"#)
            }
            b"sleep" => {
                let ms = get(args, "ms").and_then(number).unwrap_or(0);
                Action::Later(ms, done(id, modern, "slept"))
            }
            b"progress" => {
                let n = get(args, "n").and_then(number).unwrap_or(0) as usize;
                let last = done(id, modern, "finished");
                match get(meta, "progressToken") {
                    Some(token) if n > 0 => Action::Stream(Stream {
                        kind: StreamKind::Progress { token: token.to_vec() },
                        id: id.to_vec(),
                        ack: None,
                        next: 0,
                        total: n,
                        last: Some(last),
                    }),
                    _ => Action::Reply(last),
                }
            }
            _ => error(id, -32602, "Unknown tool", ""),
        }
    }

    fn list(&self, id: &[u8], p: &Params<'_>, modern: bool) -> Action {
        let page = match p.cursor {
            None => 0,
            Some(c) => match std::str::from_utf8(c)
                .ok()
                .and_then(|s| s.strip_prefix("page-")?.parse().ok())
            {
                Some(p) if p < self.cfg.pages => p,
                _ => return error(id, -32602, "Invalid cursor", ""),
            },
        };
        let mut o = head(id, self.page.body.len() + BUILTIN.len() + 300);
        modern_prefix(&mut o, modern);
        o.extend_from_slice(br#""tools":["#);
        if page == 0 {
            o.extend_from_slice(BUILTIN.as_bytes());
            if self.cfg.per_page > 0 {
                o.push(b',');
            }
        }
        if self.cfg.per_page > 0 {
            let base = o.len();
            o.extend_from_slice(&self.page.body);
            let per_tool = self.page.marks.len() / self.cfg.per_page;
            for (i, m) in self.page.marks.iter().enumerate() {
                digits8(&mut o[base + m..base + m + 8], page * self.cfg.per_page + i / per_tool);
            }
        }
        o.push(b']');
        if page + 1 < self.cfg.pages {
            let _ = write!(o, r#","nextCursor":"page-{}""#, page + 1);
        }
        cacheable(&mut o, modern);
        o.extend_from_slice(b"}}");
        Action::Reply(o)
    }

    /// The number of notifications is in the URI subscribed to: `bench://listen/N`, or
    /// `bench://listen/N/each` for clients that merge updates of one resource.
    fn listen(&self, id: &[u8], p: &Params<'_>) -> Action {
        let subs = get(p.filter, "resourceSubscriptions").unwrap_or(b"[]");
        let total = memchr::memmem::find(subs, b"bench://listen/")
            .map(|p| {
                subs[p + 15..]
                    .iter()
                    .take_while(|c| c.is_ascii_digit())
                    .fold(0usize, |a, c| a * 10 + (c - b'0') as usize)
            })
            .unwrap_or(0);
        let uri = if memchr::memmem::find(subs, b"/each").is_some() {
            None
        } else {
            Some(format!("bench://listen/{total}").into_bytes())
        };
        let mut ack = Vec::new();
        ack.extend_from_slice(
            br#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{""#,
        );
        ack.extend_from_slice(SUBSCRIPTION_ID.as_bytes());
        ack.extend_from_slice(b"\":");
        ack.extend_from_slice(id);
        ack.extend_from_slice(br#"},"notifications":{"resourceSubscriptions":"#);
        ack.extend_from_slice(subs);
        ack.extend_from_slice(b"}}}");
        let mut last = head(id, 160);
        last.extend_from_slice(br#""resultType":"complete","_meta":{""#);
        last.extend_from_slice(SUBSCRIPTION_ID.as_bytes());
        last.extend_from_slice(b"\":");
        last.extend_from_slice(id);
        last.extend_from_slice(b"}}}");
        Action::Stream(Stream {
            kind: StreamKind::Updates { uri },
            id: id.to_vec(),
            ack: Some(ack),
            next: 0,
            total,
            last: Some(last),
        })
    }
}

fn done(id: &[u8], modern: bool, text: &str) -> Vec<u8> {
    let mut o = head(id, 160);
    modern_prefix(&mut o, modern);
    let _ = write!(o, r#""content":[{{"type":"text","text":"{text}"}}]}}}}"#);
    o
}

fn discover(id: &[u8]) -> Action {
    let mut o = head(id, 400);
    modern_prefix(&mut o, true);
    let _ = write!(
        o,
        r#""supportedVersions":["2026-07-28","2025-11-25","2025-06-18"],"capabilities":{CAPS}"#
    );
    cacheable(&mut o, true);
    o.extend_from_slice(b"}}");
    Action::Reply(o)
}

fn initialize(id: &[u8], version: Option<&[u8]>) -> Action {
    let asked = version.unwrap_or(b"2025-11-25");
    let v = match asked {
        b"2025-06-18" => "2025-06-18",
        b"2025-03-26" => "2025-03-26",
        _ => "2025-11-25",
    };
    let mut o = head(id, 300);
    let _ = write!(
        o,
        r#""protocolVersion":"{v}","capabilities":{CAPS},"serverInfo":{SERVER_INFO}}}}}"#
    );
    Action::Reply(o)
}
