//! What came for a file, held against what was said of it.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::SHA256;
use snodo::types::ReadResourceResult;

use crate::error::{Error, ErrorKind};
use crate::skill::SkillFile;

/// The bytes of a resource, which is a file and has no parts.
pub(crate) fn bytes(uri: &str, result: ReadResourceResult) -> Result<Vec<u8>, Error> {
    let malformed =
        |why: &str| Error::new(ErrorKind::Malformed, format!("{uri} was answered with {why}"));
    let mut contents = result.contents.into_iter().filter(|part| part.uri == uri);
    let (Some(file), None) = (contents.next(), contents.next()) else {
        return Err(malformed("something else than one file"));
    };
    match (file.text, file.blob) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(blob)) => STANDARD.decode(blob).map_err(|_| malformed("no base64")),
        _ => Err(malformed("neither a text nor bytes")),
    }
}

/// Holds bytes against the entry; the size is looked at first.
pub(crate) fn verify(bytes: &[u8], file: &SkillFile) -> Result<(), Error> {
    let what = if bytes.len() as u64 != file.size() {
        "size"
    } else if digest(bytes) != file.digest() {
        "digest"
    } else {
        return Ok(());
    };
    let why = format!("{} has another {what} than the entry of its skill says", file.uri());
    Err(Error::new(ErrorKind::Mismatch, why))
}

/// `sha256:` and 64 hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in ring::digest::digest(&SHA256, bytes).as_ref() {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use snodo::types::{ReadResourceResult, ResourceContents};

    use super::{bytes, digest};
    use crate::error::ErrorKind;

    #[test]
    fn a_file_is_one_text_or_one_run_of_bytes() {
        let read = |contents| bytes("a", ReadResourceResult::new(contents)).map_err(|e| e.kind());
        let text = || ResourceContents::text("a", "é");
        assert_eq!(read(vec![text()]), Ok("é".as_bytes().to_vec()));
        assert_eq!(read(vec![ResourceContents::blob("a", "AP8=")]), Ok(vec![0, 255]));
        for wrong in [
            vec![],
            vec![text(), text()],
            vec![ResourceContents::text("b", "x")],
            vec![ResourceContents::blob("a", "AP8")],
        ] {
            assert_eq!(read(wrong), Err(ErrorKind::Malformed));
        }
    }

    #[test]
    fn a_digest_is_written_in_small_hexadecimal_digits() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(b""), empty);
    }
}
