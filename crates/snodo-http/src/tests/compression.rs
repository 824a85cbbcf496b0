//! Packed answers: unpacked as they come, bounded, and told where they are broken.

use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use snodo_transport::Transport as _;
use snodo_types::TransportFault;
use tokio::sync::Notify;

use super::server::{Act, Server, plain, soon};
use super::{call, connect, failure, http, read, request, result, routing, told, transport};

const NEWS: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n";
const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// Packs pieces so that each can be unpacked as soon as it has come.
fn packed(coding: &str, pieces: &[&str]) -> Vec<Vec<u8>> {
    match coding {
        "br" => brotli(pieces),
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            let mut packed = Vec::new();
            for piece in pieces {
                encoder.write_all(piece.as_bytes()).expect("it packs");
                encoder.flush().expect("it packs");
                packed.push(std::mem::take(encoder.get_mut()));
            }
            packed.push(encoder.finish().expect("it packs"));
            packed
        }
        _ => {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("it packs");
            let mut packed = Vec::new();
            for piece in pieces {
                encoder.write_all(piece.as_bytes()).expect("it packs");
                encoder.flush().expect("it packs");
                packed.push(std::mem::take(encoder.get_mut()));
            }
            packed.push(encoder.finish().expect("it packs"));
            packed
        }
    }
}

/// What an encoder made of the texts that these tests pack: nobody packs brotli here.
fn brotli(pieces: &[&str]) -> Vec<Vec<u8>> {
    let hex = match pieces {
        [RESULT] => {
            vec!["8b11807b226a736f6e727063223a22322e30222c226964223a312c22726573756c74223a7b7d7d03"]
        }
        [first, _] if *first == NEWS => vec![
            "8b1280646174613a207b226a736f6e727063223a22322e30222c226d6574686f64223a226e227d0a0a",
            "b10280df71e0c68abd88e3a7eec25a4184ac4fb2e8a455cc5e03a20a2dcc48016a30e354cf70f801",
        ],
        _ => panic!("not among them"),
    };
    let byte = |pair: &[u8]| {
        u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("digits")
    };
    hex.into_iter().map(|hex| hex.as_bytes().chunks(2).map(byte).collect()).collect()
}

/// 64 MiB of blanks in 106 bytes of brotli.
const BLANKS: &str = "cbffff3ff82540e2b14020f7fe8fffff7ff04b00c4611180eefd1fffffffe0970088c30200ddfb3ffeffffc12f0110870500baf77ffcffff835f02200e0b0074effff8ffff07bf04401c1600e8defff1ffff0f7e0980382c00d0bdffe3ffff1ffc1200715800a07bff37";

fn head(coding: &str, kind: &str) -> Act {
    Act::Write(
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n")
            .into_bytes(),
    )
}

fn chunk(bytes: &[u8]) -> Act {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    Act::Write(framed)
}

fn whole(coding: &str, kind: &str, pieces: &[Vec<u8>]) -> Vec<Act> {
    let chunks = pieces.iter().filter(|piece| !piece.is_empty()).map(|piece| chunk(piece));
    let end = Act::Write(b"0\r\n\r\n".to_vec());
    [head(coding, kind)].into_iter().chain(chunks).chain([end]).collect()
}

#[tokio::test]
async fn each_coding_is_offered_and_unpacked_and_the_connection_is_used_again() {
    for coding in ["gzip", "x-gzip", "br", "BR", "zstd"] {
        let pieces = packed(&coding.to_lowercase().replace("x-", ""), &[RESULT]);
        let server = Server::scripted(vec![whole(coding, "application/json", &pieces)]).await;
        let transport = connect(http(&server).compression()).await;
        for _ in 0..3 {
            soon(result(&transport, 1)).await;
        }
        assert_eq!(server.accepted(), 1, "{coding}");
        assert_eq!(server.seen()[0].header("accept-encoding"), Some("gzip, br, zstd"));
    }
}

#[tokio::test]
async fn a_byte_at_a_time_is_enough() {
    for coding in ["gzip", "br", "zstd"] {
        let bytes: Vec<_> =
            packed(coding, &[RESULT]).concat().into_iter().map(|byte| vec![byte]).collect();
        let server = Server::scripted(vec![whole(coding, "application/json", &bytes)]).await;
        soon(result(&connect(http(&server).compression()).await, 1)).await;
    }
}

