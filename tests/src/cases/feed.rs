//! How the bytes of a case are made and cut into pieces.

use std::fmt;

use serde::Deserialize;

use super::later::Need;

/// The `feed` member.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Feed(String);

/// One way to cut bytes into pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// Two pieces, the first of so many bytes.
    At(usize),
    /// Pieces of so many bytes.
    Every(usize),
    Nowhere,
}

/// The `generate` member: bytes that are too many to be written down.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Generate {
    prefix: String,
    repeat: String,
    count: usize,
    suffix: String,
}

impl Feed {
    /// Every way to cut so many bytes.
    pub(crate) fn cuts(&self, length: usize) -> Result<Vec<Cut>, Need> {
        match self.0.split_once(':') {
            None if self.0 == "whole" => Ok(vec![Cut::Nowhere]),
            None if self.0 == "bytewise" => Ok(vec![Cut::Every(1)]),
            None if self.0 == "all_splits" => {
                let cuts = (1..length).map(Cut::At);
                Ok([Cut::Nowhere, Cut::Every(1)].into_iter().chain(cuts).collect())
            }
            Some(("chunks", size)) => match size.parse() {
                Ok(size) if size > 0 => Ok(vec![Cut::Every(size)]),
                _ => Err(Need::unknown(format!("feed {:?}", self.0))),
            },
            _ => Err(Need::unknown(format!("feed {:?}", self.0))),
        }
    }
}

impl Cut {
    pub(crate) fn pieces(self, bytes: &[u8]) -> Vec<&[u8]> {
        match self {
            Self::At(at) => {
                let (first, second) = bytes.split_at(at.min(bytes.len()));
                vec![first, second]
            }
            Self::Every(size) => bytes.chunks(size).collect(),
            Self::Nowhere => vec![bytes],
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => write!(f, "cut at {at}"),
            Self::Every(size) => write!(f, "pieces of {size}"),
            Self::Nowhere => f.write_str("whole"),
        }
    }
}

impl Generate {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.prefix.clone().into_bytes();
        bytes.extend(self.repeat.as_bytes().repeat(self.count));
        bytes.extend_from_slice(self.suffix.as_bytes());
        bytes
    }
}
