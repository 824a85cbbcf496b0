//! What is left of an object beside the members that are known.

use serde::Serialize;

use super::{Member, Read, Source, Unread};
use crate::{Members, Raw};

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
