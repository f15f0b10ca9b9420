#![no_main]
//! See `ratesim_fuzz::texts`.

use ratesim_fuzz::texts::TARGET;

libfuzzer_sys::fuzz_target!(init: TARGET.begin(), |data: &[u8]| (TARGET.run)(data));
