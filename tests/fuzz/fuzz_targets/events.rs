//! See `fuzz::events`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::events::check(input));
