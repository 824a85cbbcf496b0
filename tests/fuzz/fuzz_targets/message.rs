//! See `fuzz::message`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::message::check(input));
