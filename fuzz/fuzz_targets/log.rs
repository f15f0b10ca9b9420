#![no_main]
//! See `ratesim_fuzz::log`.

use ratesim_fuzz::log::TARGET;

libfuzzer_sys::fuzz_target!(init: TARGET.begin(), |data: &[u8]| (TARGET.run)(data));
