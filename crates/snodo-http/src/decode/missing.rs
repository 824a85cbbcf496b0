//! A build that unpacks nothing, and offers nothing.

use std::convert::Infallible;

use bytes::Bytes;
use http::HeaderValue;
use snodo_types::TransportError;

use crate::backend::Answer;

/// What stands in for codings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Codings {
    /// There is none.
    unpacker: Option<Unpacker>,
}

impl Codings {
    pub(crate) fn offered(self) -> Option<HeaderValue> {
        None
    }

    pub(crate) fn unpack(self, mut answer: Answer) -> Answer {
        if let Some(unpacker) = self.unpacker {
            answer.body = answer.body.unpacked(unpacker);
        }
        answer
    }
}

/// What nobody makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacker(Infallible);

/// What never comes.
#[expect(dead_code, reason = "the names are those of the other build")]
pub(crate) enum Unpacked {
    End,
    More,
    Piece(Bytes),
}

impl Unpacker {
    pub(crate) fn feed(&mut self, _packed: Bytes) {
        match self.0 {}
    }

    pub(crate) fn finish(&mut self) {
        match self.0 {}
    }

    pub(crate) fn next(&mut self) -> Result<Unpacked, TransportError> {
        match self.0 {}
    }
}
