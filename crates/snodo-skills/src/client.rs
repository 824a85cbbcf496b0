//! The verbs of skills.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use snodo::dialect::Extension;
use snodo::types::{Raw, Resource};
use snodo::{Client, Request};

use crate::error::{Error, ErrorKind};
use crate::extension::{DIRECTORY, GET, ID, LIST};
use crate::{Loaded, Skill, Skills};

/// A client of a server that serves skills.
///
/// It is made from any [`Client`], and as cheap to clone. What the server declares is looked at before
/// the first request, and remembered.
///
/// ```
/// use snodo::Client;
/// use snodo_skills::SkillClient;
///
/// # async fn run(client: Client) -> Result<(), snodo_skills::Error> {
/// let skills = SkillClient::new(&client);
/// if skills.is_offered().await? {
///     println!("{} skills", skills.list().await?.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SkillClient {
    client: Client,
    extension: Arc<dyn Extension>,
    /// The settings that the server declares; `None` for a server without skills.
    declared: Arc<OnceLock<Option<Raw>>>,
    changing: Changing,
}

/// What becomes of skills whose content is made anew each time.
#[derive(Clone, Copy, Debug)]
enum Changing {
    Allowed,
    Refused,
}

impl SkillClient {
    /// Skills of this client's server.
    #[must_use]
    pub fn new(client: &Client) -> Self {
        Self {
            client: client.clone(),
            extension: Arc::new(Skills),
            declared: Arc::default(),
            changing: Changing::Refused,
        }
    }

    /// Loads skills too whose content is made anew each time, so that there is nothing to hold it
    /// against but the frontmatter. A lasting consent to such a skill means nothing.
    #[must_use]
    pub fn allow_dynamic(self) -> Self {
        Self { changing: Changing::Allowed, ..self }
    }

    /// Whether the server serves skills. It is asked with `server/discover` if it has not told yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Client`]: it could not be asked.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn is_offered(&self) -> Result<bool, Error> {
        Ok(self.declared().await?.is_some())
    }

    /// All skills that the server lists. It may serve others too, which are had by
    /// [`get`](Self::get) alone.
    ///
    /// An entry that breaks the rules is left out, with a warning in the log. Names need not be unique.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`]: the server serves no skills. [`ErrorKind::Malformed`]: this is no
    /// list. [`ErrorKind::Client`]: the request failed, or the pages have no end (1000 at most).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request under way; what was listed is lost.
    pub async fn list(&self) -> Result<Vec<Skill>, Error> {
        let mut skills = Vec::new();
        self.pages(LIST, &json!({}), |page: Entries| {
            for entry in page.skills {
                match Skill::read(entry) {
                    Ok(skill) => skills.push(skill),
                    Err(error) => tracing::warn!(method = LIST, %error, "left out of the list"),
                }
            }
        })
        .await?;
        Ok(skills)
    }

    /// The entry of one skill, listed or not, by the URI of its `SKILL.md`; as it is now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Client`]: the server serves no such skill (-32602), or the request failed.
    /// [`ErrorKind::Malformed`]: what it says of it breaks the rules, or is about another one.
    /// [`ErrorKind::Unsupported`]: it serves no skills.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn get(&self, uri: &str) -> Result<Skill, Error> {
        self.offered().await?;
        let answer = self.ask(GET, json!({ "uri": uri })).await?;
        let Entry { skill } = read(GET, &answer)?;
        let skill = Skill::read(skill)?;
        if skill.uri() == uri {
            return Ok(skill);
        }
        let why = format!("{uri} was answered with {}", skill.uri());
        Err(Error::new(ErrorKind::Malformed, why))
    }

    /// Reads the `SKILL.md` of a skill, and holds it against the entry. From here on the skill is acted
    /// on: a host asks the person before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`]: the server gives something else than the entry says.
    /// [`ErrorKind::TooLarge`]: it is more than 512 files or 16 MiB, and nothing was read.
    /// [`ErrorKind::Unverifiable`]: see [`allow_dynamic`](Self::allow_dynamic).
    /// [`ErrorKind::Malformed`]: what came is no text. [`ErrorKind::Client`]: the request failed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn load(&self, skill: &Skill) -> Result<Loaded, Error> {
        if let (None, Changing::Refused) = (skill.files(), self.changing) {
            let why = format!("the content of {} is made anew each time", skill.uri());
            return Err(Error::new(ErrorKind::Unverifiable, why));
        }
        Loaded::load(&self.client, skill).await
    }

    /// What is in a directory of the server now. It says nothing about the files of a skill that is
    /// loaded: those are listed in its entry.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`]: the server reads no directories to clients. [`ErrorKind::Client`]: it
    /// is none (-32602), or the request failed. [`ErrorKind::Malformed`]: this is no list.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request under way; what was listed is lost.
    pub async fn read_directory(&self, uri: &str) -> Result<Vec<Resource>, Error> {
        let declared: Declared = read(DIRECTORY, &self.offered().await?)?;
        if !declared.directory_read {
            return Err(Error::new(ErrorKind::Unsupported, "the server reads no directories"));
        }
        let mut found = Vec::new();
        let params = json!({ "uri": uri });
        self.pages(DIRECTORY, &params, |mut page: Directory| found.append(&mut page.resources))
            .await?;
        Ok(found)
    }

    /// Asks for page after page.
    async fn pages<P: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
        mut turn: impl FnMut(P),
    ) -> Result<(), Error> {
        self.offered().await?;
        let (mut params, mut seen) = (params.clone(), BTreeSet::new());
        loop {
            let answer = self.ask(method, params.clone()).await?;
            let next = read::<Next>(method, &answer)?.next_cursor;
            turn(read(method, &answer)?);
            let Some(cursor) = next else { return Ok(()) };
            if seen.len() >= MOST_PAGES {
                return Err(snodo::Error::page_limit(cursor, MOST_PAGES).into());
            }
            params["cursor"] = json!(cursor);
            if !seen.insert(cursor.clone()) {
                return Err(snodo::Error::repeated_cursor(cursor).into());
            }
        }
    }

    fn ask(&self, method: &'static str, params: Value) -> Request<Raw> {
        self.client.request(method, params).extension(Arc::clone(&self.extension))
    }

    /// The settings of a server that serves skills.
    async fn offered(&self) -> Result<Raw, Error> {
        self.declared().await?.ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "the server does not say that it serves skills")
        })
    }

    async fn declared(&self) -> Result<Option<Raw>, Error> {
        if let Some(declared) = self.declared.get() {
            return Ok(declared.clone());
        }
        let declared = match self.client.server().capabilities() {
            Some(capabilities) => capabilities.extension(ID),
            None => self.client.discover().await?.capabilities.extension(ID),
        };
        Ok(self.declared.get_or_init(|| declared).clone())
    }
}

#[derive(Deserialize)]
struct Entries {
    skills: Vec<Value>,
}

#[derive(Deserialize)]
struct Entry {
    skill: Value,
}

#[derive(Deserialize)]
struct Directory {
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Next {
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Declared {
    #[serde(default, rename = "directoryRead")]
    directory_read: bool,
}

fn read<T: DeserializeOwned>(method: &str, answer: &Raw) -> Result<T, Error> {
    answer.decode().map_err(|error| {
        let why = format!("{method} was answered with something else: {error}");
        Error::new(ErrorKind::Malformed, why)
    })
}

/// How many pages of one list are asked for.
const MOST_PAGES: usize = 1000;
