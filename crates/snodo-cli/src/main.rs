//! The terminal of snodo.

fn main() {}
