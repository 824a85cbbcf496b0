//! Every transcript, over every transport that it has lines for.

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

/// Plays each transcript of a folder in a version. A folder is named after the version that its
/// transcripts are written in; another version is put in its place.
async fn play_all(folder: &str, version: ProtocolVersion, stage: Stage) {
    for (name, text) in snodo_tests::transcripts(folder) {
        let text = text.replace(folder, version.as_str());
        let transcript = Transcript::parse(&name, &text).expect("a transcript");
        if let Err(error) = play(transcript, version, stage).await {
            panic!("{version}, {stage:?}: {error}");
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

    async fn play(stage: Stage) {
        play_all("2026-07-28", ProtocolVersion::V2026_07_28, stage).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_in_this_process() {
        play(Stage::Direct).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_over_a_custom_transport() {
        play(Stage::Memory).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_over_a_pipe() {
        play(Stage::Pipe).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test]
    async fn every_transcript_plays_over_http() {
        play(Stage::Http(Answers::Json)).await;
    }

    // tests/fixtures/2026-07-28/
    #[tokio::test]
    async fn every_transcript_plays_over_http_with_event_streams() {
        play(Stage::Http(Answers::Events)).await;
    }
}

mod initialize {
    //! The versions that begin with `initialize`: what both say, and what the older one says alone.

    use super::*;

    async fn play(stage: Stage) {
        play_all("2025-11-25", ProtocolVersion::V2025_11_25, stage).await;
        play_all("2025-11-25", ProtocolVersion::V2025_06_18, stage).await;
        play_all("2025-06-18", ProtocolVersion::V2025_06_18, stage).await;
    }

    // tests/fixtures/2025-11-25/ tests/fixtures/2025-06-18/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_in_this_process() {
        play(Stage::Direct).await;
    }

    // tests/fixtures/2025-11-25/ tests/fixtures/2025-06-18/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_over_a_custom_transport() {
        play(Stage::Memory).await;
    }

    // tests/fixtures/2025-11-25/ tests/fixtures/2025-06-18/
    #[tokio::test(start_paused = true)]
    async fn every_transcript_plays_over_a_pipe() {
        play(Stage::Pipe).await;
    }

    // tests/fixtures/2025-11-25/ tests/fixtures/2025-06-18/
    #[tokio::test]
    async fn every_transcript_plays_over_http() {
        play(Stage::Http(Answers::Json)).await;
    }

    // tests/fixtures/2025-11-25/ tests/fixtures/2025-06-18/
    #[tokio::test]
    async fn every_transcript_plays_over_http_with_event_streams() {
        play(Stage::Http(Answers::Events)).await;
    }
}
