//! Requests as templates, answers as an id and a raw result.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::Write as _;

pub const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench-raw","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

#[derive(Clone, Copy)]
pub enum Kind<'a> {
    Echo(&'a str),
    Blob(usize),
    List(Option<&'a str>),
    Listen(usize),
    Discover,
}

impl Kind<'_> {
    pub fn method(&self) -> &'static str {
        match self {
            Kind::Echo(_) | Kind::Blob(_) => "tools/call",
            Kind::List(_) => "tools/list",
            Kind::Listen(_) => "subscriptions/listen",
            Kind::Discover => "server/discover",
        }
    }
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Kind::Echo(_) => Some("echo"),
            Kind::Blob(_) => Some("blob"),
            _ => None,
        }
    }
}

#[derive(Clone)]
pub struct Wire {
    pub modern: bool,
    pub protocol: String,
}

impl Wire {
    pub fn new(protocol: &str) -> Self {
        let protocol = if protocol == "default" { "2026-07-28" } else { protocol };
        Wire { modern: protocol == "2026-07-28", protocol: protocol.into() }
    }

    pub fn initialize(&self) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"bench-raw","version":"0.1.0"}}}}}}"#,
            self.protocol
        )
    }

    pub fn write(&self, o: &mut Vec<u8>, id: u64, k: Kind<'_>) {
        o.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        let _ = write!(o, "{id}");
        o.extend_from_slice(br#","method":""#);
        o.extend_from_slice(k.method().as_bytes());
        o.extend_from_slice(br#"","params":{"#);
        if self.modern {
            o.extend_from_slice(META.as_bytes());
        }
        let comma: &[u8] = if self.modern { b"," } else { b"" };
        match k {
            Kind::Echo(text) => {
                o.extend_from_slice(comma);
                o.extend_from_slice(br#""name":"echo","arguments":{"text":"#);
                let _ = serde_json::to_writer(&mut *o, text);
                o.push(b'}');
            }
            Kind::Blob(n) => {
                o.extend_from_slice(comma);
                let _ = write!(o, r#""name":"blob","arguments":{{"bytes":{n}}}"#);
            }
            Kind::List(Some(c)) => {
                o.extend_from_slice(comma);
                o.extend_from_slice(br#""cursor":"#);
                let _ = serde_json::to_writer(&mut *o, c);
            }
            Kind::Listen(n) => {
                o.extend_from_slice(comma);
                let _ = write!(
                    o,
                    r#""notifications":{{"resourceSubscriptions":["bench://listen/{n}"]}}"#
                );
            }
            Kind::List(None) | Kind::Discover => {}
        }
        o.extend_from_slice(b"}}");
    }
}

#[derive(Deserialize)]
pub struct Answer<'a> {
    pub id: Option<u64>,
    #[serde(borrow)]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct PageAnswer<'a> {
    #[serde(borrow)]
    result: Page<'a>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Page<'a> {
    #[serde(borrow, rename = "nextCursor")]
    next_cursor: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tools: &'a RawValue,
}

/// What the loop needs of an answer.
pub struct Seen {
    pub id: Option<u64>,
    /// Length of the raw result.
    pub result: Option<usize>,
    pub update: bool,
}

const UPDATE: &str = "notifications/resources/updated";

pub fn answer(line: &[u8], scan: bool) -> Result<Seen, serde_json::Error> {
    if scan {
        let mut s = Seen { id: None, result: None, update: false };
        for (k, v) in json_scan::members(line) {
            match k {
                b"id" => s.id = json_scan::digits(v),
                b"result" => s.result = Some(v.len()),
                b"method" => s.update = json_scan::string(v) == Some(UPDATE.as_bytes()),
                _ => {}
            }
        }
        return Ok(s);
    }
    let a: Answer = serde_json::from_slice(line)?;
    Ok(Seen {
        id: a.id,
        result: a.result.map(|r| r.get().len()),
        update: a.method.as_deref() == Some(UPDATE),
    })
}

/// The cursor of the next page; the tools are left as they are.
pub fn page(line: &[u8], scan: bool) -> Result<Option<String>, serde_json::Error> {
    if scan {
        let result = json_scan::get(line, "result").unwrap_or(b"{}");
        return Ok(json_scan::get(result, "nextCursor").and_then(json_scan::text));
    }
    let a: PageAnswer = serde_json::from_slice(line)?;
    Ok(a.result.next_cursor.map(Cow::into_owned))
}
