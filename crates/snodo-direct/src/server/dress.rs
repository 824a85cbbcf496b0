//! What a version wants beside the result itself.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use snodo_dialect::Era;
use snodo_types::{
    CacheScope, CallToolResult, CompleteResult, DiscoverResult, ErrorObject, GetPromptResult,
    Implementation, Members, Meta, Raw, ReadResourceResult, ResultType,
};

/// Writes a result as an era wants it.
pub(super) fn write<T: Dress>(
    mut result: T,
    era: Era,
    server: &Implementation,
) -> Result<String, ErrorObject> {
    let extras = result.extras();
    match era {
        Era::Stateless => {
            let kind = extras.result_type.get_or_insert(ResultType::Complete);
            // An interim result is never cached (server utilities, "Caching").
            if let (ResultType::Complete, Some((ttl_ms, scope))) = (kind, extras.cache) {
                ttl_ms.get_or_insert(0);
                scope.get_or_insert(CacheScope::Private);
            }
            introduce(extras.meta, server);
        }
        _ => {
            *extras.result_type = None;
            if let Some((ttl_ms, scope)) = extras.cache {
                (*ttl_ms, *scope) = (None, None);
            }
        }
    }
    text(&result)
}

/// Writes a result that is the same in every era.
pub(super) fn text<T: Serialize>(result: &T) -> Result<String, ErrorObject> {
    serde_json::to_string(result).map_err(|error| {
        let text = format!("the result cannot be written as JSON: {error}");
        ErrorObject::new(ErrorObject::INTERNAL_ERROR, text)
    })
}

/// Says in `_meta` who answers, unless the handler did (basic, "`_meta`").
fn introduce(meta: &mut Option<Raw>, server: &Implementation) {
    let members = meta.as_ref().map_or_else(|| Ok(Members::new()), Raw::decode::<Members>);
    // What is no object is the handler's own and stays.
    let Ok(mut members) = members else { return };
    if members.get(Meta::SERVER_INFO).is_some() {
        return;
    }
    if let Ok(server) = Raw::of(server) {
        members.insert(Meta::SERVER_INFO, server);
        *meta = Some(Raw::from(&members));
    }
}

/// A result that a server gives.
pub(super) trait Dress: Serialize {
    fn extras(&mut self) -> Extras<'_>;
}

/// The members that depend on the version.
pub(super) struct Extras<'a> {
    result_type: &'a mut Option<ResultType>,
    meta: &'a mut Option<Raw>,
    /// Of results that may be cached.
    cache: Option<(&'a mut Option<i64>, &'a mut Option<CacheScope>)>,
}

/// A page of definitions that are written already.
pub(super) struct ListResult<'a> {
    pub(super) list: &'static str,
    pub(super) items: &'a [Raw],
    pub(super) next_cursor: Option<String>,
    ttl_ms: Option<i64>,
    cache_scope: Option<CacheScope>,
    result_type: Option<ResultType>,
    meta: Option<Raw>,
}

impl<'a> ListResult<'a> {
    pub(super) fn new(list: &'static str, items: &'a [Raw], next_cursor: Option<String>) -> Self {
        Self {
            list,
            items,
            next_cursor,
            ttl_ms: None,
            cache_scope: None,
            result_type: None,
            meta: None,
        }
    }
}

impl Serialize for ListResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.list, self.items)?;
        if let Some(cursor) = &self.next_cursor {
            map.serialize_entry("nextCursor", cursor)?;
        }
        if let Some(ttl_ms) = &self.ttl_ms {
            map.serialize_entry("ttlMs", ttl_ms)?;
        }
        if let Some(scope) = &self.cache_scope {
            map.serialize_entry("cacheScope", scope)?;
        }
        if let Some(result_type) = &self.result_type {
            map.serialize_entry("resultType", result_type)?;
        }
        if let Some(meta) = &self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        map.end()
    }
}

impl Dress for ListResult<'_> {
    fn extras(&mut self) -> Extras<'_> {
        let cache = Some((&mut self.ttl_ms, &mut self.cache_scope));
        Extras { result_type: &mut self.result_type, meta: &mut self.meta, cache }
    }
}

impl Dress for ReadResourceResult {
    fn extras(&mut self) -> Extras<'_> {
        let cache = Some((&mut self.ttl_ms, &mut self.cache_scope));
        Extras { result_type: &mut self.result_type, meta: &mut self.meta, cache }
    }
}

impl Dress for DiscoverResult {
    fn extras(&mut self) -> Extras<'_> {
        let cache = Some((&mut self.ttl_ms, &mut self.cache_scope));
        Extras { result_type: &mut self.result_type, meta: &mut self.meta, cache }
    }
}

impl Dress for CallToolResult {
    fn extras(&mut self) -> Extras<'_> {
        Extras { result_type: &mut self.result_type, meta: &mut self.meta, cache: None }
    }
}

impl Dress for GetPromptResult {
    fn extras(&mut self) -> Extras<'_> {
        Extras { result_type: &mut self.result_type, meta: &mut self.meta, cache: None }
    }
}

impl Dress for CompleteResult {
    fn extras(&mut self) -> Extras<'_> {
        Extras { result_type: &mut self.result_type, meta: &mut self.meta, cache: None }
    }
}
