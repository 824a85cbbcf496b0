//! Scripted peers over byte streams; the clock is paused.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use snodo_transport::{Exchange, Incoming, Transport};
use snodo_types::{
    Abandon, Body, Envelope, Message, Processed, Routing, TransportError, TransportFault,
};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::time::timeout;

use super::Pipe;

/// The other end of a pipe.
struct Peer {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
}

impl Peer {
    /// A pipe and its other end; so many bytes fit between them each way.
    fn new(size: usize) -> (Pipe, Self) {
        Self::with_max_line_bytes(size, Pipe::MAX_LINE_BYTES)
    }

    fn with_max_line_bytes(size: usize, limit: usize) -> (Pipe, Self) {
        let (near, far) = tokio::io::duplex(size);
        let (reader, writer) = tokio::io::split(near);
        let (input, output) = tokio::io::split(far);
        let pipe = Pipe::with_max_line_bytes(reader, writer, limit);
        (pipe, Self { input: BufReader::with_capacity(1, input), output })
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.input.read_line(&mut line).await.expect("readable");
        line
    }

    /// Everything up to the end.
    async fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.input.read_to_string(&mut rest).await.expect("readable");
        rest
    }

    async fn say(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).await.expect("writable");
    }

    async fn answer(&mut self, id: u64) {
        self.say(&format!("{}\n", result(id))).await;
    }
}

