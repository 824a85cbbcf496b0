//! What must hold of every input, written as functions that panic where it does not.
//!
//! Each module is one target of the fuzzer (`fuzz_targets`), and each has a folder of inputs (`corpus`) that a test runs
//! through it with any compiler. `cargo xtask fuzz --seconds N` looks for new ones.

pub mod challenge;
pub mod client;
pub mod config;
pub mod events;
pub mod header;
pub mod json;
pub mod lines;
pub mod message;
pub mod metadata;
pub mod param_headers;
mod tree;

/// Panics where an input breaks a rule.
pub type Check = fn(&[u8]);

/// Everything that can be checked, by the name of its folder.
pub const TARGETS: &[(&str, Check)] = &[
    ("challenge", challenge::check),
    ("client", client::check),
    ("config", config::check),
    ("events", events::check),
    ("header", header::check),
    ("json", json::check),
    ("lines", lines::check),
    ("message", message::check),
    ("metadata", metadata::check),
    ("param_headers", param_headers::check),
];

/// Cuts bytes into pieces whose lengths the first bytes of the input decide, over and over.
fn pieces<'a>(lengths: &'a [u8], bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    let mut lengths = lengths.iter().cycle();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let wanted = lengths.next().map_or(rest.len(), |length| usize::from(*length) + 1);
        let (piece, left) = rest.split_at(wanted.min(rest.len()));
        rest = left;
        Some(piece)
    })
}

/// Takes the first bytes of an input for itself; absent ones are zero.
fn head<const N: usize>(input: &[u8]) -> ([u8; N], &[u8]) {
    let (own, rest) = input.split_at(N.min(input.len()));
    let mut head = [0; N];
    head[..own.len()].copy_from_slice(own);
    (head, rest)
}
