//! A person with a browser: follows redirects, keeps cookies, fills in what a page asks for.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use snodo::http::Errands;
use snodo_oauth::Opener;
use tokio::runtime::Handle;

/// Opens pages as a person's browser would, and does what the person would.
#[derive(Clone)]
pub(crate) struct Browser {
    errands: Errands,
    opened: Arc<AtomicUsize>,
    refuses: Arc<AtomicBool>,
}

impl Browser {
    pub(crate) fn new(errands: Errands) -> Self {
        Self { errands, opened: Arc::default(), refuses: Arc::default() }
    }

    /// How often a page was opened.
    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }

    /// From now on the person does not agree.
    pub(crate) fn refuse(&self) {
        self.refuses.store(true, Ordering::SeqCst);
    }

    async fn visit(&self, url: String) -> Result<(), String> {
        let mut cookies = BTreeMap::new();
        let (mut page, mut filled) = (url, None);
        for _ in 0..MOST_PAGES {
            match self.load(&page, filled.take(), &mut cookies).await? {
                Shown::Form { action, .. } if self.refuses.load(Ordering::SeqCst) => {
                    page = format!("{action}/abort");
                }
                Shown::Form { action, prompt } => {
                    filled = Some(format!("prompt={prompt}&login=ada&password=lovelace"));
                    page = action;
                }
                Shown::Redirect(to) => page = to,
                Shown::Text => return Ok(()),
            }
        }
        Err(format!("no end of pages, the last at {page}"))
    }

    async fn load(
        &self,
        page: &str,
        filled: Option<String>,
        cookies: &mut BTreeMap<String, String>,
    ) -> Result<Shown, String> {
        let mut headers = HeaderMap::new();
        let jar: Vec<_> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let jar = HeaderValue::from_str(&jar.join("; ")).map_err(|error| error.to_string())?;
        headers.insert(COOKIE, jar);
        let method = if filled.is_some() { Method::POST } else { Method::GET };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(FORM));
        let body = filled.unwrap_or_default().into_bytes();
        let answer = self.errands.send(method, page, headers, body).await;
        let answer = answer.map_err(|error| format!("{page}: {error}"))?;
        for cookie in texts(answer.headers(), &SET_COOKIE) {
            let pair = cookie.split(';').next().and_then(|pair| pair.split_once('='));
            match pair {
                Some((name, "")) => drop(cookies.remove(name)),
                Some((name, value)) => drop(cookies.insert(name.to_owned(), value.to_owned())),
                None => {}
            }
        }
        let (status, text) = (answer.status(), String::from_utf8_lossy(answer.body()));
        match texts(answer.headers(), &LOCATION).next() {
            Some(to) if status.is_redirection() => Ok(Shown::Redirect(resolved(page, to))),
            _ if status != 200 => Err(format!("{page} is shown as HTTP {status}: {text}")),
            _ => Ok(Shown::read(&text)),
        }
    }
}

impl Opener for Browser {
    fn open(&self, url: &str) -> io::Result<()> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        let (browser, url) = (self.clone(), url.to_owned());
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        // It ends with its pages, or with the runtime.
        runtime.spawn(async move {
            if let Err(why) = browser.visit(url).await {
                eprintln!("the browser: {why}");
            }
        });
        Ok(())
    }
}

/// What a page comes to.
enum Shown {
    Form { action: String, prompt: String },
    Redirect(String),
    Text,
}

impl Shown {
    /// Reads a page as the server's own pages are written.
    fn read(text: &str) -> Self {
        let between = |start: &str, end: &str| {
            let (_, rest) = text.split_once(start)?;
            rest.split_once(end).map(|(found, _)| found.to_owned())
        };
        let form = between("<form autocomplete=\"off\" action=\"", "\"");
        match form.zip(between("name=\"prompt\" value=\"", "\"")) {
            Some((action, prompt)) => Self::Form { action, prompt },
            None => Self::Text,
        }
    }
}

fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
}

/// A reference as a page of the same server writes it: a whole URL, or a path.
fn resolved(page: &str, to: &str) -> String {
    let origin = page.match_indices('/').nth(2).map_or(page, |(at, _)| &page[..at]);
    if to.starts_with('/') { format!("{origin}{to}") } else { to.to_owned() }
}

const FORM: &str = "application/x-www-form-urlencoded";

/// The most pages of a login.
const MOST_PAGES: usize = 20;
