//! See `fuzz::challenge`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::challenge::check(input));
