//! One value where several may stand.

use std::ops::Deref;

use serde::de::{Deserializer, MapAccess, SeqAccess};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Number;

use crate::object::{Member, Read, read_whole};

/// A list that may be written as its only item, without brackets; it is written as it came.
///
/// ```
/// use snodo_types::OneOrMany;
///
/// let one = OneOrMany::one("48x48".to_owned());
/// assert_eq!(one.len(), 1);
/// assert_eq!(serde_json::to_string(&one)?, r#""48x48""#);
/// assert_eq!(serde_json::to_string(&OneOrMany::many(vec![1, 2]))?, "[1,2]");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T> {
    items: Vec<T>,
    bare: bool,
}

impl<T> OneOrMany<T> {
    /// A single item, written without brackets.
    #[must_use]
    pub fn one(item: T) -> Self {
        Self { items: vec![item], bare: true }
    }

    /// A list, written with brackets.
    #[must_use]
    pub fn many(items: Vec<T>) -> Self {
        Self { items, bare: false }
    }

    /// The items.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }
}

impl<T> Deref for OneOrMany<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> From<T> for OneOrMany<T> {
    fn from(item: T) -> Self {
        Self::one(item)
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(items: Vec<T>) -> Self {
        Self::many(items)
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.items[..] {
            [only] if self.bare => only.serialize(serializer),
            items => items.serialize(serializer),
        }
    }
}

impl<T: Member + Serialize> Member for OneOrMany<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn truth(truth: bool) -> Option<Self> {
        T::truth(truth).map(Self::one)
    }

    fn number(number: &Number) -> Option<Self> {
        T::number(number).map(Self::one)
    }

    fn text(text: &str) -> Option<Self> {
        T::text(text).map(Self::one)
    }

    fn list<'de, A: SeqAccess<'de>>(list: A) -> Result<Read<Self>, A::Error> {
        Ok(Vec::<T>::list(list)?.map(Self::many))
    }

    fn object<'de, A: MapAccess<'de>>(map: A) -> Result<Read<Self>, A::Error> {
        Ok(T::object(map)?.map(Self::one))
    }
}

impl<'de, T: Member + Serialize> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}
