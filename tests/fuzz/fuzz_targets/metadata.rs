//! See `fuzz::metadata`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::metadata::check(input));
