//! The types against the vocabulary of every protocol version.

mod checks;
mod decode;
mod documents;
mod nouns;
