//! Where members come from.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::{Member, Read, Reading};
use crate::Raw;

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
        self.next_value_seed(Reading::<T>::new())
    }

    fn raw(&mut self) -> Result<Raw, A::Error> {
        self.next_value()
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
