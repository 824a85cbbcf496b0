//! A value that counts how often it is looked at.
//!
//! The validator sees values through these. When the steps are used up, every part of the value shows
//! itself as `null` and every list as ended: what is left to do then is bounded by the schema alone.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;

use jsonschema::JsonType;
use jsonschema::json::{self, Array, Json, NodeIdentity, Object, unique};
use serde_json::{Map, Number, Value, map};

use crate::survey::Survey;

/// The way of reading JSON that counts.
pub(crate) struct Metered;

/// The steps of one check.
pub(crate) struct Meter {
    left: Cell<u64>,
    spent: Cell<bool>,
    /// For each value that is come to: the schemas that may apply to it without looking at it.
    arrival: u64,
    /// For each byte of a text that a pattern may read.
    text_byte: u64,
    /// For each byte of a name that patterns may read.
    name_byte: u64,
}

impl Meter {
    pub(crate) fn new(survey: Survey, steps: u64) -> Self {
        let states = |states: usize| states as u64 / STATES_PER_STEP;
        Self {
            left: Cell::new(steps),
            spent: Cell::new(false),
            arrival: 1 + survey.breadth as u64 / SCHEMAS_PER_STEP,
            text_byte: states(survey.text_states),
            name_byte: states(survey.name_states),
        }
    }

    /// Whether the steps were not enough.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get()
    }

    /// Takes steps; `false` once they are used up.
    fn take(&self, steps: u64) -> bool {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => {
                self.left.set(0);
                self.spent.set(true);
                false
            }
        }
    }

    fn take_text(&self, text: &str, byte: u64) -> bool {
        let bytes = text.len() as u64;
        self.take((1 + bytes / BYTES_PER_STEP).saturating_add(bytes.saturating_mul(byte)))
    }
}

/// A value, or a part of one.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    meter: Option<&'a Meter>,
}

impl<'a> Node<'a> {
    pub(crate) fn new(value: &'a Value, meter: &'a Meter) -> Self {
        Self { value, meter: Some(meter) }
    }

    fn part(self, value: &'a Value) -> Option<Self> {
        self.take(self.meter.map_or(1, |meter| meter.arrival)).then_some(Self { value, ..self })
    }

    fn take(self, steps: u64) -> bool {
        self.meter.is_none_or(|meter| meter.take(steps))
    }

    /// The value, if there is a step left to look at it.
    fn seen(self) -> &'a Value {
        if self.take(1) { self.value } else { &Value::Null }
    }
}

impl Json for Metered {
    type Node<'a> = Node<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    // As for plain values: no node is within itself.
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    /// Nothing calls it: names come by [`Object::try_for_each_name_node`], which counts them.
    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Node<'_>) -> T) -> T {
        *buffer = Value::String(string.to_owned());
        f(Node { value: buffer, meter: None })
    }
}

impl<'a> json::Node<'a, Metered> for Node<'a> {
    type Array = Items<'a>;
    type Number = &'a Number;
    type Object = Members<'a>;

    fn as_object(&self) -> Option<Members<'a>> {
        self.seen().as_object().map(|members| Members { members, node: *self })
    }

    fn as_array(&self) -> Option<Items<'a>> {
        self.seen().as_array().map(|items| Items { items, node: *self })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.value.as_str()?;
        let fits = self.meter.is_none_or(|meter| meter.take_text(text, meter.text_byte));
        fits.then_some(Cow::Borrowed(text))
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.value.as_number().filter(|_| self.take(NUMBER_STEPS))
    }

    fn as_boolean(&self) -> Option<bool> {
        self.seen().as_bool()
    }

    fn is_null(&self) -> bool {
        self.seen().is_null()
    }

    fn is_number(&self) -> bool {
        self.seen().is_number()
    }

    fn json_type(&self) -> JsonType {
        match self.seen() {
            Value::Array(_) => JsonType::Array,
            Value::Bool(_) => JsonType::Boolean,
            Value::Null => JsonType::Null,
            Value::Number(_) => JsonType::Number,
            Value::Object(_) => JsonType::Object,
            Value::String(_) => JsonType::String,
        }
    }

    fn string_length(&self) -> Option<u64> {
        let text = self.value.as_str()?;
        let counted = self.meter.is_none_or(|meter| meter.take_text(text, 0));
        counted.then(|| text.chars().count() as u64)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        self.take(equality_steps(self.value, expected)) && json::cmp::equal(self.value, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Borrowed(self.value)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.value).addr()))
    }
}

