//! A tunnel through an HTTP proxy: CONNECT (RFC 9110, section 9.3.6).

use bytes::Bytes;
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderValue, Method, Request, Uri};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use snodo_types::{TransportError, TransportFault};
use tokio::task::AbortHandle;

use super::Dial;
use super::socket::Socket;
use crate::backend::RequestBody;
use crate::fault;
use crate::proxy::Proxy;

/// Asks a proxy for a tunnel to the server.
pub(super) async fn open(
    dial: &Dial,
    proxy: &Proxy,
    socket: Socket,
) -> Result<Socket, TransportError> {
    let through = |error| fault::exchange(proxy.shown(), error);
    let (mut sender, connection) = http1::Builder::new()
        .max_header_size(dial.limits.header_bytes)
        .handshake(TokioIo::new(socket))
        .await
        .map_err(through)?;
    // It ends when it has given the connection out of its hands, or with this future.
    let _ended = Ended(tokio::spawn(connection.with_upgrades()).abort_handle());
    let response = sender.send_request(request(dial, proxy)?).await.map_err(through)?;
    let status = response.status();
    if !status.is_success() {
        let reason = status.canonical_reason().unwrap_or("no reason");
        let why = format!(
            "the proxy {} opens no way to {}: HTTP {} {reason}",
            proxy.shown(),
            dial.target.shown(),
            status.as_u16(),
        );
        return Err(TransportError::new(TransportFault::Connect, why));
    }
    let upgraded = hyper::upgrade::on(response).await.map_err(through)?;
    Ok(Box::new(TokioIo::new(upgraded)))
}

fn request(dial: &Dial, proxy: &Proxy) -> Result<Request<RequestBody>, TransportError> {
    let host = dial.target.host();
    let place = if host.contains(':') {
        format!("[{host}]:{}", dial.target.port())
    } else {
        format!("{host}:{}", dial.target.port())
    };
    let impossible = || {
        let why = format!("a proxy cannot be told of {}", dial.target.shown());
        TransportError::new(TransportFault::Usage, why)
    };
    let mut request = Request::new(RequestBody::new(Bytes::new(), None));
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = place.parse::<Uri>().map_err(|_| impossible())?;
    let value = HeaderValue::from_str(&place).map_err(|_| impossible())?;
    request.headers_mut().insert(HOST, value);
    let login = proxy.authorization().map(|value| (PROXY_AUTHORIZATION, value));
    request.headers_mut().extend(login);
    Ok(request)
}

/// Ends a task when it is dropped; one that has ended is not troubled.
struct Ended(AbortHandle);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}
