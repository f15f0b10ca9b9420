//! Where in its second a request falls, for records whose stamps are whole seconds. Taken
//! literally they make every second a spike at .000, which a limiter answers with rejections that
//! never happened.

use crate::params::Choice;
use crate::seed::{Stream, below};
use crate::time::{Instant, SECOND, Span};

/// How the requests of one second are spread over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Not at all.
    None,
    /// At equal distances.
    Even,
    /// At random.
    Random,
}

impl Choice for Spread {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("none", Spread::None, "all at the start of the second, as stamped"),
        ("even", Spread::Even, "the n requests of a second at 0/n, 1/n, 2/n … of it"),
        ("random", Spread::Random, "at random instants of the second, in the order of the record"),
    ];
}

impl Spread {
    /// Moves requests, sorted and stamped in whole seconds, inside their seconds. They stay sorted
    /// and in their order.
    pub fn apply(self, times: &mut [Instant], stream: &mut Stream) {
        if self == Spread::None {
            return;
        }
        let mut draws = Vec::new();
        for second in times.chunk_by_mut(|a, b| a == b) {
            let count = second.len() as u64;
            if self == Spread::Even {
                // A record has less than 2^32 requests: the product fits.
                for (index, time) in (0..).zip(second) {
                    *time = *time + Span::from_nanos(index * SECOND / count);
                }
                continue;
            }
            draws.clear();
            draws.extend((0..count).map(|_| below(stream, SECOND)));
            draws.sort_unstable();
            for (time, &nanos) in second.iter_mut().zip(&draws) {
                *time = *time + Span::from_nanos(nanos);
            }
        }
    }

    /// What was done, for a note, to follow "the requests of each second".
    pub fn done(self) -> &'static str {
        match self {
            Spread::None => "all fall at its start (`spread = \"none\"`)",
            Spread::Even => "were spread evenly over it (`spread = \"even\"`)",
            Spread::Random => "were spread over it at random (`spread = \"random\"`)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use proptest::prelude::*;

    fn applied(spread: Spread, seconds: &[i64]) -> Vec<i64> {
        let mut times: Vec<Instant> = seconds.iter().map(|s| Instant(s * SECOND as i64)).collect();
        spread.apply(&mut times, &mut Seed(1).stream("spread", 0));
        times.into_iter().map(|time| time.0).collect()
    }

    #[test]
    fn even_puts_the_requests_of_a_second_at_equal_distances_from_its_start() {
        // 3 in second 7 at 0, 1/3 and 2/3; 1 in second 8; before 1970 too.
        let seconds = [-1, -1, 7, 7, 7, 8];
        let third = 333_333_333;
        let expected = [
            -1_000_000_000,
            -500_000_000,
            7_000_000_000,
            7_000_000_000 + third,
            7_000_000_000 + 2 * third,
            8_000_000_000,
        ];
        let found = applied(Spread::Even, &seconds);
        assert_eq!(found[..4], expected[..4]);
        // 2/3 of a second cut to whole nanoseconds is 666,666,666.
        assert_eq!(found[4], expected[4]);
        assert_eq!(found[5], expected[5]);
        assert_eq!(applied(Spread::None, &[7, 7]), [7_000_000_000, 7_000_000_000]);
    }

    proptest! {
        #[test]
        fn every_request_stays_in_its_second_and_in_order(
            mut seconds in prop::collection::vec(-5_i64..5, 0..60),
            spread in prop::sample::select(vec![Spread::None, Spread::Even, Spread::Random]),
        ) {
            seconds.sort_unstable();
            let found = applied(spread, &seconds);
            prop_assert!(found.is_sorted());
            for (nanos, second) in found.iter().zip(&seconds) {
                prop_assert_eq!(nanos.div_euclid(SECOND as i64), *second);
            }
        }
    }
}
