#![no_main]
//! See `ratesim_fuzz::replay`.

use ratesim_fuzz::replay::TARGET;

libfuzzer_sys::fuzz_target!(init: TARGET.begin(), |data: &[u8]| (TARGET.run)(data));
