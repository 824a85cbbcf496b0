//! A collector on loopback: takes what is exported as OTLP over HTTP, in JSON.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// It takes connections as long as the test's process lives.
pub struct Collector {
    address: SocketAddr,
    taken: Arc<Mutex<Vec<Value>>>,
}

/// Every span that was taken.
#[derive(Debug)]
pub struct Exported(Vec<Span>);

/// A span as it was exported.
#[derive(Debug)]
pub struct Span {
    pub name: String,
    pub trace: String,
    pub span: String,
    pub parent: String,
    /// The spans that it points to.
    pub links: Vec<String>,
    pub attributes: BTreeMap<String, String>,
    began: u64,
}

impl Collector {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let taken = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&taken);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || drop(serve(stream, &kept)));
            }
        });
        Self { address, taken }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1/traces", self.address)
    }

    /// What came so far, the oldest first.
    pub fn exported(&self) -> Exported {
        let taken = self.taken.lock().expect("no panic");
        let resources = taken.iter().flat_map(|export| items(export, "resourceSpans"));
        let scopes = resources.flat_map(|resource| items(resource, "scopeSpans"));
        let mut spans: Vec<_> =
            scopes.flat_map(|scope| items(scope, "spans")).map(Span::read).collect();
        spans.sort_by_key(|span| span.began);
        Exported(spans)
    }
}

impl Exported {
    pub fn named(&self, name: &str) -> Vec<&Span> {
        self.0.iter().filter(|span| span.name == name).collect()
    }
}

impl Span {
    fn read(span: &Value) -> Self {
        let text = |name: &str| span[name].as_str().unwrap_or_default().to_owned();
        let link = |link: &Value| link["spanId"].as_str().expect("a link").to_owned();
        Self {
            name: text("name"),
            trace: text("traceId"),
            span: text("spanId"),
            parent: text("parentSpanId"),
            links: items(span, "links").iter().map(link).collect(),
            attributes: items(span, "attributes").iter().map(attribute).collect(),
            began: text("startTimeUnixNano").parse().expect("a time"),
        }
    }
}

fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// Its name, and its value as text whatever its type.
fn attribute(attribute: &Value) -> (String, String) {
    let value = attribute["value"].as_object().and_then(|value| value.values().next());
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    (attribute["key"].as_str().expect("a key").to_owned(), text)
}

/// Reads requests until the peer goes, and thanks for each.
fn serve(stream: TcpStream, kept: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().expect("a length"),
                Some(_) => {}
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        kept.lock().expect("no panic").push(serde_json::from_slice(&body).expect("JSON"));
        let thanks =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        (&stream).write_all(thanks.as_bytes())?;
    }
}
