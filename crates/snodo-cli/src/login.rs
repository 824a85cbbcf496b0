//! Logins at authorization servers, kept between runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::json;
use snodo::http::Http;
use snodo::{Client, Error};
use snodo_config::Server;
use snodo_oauth::{
    Application, Departure, FileStore, LoopbackListener, OAuth, Opener as _, Paste, Person, Policy,
    Registration, SystemBrowser, Visit,
};

use crate::run::{Answer, Form, document, is_url};
use crate::settings::Settings;
use crate::target::Target;
use crate::{log, safe, wait};

/// How somebody logs in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Login {
    /// A client id that was registered beforehand.
    pub(crate) client_id: Option<String>,
    /// Scopes besides those that the server asks for.
    pub(crate) scope: Option<String>,
    /// The program that opens the page, in place of the system's browser.
    pub(crate) browser: Option<String>,
    /// The address that the browser ends up at is typed.
    pub(crate) paste: bool,
}

/// What other commands use of a login that was made; none where none ever was.
pub(crate) fn credentials(settings: &Settings, url: &str) -> Option<OAuth> {
    if let Some(login) = &settings.login {
        return Some(login.clone());
    }
    let path = store_path().filter(|path| path.exists())?;
    let oauth = OAuth::person(Nobody).application(application()).policy(policy(url));
    Some(oauth.store(FileStore::new(path)).build())
}

/// Makes the credentials that `login` connects with.
///
/// # Errors
///
/// Nobody can be asked, or there is no place to keep what comes of it (usage).
pub(crate) fn prepare(login: &Login, target: &Target, settings: &Settings) -> Result<OAuth, Error> {
    let url = url_of(target)?;
    if !settings.terminal.asks && login.browser.is_none() {
        return Err(Error::usage("a login needs somebody at a terminal, or --browser PROGRAM"));
    }
    let path = place()?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::usage(format!("{}: {error}", folder.display())))?;
    }
    let browser = login.browser.clone();
    let mut builder = if login.paste {
        OAuth::person(Paste::terminal())
    } else {
        OAuth::person(LoopbackListener::new(move |url: &str| open(browser.as_deref(), url)))
    };
    builder = builder.application(application()).policy(policy(url)).store(FileStore::new(path));
    if let Some(id) = &login.client_id {
        builder = builder.registration(Registration::new(id));
    }
    if let Some(scope) = &login.scope {
        builder = builder.also_scopes(scope);
    }
    Ok(builder.build())
}

/// Tells how a login went; connecting and one request have been made with it.
///
/// # Errors
///
/// The request fails.
pub(crate) async fn log_in(
    client: &Client,
    target: &Target,
    settings: &Settings,
) -> Result<Answer, Error> {
    // Some servers want to know who asks only when something is asked for.
    if let Err(error) = client.list_tools().await
        && matches!(error.kind(), snodo::types::Kind::Authorization)
    {
        return Err(error);
    }
    let url = url_of(target)?;
    let kept = kept().into_iter().find(|kept| kept.url.as_deref() == Some(url));
    Ok(match (settings.form(), kept) {
        (Form::Json, kept) => Answer::new(document(
            &json!({
                "server": url, "loggedIn": kept.is_some(), "issuer": kept.map(|kept| kept.issuer),
            })
            .to_string(),
        )),
        (Form::People, Some(kept)) => {
            Answer::new(format!("logged in at {} for {url}\n", safe::line(&kept.issuer)))
        }
        (Form::People, None) => Answer::new(format!("{url} did not ask for a login\n")),
    })
}

/// Gives a login up.
///
/// # Errors
///
/// The authorization server cannot be told; here it is forgotten all the same.
pub(crate) async fn log_out(target: &Target, settings: &Settings) -> Result<Answer, Error> {
    let url = url_of(target)?;
    let oauth = OAuth::person(Nobody).application(application()).policy(policy(url));
    let oauth = oauth.store(FileStore::new(place()?));
    let errands = Http::new(url)?.errands();
    let done = oauth.build().sign_out(url, &errands).await;
    done.map_err(|error| Error::usage(format!("logging out: {error}")))?;
    Ok(match settings.form() {
        Form::Json => {
            Answer::new(document(&json!({ "server": url, "loggedIn": false }).to_string()))
        }
        Form::People => Answer::new(format!("logged out of {url}\n")),
    })
}

