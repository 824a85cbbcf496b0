//! See `fuzz::param_headers`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::param_headers::check(input));
