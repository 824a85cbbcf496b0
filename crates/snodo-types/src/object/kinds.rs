//! The kinds of values that members have.

use serde::Deserialize;
use serde::Serialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess};
use serde::ser::SerializeMap;
use serde_json::Number;

use super::{Member, Object, Read, Reading, Source, Unread};
use crate::{ErrorObject, Members, Raw, RequestId};

impl<T: Object> Member for T {
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

impl<T: Member + Serialize> Member for Vec<T> {
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
                Read::Null => (Raw::null(), "null".to_owned()),
                Read::Not(unread) => (unread.raw, unread.why),
            };
            if let Some(item) = T::stray(&raw) {
                items.push(item);
                continue;
            }
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

impl Member for RequestId {
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

impl Member for ErrorObject {
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
