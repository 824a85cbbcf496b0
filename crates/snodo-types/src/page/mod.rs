//! Pages of lists.

mod read;

use crate::object::object;
use crate::{
    CacheHints, CacheScope, Members, Meta, Prompt, Raw, Resource, ResourceTemplate, ResultType,
    Task, Tool, lens,
};

/// The result of `tools/list`.
///
/// ```
/// let text = r#"{"tools":[{"name":"echo","inputSchema":{}}],"nextCursor":"2"}"#;
/// let page: snodo_types::ListToolsResult = serde_json::from_str(text).expect("a page");
/// assert_eq!((page.items[0].name.as_str(), page.next_cursor.as_deref()), ("echo", Some("2")));
/// ```
pub type ListToolsResult = Page<Tool>;

/// The result of `resources/list`.
///
/// ```
/// let text = r#"{"resources":[{"uri":"file:///a","name":"a"}]}"#;
/// let page: snodo_types::ListResourcesResult = serde_json::from_str(text)?;
/// assert_eq!((page.items[0].uri.as_str(), page.next_cursor), ("file:///a", None));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type ListResourcesResult = Page<Resource>;

/// The result of `resources/templates/list`.
///
/// ```
/// let text = r#"{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files"}]}"#;
/// let page: snodo_types::ListResourceTemplatesResult = serde_json::from_str(text)?;
/// assert_eq!(page.items[0].uri_template, "file:///{path}");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type ListResourceTemplatesResult = Page<ResourceTemplate>;

/// The result of `prompts/list`.
///
/// ```
/// let text = r#"{"prompts":[{"name":"review","arguments":[{"name":"code","required":true}]}]}"#;
/// let page: snodo_types::ListPromptsResult = serde_json::from_str(text)?;
/// let arguments = page.items[0].arguments.as_deref().unwrap_or_default();
/// assert_eq!(arguments[0].name, "code");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type ListPromptsResult = Page<Prompt>;

/// The result of `tasks/list`, 2025-11-25.
///
/// ```
/// let text = r#"{"tasks":[{"taskId":"7","status":"working","createdAt":"2025-11-25T10:30:00Z",
///     "lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":60000}]}"#;
/// let page: snodo_types::ListTasksResult = serde_json::from_str(text)?;
/// assert_eq!(page.items[0].ttl, Some(60_000));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type ListTasksResult = Page<Task>;

/// A page of a list.
///
/// An item that cannot be read is left out and counted; it never loses the page. A page without
/// its list is an error.
///
/// ```
/// use snodo_types::ListToolsResult;
///
/// let page: ListToolsResult = serde_json::from_str(
///     r#"{"tools":[{"name":"a","inputSchema":{}},{"title":"nameless"}],"nextCursor":""}"#,
/// )?;
/// assert_eq!(page.items[0].name, "a");
/// assert_eq!(page.left_out.count(), 1);
/// assert_eq!(page.next_cursor.as_deref(), Some(""));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items that could be read, in the server's order.
    pub items: Vec<T>,
    /// Where the list goes on; `None` at its end. The empty string is a cursor too.
    pub next_cursor: Option<String>,
    /// 2026-07-28: for how many milliseconds it is fresh; read by
    /// [`cache_hints`](Self::cache_hints).
    pub ttl_ms: Option<i64>,
    /// 2026-07-28: who may be served with it from a cache.
    pub cache_scope: Option<CacheScope>,
    /// What kind of answer it is; absent means complete.
    pub result_type: Option<ResultType>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// The items that could not be read.
    pub left_out: LeftOut,
    /// Members without a name here.
    pub other: Members,
}

/// Something that comes in pages.
///
/// ```
/// use snodo_types::{Item, Tool};
/// assert_eq!(Tool::LIST, "tools");
/// ```
pub trait Item: sealed::Sealed {
    /// The member of the result that holds the list.
    const LIST: &'static str;
}

