//! See `fuzz::config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::config::check(input));