fn request(id: u64) -> Envelope {
    let mut envelope = Envelope::request(id, format!(r#"{{"id":{id}}}"#));
    envelope.abandon = Some(Arc::new(Abandon::new("gave up ", "", Routing::new())));
    envelope
}

fn result(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// Polls once.
fn poll(exchange: &mut Exchange) -> Poll<Option<Result<Incoming, TransportError>>> {
    pin!(exchange.next()).poll(&mut Context::from_waker(Waker::noop()))
}

/// An exchange that was polled once and has no answer yet.
fn begin(pipe: &Pipe, envelope: Envelope) -> Exchange {
    let mut exchange = pipe.exchange(envelope);
    assert!(poll(&mut exchange).is_pending());
    exchange
}

async fn message(exchange: &mut Exchange) -> Message {
    match exchange.next().await {
        Some(Ok(Incoming::Message(message))) => message,
        other => panic!("a message, not {other:?}"),
    }
}

async fn failure(exchange: &mut Exchange) -> TransportError {
    let error = exchange.next().await.expect("not over").expect_err("a failure");
    assert!(exchange.next().await.is_none(), "a failure is the end");
    error
}

/// Lets every task come to rest.
async fn rest() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

// S-01, BASE-15, CAN-05
#[tokio::test(start_paused = true)]
async fn a_thousand_calls_are_answered_in_reverse_and_again_and_the_second_answers_are_ignored() {
    let (pipe, mut peer) = Peer::new(1000);
    let mut exchanges: Vec<_> = (1..=1000).map(|id| begin(&pipe, request(id))).collect();
    for id in 1..=1000 {
        assert_eq!(peer.line().await, format!("{{\"id\":{id}}}\n"));
    }
    for id in (1..=1000).rev().chain([1, 500, 2000]) {
        peer.answer(id).await;
    }
    for (exchange, id) in exchanges.iter_mut().zip(1..) {
        assert_eq!(message(exchange).await.text(), result(id));
        assert!(exchange.next().await.is_none());
    }
    rest().await;
    let counts = pipe.counts();
    assert_eq!((counts.live_exchanges, counts.late_messages), (0, 3));
    let mut next = begin(&pipe, request(1001));
    peer.answer(1001).await;
    message(&mut next).await;
}

// STDIO-01
#[tokio::test(start_paused = true)]
async fn the_order_is_that_of_first_polls_and_each_message_is_one_line() {
    let (pipe, mut peer) = Peer::new(1000);
    let mut pretty = pipe.exchange(Envelope::request(1, "{\n  \"id\":\r\n 1}".to_owned()));
    let mut second = pipe.exchange(request(2));
    let mut told = pipe.exchange(Envelope::notification("{}".to_owned()));
    for exchange in [&mut told, &mut second, &mut pretty] {
        assert!(poll(exchange).is_pending());
    }
    let lines = [peer.line().await, peer.line().await, peer.line().await];
    assert_eq!(lines, ["{}\n", "{\"id\":2}\n", "{   \"id\":   1}\n"]);
    assert!(matches!(told.next().await, Some(Ok(Incoming::Sent))));
    assert!(told.next().await.is_none());
}

// STDIO-02
#[tokio::test(start_paused = true)]
async fn nothing_is_written_in_answer_to_lines_that_are_no_messages() {
    let (pipe, mut peer) = Peer::new(1000);
    peer.say("hello\n{\"jsonrpc\":\"2.0\",\"id\":\n[1]\n\u{feff}\n").await;
    rest().await;
    assert_eq!(pipe.counts().skipped_lines, 4);
    drop(pipe);
    assert_eq!(peer.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn an_exchange_dropped_before_its_message_was_written_sends_nothing() {
    let (pipe, mut peer) = Peer::new(4);
    drop(pipe.exchange(request(1)));
    let mut first = begin(&pipe, request(2));
    let second = begin(&pipe, request(3));
    let third = begin(&pipe, request(4));
    drop(second);
    rest().await;
    drop(third);
    assert_eq!(peer.line().await, "{\"id\":2}\n");
    peer.answer(2).await;
    message(&mut first).await;
    drop(pipe);
    assert_eq!(peer.rest().await, "");
}

// CAN-02, STDIO-08
#[tokio::test(start_paused = true)]
async fn an_exchange_dropped_after_its_message_was_written_tells_the_peer() {
    let (pipe, mut peer) = Peer::new(1000);
    let exchange = begin(&pipe, request(7));
    assert_eq!(peer.line().await, "{\"id\":7}\n");
    drop(exchange);
    assert_eq!(peer.line().await, "gave up 7\n");
    peer.answer(7).await;
    rest().await;
    assert_eq!(pipe.counts().late_messages, 1);
}

// CAN-02
#[tokio::test(start_paused = true)]
async fn a_message_that_was_begun_is_finished_before_the_notice() {
    let (pipe, mut peer) = Peer::new(4);
    let first = begin(&pipe, request(1));
    let second = begin(&pipe, request(2));
    rest().await;
    drop(first);
    let lines = [peer.line().await, peer.line().await, peer.line().await];
    assert_eq!(lines, ["{\"id\":1}\n", "{\"id\":2}\n", "gave up 1\n"]);
    drop(second);
}

// CAN-03
#[tokio::test(start_paused = true)]
async fn an_exchange_that_was_answered_is_not_given_up() {
    let (pipe, mut peer) = Peer::new(1000);
    let unread = begin(&pipe, request(1));
    let mut silent = request(2);
    silent.abandon = None;
    let silent = begin(&pipe, silent);
    assert_eq!([peer.line().await, peer.line().await], ["{\"id\":1}\n", "{\"id\":2}\n"]);
    peer.answer(1).await;
    rest().await;
    drop((unread, silent));
    drop(pipe);
    assert_eq!(peer.rest().await, "");
}

// BASE-03
#[tokio::test(start_paused = true)]
async fn a_second_exchange_with_a_live_id_fails_alone() {
    let (pipe, mut peer) = Peer::new(1000);
    let mut first = begin(&pipe, request(1));
    let mut second = pipe.exchange(request(1));
    let error = failure(&mut second).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Usage, Processed::No));
    drop(second);
    peer.answer(1).await;
    message(&mut first).await;
    drop(pipe);
    assert_eq!(peer.rest().await, "{\"id\":1}\n");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_floods_and_never_reads_costs_neither_memory_nor_other_callers_time() {
    let (pipe, mut peer) = Peer::new(64);
    let mut news = pipe.unsolicited(Routing::new()).expect("the first time");
    let mut waiting = begin(&pipe, Envelope::request(1, "x".repeat(200)));
    let mut behind = pipe.exchange(request(2));
    let late = timeout(Duration::from_secs(5), behind.next()).await;
    assert!(late.is_err(), "a caller's deadline runs while it waits to write");
    drop(behind);
    for _ in 0..10_000 {
        peer.say("{\"jsonrpc\":\"2.0\",\"method\":\"news\"}\n").await;
    }
    peer.answer(1).await;
    message(&mut waiting).await;
    let Some(Ok(Incoming::Dropped(lost))) = news.next().await else { panic!("a gap first") };
    assert_eq!(lost, 10_000 - 256);
    for _ in 0..256 {
        message(&mut news).await;
    }
    drop(pipe);
    assert_eq!(peer.rest().await, format!("{}\n", "x".repeat(200)), "nothing of the second");
}

#[tokio::test(start_paused = true)]
async fn a_stuck_pipe_keeps_nothing_of_callers_who_gave_up() {
    let (pipe, _peer) = Peer::new(16);
    let _stuck = begin(&pipe, Envelope::request(1, "x".repeat(100)));
    for id in 2..10_000 {
        let mut exchange = pipe.exchange(request(id));
        let _ = timeout(Duration::from_millis(20), exchange.next()).await;
    }
    assert_eq!(pipe.counts().live_exchanges, 1);
    assert_eq!(pipe.shared.waiting(), 1);
}

// BASE-10
#[tokio::test(start_paused = true)]
async fn a_broken_answer_fails_its_call_at_once_and_no_other() {
    let (pipe, mut peer) = Peer::new(1000);
    let (mut broken, mut whole) = (begin(&pipe, request(1)), begin(&pipe, request(2)));
    peer.say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}\n").await;
    let error = failure(&mut broken).await;
    assert_eq!((error.fault(), error.processed()), (TransportFault::Malformed, Processed::Maybe));
    peer.answer(2).await;
    message(&mut whole).await;
    assert_eq!(pipe.counts().skipped_lines, 1);
}

// S-10, STDIO-14
#[tokio::test(start_paused = true)]
async fn an_answer_over_the_limit_fails_its_call_and_the_connection_lives() {
    let (pipe, mut peer) = Peer::with_max_line_bytes(1000, 200);
    let (mut large, mut small) = (begin(&pipe, request(1)), begin(&pipe, request(2)));
    let text = "x".repeat(100_000);
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"t\":\"{text}\"}}}}\n");
    peer.say(&long).await;
    let error = failure(&mut large).await;
    assert_eq!(error.fault(), TransportFault::TooLarge);
    assert!(error.message().contains("200 bytes"), "{error}");
    peer.say(&format!("noise {text}\n")).await;
    peer.answer(2).await;
    message(&mut small).await;
    let counts = pipe.counts();
    assert_eq!((counts.skipped_lines, counts.too_long_lines), (2, 2));
}

// SRV-01
#[tokio::test(start_paused = true)]
async fn what_concerns_nobody_is_kept_from_birth_for_one_reader() {
    let (pipe, mut peer) = Peer::new(1000);
    peer.say("{\"jsonrpc\":\"2.0\",\"method\":\"early\"}\n").await;
    let mut call = begin(&pipe, request(1));
    peer.say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await;
    rest().await;
    assert!(poll(&mut call).is_pending(), "a request of the peer's is no answer");
    let mut unsolicited = pipe.unsolicited(Routing::new()).expect("the first time");
    assert!(pipe.unsolicited(Routing::new()).is_none());
    let early = message(&mut unsolicited).await;
    assert!(matches!(early.body(), Body::Notification { method: "early", .. }));
    let ping = message(&mut unsolicited).await;
    assert!(matches!(ping.body(), Body::Request { method: "ping", .. }));
}

// STDIO-06, SUB-06, SUB-05, SUB-07
#[tokio::test(start_paused = true)]
async fn events_of_several_subscriptions_are_told_apart() {
    let (pipe, mut peer) = Peer::new(1000);
    let mut exchanges = [1, 2].map(|id| {
        let mut listen = request(id);
        listen.listen = true;
        begin(&pipe, listen)
    });
    for id in [2, 1, 2] {
        let meta = format!(r#"{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
        let event = format!(r#"{{"jsonrpc":"2.0","method":"e{id}","params":{{"_meta":{meta}}}}}"#);
        peer.say(&format!("{event}\n")).await;
    }
    for (index, method) in [(0, "e1"), (1, "e2"), (1, "e2")] {
        let event = message(&mut exchanges[index]).await;
        assert!(matches!(event.body(), Body::Notification { method: of, .. } if of == method));
    }
    assert!(exchanges.iter_mut().all(|exchange| poll(exchange).is_pending()));
}

// STDIO-10
#[tokio::test(start_paused = true)]
async fn the_end_of_the_stream_fails_every_exchange_with_one_reason() {
    let (pipe, mut peer) = Peer::new(8);
    let mut unsolicited = pipe.unsolicited(Routing::new()).expect("the first time");
    let mut written = begin(&pipe, Envelope::request(1, "1".to_owned()));
    assert_eq!(peer.line().await, "1\n");
    let mut begun = begin(&pipe, Envelope::request(2, "x".repeat(20)));
    let mut waiting = begin(&pipe, Envelope::request(3, "3".to_owned()));
    let mut telling = begin(&pipe, Envelope::notification("n".to_owned()));
    rest().await;
    peer.output.shutdown().await.expect("open");
    for (exchange, processed) in [
        (&mut written, Processed::Maybe),
        (&mut begun, Processed::Maybe),
        (&mut waiting, Processed::No),
        (&mut telling, Processed::No),
        (&mut unsolicited, Processed::Maybe),
        (&mut pipe.exchange(request(4)), Processed::No),
        (&mut pipe.exchange(Envelope::notification("n".to_owned())), Processed::No),
    ] {
        let error = failure(exchange).await;
        assert_eq!((error.fault(), error.processed()), (TransportFault::Closed, processed));
        assert_eq!(error.message(), "the peer closed the connection");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_no_input_may_still_answer_what_it_has_read() {
    let (reader, mut output) = tokio::io::duplex(1000);
    let (writer, input) = tokio::io::duplex(1000);
    let pipe = Pipe::new(reader, writer);
    let mut read = begin(&pipe, request(1));
    rest().await;
    drop(input);
    let mut lost = pipe.exchange(request(2));
    let mut telling = pipe.exchange(Envelope::notification("{}".to_owned()));
    let (lost, telling) = tokio::join!(failure(&mut lost), failure(&mut telling));
    for error in [lost, telling, failure(&mut pipe.exchange(request(3))).await] {
        assert_eq!((error.fault(), error.processed()), (TransportFault::Closed, Processed::No));
        assert!(error.message().starts_with("the peer takes no input any more"), "{error}");
    }
    output.write_all(format!("{}\n", result(1)).as_bytes()).await.expect("open");
    message(&mut read).await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_ends_while_it_is_written_to_gives_its_end_as_the_reason() {
    let (pipe, peer) = Peer::new(1000);
    drop(peer);
    let error = failure(&mut pipe.exchange(request(1))).await;
    assert_eq!(error.message(), "the peer closed the connection");
    assert_eq!(error.processed(), Processed::No);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_pipe_fails_its_exchanges_writes_what_was_told_and_closes() {
    let (pipe, mut peer) = Peer::new(8);
    let mut begun = begin(&pipe, Envelope::request(1, "1".repeat(20)));
    let mut waiting = begin(&pipe, Envelope::request(2, "2".to_owned()));
    let mut telling = begin(&pipe, Envelope::notification("n".to_owned()));
    rest().await;
    let mut unpolled = pipe.exchange(Envelope::request(3, "3".to_owned()));
    drop(pipe);
    for (exchange, processed) in [
        (&mut begun, Processed::Maybe),
        (&mut waiting, Processed::No),
        (&mut unpolled, Processed::No),
    ] {
        let error = failure(exchange).await;
        assert_eq!((error.fault(), error.processed()), (TransportFault::Closed, processed));
        assert_eq!(error.message(), "the connection was closed by this side");
    }
    assert_eq!(peer.rest().await, format!("{}\nn\n", "1".repeat(20)));
    assert!(matches!(telling.next().await, Some(Ok(Incoming::Sent))));
}

#[tokio::test(start_paused = true)]
async fn a_close_is_bounded_and_may_be_repeated() {
    let (pipe, mut peer) = Peer::new(8);
    let mut begun = begin(&pipe, Envelope::request(1, "1".repeat(20)));
    rest().await;
    let before = tokio::time::Instant::now();
    let limit = Duration::from_secs(1);
    let first = pipe.close(Routing::new(), limit);
    let second = pipe.close(Routing::new(), limit);
    tokio::join!(first, second);
    pipe.close(Routing::new(), limit).await;
    assert!(before.elapsed() <= limit, "a peer that does not read holds nobody up");
    assert_eq!(failure(&mut begun).await.fault(), TransportFault::Closed);
    let mut telling = pipe.exchange(Envelope::notification("n".to_owned()));
    assert_eq!(failure(&mut telling).await.processed(), Processed::No);
    assert_eq!(peer.rest().await.len(), 8, "the pipe is let go");
}

#[test]
fn without_a_runtime_every_exchange_says_so() {
    let (reader, writer) = tokio::io::split(tokio::io::empty());
    let pipe = Pipe::new(reader, writer);
    let mut exchange = pipe.exchange(request(1));
    match poll(&mut exchange) {
        Poll::Ready(Some(Err(error))) => {
            assert_eq!((error.fault(), error.processed()), (TransportFault::Usage, Processed::No));
        }
        other => panic!("a failure, not {other:?}"),
    }
    let mut close = pipe.close(Routing::new(), Duration::from_secs(1));
    assert!(close.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

#[test]
fn an_exchange_may_be_polled_anywhere_and_ends_with_the_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (pipe, peer) = runtime.block_on(async { Peer::new(1000) });
    let mut exchange = begin(&pipe, request(1));
    drop(runtime);
    match poll(&mut exchange) {
        Poll::Ready(Some(Err(error))) => assert_eq!(error.fault(), TransportFault::Closed),
        other => panic!("a failure, not {other:?}"),
    }
    drop((pipe, peer));
}
