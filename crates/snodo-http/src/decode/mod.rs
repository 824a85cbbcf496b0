//! Answers that were made smaller on their way, unpacked piece by piece as they come.

mod coder;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use snodo_types::{TransportError, TransportFault};

use self::coder::{Coder, Progress};
use crate::backend::Answer;
use crate::connector::Http;

/// Which codings are offered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Codings {
    offered: bool,
}

impl Http {
    /// Lets servers send answers as gzip, brotli or zstd.
    ///
    /// Event streams are unpacked as they come: nothing is held back that the server has flushed.
    /// All limits count what was unpacked; at most 16 KiB are unpacked ahead of their reader.
    pub fn compression(self) -> Self {
        self.with(|http| http.codings = Codings { offered: true })
    }
}

impl Codings {
    /// The value of `Accept-Encoding`, where there is one.
    pub(crate) fn offered(self) -> Option<HeaderValue> {
        self.offered.then(|| HeaderValue::from_static("gzip, br, zstd"))
    }

    /// The same answer, unpacked while it is read; one in a coding that is not known stays as it is.
    pub(crate) fn unpack(self, mut answer: Answer) -> Answer {
        if !self.offered {
            return answer;
        }
        let coding = answer.headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        let Some(coder) = coding.and_then(Coder::of) else { return answer };
        answer.headers.remove(CONTENT_ENCODING);
        answer.headers.remove(CONTENT_LENGTH);
        answer.body = answer.body.unpacked(Unpacker::new(coder));
        answer
    }
}

/// What turns pieces into other pieces.
pub(crate) struct Unpacker {
    coder: Coder,
    packed: Bytes,
    /// Where pieces are written.
    room: Vec<u8>,
    /// The last packed piece has come.
    over: bool,
}

/// What comes of the pieces so far.
pub(crate) enum Unpacked {
    /// Everything, and nothing follows.
    End,
    /// The next piece is needed, or the end.
    More,
    Piece(Bytes),
}

impl Unpacker {
    fn new(coder: Coder) -> Self {
        Self { coder, packed: Bytes::new(), room: vec![0; PIECE], over: false }
    }

    /// Takes the next piece; all of the one before has been used.
    pub(crate) fn feed(&mut self, packed: Bytes) {
        self.packed = packed;
    }

    /// No piece follows.
    pub(crate) fn finish(&mut self) {
        self.over = true;
    }

    pub(crate) fn next(&mut self) -> Result<Unpacked, TransportError> {
        match self.coder.run(&mut self.packed, self.over, &mut self.room) {
            Ok(Progress::Written(length)) => {
                let written = self.room.get(..length).unwrap_or_default();
                Ok(Unpacked::Piece(Bytes::copy_from_slice(written)))
            }
            Ok(Progress::Wanting) if self.over => {
                let why = "the packed answer was cut off";
                Err(TransportError::new(TransportFault::Closed, why))
            }
            Ok(Progress::Wanting) => Ok(Unpacked::More),
            Ok(Progress::Done) if self.over => Ok(Unpacked::End),
            // What stands behind the end is no part of the answer.
            Ok(Progress::Done) => {
                self.packed.clear();
                Ok(Unpacked::More)
            }
            Err(error) => {
                let why = format!("the packed answer is broken: {error}");
                Err(TransportError::new(TransportFault::Malformed, why))
            }
        }
    }
}

/// The most that is unpacked at once.
const PIECE: usize = 16 * 1024;