#[tokio::test]
async fn what_a_stream_has_flushed_is_read_before_the_rest_comes() {
    let answer = format!("data: {RESULT}\n\n");
    for coding in ["gzip", "br", "zstd"] {
        let mut pieces = packed(coding, &[NEWS, &answer]).into_iter();
        let go = Arc::new(Notify::new());
        let mut acts = vec![head(coding, "text/event-stream")];
        acts.push(chunk(&pieces.next().expect("the first")));
        acts.push(Act::Wait(go.clone()));
        acts.extend(pieces.filter(|piece| !piece.is_empty()).map(|piece| chunk(&piece)));
        acts.push(Act::Write(b"0\r\n\r\n".to_vec()));
        let server = Server::scripted(vec![acts]).await;
        let transport = connect(http(&server).compression()).await;
        let mut exchange = transport.exchange(request(1));
        let first = told(&[soon(exchange.next()).await.expect("an item")]);
        assert_eq!(first, [r#"{"jsonrpc":"2.0","method":"n"}"#], "{coding}");
        go.notify_one();
        assert_eq!(told(&soon(read(exchange)).await), [RESULT], "{coding}");
    }
}

#[tokio::test]
async fn what_comes_out_is_bounded_whatever_went_in() {
    let blanks = " ".repeat(64 << 20);
    let brotli: Vec<u8> = (0..BLANKS.len() / 2)
        .map(|at| u8::from_str_radix(&BLANKS[2 * at..2 * at + 2], 16).expect("digits"))
        .collect();
    let gzip = packed("gzip", &[&blanks]).concat();
    let zstd = packed("zstd", &[&blanks]).concat();
    for (coding, bomb) in [("br", brotli), ("gzip", gzip), ("zstd", zstd)] {
        for kind in ["application/json", "text/event-stream"] {
            let server =
                Server::scripted(vec![whole(coding, kind, std::slice::from_ref(&bomb))]).await;
            let http = http(&server).compression().max_body_bytes(1 << 20);
            let error = soon(failure(&connect(http).await, 1)).await;
            assert_eq!(error.fault(), TransportFault::TooLarge, "{coding} {kind}: {error}");
        }
    }
}

#[tokio::test]
async fn a_window_that_is_too_large_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("it packs");
    encoder.window_log(27).expect("it may");
    encoder.write_all(RESULT.as_bytes()).expect("it packs");
    encoder.flush().expect("it packs");
    let bytes = encoder.finish().expect("it packs");
    let server = Server::scripted(vec![whole("zstd", "application/json", &[bytes])]).await;
    let error = soon(failure(&connect(http(&server).compression()).await, 1)).await;
    assert_eq!(error.fault(), TransportFault::Malformed, "{error}");
}

#[tokio::test]
async fn what_is_cut_off_or_broken_is_told() {
    for coding in ["gzip", "br", "zstd"] {
        let mut bytes = packed(coding, &[RESULT]).concat();
        let short = bytes[..bytes.len() - 4].to_vec();
        let server = Server::scripted(vec![whole(coding, "application/json", &[short])]).await;
        let error = soon(failure(&connect(http(&server).compression()).await, 1)).await;
        assert_eq!(error.fault(), TransportFault::Closed, "{coding}: {error}");

        bytes[..3].fill(0xff);
        let server = Server::scripted(vec![whole(coding, "application/json", &[bytes])]).await;
        let error = soon(failure(&connect(http(&server).compression()).await, 1)).await;
        assert_eq!(error.fault(), TransportFault::Malformed, "{coding}: {error}");
    }
}

#[tokio::test]
async fn the_page_of_an_error_is_unpacked_and_gzip_may_come_in_several_members() {
    let page = packed("gzip", &["<h1>Bad Gateway</h1>"]).concat();
    let mut acts = whole("gzip", "text/html", &[page]);
    acts[0] = Act::Write(
        b"HTTP/1.1 502 Bad Gateway\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec(),
    );
    let (first, second) = RESULT.split_at(9);
    let members = [packed("gzip", &[first]).concat(), packed("gzip", &[second]).concat()];
    let server = Server::scripted(vec![acts, whole("gzip", "application/json", &members)]).await;
    let transport = connect(http(&server).compression()).await;
    let error = soon(failure(&transport, 1)).await;
    assert!(error.message().starts_with("HTTP 502 Bad Gateway: Bad Gateway ("), "{error}");
    soon(result(&transport, 1)).await;
}

// As the given case HT-21 has it.
#[tokio::test]
async fn without_it_nothing_is_offered_and_a_packed_answer_is_named() {
    for kind in ["application/json", "text/event-stream"] {
        let packed = packed("gzip", &[RESULT]);
        let server = Server::scripted(vec![whole("gzip", kind, &packed)]).await;
        let error = soon(failure(&transport(&server).await, 1)).await;
        assert_eq!(error.fault(), TransportFault::Malformed);
        assert!(error.message().contains("packed as gzip"), "{error}");
        assert_eq!(server.seen()[0].header("accept-encoding"), None);
    }
    let identity = plain(
        "200 OK\r\ncontent-encoding: identity\r\ncontent-type: text/event-stream",
        &format!("data: {RESULT}\n\n"),
    );
    let server = Server::scripted(vec![identity]).await;
    assert_eq!(told(&call(&transport(&server).await, 1).await), [RESULT]);
    let deflate = whole("deflate", "application/json", &packed("gzip", &[RESULT]));
    let server = Server::scripted(vec![deflate]).await;
    let error = soon(failure(&connect(http(&server).compression()).await, 1)).await;
    assert!(error.message().contains("packed as deflate"), "{error}");
}

#[tokio::test]
async fn a_packed_stream_that_is_offered_is_read_too() {
    let pieces = packed("zstd", &[NEWS]);
    let server = Server::scripted(vec![
        whole("zstd", "text/event-stream", &pieces),
        plain("405 Method Not Allowed", ""),
    ])
    .await;
    let transport = connect(http(&server).compression()).await;
    let mut stream = transport.unsolicited(routing()).expect("once");
    let mut items = Vec::new();
    for _ in 0..2 {
        items.push(soon(stream.next()).await.expect("an item"));
    }
    assert_eq!(told(&items), ["Sent", r#"{"jsonrpc":"2.0","method":"n"}"#]);
}
