//! One connection of a loopback server: HTTP/1.1, one request after the other.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::message::{Body, Piece};
use super::{Reply, Request, Shared};

/// Serves a connection until either side ends it. What is wrong with it nobody needs to know: the
/// client sees the end.
pub(super) async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    let (read, write) = tokio::io::split(socket);
    let mut connection = Connection { read, write, buffer: Vec::new() };
    while let Ok(Some(request)) = connection.request().await {
        let reply = tokio::select! {
            reply = shared.answer(request) => reply,
            () = hang_up(&mut connection.read, &mut connection.buffer) => return,
        };
        if connection.reply(reply).await.is_err() {
            return;
        }
    }
}

struct Connection {
    read: ReadHalf<TcpStream>,
    write: WriteHalf<TcpStream>,
    /// Read and not yet used.
    buffer: Vec<u8>,
}

impl Connection {
    /// The next request; `None` when the client ended the connection between two of them.
    async fn request(&mut self) -> io::Result<Option<Request>> {
        let head_length = loop {
            if let Some(length) = find(&self.buffer, b"\r\n\r\n") {
                break length;
            }
            if self.buffer.len() > HEAD_LIMIT {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if self.read.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        };
        let rest = self.buffer.split_off(head_length + 4);
        let head = String::from_utf8_lossy(&self.buffer[..head_length]).into_owned();
        self.buffer = rest;
        let mut request = parse_head(&head).ok_or(io::ErrorKind::InvalidData)?;
        let length = request.header("content-length").map_or(Ok(0), str::parse::<usize>);
        let length = length.map_err(|_| io::ErrorKind::InvalidData)?;
        if length > BODY_LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        while self.buffer.len() < length {
            if self.read.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let rest = self.buffer.split_off(length);
        request.body = String::from_utf8_lossy(&self.buffer).into_owned();
        self.buffer = rest;
        Ok(Some(request))
    }

    async fn reply(&mut self, reply: Reply) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        match reply.body {
            Body::Hang => {
                hang_up(&mut self.read, &mut self.buffer).await;
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Body::Reset => Err(io::ErrorKind::ConnectionReset.into()),
            Body::Whole(body) => {
                // 202 and 204 are sent without a body and its length, as servers do.
                if reply.status == 204 {
                    head.push_str("\r\n");
                } else {
                    head.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
                }
                self.write.write_all(head.as_bytes()).await?;
                self.write.flush().await
            }
            Body::Pieces(pieces, writer) => {
                head.push_str("Transfer-Encoding: chunked\r\n\r\n");
                self.write.write_all(head.as_bytes()).await?;
                self.pieces(pieces, writer).await
            }
        }
    }

    /// Sends each piece as a chunk of its own, until there are no more or the client hangs up.
    async fn pieces(
        &mut self,
        mut pieces: mpsc::Receiver<Piece>,
        mut writer: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> io::Result<()> {
        let mut writing = true;
        loop {
            let piece = tokio::select! {
                biased;
                piece = pieces.recv() => piece,
                () = &mut writer, if writing => {
                    writing = false;
                    pieces.close();
                    continue;
                }
                () = hang_up(&mut self.read, &mut self.buffer) => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            };
            let chunk = match &piece {
                Some(Piece::Cut) => return Err(io::ErrorKind::ConnectionReset.into()),
                Some(Piece::Text(piece)) if piece.is_empty() => continue,
                Some(Piece::Text(piece)) => format!("{:x}\r\n{piece}\r\n", piece.len()),
                None => "0\r\n\r\n".to_owned(),
            };
            self.write.write_all(chunk.as_bytes()).await?;
            self.write.flush().await?;
            if piece.is_none() {
                return Ok(());
            }
        }
    }
}

/// Ready when the client ends the connection. What it sends before that is kept for later.
async fn hang_up(read: &mut ReadHalf<TcpStream>, buffer: &mut Vec<u8>) {
    while buffer.len() < BODY_LIMIT {
        match read.read_buf(buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    std::future::pending().await
}

fn parse_head(head: &str) -> Option<Request> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    });
    let headers = headers.collect::<Option<Vec<_>>>()?;
    Some(Request { method, path, headers, body: String::new() })
}

fn find(buffer: &[u8], mark: &[u8]) -> Option<usize> {
    buffer.windows(mark.len()).position(|window| window == mark)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}

/// 64 KiB of request line and headers.
const HEAD_LIMIT: usize = 64 * 1024;

/// 32 MiB of body.
const BODY_LIMIT: usize = 32 * 1024 * 1024;
