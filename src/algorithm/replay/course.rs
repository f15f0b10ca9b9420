//! How far a history was decided.

use super::Run;

/// Where a batch was come to, and the run at hand.
#[derive(Default)]
pub struct Course {
    pub index: usize,
    pub segment: usize,
    pub gap: usize,
    pub run: Run,
    pub denied: u32,
    /// The stretch of denials at hand: since when, and for how long.
    pub since: i64,
    pub shut: u64,
}

/// So many attempts are looked at, at once.
const STEP: usize = 16;

impl Course {
    /// So many attempts are let through.
    #[inline]
    pub fn accept(&mut self, count: u32, runs: &mut Vec<Run>) {
        if self.run.denied > 0 {
            runs.push(std::mem::take(&mut self.run));
        }
        self.run.accepted += count;
    }

    /// So many more are denied than were.
    #[inline]
    pub fn refuse(&mut self, count: u32) {
        self.run.denied += count;
        self.denied += count;
    }

    /// One is denied at a reading, and told to wait so long, in which denials write nothing.
    #[inline]
    pub fn shut(&mut self, at: i64, wait: u64) {
        if self.run.denied == 0 {
            self.run.wait = wait;
            (self.since, self.shut) = (at, wait);
        }
        self.refuse(1);
    }

    /// How many of the next attempts come within the stretch of denials at hand.
    #[inline]
    pub fn refused(&self, times: &[i64]) -> usize {
        let is_shut = |at: i64| (at.wrapping_sub(self.since) as u64) < self.shut;
        let mut count = 0;
        while count + STEP <= times.len() && is_shut(times[count + STEP - 1]) {
            count += STEP;
        }
        let rest = &times[count..times.len().min(count + STEP)];
        count + rest.iter().map(|&at| usize::from(is_shut(at))).sum::<usize>()
    }
}
