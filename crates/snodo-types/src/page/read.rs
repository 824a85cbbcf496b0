//! Reading and writing a page.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::{Item, LeftOut, Page};
use crate::json::TOGETHER;
use crate::object::{
    Member, Object, Read, Reading, Rest, Source, Unread, read_whole, write_object,
};
use crate::{Members, Raw, read_json};

impl<T: Item> Page<T> {
    /// Reads a page from its text: the same as `serde_json::from_str`, in half the time.
    ///
    /// Reading each item from a text of its own, as `Deserialize` has to, costs a second look at
    /// everything. Here the page is read in one go, and only one with an item at which the reader
    /// stops for good is read the other way. [`read_json`](crate::read_json) does the same.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or no object with the list.
    ///
    /// ```
    /// use snodo_types::ListToolsResult;
    ///
    /// let page = ListToolsResult::parse(r#"{"tools":[{"name":"a","inputSchema":{}}]}"#)?;
    /// assert_eq!(page.items.len(), 1);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        read_json(text)
    }
}

impl<T: Item> Object for Page<T> {
    const NAME: &'static str = "page";

    fn members<'de, S: Source<'de>>(source: S) -> Result<Read<Self>, S::Error> {
        read_page::<T, Apart<T>, S>(source)
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.items.entry(T::LIST, map)?;
        if let Some(cursor) = &self.next_cursor {
            cursor.entry("nextCursor", map)?;
        }
        if let Some(ttl_ms) = &self.ttl_ms {
            ttl_ms.entry("ttlMs", map)?;
        }
        if let Some(scope) = &self.cache_scope {
            scope.entry("cacheScope", map)?;
        }
        if let Some(result_type) = &self.result_type {
            result_type.entry("resultType", map)?;
        }
        if let Some(meta) = &self.meta {
            meta.entry("_meta", map)?;
        }
        for (name, value) in self.other.iter() {
            match name {
                "nextCursor" if self.next_cursor.is_some() => {}
                "ttlMs" if self.ttl_ms.is_some() => {}
                "cacheScope" if self.cache_scope.is_some() => {}
                "resultType" if self.result_type.is_some() => {}
                "_meta" if self.meta.is_some() => {}
                _ => map.serialize_entry(name, value)?,
            }
        }
        Ok(())
    }

    fn other(&self) -> &Members {
        &self.other
    }
}

impl<T: Item> Serialize for Page<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_object(self, serializer)
    }
}

impl<'de, T: Item> Deserialize<'de> for Page<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_newtype_struct(TOGETHER, PageVisitor(PhantomData))
    }
}

/// Reads a page in one go where our own reader reads it: whatever that one stops at, it leaves to
/// `serde_json`, which then sees each item by itself.
struct PageVisitor<T>(PhantomData<T>);

impl<'de, T: Item> Visitor<'de> for PageVisitor<T> {
    type Value = Page<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page")
    }

    /// Called by our reader alone.
    fn visit_some<D: Deserializer<'de>>(self, source: D) -> Result<Page<T>, D::Error> {
        AtOnce::deserialize(source).map(|page| page.0)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, source: D) -> Result<Page<T>, D::Error> {
        read_whole(source)
    }
}

fn read_page<'de, T: Item, L: Member + Into<Items<T>>, S: Source<'de>>(
    mut source: S,
) -> Result<Read<Page<T>>, S::Error> {
    let mut page = Page::new(Vec::new());
    let mut list: Option<L> = None;
    let mut rest = Rest::default();
    while let Some(name) = source.name()? {
        match &*name {
            "nextCursor" => page.next_cursor = rest.take("nextCursor", &mut source)?,
            "ttlMs" => page.ttl_ms = rest.take("ttlMs", &mut source)?,
            "cacheScope" => page.cache_scope = rest.take("cacheScope", &mut source)?,
            "resultType" => page.result_type = rest.take("resultType", &mut source)?,
            "_meta" => page.meta = rest.take("_meta", &mut source)?,
            name if name == T::LIST => list = rest.take(T::LIST, &mut source)?,
            _ => rest.other.push(name, source.raw()?),
        }
    }
    let Some(list) = list else {
        rest.need(T::LIST, "is missing");
        return Ok(rest.unread("page"));
    };
    rest.other.settle();
    let Items { mut items, left_out } = list.into();
    // A long list may be kept for long: what its growth took too much is given back.
    items.shrink_to_fit();
    Ok(Read::Is(Page { items, left_out, other: rest.other, ..page }))
}

/// The items of a page.
struct Items<T> {
    items: Vec<T>,
    left_out: LeftOut,
}

impl<T: Item> Items<T> {
    const NONE: Self =
        Self { items: Vec::new(), left_out: LeftOut { count: 0, items: Vec::new() } };

    fn add(&mut self, read: Read<T>) {
        let index = self.items.len() + self.left_out.count;
        match read {
            Read::Is(item) => self.items.push(item),
            Read::Null => self.left_out.add(index, &Raw::null(), "null"),
            Read::Not(unread) => self.left_out.add(index, &unread.raw, &unread.why),
        }
    }
}

/// Items that are read one by one, each from its own text: whatever is wrong with one, a
/// character that does not exist or a number without end, stays with it.
struct Apart<T>(Items<T>);

/// A page whose items are read in one go with it.
struct AtOnce<T>(Page<T>);

/// Items that are read in one go: what no reader can go on after ends the page.
struct Together<T>(Items<T>);

impl<T: Item> Member for Apart<T> {
    const EXPECTED: &'static str = "a list";

    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Read<Self>, A::Error> {
        let mut items = Items::NONE;
        while let Some(raw) = list.next_element::<Raw>()? {
            let mut text = serde_json::Deserializer::from_str(raw.text());
            let read = Reading::<T>::new().deserialize(&mut text);
            items.add(read.unwrap_or_else(|error| {
                Read::Not(Box::new(Unread { raw, why: error.to_string() }))
            }));
        }
        Ok(Read::Is(Self(items)))
    }
}

impl<T: Item> Member for Together<T> {
    const EXPECTED: &'static str = "a list";

    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Read<Self>, A::Error> {
        let mut items = Items::NONE;
        while let Some(read) = list.next_element_seed(Reading::<T>::new())? {
            items.add(read);
        }
        Ok(Read::Is(Self(items)))
    }
}

impl<T: Item> Member for AtOnce<T> {
    const EXPECTED: &'static str = "an object";

    fn object<'de, A: MapAccess<'de>>(map: A) -> Result<Read<Self>, A::Error> {
        Ok(read_page::<T, Together<T>, A>(map)?.map(Self))
    }
}

impl<'de, T: Item> Deserialize<'de> for AtOnce<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}

impl<T> From<Apart<T>> for Items<T> {
    fn from(list: Apart<T>) -> Self {
        list.0
    }
}

impl<T> From<Together<T>> for Items<T> {
    fn from(list: Together<T>) -> Self {
        list.0
    }
}