/// Lists the logins, or that for one server.
///
/// # Errors
///
/// The target has no URL (usage).
pub(crate) fn who_am_i(target: Option<&Target>, form: Form) -> Result<Answer, Error> {
    let wanted = target.map(url_of).transpose()?;
    let kept = kept().into_iter();
    let kept: Vec<Kept> =
        kept.filter(|kept| wanted.is_none() || kept.url.as_deref() == wanted).collect();
    Ok(match form {
        Form::Json => {
            let shown = kept.iter().map(|kept| {
                json!({ "server": kept.url, "issuer": kept.issuer, "clientId": kept.client })
            });
            Answer::new(document(&json!({ "logins": shown.collect::<Vec<_>>() }).to_string()))
        }
        Form::People if kept.is_empty() => {
            let text = "there is no login; `snodo login URL` makes one";
            Answer { remark: Some(text.to_owned()), ..Answer::new(String::new()) }
        }
        Form::People => {
            let line = |kept: &Kept| {
                let url = kept.url.as_deref().unwrap_or(&kept.resource);
                safe::line(&format!("{url}  at {}, as {}", kept.issuer, kept.client)).into_owned()
                    + "\n"
            };
            Answer::new(kept.iter().map(line).collect())
        }
    })
}

fn url_of(target: &Target) -> Result<&str, Error> {
    match target {
        Target::Url(url) => Ok(url),
        Target::Named(_, Server::Http(http) | Server::Sse(http)) => Ok(http.url()),
        _ if is_url(target) => Err(Error::usage("its URL is not known")),
        _ => Err(Error::usage("only servers that are reached by a URL have logins")),
    }
}

/// A login, as far as it is no secret.
#[derive(Debug, Deserialize)]
struct Kept {
    issuer: String,
    client: String,
    resource: String,
    #[serde(skip)]
    url: Option<String>,
}

/// The logins of this program; what of the file is not known here is passed over.
fn kept() -> Vec<Kept> {
    let text = store_path().and_then(|path| std::fs::read_to_string(path).ok());
    let texts: BTreeMap<String, String> =
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let kept = texts.iter().filter_map(|(key, value)| {
        // Which tokens are used at a server; those may be gone.
        let url = key.strip_prefix("server ")?.split('"').nth(1)?;
        let kept: Kept = serde_json::from_str(value).ok()?;
        let tokens = format!("tokens {:?} {:?} {:?}", kept.resource, kept.issuer, kept.client);
        texts.contains_key(&tokens).then(|| Kept { url: Some(url.to_owned()), ..kept })
    });
    kept.collect()
}

/// A server on this machine may lead to an authorization server on it: somebody is developing. Any
/// other may not.
fn policy(url: &str) -> Policy {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let address = host.parse::<std::net::IpAddr>();
    let here = host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|a| a.is_loopback());
    if here { Policy::new().allow_loopback() } else { Policy::new() }
}

fn application() -> Application {
    Application::new("snodo")
}

fn place() -> Result<PathBuf, Error> {
    store_path()
        .ok_or_else(|| Error::usage("there is no folder for settings: set SNODO_CREDENTIALS"))
}

/// The file of `SNODO_CREDENTIALS`, or one beside the user's own configuration.
fn store_path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("SNODO_CREDENTIALS").filter(|path| !path.is_empty()) {
        return Some(PathBuf::from(path));
    }
    snodo_config::settings_folder().map(|folder| folder.join("snodo/credentials.json"))
}

/// Shows the address, and starts the program that opens it.
fn open(browser: Option<&str>, url: &str) -> io::Result<()> {
    wait::stop();
    log::tell(&format!("open this page to log in:\n  {}", safe::line(url)));
    match browser {
        None => {
            // The address stands there: whoever has no browser here takes it elsewhere.
            let _ = SystemBrowser.open(url);
            Ok(())
        }
        Some(program) => {
            let mut words = program.split_whitespace();
            let name = words.next().unwrap_or_default();
            let mut command = Command::new(Path::new(name));
            command.args(words).arg(url).stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(Stdio::null()).spawn().map(drop)
        }
    }
}

/// Uses what is kept, and asks nobody.
struct Nobody;

impl Person for Nobody {
    async fn prepare(&self, _: Option<&str>) -> Result<Visit, snodo_oauth::Error> {
        Ok(Visit::new("http://127.0.0.1/callback", |_: Departure| async {
            Err(snodo_oauth::Error::person("the login is over: `snodo login URL` makes a new one"))
        }))
    }
}
