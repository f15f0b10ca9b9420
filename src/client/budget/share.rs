//! `share`: retries are at most a share of the requests of the last while, and a few more, so that a
//! client that asks rarely may retry as well. The load of an overload is bounded by 1 + share.
//!
//! As in Finagle, the while is ten cells of a tenth of `window` each, on a grid of the clock: nine
//! whole ones and the present one as far as it has come.

use std::sync::Arc;

use super::{Kind, Ledger, Rule};
use crate::params::Params;
use crate::rate::{Rate, Share};
use crate::time::{Instant, Span};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "share",
    summary: "Retries are at most a share of the requests of the last while, and a few more.",
    source: "RetryBudget of Finagle, Linkerd and tower",
    read: Some(read),
};

const CELLS: usize = 10;

#[derive(Debug, Clone, Copy)]
struct Allowance {
    share: Share,
    /// How long a cell is, in nanoseconds.
    width: i64,
    /// Retries in any window that no request pays for.
    floor: u64,
}

fn read(params: &mut Params) -> Option<Arc<dyn Rule>> {
    let share = params.or("share", Share::percent(20), "Retries for each request, at most.");
    let window = params.or(
        "window",
        Span::from_secs(10),
        "For how long a request or retry counts, in steps of a tenth of it.",
    );
    let floor = params.or(
        "floor",
        Rate { count: 10, per: Span::from_secs(1) },
        "Retries that are granted besides, counted over the `window`.",
    );
    let width = (window.nanos() / CELLS as u64) as i64;
    let divides = params.require(
        "window",
        width > 0 && window.nanos().is_multiple_of(CELLS as u64),
        "a window that has no ten equal parts",
        "write a span of at least \"10ns\" in whole tens of nanoseconds, such as \"10s\"",
    );
    let free = u128::from(floor.count) * u128::from(window.nanos()) / u128::from(floor.per.nanos());
    let grants = params.require(
        if params.has("floor") { "floor" } else { "share" },
        free > 0 || share > Share::ZERO,
        "a budget that grants nothing",
        "write a `share` above \"0%\", or a `floor` that comes to a retry in a `window`",
    );
    let floor = u64::try_from(free).unwrap_or(u64::MAX);
    (divides && grants).then(|| Arc::new(Allowance { share, width, floor }) as Arc<dyn Rule>)
}

impl Rule for Allowance {
    fn open(&self, count: usize) -> Box<dyn Ledger> {
        Box::new(Windows { rule: *self, index: vec![0; count], windows: Vec::new() })
    }
}

#[derive(Debug)]
struct Windows {
    rule: Allowance,
    /// Where the window of each state is in `windows`, from 1; 0 before its first request.
    index: Vec<u32>,
    windows: Vec<Window>,
}

/// What counts in the last ten cells.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// The number of the present cell.
    present: i64,
    requests: [u32; CELLS],
    retries: [u32; CELLS],
}

impl Window {
    /// Empties the cells that are too old at the cell `present`, and gives the place of that.
    fn advance(&mut self, present: i64) -> usize {
        let passed = present.saturating_sub(self.present).clamp(0, CELLS as i64);
        self.present = self.present.max(present);
        for back in 0..passed {
            let place = (self.present - back).rem_euclid(CELLS as i64) as usize;
            self.requests[place] = 0;
            self.retries[place] = 0;
        }
        self.present.rem_euclid(CELLS as i64) as usize
    }
}

impl Windows {
    /// The window of a state, and the place of the present cell in it.
    fn at(&mut self, state: usize, at: Instant) -> (&mut Window, usize) {
        let present = at.0.div_euclid(self.rule.width);
        if self.index[state] == 0 {
            self.windows.push(Window { present, ..Window::default() });
            self.index[state] = self.windows.len() as u32;
        }
        let window = &mut self.windows[self.index[state] as usize - 1];
        let place = window.advance(present);
        (window, place)
    }
}

