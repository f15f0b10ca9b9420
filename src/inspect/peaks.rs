//! The most requests in any trailing window (t-W, t], wherever it lies: windows are not aligned to
//! anything.

use crate::time::{Instant, Span};

/// The windows whose peaks are told, with the names that tables give them.
pub const WINDOWS: [(Span, &str); 5] = [
    (Span::from_secs(1), "1 s"),
    (Span::from_secs(10), "10 s"),
    (Span::from_secs(60), "1 min"),
    (Span::from_secs(300), "5 min"),
    (Span::from_secs(3600), "1 h"),
];

/// The position of the minute among them, by which keys are ranked and limits suggested.
pub const MINUTE: usize = 2;

/// The most requests in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// How many.
    pub requests: u64,
    /// The first time at which there were so many in the window that ended there.
    pub at: Instant,
}

/// The peak of each of [`WINDOWS`], of times in order.
///
/// # Panics
/// If there are no times.
pub fn peaks(times: &[Instant]) -> [Peak; WINDOWS.len()] {
    WINDOWS.map(|(window, _)| peak(times, window))
}

/// A window can have one more than any before it, but no more than one: so it is enough to ask at each
/// request whether it has that one more.
fn peak(times: &[Instant], window: Span) -> Peak {
    let mut peak = Peak { requests: 1, at: times[0] };
    let mut most = 1;
    for (index, &at) in times.iter().enumerate().skip(1) {
        if index >= most && at - times[index - most] < window {
            most += 1;
            peak = Peak { requests: most as u64, at };
        }
    }
    peak
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;
    use proptest::prelude::*;

    fn at(seconds: i64) -> Instant {
        Instant(seconds * SECOND as i64)
    }

    #[test]
    fn a_request_exactly_a_window_ago_no_longer_counts() {
        // In (0, 60] lie 30 and 60, in (30, 90] 60 and 90. With 31 for 30 there are three in (30, 90].
        let of = |times: &[i64]| {
            let times: Vec<Instant> = times.iter().map(|&second| at(second)).collect();
            let peak = peaks(&times)[MINUTE];
            (peak.requests, peak.at)
        };
        assert_eq!(of(&[0, 30, 60, 90, 120]), (2, at(30)));
        assert_eq!(of(&[0, 31, 60, 90, 120]), (3, at(90)));
        assert_eq!(of(&[7]), (1, at(7)));
    }

    #[test]
    fn a_window_over_a_minute_edge_has_what_both_minutes_have() {
        // 100 at 59 s and 100 at 60 s: 200 within two seconds, 100 in each second.
        let times: Vec<Instant> = (0..200).map(|n| at(59 + n / 100)).collect();
        let peaks = peaks(&times).map(|peak| peak.requests);
        assert_eq!(peaks, [100, 200, 200, 200, 200]);
    }

    proptest! {
        /// Counting every window is the reference.
        #[test]
        fn no_window_has_more_and_that_one_has_as_many(mut times in prop::collection::vec(0_i64..200, 1..60)) {
            times.sort_unstable();
            let times: Vec<Instant> = times.into_iter().map(at).collect();
            for ((window, _), peak) in WINDOWS.iter().zip(peaks(&times)) {
                let within = |end: Instant| times.iter().filter(|&&t| t <= end && end - t < *window).count() as u64;
                let most = times.iter().map(|&end| within(end)).max().unwrap();
                prop_assert_eq!(peak.requests, most);
                let first = times.iter().find(|&&end| within(end) == most).unwrap();
                prop_assert_eq!(peak.at, *first);
            }
        }
    }
}
