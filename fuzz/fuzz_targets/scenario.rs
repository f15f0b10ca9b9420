#![no_main]
//! See `ratesim_fuzz::scenario`.

use ratesim_fuzz::scenario::TARGET;

libfuzzer_sys::fuzz_target!(init: TARGET.begin(), |data: &[u8]| (TARGET.run)(data));
