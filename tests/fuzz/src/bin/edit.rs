//! See [`noisy_fuzz::edit`].
#![no_main]
#![allow(missing_docs, reason = "the macro makes what libFuzzer calls")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| noisy_fuzz::edit(data));