/// The items of a page that could not be read: how many, and of the first sixteen why.
///
/// ```
/// use snodo_types::ListToolsResult;
///
/// let page: ListToolsResult = serde_json::from_str(r#"{"tools":[{"name":"a"},null]}"#)?;
/// let first = &page.left_out.items()[0];
/// assert_eq!((first.index, first.name.as_deref()), (0, Some("a")));
/// assert!(first.reason.contains("inputSchema"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    count: usize,
    items: Vec<LeftOutItem>,
}

/// An item of a page that could not be read.
///
/// ```
/// # use snodo_types::ListPromptsResult;
/// let page: ListPromptsResult = serde_json::from_str(r#"{"prompts":[5]}"#)?;
/// assert_eq!(page.left_out.items()[0].to_string(), "item 0: not an object");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOutItem {
    /// Its place in the list as it came.
    pub index: usize,
    /// Its name or URI, if that could be read; cut at 128 characters.
    pub name: Option<String>,
    /// Why it could not be read; cut at 256 characters.
    pub reason: String,
}

/// The params of a request for a page.
///
/// ```
/// use snodo_types::ListParams;
///
/// assert_eq!(serde_json::to_string(&ListParams::after("c2"))?, r#"{"cursor":"c2"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListParams {
    /// Where to go on: exactly what the page before gave; absent for the first page.
    pub cursor: Option<String>,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl<T> Page<T> {
    /// A page that is the whole list.
    #[must_use]
    pub fn new(items: Vec<T>) -> Self {
        Self {
            items,
            next_cursor: None,
            ttl_ms: None,
            cache_scope: None,
            result_type: None,
            meta: None,
            left_out: LeftOut::default(),
            other: Members::new(),
        }
    }

    /// Says where the list goes on.
    #[must_use]
    pub fn with_next_cursor(mut self, cursor: impl Into<String>) -> Self {
        self.next_cursor = Some(cursor.into());
        self
    }

    /// What may be kept of it, and for how long.
    #[must_use]
    pub fn cache_hints(&self) -> CacheHints {
        CacheHints::new(self.ttl_ms, self.cache_scope.as_ref())
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl LeftOut {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first sixteen.
    #[must_use]
    pub fn items(&self) -> &[LeftOutItem] {
        &self.items
    }

    fn add(&mut self, index: usize, raw: &Raw, why: &str) {
        self.count += 1;
        if self.items.len() < REASONS {
            let names = ["name", "uri", "uriTemplate", "taskId"];
            let name = names.iter().find_map(|name| lens::read::<String>(raw.text(), &[name]));
            let name = name.map(|name| name.chars().take(128).collect());
            let reason = why.chars().take(256).collect();
            self.items.push(LeftOutItem { index, name, reason });
        }
    }
}

impl std::fmt::Display for LeftOutItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "item {}", self.index)?;
        if let Some(name) = &self.name {
            write!(f, " ({name:?})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl ListParams {
    /// Asks for the first page.
    #[must_use]
    pub fn first() -> Self {
        Self::default()
    }

    /// Asks for the page after this cursor.
    #[must_use]
    pub fn after(cursor: impl Into<String>) -> Self {
        Self { cursor: Some(cursor.into()), ..Self::default() }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

impl Item for Tool {
    const LIST: &'static str = "tools";
}

impl Item for Resource {
    const LIST: &'static str = "resources";
}

impl Item for ResourceTemplate {
    const LIST: &'static str = "resourceTemplates";
}

impl Item for Prompt {
    const LIST: &'static str = "prompts";
}

impl Item for Task {
    const LIST: &'static str = "tasks";
}

mod sealed {
    /// What may come in pages: the nouns of this crate.
    #[expect(
        private_bounds,
        unnameable_types,
        reason = "sealed: nobody outside implements or names it"
    )]
    pub trait Sealed: crate::object::Member + serde::Serialize {}

    impl<T: crate::object::Object + serde::Serialize> Sealed for T {}
}

object! {
    impl ListParams {
        optional cursor: "cursor",
        optional meta: "_meta";
        other
    }
}

/// How many reasons are kept of one page.
const REASONS: usize = 16;
