//! Whole clients recorded and replayed: what comes of what they do is the same.

use std::time::Duration;

use snodo::{Builder, ProtocolVersion};
use snodo_http::Http;
use snodo_testkit::{Answers, Play, Recorder, Replay, Step, Transcript, Wire};
use snodo_tests::Actor;
use snodo_transport::Connect;

/// Every transcript of a folder, by its name. Recordings call sessions by their numbers.
fn transcripts(folder: &str) -> Vec<(String, Transcript)> {
    let parse = |(name, text): (String, String)| {
        let text = text.replace("s-1", "s1");
        let transcript = Transcript::parse(&name, &text).expect("a transcript");
        (name, transcript)
    };
    snodo_tests::transcripts(folder).into_iter().map(parse).collect()
}

fn actor(target: impl Connect + Clone) -> Actor {
    Actor::new(move |builder: Builder| builder.connect(target.clone()))
}

/// Plays a transcript with a recorder in between; gives what was recorded.
async fn record<C: Connect>(name: &str, play: &mut Play, recorder: Recorder<C>) -> Transcript {
    let mut client = actor(recorder.clone());
    let played = play.run(async |step| client.step(step).await).await;
    played.unwrap_or_else(|error| panic!("{name}, recorded: {error}"));
    drop(client);
    recorder.transcript(name).expect("what is recorded can be read")
}

/// Does everything that the client did in a transcript, with nobody there but the recording.
async fn act_again(name: &str, original: &Transcript, wire: Wire, recorded: &Transcript) {
    let replay = Replay::new(recorded);
    let mut client = actor(replay.clone());
    for line in original.lines(wire) {
        let done = match line.step() {
            step @ (Step::Act(_) | Step::Outcome(_)) => client.step(step).await,
            Step::Wait(time) => {
                tokio::time::sleep(*time).await;
                Ok(())
            }
            _ => {
                // What was begun goes as far as it can.
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(())
            }
        };
        if let Err(reason) = done {
            panic!("{name}:{}, replayed: {reason}\n  at: {}", line.number(), line.step());
        }
    }
    drop(client);
    replay.finish().unwrap_or_else(|error| panic!("{error}"));
}

async fn in_memory(folder: &str) {
    for (name, original) in transcripts(folder) {
        let mut play = Play::new(original.clone(), Wire::Pipe);
        let recorder = Recorder::new(play.memory());
        let recorded = record(&name, &mut play, recorder).await;
        act_again(&name, &original, Wire::Pipe, &recorded).await;
    }
}

async fn over_http(folder: &str) {
    for (name, original) in transcripts(folder) {
        let mut play = Play::new(original.clone(), Wire::Http);
        let url = play.http(Answers::Json).await.expect("a port");
        let recorder = Recorder::new(Http::new(&url).expect("a URL"));
        let recorded = record(&name, &mut play, recorder).await;
        act_again(&name, &original, Wire::Http, &recorded).await;
    }
}

// tests/fixtures/2026-07-28/
#[tokio::test(start_paused = true)]
async fn a_stateless_session_over_a_pipe_comes_out_the_same() {
    in_memory(ProtocolVersion::V2026_07_28.as_str()).await;
}

// tests/fixtures/2026-07-28/
#[tokio::test]
async fn a_stateless_session_over_http_comes_out_the_same() {
    over_http(ProtocolVersion::V2026_07_28.as_str()).await;
}

// tests/fixtures/2025-11-25/
#[tokio::test(start_paused = true)]
async fn an_older_session_over_a_pipe_comes_out_the_same() {
    in_memory(ProtocolVersion::V2025_11_25.as_str()).await;
}

// tests/fixtures/2025-11-25/
#[tokio::test]
async fn an_older_session_over_http_comes_out_the_same() {
    over_http(ProtocolVersion::V2025_11_25.as_str()).await;
}
