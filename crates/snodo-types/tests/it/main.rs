//! The types against the vocabulary of every protocol version.

mod checks;
mod documents;
mod nouns;
