//! Characters that do something to what shows them.

/// Whether a character steers what shows it instead of being shown: a control character (C0, DEL,
/// C1), a mark or an override of the direction of text, a separator of lines.
///
/// Text of a peer that goes into a log or to a terminal should lose these, or show them as escapes.
///
/// ```
/// use snodo_types::steers;
///
/// assert!(steers('\u{1b}') && steers('\u{202e}') && steers('\u{200f}') && steers('\n'));
/// assert!(!"Grüße, 世界 🦀".chars().any(steers));
/// ```
#[must_use]
pub fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}
