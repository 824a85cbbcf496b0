//! Members that no type names, kept in their order.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Raw;
use crate::object::read_whole;

/// The members of an object which its type does not name, in the order they came in.
///
/// Everything read keeps them and writes them out again after the members it knows. A member
/// that has a name the type knows, but a value of another kind, is here too: it reads as absent
/// and is not lost. An empty list allocates nothing.
///
/// ```
/// use snodo_types::{Raw, Tool};
///
/// let text = r#"{"name": "echo", "inputSchema": {"type": "object"}, "x-cost": 3}"#;
/// let tool: Tool = serde_json::from_str(text)?;
/// assert_eq!(tool.other.get("x-cost").map(Raw::text), Some("3"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Members(Vec<(Box<str>, Raw)>);

impl Members {
    /// No members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of the member with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// Sets a member: in its place when there is one of this name, else at the end.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: impl Into<Raw>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = value,
            None => self.0.push((name, value)),
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Raw> {
        let place = self.0.iter().position(|(known, _)| **known == *name)?;
        Some(self.0.remove(place).1)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends without a look at what is there; [`settle`](Self::settle) makes up for it.
    pub(crate) fn push(&mut self, name: impl Into<Box<str>>, value: Raw) {
        self.0.push((name.into(), value));
    }

    /// Of several members with one name, keeps the last, in the place of the first.
    ///
    /// Sorting keeps a peer that sends a million names from costing a million searches each.
    pub(crate) fn settle(&mut self) {
        if self.0.len() < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        order.sort_by(|a, b| self.0[*a].0.cmp(&self.0[*b].0));
        let mut keep = vec![true; self.0.len()];
        let mut first = order[0];
        for &place in &order[1..] {
            if self.0[first].0 == self.0[place].0 {
                self.0.swap(first, place);
                keep[place] = false;
            } else {
                first = place;
            }
        }
        let mut keep = keep.into_iter();
        self.0.retain(|_| keep.next().unwrap_or(true));
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<N: Into<Box<str>>, V: Into<Raw>> FromIterator<(N, V)> for Members {
    /// Of several members with one name, the last counts.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let pairs = members.into_iter().map(|(name, value)| (name.into(), value.into()));
        let mut list = Self(pairs.collect());
        list.settle();
        list
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl From<&Members> for Raw {
    /// The members as one object.
    fn from(members: &Members) -> Self {
        Self::of(members).expect("names are strings and values are JSON")
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}

#[cfg(test)]
mod tests {
    use super::Members;

    #[test]
    fn of_members_with_one_name_the_last_counts_in_the_place_of_the_first() {
        let text = r#"{"a":1,"b":2,"a":3,"c":4,"a":5,"b":6}"#;
        let members: Members = serde_json::from_str(text).expect("an object");
        assert_eq!(serde_json::to_string(&members).expect("text"), r#"{"a":5,"b":6,"c":4}"#);
    }

    #[test]
    fn a_member_is_set_in_its_place_and_taken_out() {
        let mut members: Members = serde_json::from_str(r#"{"a":1,"b":2}"#).expect("an object");
        members.insert("a", serde_json::json!(null));
        members.insert("c", serde_json::json!([]));
        assert_eq!(members.remove("b").expect("there").text(), "2");
        assert_eq!(serde_json::to_string(&members).expect("text"), r#"{"a":null,"c":[]}"#);
    }
}
