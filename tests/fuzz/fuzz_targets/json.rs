//! See `fuzz::json`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::json::check(input));
