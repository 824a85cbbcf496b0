//! Writing one answer.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

use super::rule::{After, Reply, Transfer};
use super::server::Shared;
use super::state::Taken;
use crate::cases::marks::{expand, expand_value};

/// Writes answers to one connection.
pub(crate) struct Responder {
    writer: OwnedWriteHalf,
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Close,
    Hold,
    KeepAlive,
    Reset,
}

impl Responder {
    pub(crate) fn new(writer: OwnedWriteHalf) -> Self {
        Self { writer }
    }

    pub(crate) fn into_writer(self) -> OwnedWriteHalf {
        self.writer
    }

    /// Answers a request as the reply says.
    pub(crate) async fn respond(
        &mut self,
        shared: &Shared,
        taken: &Taken,
        reply: Reply,
    ) -> io::Result<Next> {
        pause(reply.delay_ms).await;
        if reply.hang {
            return Ok(Next::Hold);
        }
        let pieces = match &reply.sse {
            Some(pieces) => pieces.iter().map(|piece| piece.clone().into_bytes()).collect(),
            None => body(&reply, taken).into_iter().collect::<Vec<_>>(),
        };
        let length = pieces.iter().map(Vec::len).sum();
        let framing = Framing::of(&reply, length);
        self.writer.write_all(&head(&reply, framing, length, taken)).await?;
        for (at, piece) in pieces.iter().enumerate() {
            if at > 0 {
                pause(reply.gap_ms).await;
            }
            if reply.sse.is_some() {
                self.send_piece(shared, taken, piece, framing).await?;
            } else {
                self.send(piece, framing).await?;
            }
        }
        self.finish(shared, taken, &reply, framing).await
    }

    async fn send_piece(
        &mut self,
        shared: &Shared,
        taken: &Taken,
        piece: &[u8],
        framing: Framing,
    ) -> io::Result<()> {
        let text = String::from_utf8_lossy(piece);
        let awaited = text.strip_prefix("@WAIT_RESPONSE:").and_then(|rest| rest.strip_suffix('@'));
        if let Some(id) = awaited {
            while !shared.lock().has_response(id) {
                pause(2).await;
            }
            return Ok(());
        }
        let text = expand(&text, taken);
        shared.lock().sent(taken, &text);
        self.send(text.as_bytes(), framing).await
    }

    async fn send(&mut self, bytes: &[u8], framing: Framing) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if framing == Framing::Chunked {
            let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
            chunk.extend_from_slice(bytes);
            chunk.extend_from_slice(b"\r\n");
            self.writer.write_all(&chunk).await?;
        } else {
            self.writer.write_all(bytes).await?;
        }
        self.writer.flush().await
    }

    async fn finish(
        &mut self,
        shared: &Shared,
        taken: &Taken,
        reply: &Reply,
        framing: Framing,
    ) -> io::Result<Next> {
        match reply.after {
            After::Close => {}
            After::Hold => return Ok(Next::Hold),
            After::HoldUntil404 => {
                while !shared.lock().has_answered_404() {
                    pause(2).await;
                }
            }
            After::Reset => {
                shared.lock().ended(taken, reply.status);
                // Give what was sent the time to arrive: a reset may throw it away.
                pause(20).await;
                return Ok(Next::Reset);
            }
        }
        if framing == Framing::Chunked {
            self.writer.write_all(b"0\r\n\r\n").await?;
        }
        shared.lock().ended(taken, reply.status);
        Ok(if framing == Framing::Odd { Next::Close } else { Next::KeepAlive })
    }
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Chunked,
    Length,
    /// There is no body.
    None,
    /// By headers of the case's own, which may be wrong: the connection ends behind it.
    Odd,
}

impl Framing {
    fn of(reply: &Reply, length: usize) -> Self {
        let own = |name: &str| {
            reply.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, v)| v)
        };
        if own("transfer-encoding").is_some() {
            return Self::Odd;
        }
        if let Some(own) = own("content-length") {
            return if *own == length.to_string() { Self::Length } else { Self::Odd };
        }
        match (reply.status, reply.transfer, &reply.sse) {
            (204 | 304, ..) => Self::None,
            (_, Some(Transfer::Chunked), _) | (_, None, Some(_)) => Self::Chunked,
            _ => Self::Length,
        }
    }
}

fn head(reply: &Reply, framing: Framing, length: usize, taken: &Taken) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    let kind = if reply.sse.is_some() {
        Some("text/event-stream")
    } else {
        reply.json.as_ref().map(|_| "application/json")
    };
    let named = reply.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
    if let Some(kind) = kind.filter(|_| !named) {
        head.push_str(&format!("content-type: {kind}\r\n"));
    }
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {}\r\n", expand(value, taken)));
    }
    let length_named = reply.headers.keys().any(|name| name.eq_ignore_ascii_case("content-length"));
    match framing {
        Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
        Framing::Length if !length_named => head.push_str(&format!("content-length: {length}\r\n")),
        Framing::Length | Framing::None | Framing::Odd => {}
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn body(reply: &Reply, taken: &Taken) -> Option<Vec<u8>> {
    if let Some(json) = &reply.json {
        return Some(expand_value(json, taken).to_string().into_bytes());
    }
    if let Some(hex) = &reply.body_hex {
        let pair = |at| u8::from_str_radix(hex.get(at..at + 2).unwrap_or("3f"), 16).unwrap_or(b'?');
        return Some((0..hex.len()).step_by(2).map(pair).collect());
    }
    reply.body.as_ref().map(|text| expand(text, taken).into_bytes())
}

async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}
