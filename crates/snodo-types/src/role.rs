//! Who speaks.

use crate::object::object;

/// Who speaks in a message, or whom content is for.
///
/// ```
/// use snodo_types::Role;
///
/// assert_eq!(Role::from("assistant"), Role::Assistant);
/// assert_eq!(Role::from("system").as_str(), "system");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The model.
    Assistant,
    /// The person, or the program speaking for one.
    User,
    /// A role that the protocol does not know, as it came.
    Other(Box<str>),
}

object! {
    words Role {
        Assistant: "assistant",
        User: "user",
    }
}
