//! Following a list to its end.

use std::collections::HashSet;

use snodo_types::Error;

/// Guards the walk through a list: no cursor twice, no more pages than allowed.
///
/// A cursor is the server's own word and is never looked into; the empty string is one too
/// (2026-07-28, pagination, "Implementation Guidelines").
///
/// ```
/// let mut pages = snodo_engine::Pages::new(1000);
/// assert_eq!(pages.turn(Some("b".to_owned()))?.as_deref(), Some("b"));
/// assert!(pages.turn(Some("b".to_owned())).is_err());
/// assert_eq!(pages.turn(None)?, None);
/// # Ok::<(), snodo_types::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pages {
    seen: HashSet<String>,
    pages: usize,
    max_pages: usize,
}

impl Pages {
    /// A walk of `max_pages` pages at most; at least one.
    #[must_use]
    pub fn new(max_pages: usize) -> Self {
        Self { seen: HashSet::new(), pages: 0, max_pages: max_pages.max(1) }
    }

    /// Takes the cursor that a page ended with, and gives back the one to go on with.
    ///
    /// # Errors
    ///
    /// The cursor was given before, or the page limit is reached (-32000, transport).
    pub fn turn(&mut self, next_cursor: Option<String>) -> Result<Option<String>, Error> {
        self.pages += 1;
        let Some(cursor) = next_cursor else { return Ok(None) };
        if self.seen.contains(&cursor) {
            return Err(Error::repeated_cursor(cursor));
        }
        if self.pages >= self.max_pages {
            return Err(Error::page_limit(cursor, self.max_pages));
        }
        self.seen.insert(cursor.clone());
        Ok(Some(cursor))
    }
}

#[cfg(test)]
mod tests {
    use snodo_types::Cause;

    use super::Pages;

    fn cursor(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    // S-33, PAG-02, PAG-04
    #[test]
    fn an_empty_cursor_is_followed_and_none_ends() {
        let mut pages = Pages::new(1000);
        assert_eq!(pages.turn(cursor("")).expect("a cursor"), cursor(""));
        assert_eq!(pages.turn(None).expect("the end"), None);
    }

    // S-35, PAG-06
    #[test]
    fn a_cursor_that_comes_again_is_an_error_that_names_it() {
        let mut pages = Pages::new(1000);
        for next in ["a", "b"] {
            pages.turn(cursor(next)).expect("new");
        }
        let error = pages.turn(cursor("a")).expect_err("again");
        assert!(matches!(error.cause(), Some(Cause::RepeatedCursor { cursor }) if cursor == "a"));
    }

    // S-35
    #[test]
    fn a_list_that_goes_on_at_the_limit_is_an_error_that_names_the_cursor() {
        let mut pages = Pages::new(2);
        pages.turn(cursor("a")).expect("one of two");
        let error = pages.turn(cursor("b")).expect_err("two of two");
        assert!(
            matches!(error.cause(), Some(Cause::PageLimit { cursor, limit: 2 }) if cursor == "b")
        );
        let mut pages = Pages::new(2);
        pages.turn(cursor("a")).expect("one of two");
        assert_eq!(pages.turn(None).expect("ends in time"), None);
    }
}
