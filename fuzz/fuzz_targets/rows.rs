#![no_main]
//! See `ratesim_fuzz::rows`.

use ratesim_fuzz::rows::TARGET;

libfuzzer_sys::fuzz_target!(init: TARGET.begin(), |data: &[u8]| (TARGET.run)(data));
