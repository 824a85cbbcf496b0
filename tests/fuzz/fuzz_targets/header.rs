//! See `fuzz::header`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::header::check(input));
