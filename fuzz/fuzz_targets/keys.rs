#![no_main]
//! See `ratesim_fuzz::keys`.

use ratesim_fuzz::keys::TARGET;

libfuzzer_sys::fuzz_target!(init: TARGET.begin(), |data: &[u8]| (TARGET.run)(data));
