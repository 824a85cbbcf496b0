//! Other people's services and layers between messages and sockets.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Frame;
use snodo_transport::Transport as _;
use snodo_types::{TransportError, TransportFault};
use tokio::sync::Notify;
use tower::limit::ConcurrencyLimitLayer;
use tower::util::{MapRequestLayer, MapResponseLayer};
use tower::{BoxError, ServiceBuilder, service_fn};

use super::server::{Act, Server, events, json, plain, soon};
use super::{call, connect, failure, http, read, request, result, routing, told};
use crate::{Http, HttpVersion, RequestBody, ResponseBody};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const NEWS: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n";

#[tokio::test]
async fn layers_see_whole_requests_the_first_outermost_and_the_server_sees_what_they_added() {
    let server = Server::start(|_| json(RESULT)).await;
    let told_by = Arc::new(Mutex::new(Vec::new()));
    let layer = |name: &'static str| {
        let told_by = told_by.clone();
        MapRequestLayer::new(move |mut request: Request<RequestBody>| {
            let line = format!("{name} {} {}", request.method(), request.uri());
            told_by.lock().expect("not poisoned").push(line);
            assert_eq!(request.body().bytes().len(), 37);
            request.headers_mut().append("x-by", HeaderValue::from_static(name));
            request
        })
    };
    let http = http(&server).layer(layer("outer")).layer(layer("inner"));
    let transport = connect(http).await;
    for _ in 0..3 {
        result(&transport, 1).await;
    }
    let url = server.url();
    let told_by = told_by.lock().expect("not poisoned").clone();
    assert_eq!(told_by[..2], [format!("outer POST {url}"), format!("inner POST {url}")]);
    let seen = server.seen();
    assert_eq!((seen.len(), server.accepted()), (3, 1));
    assert_eq!(seen[0].line, "POST /mcp HTTP/1.1");
    assert_eq!(seen[0].header("x-by"), Some("outer\ninner"));
    assert_eq!(seen[0].header("host"), Some(&url[7..url.len() - 4]));
}

#[tokio::test]
async fn behind_layers_a_stream_flows_and_dropping_it_closes_its_connection() {
    let hung_up = Arc::new(Notify::new());
    let server = Server::start({
        let hung_up = hung_up.clone();
        move |seen| match seen.body.contains("\"id\":2,") {
            true => [events(&[NEWS]), vec![Act::Hold(hung_up.clone())]].concat(),
            false => json(RESULT),
        }
    })
    .await;
    let same = MapResponseLayer::new(|response: Response<ResponseBody>| response);
    let other = MapResponseLayer::new(|response: Response<ResponseBody>| {
        response.map(|body| body.map_frame(|frame| frame).boxed_unsync())
    });
    let limited = || http(&server).pool_max_requests_at_once(1);
    for http in [
        limited().layer(same),
        http(&server).layer(other),
        limited().layer(ConcurrencyLimitLayer::new(1)),
    ] {
        let transport = connect(http).await;
        let mut stream = transport.exchange(request(2));
        assert_eq!(told(&[soon(stream.next()).await.expect("an item")]).len(), 1);
        // The stream takes no turn from others, and no permit of a layer.
        soon(result(&transport, 1)).await;
        drop(stream);
        soon(hung_up.notified()).await;
    }
}

