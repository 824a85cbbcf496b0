//! Blocks of every kind, early and late, whole and broken.
