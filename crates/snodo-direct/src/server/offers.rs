//! What a server offers: definitions in their order, each with what serves it.

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;
use snodo_types::Raw;

/// Definitions with their handlers, found by name.
#[derive(Clone)]
pub(super) struct Offers<H> {
    /// Written once, since a list only copies them.
    definitions: Vec<Raw>,
    handlers: Vec<H>,
    places: HashMap<Box<str>, usize>,
}

impl<H> Default for Offers<H> {
    fn default() -> Self {
        Self { definitions: Vec::new(), handlers: Vec::new(), places: HashMap::new() }
    }
}

impl<H> Offers<H> {
    /// Adds an offer, or puts it in the place of the one with its name.
    pub(super) fn add<D: Serialize>(&mut self, name: &str, definition: &D, handler: H) {
        let definition = Raw::of(definition).expect("nouns are strings, numbers and JSON text");
        match self.places.get(name) {
            Some(&place) => {
                self.definitions[place] = definition;
                self.handlers[place] = handler;
            }
            None => {
                self.places.insert(name.into(), self.handlers.len());
                self.definitions.push(definition);
                self.handlers.push(handler);
            }
        }
    }

    /// What serves the offer with this name.
    pub(super) fn find(&self, name: &str) -> Option<&H> {
        self.places.get(name).map(|&place| &self.handlers[place])
    }

    /// Everything that serves, in order.
    pub(super) fn handlers(&self) -> &[H] {
        &self.handlers
    }

    /// The definitions at these places.
    pub(super) fn definitions(&self, places: Range<usize>) -> &[Raw] {
        &self.definitions[places]
    }

    pub(super) fn len(&self) -> usize {
        self.handlers.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.handlers.is_empty()
    }
}