impl Ledger for Windows {
    fn began(&mut self, state: usize, at: Instant) {
        let (window, place) = self.at(state, at);
        window.requests[place] = window.requests[place].saturating_add(1);
    }

    fn allows(&mut self, state: usize, at: Instant) -> bool {
        let Allowance { share, floor, .. } = self.rule;
        let (window, _) = self.at(state, at);
        let sum = |cells: &[u32]| cells.iter().map(|&count| u64::from(count)).sum::<u64>();
        let paid = share.of(sum(&window.requests));
        sum(&window.retries) < paid.saturating_add(floor)
    }

    fn granted(&mut self, state: usize, at: Instant) {
        let (window, place) = self.at(state, at);
        window.retries[place] = window.retries[place].saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn ledger(percent: u32, floor: u64) -> Box<dyn Ledger> {
        Allowance { share: Share::percent(percent), width: SECOND, floor }.open(2)
    }

    fn begin(ledger: &mut dyn Ledger, at: i64, count: usize) {
        (0..count).for_each(|_| ledger.began(0, Instant(at)));
    }

    /// How many retries are granted at an instant.
    fn granted(ledger: &mut dyn Ledger, state: usize, at: i64) -> usize {
        let at = Instant(at);
        (0..1000)
            .take_while(|_| ledger.allows(state, at).then(|| ledger.granted(state, at)).is_some())
            .count()
    }

    #[test]
    fn a_fifth_of_100_requests_and_a_floor_of_3_are_23_retries() {
        let mut ledger = ledger(20, 3);
        begin(&mut *ledger, 0, 100);
        assert_eq!(granted(&mut *ledger, 0, SECOND), 23);
        assert_eq!(granted(&mut *ledger, 1, SECOND), 3);
    }

    #[test]
    fn a_share_of_fewer_than_five_requests_is_no_retry() {
        let mut ledger = ledger(20, 0);
        begin(&mut *ledger, 0, 4);
        assert_eq!(granted(&mut *ledger, 0, 0), 0);
        begin(&mut *ledger, 0, 1);
        assert_eq!(granted(&mut *ledger, 0, 0), 1);
    }

    #[test]
    fn requests_and_retries_count_for_ten_cells() {
        let mut ledger = ledger(10, 0);
        begin(&mut *ledger, 0, 100);
        assert_eq!(granted(&mut *ledger, 0, 5 * SECOND), 10);
        // The requests of the first second count to the end of the tenth, 100 more pay for ten more.
        begin(&mut *ledger, 10 * SECOND - 1, 100);
        assert_eq!(granted(&mut *ledger, 0, 10 * SECOND - 1), 10);
        // Those of the first second are gone: 100 requests pay for 10, 20 were made.
        assert_eq!(granted(&mut *ledger, 0, 10 * SECOND), 0);
        // The retries at 5 s are gone as well, those at 10 s are not.
        assert_eq!(granted(&mut *ledger, 0, 15 * SECOND), 0);
        assert_eq!(granted(&mut *ledger, 0, 19 * SECOND), 0);
        begin(&mut *ledger, 1000 * SECOND, 50);
        assert_eq!(granted(&mut *ledger, 0, 1000 * SECOND), 5);
    }

    #[test]
    fn times_before_1970_and_at_the_ends_of_time_have_cells_too() {
        for at in [i64::MIN, -1, 0, i64::MAX] {
            let mut ledger = ledger(100, 0);
            begin(&mut *ledger, at, 3);
            assert_eq!(granted(&mut *ledger, 0, at), 3, "{at}");
        }
        let mut ledger = ledger(100, 0);
        begin(&mut *ledger, i64::MIN, 3);
        assert_eq!(granted(&mut *ledger, 0, i64::MAX), 0);
    }

    #[test]
    fn windows_are_made_for_those_who_ask() {
        let rule = Allowance { share: Share::ALL, width: 1, floor: 0 };
        let mut windows = Windows { rule, index: vec![0; 1_000_000], windows: Vec::new() };
        windows.began(999_999, Instant(0));
        assert_eq!(windows.windows.len(), 1);
    }
}
