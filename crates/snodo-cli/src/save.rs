//! Pictures, sounds and other data of an answer, written into a folder.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use snodo::Error;
use snodo::types::{CallToolResult, Content, ReadResourceResult, ResourceContents};

use crate::safe;

/// Writes what a tool gave besides text, and tells where; a line for each.
///
/// # Errors
///
/// The folder or a file cannot be written, or the data is no base64 (usage).
pub(crate) fn tool(result: &CallToolResult, folder: &Path) -> Result<String, Error> {
    let mut folder = Folder::open(folder)?;
    for content in &result.content {
        match content {
            Content::Audio(block) => folder.add("audio", &block.mime_type, &block.data)?,
            Content::Image(block) => folder.add("image", &block.mime_type, &block.data)?,
            Content::Resource(block) => folder.add_contents(&block.resource)?,
            _ => {}
        }
    }
    Ok(folder.told)
}

/// Writes what a resource holds besides text.
///
/// # Errors
///
/// See [`tool`].
pub(crate) fn resource(result: &ReadResourceResult, folder: &Path) -> Result<String, Error> {
    let mut folder = Folder::open(folder)?;
    for contents in &result.contents {
        folder.add_contents(contents)?;
    }
    Ok(folder.told)
}

struct Folder<'f> {
    path: &'f Path,
    told: String,
}

impl<'f> Folder<'f> {
    fn open(path: &'f Path) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(|error| refused(path, &error))?;
        Ok(Self { path, told: String::new() })
    }

    fn add_contents(&mut self, contents: &ResourceContents) -> Result<(), Error> {
        let Some(blob) = &contents.blob else { return Ok(()) };
        let kind = contents.mime_type.as_deref().unwrap_or_default();
        self.add(&contents.uri, kind, blob)
    }

    fn add(&mut self, name: &str, kind: &str, data: &str) -> Result<(), Error> {
        let packed: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let bytes = BASE64.decode(packed);
        let bytes = bytes.map_err(|error| Error::usage(format!("--save: no base64: {error}")))?;
        let path = self.write(name, kind, &bytes).map_err(|error| refused(self.path, &error))?;
        self.told.push_str(&format!("[saved {}]\n", safe::line(&path.display().to_string())));
        Ok(())
    }

    /// Never writes over a file, and never follows a link: a file of that name gets a number.
    fn write(&self, name: &str, kind: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let (stem, ending) = file_name(name, kind);
        for number in 1..=MOST {
            let numbered = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
            let path = self.path.join(format!("{numbered}.{ending}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let written = file.write_all(bytes);
                    if written.is_err() {
                        // Half a picture is none, and a full disk has better uses.
                        let _ = fs::remove_file(&path);
                    }
                    return written.map(|()| path);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are too many files of that name"))
    }
}

/// A name without a path: letters, digits, `-`, `_` and `.` of the last part of what the server
/// called it, and an ending.
fn file_name(name: &str, kind: &str) -> (String, String) {
    let last = name.trim_end_matches('/').rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let last: String = last.chars().take(LONGEST).map(plain).collect();
    let last = last.trim_matches('.');
    let (stem, ending) = match last.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 5 => (stem, Some(ending)),
        _ => (last, None),
    };
    let of_kind = ENDINGS.iter().find(|(known, _)| kind.starts_with(known)).map(|(_, e)| *e);
    let ending = of_kind.or(ending).unwrap_or("bin");
    // Names that Windows keeps for devices have no hyphen in them.
    let stem = if stem.is_empty() { "data" } else { stem };
    (if stem.len() < 5 { format!("{stem}-1") } else { stem.to_owned() }, ending.to_owned())
}

fn refused(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!("--save {}: {error}", path.display()))
}

/// With or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const ENDINGS: &[(&str, &str)] = &[
    ("application/json", "json"),
    ("application/pdf", "pdf"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/wav", "wav"),
    ("image/gif", "gif"),
    ("image/jpeg", "jpg"),
    ("image/png", "png"),
    ("image/svg", "svg"),
    ("image/webp", "webp"),
    ("text/html", "html"),
    ("text/plain", "txt"),
];

/// How many files of one name there may be.
const MOST: usize = 1_000;

/// How many characters of a name are kept.
const LONGEST: usize = 80;

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;
    use snodo::types::CallToolResult;

    use super::{file_name, tool};

    #[test]
    fn no_name_of_a_server_leads_out_of_the_folder() {
        for name in [
            "../../etc/passwd",
            "..",
            "/",
            "",
            "a:b\\..\\c",
            "file:///x/..",
            "\u{202e}\n",
            ".bashrc",
        ] {
            let (stem, ending) = file_name(name, "");
            let whole = format!("{stem}.{ending}");
            assert!(
                !whole.contains(['/', '\\', ':']) && !whole.starts_with('.'),
                "{name}: {whole}"
            );
            assert!(whole.bytes().all(|byte| byte.is_ascii_graphic()), "{name}: {whole}");
        }
        assert_eq!(file_name("demo://a/picture.gif", "image/gif").0, "picture");
        assert_eq!(file_name("con", ""), ("con-1".to_owned(), "bin".to_owned()));
        assert_eq!(file_name("x.sh", "image/png").1, "png");
    }

    #[test]
    fn data_is_written_and_nothing_written_over() {
        let folder = std::env::temp_dir().join(format!("snodo-save-{}", std::process::id()));
        let result: CallToolResult = serde_json::from_value(json!({ "content": [
            { "type": "image", "mimeType": "image/png", "data": "QUI=" },
            { "type": "image", "mimeType": "image/png", "data": "QUJ\nD" },
            { "type": "text", "text": "no data" },
        ] }))
        .expect("a result");
        let told = tool(&result, &folder).expect("it is written");
        assert_eq!(told.lines().count(), 2);
        assert_eq!(fs::read(folder.join("image.png")).expect("a file"), b"AB");
        assert_eq!(fs::read(folder.join("image-2.png")).expect("a file"), b"ABC");
        fs::remove_dir_all(&folder).expect("it is there");
    }
}
