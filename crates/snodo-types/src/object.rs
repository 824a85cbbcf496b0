//! How the nouns are read and written: one pass, nothing lost.
//!
//! Two rules stand behind everything here. A value of the wrong kind never stops the reading of
//! what is around it: an optional member reads as absent and stays in `other`, and only the
//! smallest thing that cannot do without the member is [`Unread`]. And nothing is copied to find
//! out what it is: members go straight from the text into the place they belong to.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{Members, Raw};

/// Implements reading and writing for a noun that is declared as a plain struct or enum.
///
/// `impl T { kind field: "member", …; other }` is for a struct; the kinds are
/// - `required`: a `T` that has to be there;
/// - `optional`: an `Option<T>`; `null` reads as absent;
/// - `default`: a `T` whose absence reads as `T::default()`, always written;
/// - `nullable`: an `Option<T>` written as `null` when it is `None`;
/// - `any`: an `Option<Raw>` in which `null` is a value.
///
/// `words T { Variant: "text", … }` is for an enum of strings with an arm `Other(Box<str>)`.
macro_rules! object {
    (impl $Type:ident { $($kind:ident $field:ident: $name:literal),* $(,)?; other }) => {
        impl $crate::object::Object for $Type {
            const NAME: &'static str = stringify!($Type);

            fn members<'de, S: $crate::object::Source<'de>>(
                mut source: S,
            ) -> Result<$crate::object::Read<Self>, S::Error> {
                $(let mut $field = None;)*
                let mut rest = $crate::object::Rest::default();
                while let Some(name) = source.name()? {
                    match &*name {
                        $($name => object!(@take $kind $field $name source rest),)*
                        _ => rest.other.push(name, source.raw()?),
                    }
                }
                $(object!(@check $kind $field $name rest);)*
                if rest.wrong.is_some() {
                    $(rest.put_back($name, &$field);)*
                    return Ok(rest.unread(Self::NAME));
                }
                rest.other.settle();
                Ok($crate::object::Read::Is(Self {
                    $($field: object!(@build $kind $field),)*
                    other: rest.other,
                }))
            }

            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $(object!(@write $kind self $field $name map);)*
                for (name, value) in self.other.iter() {
                    match name {
                        $($name if object!(@has $kind self $field) => {})*
                        _ => map.serialize_entry(name, value)?,
                    }
                }
                Ok(())
            }

            fn other(&self) -> &$crate::Members {
                &self.other
            }
        }

        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::object::write_object(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                $crate::object::read_whole(source)
            }
        }
    };

    (words $Type:ident { $($Variant:ident: $text:literal),* $(,)? }) => {
        impl $Type {
            /// The word as it is written on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$Variant => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $Type {
            /// A word that is not known becomes `Other`.
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$Variant,)*
                    _ => Self::Other(text.into()),
                }
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::object::Member for $Type {
            const EXPECTED: &'static str = "a string";

            fn text(text: &str) -> Option<Self> {
                Some(Self::from(text))
            }
        }

        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                $crate::object::read_whole(source)
            }
        }
    };

    (@take any $field:ident $name:literal $source:ident $rest:ident) => {
        $field = Some($source.raw()?)
    };
    (@take $kind:ident $field:ident $name:literal $source:ident $rest:ident) => {
        $field = $rest.take($name, &mut $source)?
    };

    (@check required $field:ident $name:literal $rest:ident) => {
        if $field.is_none() {
            $rest.need($name, "is missing");
        }
    };
    (@check default $field:ident $name:literal $rest:ident) => {
        if $field.is_none() && $rest.refused($name) {
            $rest.need($name, "is missing");
        }
    };
    (@check $kind:ident $field:ident $name:literal $rest:ident) => {};

    (@build required $field:ident) => {
        // Checked above; without it the text would be unread.
        match $field {
            Some(value) => value,
            None => return Ok($crate::object::Read::Null),
        }
    };
    (@build default $field:ident) => { $field.unwrap_or_default() };
    (@build $kind:ident $field:ident) => { $field };

    (@write required $self:ident $field:ident $name:literal $map:ident) => {
        $crate::object::Member::entry(&$self.$field, $name, $map)?
    };
    (@write default $self:ident $field:ident $name:literal $map:ident) => {
        $crate::object::Member::entry(&$self.$field, $name, $map)?
    };
    (@write nullable $self:ident $field:ident $name:literal $map:ident) => {
        match &$self.$field {
            Some(value) => $crate::object::Member::entry(value, $name, $map)?,
            None => $map.serialize_entry($name, &())?,
        }
    };
    (@write $kind:ident $self:ident $field:ident $name:literal $map:ident) => {
        if let Some(value) = &$self.$field {
            $crate::object::Member::entry(value, $name, $map)?;
        }
    };

    (@has optional $self:ident $field:ident) => { $self.$field.is_some() };
    (@has any $self:ident $field:ident) => { $self.$field.is_some() };
    (@has $kind:ident $self:ident $field:ident) => { true };
}
pub(crate) use object;

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

