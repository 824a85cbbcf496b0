//! One request as it came over a socket.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// A request, read whole.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Which listener it came to.
    pub(crate) host: String,
    pub(crate) method: String,
    /// With the query.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The body as JSON, or null.
    pub(crate) message: Value,
}

impl Request {
    /// Reads the next one; `None` at the end of the connection.
    pub(crate) async fn read(
        source: &mut (impl AsyncBufRead + Unpin),
        host: &str,
    ) -> io::Result<Option<Self>> {
        let Some(first) = line(source).await? else { return Ok(None) };
        let mut words = first.split(' ').map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = Vec::new();
        while let Some(line) = line(source).await?.filter(|line| !line.is_empty()) {
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        let mut request = Self {
            host: host.to_owned(),
            method,
            target,
            headers,
            body: Vec::new(),
            message: Value::Null,
        };
        request.body = request.read_body(source).await?;
        request.message = serde_json::from_slice(&request.body).unwrap_or_default();
        Ok(Some(request))
    }

    /// The values of a header, joined as one.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let name = name.to_ascii_lowercase();
        let values: Vec<_> =
            self.headers.iter().filter(|(n, _)| *n == name).map(|(_, v)| v.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The method of the message it carries.
    pub(crate) fn rpc(&self) -> Option<&str> {
        self.message.get("method").and_then(Value::as_str)
    }

    /// The id of the message it carries.
    pub(crate) fn id(&self) -> Option<&Value> {
        self.message.get("id")
    }

    /// A field of a form that it carries.
    pub(crate) fn form(&self, name: &str) -> Option<String> {
        let body = String::from_utf8_lossy(&self.body);
        let mut fields = body.split('&').filter_map(|field| field.split_once('='));
        fields.find(|(field, _)| *field == name).map(|(_, value)| decoded(value))
    }

    async fn read_body(&self, source: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            loop {
                let size = line(source).await?.unwrap_or_default();
                let size = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
                (&mut *source).take(size).read_to_end(&mut body).await?;
                line(source).await?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        source.take(length.unwrap_or(0)).read_to_end(&mut body).await?;
        Ok(body)
    }
}

async fn line(source: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    // A head past this is nobody's of ours.
    let count = source.take(1 << 20).read_until(b'\n', &mut line).await?;
    let text = String::from_utf8_lossy(&line);
    Ok((count > 0).then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The text of a form's field (WHATWG URL, "application/x-www-form-urlencoded").
fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = std::str::from_utf8(&digits).unwrap_or("00");
                u8::from_str_radix(digits, 16).unwrap_or(b'?')
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