#[tokio::test]
async fn a_failure_below_layers_keeps_its_class_and_a_layer_s_own_is_told() {
    let server = Server::start(|_| json(RESULT)).await;
    let address = server.url();
    drop(server);
    tokio::task::yield_now().await;
    let gone = Http::new(address).expect("a URL").layer(ConcurrencyLimitLayer::new(1));
    assert_eq!(failure(&connect(gone).await, 1).await.fault(), TransportFault::Connect);

    let server = Server::start(|_| plain("503 Service Unavailable", "")).await;
    let layered = http(&server).layer(ConcurrencyLimitLayer::new(1));
    assert_eq!(failure(&connect(layered).await, 1).await.status(), Some(503));

    let full = || {
        service_fn(|_: Request<RequestBody>| async {
            Err::<Response<Full<Bytes>>, BoxError>("nothing goes".into())
        })
    };
    let error = failure(&connect(http(&server).service(full())).await, 1).await;
    assert_eq!(error.fault(), TransportFault::Connect);
    assert!(error.message().contains("nothing goes"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn a_service_of_the_caller_s_takes_the_place_of_the_sockets() {
    let calls = Arc::new(AtomicUsize::new(0));
    let service = service_fn({
        let calls = calls.clone();
        move |request: Request<RequestBody>| {
            calls.fetch_add(1, Ordering::SeqCst);
            assert_eq!(request.uri(), "https://nowhere.example/mcp");
            async move {
                let posted = request.into_body().collect().await.expect("whole").to_bytes();
                assert_eq!(posted.len(), 37);
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(RESULT.as_bytes()))))
            }
        }
    });
    let stack = ServiceBuilder::new().layer(ConcurrencyLimitLayer::new(2)).service(service);
    let http = Http::new("https://nowhere.example/mcp");
    // A build without TLS refuses the URL, whoever would carry it.
    let Ok(http) = http else { return };
    let transport = connect(http.http_version(HttpVersion::Http2).service(stack)).await;
    for _ in 0..2 {
        assert_eq!(told(&call(&transport, 1).await), [RESULT]);
    }
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn the_body_of_a_service_is_read_as_it_comes_bounded_and_told_where_it_breaks() {
    let body = |pieces: Vec<Result<&'static str, BoxError>>| {
        let frames =
            pieces.into_iter().map(|piece| piece.map(|text| Frame::data(Bytes::from(text))));
        Pieces(frames.collect())
    };
    let serve = |pieces: fn() -> Vec<Result<&'static str, BoxError>>| {
        service_fn(move |_: Request<RequestBody>| async move {
            let response = Response::builder().header("content-type", "application/json");
            Ok::<_, Infallible>(response.body(body(pieces())).expect("a response"))
        })
    };
    let http = || Http::new("http://nowhere.example/mcp").expect("a URL").max_body_bytes(64);
    let whole =
        http().service(serve(|| vec![Ok(r#"{"jsonrpc":"2.0","id":1,"#), Ok("\"result\":{}}")]));
    assert_eq!(told(&call(&connect(whole).await, 1).await), [RESULT]);
    let broken = http().service(serve(|| vec![Ok(r#"{"jsonrpc""#), Err("torn".into())]));
    let error = failure(&connect(broken).await, 1).await;
    assert_eq!(error.fault(), TransportFault::Closed);
    assert!(error.message().contains("torn"), "{error}");
    let long =
        http().service(serve(|| std::iter::repeat_with(|| Ok("          ")).take(9).collect()));
    assert_eq!(failure(&connect(long).await, 1).await.fault(), TransportFault::TooLarge);
}

/// Frames, one after the other.
struct Pieces(std::collections::VecDeque<Result<Frame<Bytes>, BoxError>>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        std::task::Poll::Ready(self.0.pop_front())
    }
}

#[tokio::test]
async fn errands_go_by_the_service_and_not_through_the_layers() -> Result<(), TransportError> {
    let server = Server::start(|_| json(RESULT)).await;
    let adds = MapRequestLayer::new(|mut request: Request<RequestBody>| {
        request.headers_mut().insert("x-secret", HeaderValue::from_static("s"));
        request
    });
    let errands = http(&server).layer(adds).errands();
    let (get, none) = (http::Method::GET, http::HeaderMap::new());
    errands.send(get.clone(), &server.url(), none.clone(), Vec::new()).await?;
    assert_eq!(server.seen()[0].header("x-secret"), None);

    let service = service_fn(|request: Request<RequestBody>| async move {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(request.uri().to_string()))))
    });
    let errands =
        http(&server).service(service).errands().addresses(|address| !address.is_loopback());
    let answer = errands.send(get.clone(), "http://x.example/a", none.clone(), Vec::new()).await?;
    assert_eq!(answer.body(), b"http://x.example/a");
    errands.send(get, "http://127.0.0.1/a", none, Vec::new()).await.expect_err("not allowed");
    Ok(())
}

#[tokio::test]
async fn notices_and_streams_go_through_layers_too() {
    let count = Arc::new(AtomicUsize::new(0));
    let counts = MapRequestLayer::new({
        let count = count.clone();
        move |request: Request<RequestBody>| {
            count.fetch_add(1, Ordering::SeqCst);
            request
        }
    });
    let server = Server::start(|_| plain("405 Method Not Allowed", "")).await;
    let transport = connect(http(&server).layer(counts)).await;
    assert!(soon(read(transport.unsolicited(routing()).expect("once"))).await.is_empty());
    soon(transport.close(routing(), std::time::Duration::from_secs(5))).await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
}