/// A struct whose members have names.
pub(crate) trait Object: Sized {
    const NAME: &'static str;

    fn members<'de, S: Source<'de>>(source: S) -> Result<Read<Self>, S::Error>;

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    fn other(&self) -> &Members;
}

/// The members of an object, one after the other.
pub(crate) trait Source<'de> {
    type Error: serde::de::Error;

    /// The name of the next member.
    fn name(&mut self) -> Result<Option<Cow<'de, str>>, Self::Error>;

    /// Its value, as a `T`.
    fn value<T: Member>(&mut self) -> Result<Read<T>, Self::Error>;

    /// Its value, as text.
    fn raw(&mut self) -> Result<Raw, Self::Error>;
}

impl<'de, A: MapAccess<'de>> Source<'de> for A {
    type Error = A::Error;

    fn name(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        Ok(self.next_key::<Key<'de>>()?.map(|key| key.0))
    }

    fn value<T: Member>(&mut self) -> Result<Read<T>, A::Error> {
        self.next_value_seed(Reading::<T>(PhantomData))
    }

    fn raw(&mut self) -> Result<Raw, A::Error> {
        self.next_value()
    }
}

/// Something that can stand as the value of a member, told by the kinds of JSON it may be.
pub(crate) trait Member: Sized + Serialize {
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

    fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Read<Self>, D::Error> {
        source.deserialize_any(Reading(PhantomData))
    }

