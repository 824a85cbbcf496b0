//! Telling secrets apart without holding them.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Stands for something that must not be kept, such as a credential: equal for equal things,
/// different for different ones.
///
/// It is made with a key that each process draws for itself, so that it means nothing elsewhere,
/// and neither it nor its `Debug` leads back to what it stands for.
///
/// ```
/// use snodo_types::Fingerprint;
///
/// let token = Fingerprint::of(&[b"Bearer abc"]);
/// assert_eq!(token, Fingerprint::of(&[b"Bearer abc"]));
/// assert_ne!(token, Fingerprint::of(&[b"Bearer abd"]));
/// assert_eq!(format!("{token:?}"), "Fingerprint(…)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// Of these parts, in this order; where one ends and the next begins counts.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        Self([0_u8, 1].map(|half| KEY.hash_one((half, parts))))
    }

    /// Of both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self([0_u8, 1].map(|half| KEY.hash_one((half, self, other))))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(…)")
    }
}

/// Twice 64 bits of a keyed hash: nobody who does not know the key can make two things look alike.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    #[test]
    fn parts_are_told_apart_by_where_they_end_and_by_their_order() {
        let prints = [
            Fingerprint::of(&[]),
            Fingerprint::of(&[b""]),
            Fingerprint::of(&[b"ab"]),
            Fingerprint::of(&[b"a", b"b"]),
            Fingerprint::of(&[b"b", b"a"]),
            Fingerprint::of(&[b"a"]).and(Fingerprint::of(&[b"b"])),
            Fingerprint::of(&[b"b"]).and(Fingerprint::of(&[b"a"])),
        ];
        for (place, print) in prints.iter().enumerate() {
            assert!(!prints[..place].contains(print), "{place}");
        }
    }
}
