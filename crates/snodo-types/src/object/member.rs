//! Reading one value, whatever it turns out to be.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{Members, Raw};

/// Something that can stand as the value of a member, told by the kinds of JSON it may be.
pub(crate) trait Member: Sized {
    const EXPECTED: &'static str;

    fn truth(_: bool) -> Option<Self> {
        None
    }

    fn number(_: &Number) -> Option<Self> {
        None
    }

    fn text(_: &str) -> Option<Self> {
        None
    }

    fn owned_text(text: String) -> Result<Self, String> {
        Self::text(&text).ok_or(text)
    }

    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Read<Self>, A::Error> {
        let mut items: Vec<Raw> = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        unread(Self::EXPECTED, &items)
    }

    fn object<'de, A: MapAccess<'de>>(map: A) -> Result<Read<Self>, A::Error> {
        match <Members as Member>::object(map)? {
            Read::Is(members) => unread(Self::EXPECTED, &members),
            Read::Null => Ok(Read::Null),
            Read::Not(unread) => Ok(Read::Not(unread)),
        }
    }

    /// What an item of a list becomes that is none; `None` where the list cannot be without it.
    fn stray(_: &Raw) -> Option<Self> {
        None
    }

    fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Read<Self>, D::Error> {
        source.deserialize_any(Reading(PhantomData))
    }

    fn entry<M: SerializeMap>(&self, name: &'static str, map: &mut M) -> Result<(), M::Error>
    where
        Self: Serialize,
    {
        map.serialize_entry(name, self)
    }
}

/// Reads a value as a `T`, or tells why it is none.
pub(crate) struct Reading<T>(PhantomData<T>);

impl<T> Reading<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Member> DeserializeSeed<'de> for Reading<T> {
    type Value = Read<T>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Read<T>, D::Error> {
        T::read(source)
    }
}

impl<'de, T: Member> Visitor<'de> for Reading<T> {
    type Value = Read<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<Read<T>, E> {
        T::truth(truth).map_or_else(|| unread(T::EXPECTED, &truth), |value| Ok(Read::Is(value)))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Read<T>, E> {
        read_number(&Number::from(number))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Read<T>, E> {
        read_number(&Number::from(number))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Read<T>, E> {
        match Number::from_f64(number) {
            Some(number) => read_number(&number),
            None => Err(E::custom("a number is not finite")),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Read<T>, E> {
        T::text(text).map_or_else(|| unread(T::EXPECTED, text), |value| Ok(Read::Is(value)))
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Read<T>, E> {
        match T::owned_text(text) {
            Ok(value) => Ok(Read::Is(value)),
            Err(text) => unread(T::EXPECTED, &text),
        }
    }

    fn visit_unit<E>(self) -> Result<Read<T>, E> {
        Ok(Read::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Read<T>, A::Error> {
        T::list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Read<T>, A::Error> {
        T::object(map)
    }
}

/// What came of reading one value.
pub(crate) enum Read<T> {
    /// The value is one.
    Is(T),
    /// The value is `null`.
    Null,
    /// The value is something else.
    Not(Box<Unread>),
}

impl<T> Read<T> {
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        match self {
            Self::Is(value) => Read::Is(change(value)),
            Self::Null => Read::Null,
            Self::Not(unread) => Read::Not(unread),
        }
    }
}

/// A value that is not what was expected in its place.
pub(crate) struct Unread {
    pub(crate) raw: Raw,
    pub(crate) why: String,
}

/// Reads a value that has to be a `T`.
pub(crate) fn read_whole<'de, T: Member, D: Deserializer<'de>>(source: D) -> Result<T, D::Error> {
    match T::read(source)? {
        Read::Is(value) => Ok(value),
        Read::Null => Err(D::Error::custom(format_args!("null is not {}", T::EXPECTED))),
        Read::Not(unread) => Err(D::Error::custom(unread.why)),
    }
}

/// Reads an object that stays text.
pub(crate) fn object_text<'de, T, D: Deserializer<'de>>(
    source: D,
    wrap: impl FnOnce(Raw) -> T,
) -> Result<Read<T>, D::Error> {
    let raw = Raw::deserialize(source)?;
    Ok(if raw.is_object() {
        Read::Is(wrap(raw))
    } else if raw.is_null() {
        Read::Null
    } else {
        Read::Not(Box::new(Unread { raw, why: "not an object".to_owned() }))
    })
}

/// The answer for a value that is not what was expected.
pub(crate) fn unread<T, V: Serialize + ?Sized, E: serde::de::Error>(
    expected: &str,
    value: &V,
) -> Result<Read<T>, E> {
    let raw = Raw::of(value).map_err(E::custom)?;
    Ok(Read::Not(Box::new(Unread { raw, why: format!("not {expected}") })))
}

fn read_number<T: Member, E: serde::de::Error>(number: &Number) -> Result<Read<T>, E> {
    T::number(number).map_or_else(|| unread(T::EXPECTED, number), |value| Ok(Read::Is(value)))
}
