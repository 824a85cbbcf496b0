//! The cursor as a source for serde.

use std::borrow::Cow;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::cursor::Look;
use super::{Cursor, Unsure};

/// The name under which a [`Raw`](crate::Raw) asks for its text; others see an ordinary newtype.
pub(crate) const RAW: &str = "snodo::Raw";
/// The name under which a page asks to be read in one go; others see an ordinary newtype.
pub(crate) const TOGETHER: &str = "snodo::Page";

impl<'de, L: Look> Deserializer<'de> for &mut Cursor<'de, L> {
    type Error = Unsure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        match self.peek()? {
            b'"' => self.deserialize_str(visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            b'n' => self.deserialize_unit(visitor),
            b't' | b'f' => self.deserialize_bool(visitor),
            _ => self.deserialize_f64(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        if self.peek()? == b't' {
            self.word("true")?;
            return visitor.visit_bool(true);
        }
        self.word("false")?;
        visitor.visit_bool(false)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.peek()?;
        let number = self.number()?;
        // Fewer digits than the largest has: no sum of them is too large. A zero may have a sign.
        let short = (1..=18).contains(&number.len()) && !number.starts_with("-0");
        match number.parse::<i64>() {
            Ok(whole) if short && whole >= 0 => visitor.visit_u64(whole.unsigned_abs()),
            Ok(whole) if short => visitor.visit_i64(whole),
            _ => serde_json::Deserializer::from_str(number)
                .deserialize_any(visitor)
                .map_err(|_| Unsure),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        match self.string()? {
            Cow::Borrowed(string) => visitor.visit_borrowed_str(string),
            Cow::Owned(string) => visitor.visit_string(string),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        if self.peek()? == b'n' {
            self.word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.peek()?;
        self.word("null")?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        match name {
            RAW => visitor.visit_borrowed_str(self.skip()?),
            TOGETHER => visitor.visit_some(self),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.take(b'[')?;
        self.within(|cursor| {
            let mut items = Items { cursor, first: true, over: false };
            let value = visitor.visit_seq(&mut items)?;
            if items.over || items.cursor.takes(b']') { Ok(value) } else { Err(Unsure) }
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.take(b'{')?;
        self.within(|cursor| {
            let mut members = Members { cursor, first: true, over: false };
            let value = visitor.visit_map(&mut members)?;
            if members.over || members.cursor.takes(b'}') { Ok(value) } else { Err(Unsure) }
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        self.deserialize_map(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        self.deserialize_unit(visitor)
    }

    /// Nothing on a hot path is an enum of serde's.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Unsure> {
        Err(Unsure)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unsure> {
        Err(Unsure)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unsure> {
        Err(Unsure)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_i16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.deserialize_f64(visitor)
    }
}

impl<L: Look> Cursor<'_, L> {
    /// Reads what stands inside of an object or a list.
    fn within<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Unsure>,
    ) -> Result<T, Unsure> {
        if self.depth == DEPTH {
            return Err(Unsure);
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

/// Objects and lists in each other; `serde_json` goes on to 127.
const DEPTH: u8 = 100;

struct Items<'c, 'de, L> {
    cursor: &'c mut Cursor<'de, L>,
    first: bool,
    over: bool,
}

impl<'de, L: Look> SeqAccess<'de> for &mut Items<'_, 'de, L> {
    type Error = Unsure;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unsure> {
        if self.over || self.cursor.takes(b']') {
            self.over = true;
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            self.cursor.take(b',')?;
        }
        seed.deserialize(&mut *self.cursor).map(Some)
    }
}

struct Members<'c, 'de, L> {
    cursor: &'c mut Cursor<'de, L>,
    first: bool,
    over: bool,
}

impl<'de, L: Look> MapAccess<'de> for &mut Members<'_, 'de, L> {
    type Error = Unsure;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unsure> {
        if self.over {
            return Ok(None);
        }
        match self.cursor.name(std::mem::take(&mut self.first))? {
            None => {
                self.over = true;
                Ok(None)
            }
            // Names with escapes are rare enough for a second look.
            Some(Cow::Owned(_)) => Err(Unsure),
            Some(Cow::Borrowed(name)) => {
                seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unsure> {
        seed.deserialize(&mut *self.cursor)
    }
}
