//! `WWW-Authenticate`: anything is read or left, and what is written by the grammar is read as it was meant.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};
use snodo_http::Challenge;

/// The first byte chooses: a header as it is, or challenges that are written and read.
///
/// # Panics
///
/// Where something is read that was not written.
pub fn check(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else { return };
    if choice % 2 == 0 {
        return read_anything(&String::from_utf8_lossy(rest));
    }
    // An input that is used up has said all it had to say.
    let _ = there_and_back(&mut Unstructured::new(rest));
}

fn read_anything(value: &str) {
    let values = [value.to_owned()];
    let challenges = Challenge::read(&values);
    for challenge in &challenges {
        let scheme = challenge.scheme();
        assert!(!scheme.is_empty() && scheme.bytes().all(is_token_byte), "{scheme:?}");
        assert_eq!(scheme.to_ascii_lowercase(), scheme);
        assert!(value.to_ascii_lowercase().contains(scheme), "{scheme:?} of {value:?}");
        assert!(challenge.is(&scheme.to_ascii_uppercase()));
    }
    // Two headers are one list, each of which is good or bad by itself.
    let twice = Challenge::read(&[values[0].clone(), "Bearer".to_owned(), "\"".to_owned()]);
    assert_eq!(twice.len(), challenges.len() + 1);
}

fn there_and_back(input: &mut Unstructured<'_>) -> Result<()> {
    let mut written = String::new();
    let mut meant = Vec::new();
    for number in 0..input.int_in_range(1..=4)? {
        if number > 0 {
            written.push_str([",", ", ", " ,\t", ",, "][input.choose_index(4)?]);
        }
        let scheme = token(input)?;
        written.push_str(&scheme);
        let mut parameters = Vec::new();
        for number in 0..input.int_in_range(0..=3)? {
            written.push_str(if number == 0 { " " } else { ", " });
            let name = token(input)?;
            let equals = ["=", " =", "= ", "\t=\t"][input.choose_index(4)?];
            let value = if input.arbitrary()? { token(input)? } else { text(input)? };
            let plain = !value.is_empty() && value.bytes().all(is_token_byte);
            if plain && input.arbitrary()? {
                let _ = write!(written, "{name}{equals}{value}");
            } else {
                let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
                let _ = write!(written, "{name}{equals}\"{quoted}\"");
            }
            parameters.push((name, value));
        }
        meant.push((scheme.to_ascii_lowercase(), parameters));
    }
    let read = Challenge::read(std::slice::from_ref(&written));
    if written.len() > 8 * 1024 {
        assert!(read.is_empty(), "what is too long is absent");
        return Ok(());
    }
    assert_eq!(read.len(), meant.len(), "{written:?}");
    for (challenge, (scheme, parameters)) in read.iter().zip(meant) {
        assert_eq!(challenge.scheme(), scheme, "{written:?}");
        for (name, _) in &parameters {
            // The first of a name counts.
            let first = parameters.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
            let value = first.map(|(_, value)| value.as_str());
            assert_eq!(challenge.parameter(&name.to_ascii_uppercase()), value, "{written:?}");
        }
    }
    Ok(())
}

fn token(input: &mut Unstructured<'_>) -> Result<String> {
    let length = input.int_in_range(1..=12)?;
    (0..length).map(|_| Ok(char::from(TOKEN[input.choose_index(TOKEN.len())?]))).collect()
}

fn text(input: &mut Unstructured<'_>) -> Result<String> {
    let length = input.int_in_range(0..=24)?;
    (0..length).map(|_| input.arbitrary::<char>()).collect()
}

fn is_token_byte(byte: u8) -> bool {
    TOKEN.contains(&byte)
}

/// RFC 9110, section 5.6.2.
const TOKEN: &[u8] =
    b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
