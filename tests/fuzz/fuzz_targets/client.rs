//! See `fuzz::client`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::client::check(input));