    fn entry<M: SerializeMap>(&self, name: &'static str, map: &mut M) -> Result<(), M::Error> {
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

/// What an object holds beside the members it knows, and what is wrong with those.
#[derive(Default)]
pub(crate) struct Rest {
    pub(crate) other: Members,
    refusals: Vec<(&'static str, String)>,
    pub(crate) wrong: Option<String>,
}

impl Rest {
    /// Reads the value of a known member; of another kind, it goes to the others.
    pub(crate) fn take<'de, T: Member, S: Source<'de>>(
        &mut self,
        name: &'static str,
        source: &mut S,
    ) -> Result<Option<T>, S::Error> {
        Ok(match source.value()? {
            Read::Is(value) => Some(value),
            Read::Null => None,
            Read::Not(unread) => {
                if !self.refused(name) {
                    self.refusals.push((name, unread.why));
                }
                self.other.push(name, unread.raw);
                None
            }
        })
    }

    /// Whether a value of this member was of another kind.
    pub(crate) fn refused(&self, name: &str) -> bool {
        self.refusals.iter().any(|(refused, _)| *refused == name)
    }

    /// Notes that the object cannot be without this member.
    pub(crate) fn need(&mut self, name: &'static str, missing: &str) {
        if self.wrong.is_none() {
            let why = self.refusals.iter().find(|(refused, _)| *refused == name);
            let why = why.map_or(missing, |(_, why)| why);
            self.wrong = Some(format!("`{name}`: {why}"));
        }
    }

    /// Puts a member that was read back to the text it came from.
    pub(crate) fn put_back<T: Serialize>(&mut self, name: &'static str, value: &Option<T>) {
        if let Some(Ok(raw)) = value.as_ref().map(Raw::of) {
            self.other.push(name, raw);
        }
    }

    /// The whole object as something that could not be read.
    pub(crate) fn unread<T>(mut self, name: &str) -> Read<T> {
        self.other.settle();
        let why = format!("{name}: {}", self.wrong.unwrap_or_default());
        Read::Not(Box::new(Unread { raw: Raw::from(&self.other), why }))
    }
}

/// The name of a member, borrowed from the text where it has no escapes.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a member")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }

        source.deserialize_str(KeyVisitor)
    }
}

/// Reads a value that has to be a `T`.
pub(crate) fn read_whole<'de, T: Member, D: Deserializer<'de>>(source: D) -> Result<T, D::Error> {
    match T::read(source)? {
        Read::Is(value) => Ok(value),
        Read::Null => Err(D::Error::custom(format_args!("null is not {}", T::EXPECTED))),
        Read::Not(unread) => Err(D::Error::custom(unread.why)),
    }
}

/// Writes an object with all its members.
pub(crate) fn write_object<T: Object, S: serde::Serializer>(
    object: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    object.write(&mut map)?;
    map.end()
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

impl<T: Object + Serialize> Member for T {
    const EXPECTED: &'static str = "an object";

    fn object<'de, A: MapAccess<'de>>(map: A) -> Result<Read<Self>, A::Error> {
        Self::members(map)
    }
}

impl Member for bool {
    const EXPECTED: &'static str = "true or false";

    fn truth(truth: bool) -> Option<Self> {
        Some(truth)
    }
}

impl Member for u64 {
    const EXPECTED: &'static str = "a whole number, not negative";

    fn number(number: &Number) -> Option<Self> {
        number.as_u64().or_else(|| whole(number).and_then(|whole| Self::try_from(whole).ok()))
    }
}

impl Member for i64 {
    const EXPECTED: &'static str = "a whole number";

    fn number(number: &Number) -> Option<Self> {
        number.as_i64().or_else(|| whole(number))
    }
}

impl Member for f64 {
    const EXPECTED: &'static str = "a number";

    fn number(number: &Number) -> Option<Self> {
        number.as_f64()
    }

    /// A whole number is written without a fraction, as it most likely came.
    fn entry<M: SerializeMap>(&self, name: &'static str, map: &mut M) -> Result<(), M::Error> {
        match Number::from_f64(*self).as_ref().and_then(whole) {
            Some(whole) => map.serialize_entry(name, &whole),
            None => map.serialize_entry(name, self),
        }
    }
}

impl Member for Number {
    const EXPECTED: &'static str = "a number";

    fn number(number: &Number) -> Option<Self> {
        Some(number.clone())
    }
}

impl Member for String {
    const EXPECTED: &'static str = "a string";

    fn text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn owned_text(text: String) -> Result<Self, String> {
        Ok(text)
    }
}

impl Member for Raw {
    const EXPECTED: &'static str = "a value";

    fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Read<Self>, D::Error> {
        let raw = Self::deserialize(source)?;
        Ok(if raw.is_null() { Read::Null } else { Read::Is(raw) })
    }
}

impl<T: Member> Member for Vec<T> {
    const EXPECTED: &'static str = "a list";

    /// A list of which one item cannot be read is unread as a whole, with nothing lost.
    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Read<Self>, A::Error> {
        let mut items = Self::new();
        while let Some(item) = list.next_element_seed(Reading::<T>::new())? {
            let (raw, why) = match item {
                Read::Is(item) => {
                    items.push(item);
                    continue;
                }
                Read::Null => (Raw::of(&()).map_err(A::Error::custom)?, "null".to_owned()),
                Read::Not(unread) => (unread.raw, unread.why),
            };
            let why = format!("[{}]: {why}", items.len());
            let mut raws: Vec<Raw> =
                items.iter().map(Raw::of).collect::<Result<_, _>>().map_err(A::Error::custom)?;
            raws.push(raw);
            while let Some(item) = list.next_element()? {
                raws.push(item);
            }
            let raw = Raw::of(&raws).map_err(A::Error::custom)?;
            return Ok(Read::Not(Box::new(Unread { raw, why })));
        }
        Ok(Read::Is(items))
    }
}

/// The number as an integer, if it is one that a float holds exactly.
fn whole(number: &Number) -> Option<i64> {
    let float = number.as_f64()?;
    let exact = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
    // Within 2^53 every whole float is exactly one integer.
    exact.then_some(float as i64)
}

impl Member for crate::RequestId {
    const EXPECTED: &'static str = "a string or a number";

    /// Through the text, so that a number of any size stays what it is.
    fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Read<Self>, D::Error> {
        let raw = Raw::deserialize(source)?;
        Ok(match Self::read(raw.text()) {
            Some(id) => Read::Is(id),
            None if raw.is_null() => Read::Null,
            None => Read::Not(Box::new(Unread { raw, why: format!("not {}", Self::EXPECTED) })),
        })
    }
}

impl Member for crate::ErrorObject {
    const EXPECTED: &'static str = "an error object";

    fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Read<Self>, D::Error> {
        let raw = Raw::deserialize(source)?;
        Ok(match raw.decode() {
            Ok(error) => Read::Is(error),
            Err(_) if raw.is_null() => Read::Null,
            Err(_) => Read::Not(Box::new(Unread { raw, why: format!("not {}", Self::EXPECTED) })),
        })
    }
}

impl Member for Members {
    const EXPECTED: &'static str = "an object";

    fn object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Read<Self>, A::Error> {
        let mut members = Self::new();
        while let Some(name) = map.name()? {
            members.push(name, map.raw()?);
        }
        members.settle();
        Ok(Read::Is(members))
    }
}
