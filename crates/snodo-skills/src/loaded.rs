//! A skill that is acted on.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use snodo::Client;

use crate::content;
use crate::error::{Error, ErrorKind};
use crate::frontmatter;
use crate::skill::{MOST_BYTES, Skill};

/// A skill whose `SKILL.md` was read and verified. Clones share what they have read so far.
///
/// It holds the entry that it was loaded from: what is read of it is held against that one, whatever the
/// server lists by now. Keep it as long as the model acts on the skill.
///
/// ```
/// use snodo_skills::{Error, Loaded};
///
/// async fn form(skill: &Loaded) -> Result<Vec<u8>, Error> {
///     skill.read("references/FORMS.md").await
/// }
/// # let _ = form;
/// ```
#[derive(Clone)]
pub struct Loaded {
    client: Client,
    skill: Arc<Skill>,
    text: Arc<str>,
    /// How many bytes came that no entry had announced.
    unannounced: Arc<AtomicU64>,
}

impl Loaded {
    /// Reads the `SKILL.md` of an entry.
    pub(crate) async fn load(client: &Client, skill: &Skill) -> Result<Self, Error> {
        skill.check_size()?;
        let mut loaded = Self {
            client: client.clone(),
            skill: Arc::new(skill.clone()),
            text: Arc::from(""),
            unannounced: Arc::default(),
        };
        let bytes = loaded.fetch(skill.uri()).await?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::new(ErrorKind::Malformed, format!("{} is no text", skill.uri())))?;
        frontmatter::verify(&text, skill)?;
        loaded.text = text.into();
        Ok(loaded)
    }

    /// The entry.
    #[must_use]
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// The whole `SKILL.md`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What follows the frontmatter.
    #[must_use]
    pub fn body(&self) -> &str {
        frontmatter::split(&self.text).map_or("", |(_, body)| body)
    }

    /// Reads a file of the skill: by its path from the skill's directory, as the text refers to it, or
    /// by its URI. Each time it is read anew.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`]: it is not listed, or not what is listed. [`ErrorKind::TooLarge`]: a skill
    /// whose files are not listed has given 16 MiB by now. [`ErrorKind::Client`]: it could not be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn read(&self, reference: &str) -> Result<Vec<u8>, Error> {
        let uri = self.skill.resolve(reference);
        let listed = |uri: &String| self.skill.files().is_none() || self.skill.file(uri).is_some();
        let uri = uri.filter(listed).ok_or_else(|| {
            let why = format!("{} lists no file {reference:?}", self.skill.uri());
            Error::new(ErrorKind::Mismatch, why)
        })?;
        self.fetch(&uri).await
    }

    async fn fetch(&self, uri: &str) -> Result<Vec<u8>, Error> {
        let result = self.client.read_resource(uri).await?.into_inner();
        let bytes = content::bytes(uri, result)?;
        match self.skill.file(uri) {
            Some(file) => content::verify(&bytes, file)?,
            None => self.count(&bytes)?,
        }
        Ok(bytes)
    }

    fn count(&self, bytes: &[u8]) -> Result<(), Error> {
        let more = bytes.len() as u64;
        let before = self.unannounced.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) <= MOST_BYTES {
            return Ok(());
        }
        let why = format!("{} has given more than {MOST_BYTES} bytes", self.skill.uri());
        Err(Error::new(ErrorKind::TooLarge, why))
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("skill", &self.skill).finish_non_exhaustive()
    }
}
