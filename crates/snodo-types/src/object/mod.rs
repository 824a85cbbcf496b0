//! How the nouns are read and written: one pass, nothing lost.
//!
//! Two rules stand behind everything here. A value of the wrong kind never stops the reading of
//! what is around it: an optional member reads as absent and stays in `other`, and only the
//! smallest thing that cannot do without the member is [`Unread`]. And nothing is copied to find
//! out what it is: members go straight from the text into the place they belong to.

mod kinds;
mod member;
mod rest;
mod source;
#[cfg(test)]
mod tests;

use serde::ser::SerializeMap;

pub(crate) use self::member::{Member, Read, Reading, Unread, object_text, read_whole};
pub(crate) use self::rest::Rest;
pub(crate) use self::source::{Key, Source};
use crate::Members;

/// A struct whose members have names.
pub(crate) trait Object: Sized {
    const NAME: &'static str;

    fn members<'de, S: Source<'de>>(source: S) -> Result<Read<Self>, S::Error>;

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    fn other(&self) -> &Members;
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
            None if $self.other.get($name).is_some() => {}
            None => $map.serialize_entry($name, &())?,
        }
    };
    (@write $kind:ident $self:ident $field:ident $name:literal $map:ident) => {
        if let Some(value) = &$self.$field {
            $crate::object::Member::entry(value, $name, $map)?;
        }
    };

    (@has optional $self:ident $field:ident) => { $self.$field.is_some() };
    (@has nullable $self:ident $field:ident) => { $self.$field.is_some() };
    (@has any $self:ident $field:ident) => { $self.$field.is_some() };
    (@has $kind:ident $self:ident $field:ident) => { true };
}
pub(crate) use object;
