//! Lists, page by page or whole.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use serde::Serialize;
use snodo_dialect::{Era, Params};
use snodo_transport::BoxFuture;
use snodo_types::{
    Error, ErrorObject, Item, Page, Prompt, Resource, ResourceTemplate, Tool, TraceContext,
};

use crate::call::{Call, Renews};
use crate::client::Core;
use crate::request::Finish;
use crate::tools;
use crate::{CacheMode, Client, Reply, Request, Response};

/// Which list of a server.
///
/// ```
/// # use snodo::{Client, ListKind};
/// # async fn first(client: Client) -> Result<(), snodo::Error> {
/// let page = client.list_page(ListKind::PROMPTS, None).await?;
/// println!("{} and then {:?}", page.items.len(), page.next_cursor);
/// # Ok(())
/// # }
/// ```
pub struct ListKind<T> {
    method: &'static str,
    /// What is done to each page before the caller gets it.
    finish: Finish<Page<T>>,
}

impl<T> ListKind<T> {
    const fn new(method: &'static str, finish: Finish<Page<T>>) -> Self {
        Self { method, finish }
    }
}

impl ListKind<Prompt> {
    /// The prompts.
    pub const PROMPTS: Self =
        Self::new("prompts/list", |page, core| tell_left_out("prompts/list", page, core));
}

impl ListKind<Resource> {
    /// The resources that have a URI of their own.
    pub const RESOURCES: Self =
        Self::new("resources/list", |page, core| tell_left_out("resources/list", page, core));
}

impl ListKind<ResourceTemplate> {
    /// The templates of resource URIs.
    pub const RESOURCE_TEMPLATES: Self = Self::new("resources/templates/list", |page, core| {
        tell_left_out("resources/templates/list", page, core);
    });
}

impl ListKind<Tool> {
    /// The tools.
    pub const TOOLS: Self = Self::new("tools/list", |page, core| {
        tell_left_out("tools/list", page, core);
        tools::sift(page, core);
    });
}

impl<T> Clone for ListKind<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ListKind<T> {}

impl<T> fmt::Debug for ListKind<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListKind").field(&self.method).finish()
    }
}

/// A list that is fetched when it is awaited: every page, at most the client's `max_pages` and no
/// more than its `max_list_bytes`.
///
/// An item that cannot be read is left out and logged; it never loses the list.
///
/// ```
/// # async fn show(client: snodo::Client) -> Result<(), snodo::Error> {
/// for tool in client.list_tools().await? {
///     println!("{}", tool.name);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// What a page's [`Request`] may give; and -32000 (`Transport`) when the server repeats a cursor,
/// goes on after the last page allowed, or sends more than is allowed. What was fetched before is
/// given up.
///
/// Before 2026-07-28 a cursor is of one session: a list whose session is lost between two pages begins
/// anew, once.
///
/// # Cancel safety
///
/// Dropping the future cancels the request under way; what was fetched is lost.
#[must_use = "a list is fetched when it is awaited"]
pub struct List<T> {
    client: Client,
    kind: ListKind<T>,
    /// What each page is asked with, but for its cursor.
    call: Result<Call, Error>,
}

impl<T: Item> List<T> {
    pub(crate) fn new(client: &Client, kind: ListKind<T>) -> Self {
        let request = snodo_dialect::Request::new(kind.method, Params::new());
        Self { client: client.clone(), kind, call: Ok(Call::new(client.core(), request)) }
    }

    /// How long to wait for each page; `None` waits for ever.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        if let Ok(call) = &mut self.call {
            call.limits.timeout = timeout.into();
        }
        self
    }

    /// Adds a member to the `_meta` of each page's request; see [`Request::meta`].
    pub fn meta(self, name: impl Into<Cow<'static, str>>, value: impl Serialize) -> Self {
        self.edit(|call| call.add_meta(name, value))
    }

    /// Sends a trace context with each page's request; see [`Request::trace_context`].
    pub fn trace_context(self, context: TraceContext) -> Self {
        self.edit(|call| {
            call.request.trace = Some(context);
            Ok(())
        })
    }

    /// Sends a header with each page's request; see [`Request::header`].
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.edit(|call| call.add_header(name.into(), value.into()))
    }

    /// What each page's request does about the client's cache; see [`Request::cache`]. Pages are
    /// kept one by one: [`CacheMode::Refresh`] gives a list that was fetched as a whole.
    pub fn cache(mut self, mode: CacheMode) -> Self {
        if let Ok(call) = &mut self.call {
            call.cache = mode;
        }
        self
    }

    fn edit(mut self, change: impl FnOnce(&mut Call) -> Result<(), Error>) -> Self {
        if let Ok(call) = &mut self.call {
            call.plain = false;
            if let Err(error) = change(call) {
                self.call = Err(error);
            }
        }
        self
    }

    /// The same list once more.
    fn again(&self) -> Self {
        Self { client: self.client.clone(), kind: self.kind, call: self.call.clone() }
    }

    /// The request for one page; the cursor may be known to be of the session of this epoch.
    pub(crate) fn page(&self, cursor: Option<&str>, session: Option<u64>) -> Request<Page<T>> {
        let call = self.call.clone().and_then(|mut call| {
            if let Some(cursor) = cursor {
                call.request.params = Params::new().with("cursor", cursor)?;
                if let Some(epoch) = session {
                    call.renews = Renews::Within(epoch);
                }
            }
            Ok(call)
        });
        Request::of_call(&self.client, call).finish(self.kind.finish)
    }

    /// The pages one at a time, each fetched when it is asked for.
    pub fn pages(self) -> Pages<T> {
        let guard = snodo_engine::Pages::new(self.client.core().options.max_pages);
        Pages { list: self, guard, next: Some(None), session: None, fetching: None }
    }
}

