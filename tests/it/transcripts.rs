//! Every transcript, over every transport that it has lines for.

use std::path::PathBuf;

use snodo::Builder;
use snodo_http::Http;
use snodo_testkit::{Answers, Play, PlayError, Transcript, Wire};
use snodo_tests::{Actor, Pipes, Scripted};
use snodo_transport::Connect;
use snodo_types::ProtocolVersion;

/// What a transcript is played on.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Direct,
    Http(Answers),
    Memory,
    Pipe,
}

impl Stage {
    fn wire(self) -> Wire {
        match self {
            Self::Direct => Wire::Direct,
            Self::Http(_) => Wire::Http,
            Self::Memory | Self::Pipe => Wire::Pipe,
        }
    }
}

/// Plays each transcript of a version; gives how many there were.
async fn play_all(version: ProtocolVersion, stage: Stage) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(version.as_str());
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of the version")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    assert!(files.len() > 5, "only {} transcripts in {}", files.len(), folder.display());
    for file in files {
        let transcript = Transcript::load(&file).expect("a transcript");
        if let Err(error) = play(transcript, version, stage).await {
            panic!("{stage:?}: {error}");
        }
    }
}

async fn play(
    transcript: Transcript,
    version: ProtocolVersion,
    stage: Stage,
) -> Result<(), PlayError> {
    let mut play = Play::new(transcript, stage.wire());
    let mut actor = match stage {
        Stage::Direct => {
            let connect = play.memory();
            Actor::new(move |builder: Builder| {
                let connect = connect.clone();
                async move {
                    let script = connect.connect().await?;
                    builder.direct(Scripted::new(version, script)).await
                }
            })
        }
        Stage::Http(answers) => {
            let url = play.http(answers).await.expect("a port");
            Actor::new(move |builder: Builder| {
                let target = Http::new(&url).expect("a URL");
                async move { builder.connect(target).await }
            })
        }
        Stage::Memory => {
            let connect = play.memory();
            Actor::new(move |builder: Builder| builder.connect(connect.clone()))
        }
        Stage::Pipe => {
            let ends = play.pipe();
            Actor::new(move |builder: Builder| {
                let ends = ends.clone();
                builder.connect(Pipes::new(move || ends.open()))
            })
        }
    };
    play.run(async |step| actor.step(step).await).await?;
    drop(actor);
    play.nothing_more().await
}

mod stateless {
    //! 2026-07-28.

    use super::*;

    const VERSION: ProtocolVersion = ProtocolVersion::V2026_07_28;

    // tests/fixtures/2026-07-28/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_in_this_process() {
        play_all(VERSION, Stage::Direct).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_over_a_custom_transport() {
        play_all(VERSION, Stage::Memory).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_over_a_pipe() {
        play_all(VERSION, Stage::Pipe).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test]
    async fn every_transcript_plays_over_http() {
        play_all(VERSION, Stage::Http(Answers::Json)).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test]
    async fn every_transcript_plays_over_http_with_event_streams() {
        play_all(VERSION, Stage::Http(Answers::Events)).await;
    }
}
