//! The three codings, each by the crate that knows it, as one small machine.

use std::io::{self, BufRead, ErrorKind, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bytes::{Buf as _, Bytes};
use flate2::bufread::MultiGzDecoder;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

/// One of the codings, in the middle of its work.
pub(super) enum Coder {
    Brotli(Box<Brotli>),
    Gzip(Box<MultiGzDecoder<Feed>>),
    Zstd(Zstd),
}

/// What became of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The coding's own end was reached.
    Done,
    /// All of it was used and more is needed.
    Wanting,
    /// So much came out; call again.
    Written(usize),
}

impl Coder {
    /// For a `Content-Encoding`.
    pub(super) fn of(name: &str) -> Option<Self> {
        let name = name.trim();
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("gzip") || is("x-gzip") {
            return Some(Self::Gzip(Box::new(MultiGzDecoder::new(Feed::default()))));
        }
        if is("br") {
            return Some(Self::Brotli(Box::new(Brotli::new())));
        }
        is("zstd").then(Zstd::new)?.ok().map(Self::Zstd)
    }

    /// Takes from `packed` and writes to `piece`; `over` says that nothing follows `packed`.
    pub(super) fn run(
        &mut self,
        packed: &mut Bytes,
        over: bool,
        piece: &mut [u8],
    ) -> io::Result<Progress> {
        match self {
            Self::Brotli(brotli) => brotli.run(packed, piece),
            Self::Gzip(decoder) => {
                let feed = decoder.get_mut();
                if !packed.is_empty() {
                    feed.packed = std::mem::take(packed);
                }
                feed.over = over;
                match decoder.read(piece) {
                    Ok(0) => Ok(Progress::Done),
                    Ok(length) => Ok(Progress::Written(length)),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Progress::Wanting),
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Progress::Wanting),
                    Err(error) => Err(error),
                }
            }
            Self::Zstd(zstd) => zstd.run(packed, piece),
        }
    }
}

/// What a reader gets that asks for more than has come.
#[derive(Debug, Default)]
pub(super) struct Feed {
    packed: Bytes,
    over: bool,
}

impl Read for Feed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = {
            let available = self.fill_buf()?;
            let length = available.len().min(into.len());
            into[..length].copy_from_slice(&available[..length]);
            length
        };
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.packed.is_empty() && !self.over {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(&self.packed)
    }

    fn consume(&mut self, length: usize) {
        self.packed.advance(length);
    }
}

/// RFC 7932; its window is 16 MiB at most.
pub(super) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    written: usize,
    done: bool,
}

impl Brotli {
    fn new() -> Self {
        let alloc = StandardAlloc::default;
        Self { state: BrotliState::new(alloc(), alloc(), alloc()), written: 0, done: false }
    }

    fn run(&mut self, packed: &mut Bytes, piece: &mut [u8]) -> io::Result<Progress> {
        if self.done {
            return Ok(Progress::Done);
        }
        let (mut available, mut used) = (packed.len(), 0);
        let (mut room, mut length) = (piece.len(), 0);
        let result = BrotliDecompressStream(
            &mut available,
            &mut used,
            packed,
            &mut room,
            &mut length,
            piece,
            &mut self.written,
            &mut self.state,
        );
        packed.advance(used);
        match result {
            BrotliResult::ResultFailure => {
                Err(io::Error::new(ErrorKind::InvalidData, "not brotli"))
            }
            BrotliResult::ResultSuccess => {
                self.done = true;
                Ok(if length > 0 { Progress::Written(length) } else { Progress::Done })
            }
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput if length > 0 => {
                Ok(Progress::Written(length))
            }
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Ok(Progress::Wanting),
        }
    }
}

/// RFC 8878, with windows as RFC 9659 wants them.
pub(super) struct Zstd {
    decoder: Decoder<'static>,
    /// Between two frames, or behind the last.
    rests: bool,
}

impl Zstd {
    fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MOST_WINDOW_LOG))?;
        Ok(Self { decoder, rests: false })
    }

    fn run(&mut self, packed: &mut Bytes, piece: &mut [u8]) -> io::Result<Progress> {
        if packed.is_empty() && self.rests {
            return Ok(Progress::Done);
        }
        loop {
            let mut input = InBuffer::around(packed);
            let mut output = OutBuffer::around(&mut *piece);
            let left = self.decoder.run(&mut input, &mut output)?;
            let (used, length) = (input.pos(), output.pos());
            packed.advance(used);
            self.rests = left == 0;
            match length {
                0 if packed.is_empty() && self.rests => return Ok(Progress::Done),
                0 if packed.is_empty() || used == 0 => return Ok(Progress::Wanting),
                // A frame with nothing in it; the next one follows.
                0 => {}
                length => return Ok(Progress::Written(length)),
            }
        }
    }
}

/// 8 MiB.
const MOST_WINDOW_LOG: u32 = 23;