/// The members of an object.
pub(crate) struct Members<'a> {
    members: &'a Map<String, Value>,
    node: Node<'a>,
}

impl<'a> Object<'a, Metered> for Members<'a> {
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;
    type Node = Node<'a>;

    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&self, key: &String) -> Option<Node<'a>> {
        let found = self.node.take(1).then(|| self.members.get(key)).flatten();
        found.and_then(|value| self.node.part(value))
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter { members: self.members.iter(), node: self.node }
    }

    fn try_for_each_name_node<B>(
        &self,
        buffer: &mut Value,
        mut f: impl FnMut(Node<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Some(meter) = self.node.meter else { return ControlFlow::Continue(()) };
        for name in self.members.keys() {
            if !meter.take(meter.arrival) {
                break;
            }
            *buffer = Value::String(name.clone());
            f(Node { value: buffer, meter: Some(meter) })?;
        }
        ControlFlow::Continue(())
    }
}

/// The members of an object, one after the other.
pub(crate) struct MembersIter<'a> {
    members: map::Iter<'a>,
    node: Node<'a>,
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.members.next()?;
        let named = self.node.meter.is_none_or(|meter| meter.take_text(name, meter.name_byte));
        let part = named.then(|| self.node.part(value)).flatten()?;
        Some((name, part))
    }
}

/// The items of an array.
pub(crate) struct Items<'a> {
    items: &'a [Value],
    node: Node<'a>,
}

impl<'a> Array<'a, Metered> for Items<'a> {
    type ElementsIter = ItemsIter<'a>;
    type Node = Node<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter { items: self.items.iter(), node: self.node }
    }

    /// Few items are compared each with each, many are hashed.
    fn is_unique(&self) -> bool {
        let steps = self.items.iter().map(size).fold(1, u64::saturating_add);
        self.node.take(steps.saturating_mul(UNIQUE_STEPS)) && unique::is_unique(self.items)
    }
}

/// The items of an array, one after the other.
pub(crate) struct ItemsIter<'a> {
    items: std::slice::Iter<'a, Value>,
    node: Node<'a>,
}

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        self.node.part(self.items.next()?)
    }
}

/// What comparing two values may take: no more than the smaller one has.
fn equality_steps(value: &Value, expected: &Value) -> u64 {
    match (value, expected) {
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => size(expected),
        (Value::String(_), Value::String(_)) => size(expected),
        _ => NUMBER_STEPS,
    }
}

/// The values within a value, long texts for more than one.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(size).fold(1, u64::saturating_add),
        Value::Object(members) => {
            let size = |(name, value): (&String, &Value)| length(name).saturating_add(size(value));
            members.iter().map(size).fold(1, u64::saturating_add)
        }
        Value::Number(_) => NUMBER_STEPS,
        Value::String(text) => length(text),
        _ => 1,
    }
}

fn length(text: &str) -> u64 {
    1 + text.len() as u64 / BYTES_PER_STEP
}

/// A number may be divided by another, both hundreds of digits long.
const NUMBER_STEPS: u64 = 4;

const UNIQUE_STEPS: u64 = 8;

/// How much text is compared or counted in a step.
const BYTES_PER_STEP: u64 = 64;

/// How many states of a pattern a character goes through in a step, at worst.
const STATES_PER_STEP: u64 = 16;

/// How many schemas apply in a step to a value that they do not look at.
const SCHEMAS_PER_STEP: u64 = 4;
