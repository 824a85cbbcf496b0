//! Lines, however they are cut.
