//! See [`noisy_fuzz::print`].
#![no_main]
#![allow(missing_docs, reason = "the macro makes what libFuzzer calls")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| noisy_fuzz::print(data));