impl<T: Item + Send + 'static> IntoFuture for List<T> {
    type Output = Result<Vec<T>, Error>;
    type IntoFuture = BoxFuture<'static, Result<Vec<T>, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let kept = self.client.core().desk().is_some();
            let limit = self.client.core().options.max_list_bytes;
            let mut again = Some(self.again());
            let mut pages = self.pages();
            let mut items = Vec::new();
            let (mut read, mut bytes) = (0, 0);
            while let Some(page) = pages.next().await {
                match page {
                    // 2026-07-28, caching, "Interaction with Pagination": kept pages may lead to a
                    // cursor that the server has forgotten; and before that version a cursor is
                    // of one session. Then the list begins anew, once.
                    Err(error)
                        if read > 0
                            && (pages.lost_session()
                                || kept && error.code() == ErrorObject::INVALID_PARAMS) =>
                    {
                        let Some(list) = again.take() else { return Err(error) };
                        (pages, items, read, bytes) = (list.pages(), Vec::new(), 0, 0);
                        continue;
                    }
                    page => {
                        let page = page?;
                        bytes += page.raw().len() + page.items.len() * size_of::<T>();
                        if bytes > limit {
                            let target = &pages.list.client.core().target;
                            return Err(Error::list_limit(limit).at(pages.list.kind.method, target));
                        }
                        items.append(&mut page.into_inner().items);
                    }
                }
                read += 1;
            }
            Ok(items)
        })
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("kind", &self.kind)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

/// The pages of a list, as a stream. It ends after the last page or the first error. Before
/// 2026-07-28 the loss of the session between two pages is one: its cursors are of no use in another.
///
/// ```
/// # async fn show(client: snodo::Client) -> Result<(), snodo::Error> {
/// let mut pages = client.list_resources().pages();
/// while let Some(page) = pages.next().await {
///     println!("{} more", page?.items.len());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "pages are fetched when they are asked for"]
pub struct Pages<T> {
    list: List<T>,
    guard: snodo_engine::Pages,
    /// The cursor to go on with; `None` after the end.
    next: Option<Option<String>>,
    /// The epoch of the session whose cursor that is; `None` where cursors are of no session.
    session: Option<u64>,
    fetching: Option<Response<Page<T>>>,
}

impl<T: Item> Pages<T> {
    /// Whether the session that the pages so far are of is no longer the one of today.
    fn lost_session(&self) -> bool {
        self.session.is_some_and(|epoch| self.list.client.core().connection().epoch != epoch)
    }

    /// The next page; `None` after the last one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future keeps the page's request running; the next call goes on with it.
    ///
    /// # Errors
    ///
    /// See [`List`].
    pub async fn next(&mut self) -> Option<Result<Reply<Page<T>>, Error>> {
        poll_fn(|cx| self.poll_page(cx)).await
    }

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Reply<Page<T>>, Error>>> {
        let fetching = match (&mut self.fetching, &mut self.next) {
            (Some(fetching), _) => fetching,
            (None, Some(cursor)) => {
                let page = self.list.page(cursor.as_deref(), self.session);
                self.fetching.insert(page.into_future())
            }
            (None, None) => return Poll::Ready(None),
        };
        let fetched = ready!(Pin::new(&mut *fetching).poll(cx));
        let connection = self.list.client.core().connection();
        if fetched.is_ok() {
            let sessions = connection.opened.dialect.era() == Era::Initialize;
            self.session = sessions.then(|| fetching.epoch().unwrap_or(connection.epoch));
        }
        self.fetching = None;
        self.next = None;
        let turned = fetched.and_then(|page| {
            let target = &self.list.client.core().target;
            let next = match page.other.get("nextCursor") {
                // A list that goes on is not taken for one that ends (2026-07-28, pagination).
                Some(_) => Err(Error::decode("`nextCursor` is no text")),
                None => self.guard.turn(page.next_cursor.clone()),
            };
            self.next = next.map_err(|error| error.at(self.list.kind.method, target))?.map(Some);
            Ok(page)
        });
        Poll::Ready(Some(turned))
    }
}

impl<T: Item> Stream for Pages<T> {
    type Item = Result<Reply<Page<T>>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_page(cx)
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("list", &self.list).finish_non_exhaustive()
    }
}

/// An item that cannot be read loses no list, and is not lost without a word.
fn tell_left_out<T>(method: &'static str, page: &Page<T>, core: &Core) {
    for item in page.left_out.items() {
        tracing::warn!(method, server = core.target, %item, "left out of the list");
    }
}
