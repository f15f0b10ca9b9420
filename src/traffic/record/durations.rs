//! How long the requests of a record took: four bytes each, in the largest unit in which all of them are whole,
//! or eight where that is not enough.

use super::sorting::Rows;
use crate::time::Span;

/// Spans in the order in which they were added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Durations {
    /// Nanoseconds of the unit of `short`.
    unit: u64,
    short: Vec<u32>,
    /// All spans in nanoseconds, once they do not fit.
    long: Option<Vec<u64>>,
}

/// Second, millisecond, microsecond, nanosecond.
const UNITS: [u64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];

impl Default for Durations {
    fn default() -> Durations {
        Durations { unit: UNITS[0], short: Vec::new(), long: None }
    }
}

impl Durations {
    /// So many of no time at all.
    pub fn zeros(count: usize) -> Durations {
        Durations { short: vec![0; count], ..Durations::default() }
    }

    /// Adds one.
    pub fn push(&mut self, took: Span) {
        let nanos = took.nanos();
        if let Some(long) = &mut self.long {
            long.push(nanos);
            return;
        }
        while !nanos.is_multiple_of(self.unit) && self.long.is_none() {
            self.refine();
        }
        match (&mut self.long, u32::try_from(nanos / self.unit)) {
            (Some(long), _) => long.push(nanos),
            (None, Ok(short)) => self.short.push(short),
            (None, Err(_)) => {
                self.lengthen();
                self.push(took);
            }
        }
    }

    /// Goes over to the next smaller unit.
    fn refine(&mut self) {
        let unit = UNITS.into_iter().find(|&unit| unit < self.unit).unwrap_or(1);
        let factor = self.unit / unit;
        let fits = |&short: &u32| u64::from(short) * factor <= u64::from(u32::MAX);
        if !self.short.iter().all(fits) {
            return self.lengthen();
        }
        self.short.iter_mut().for_each(|short| *short *= factor as u32);
        self.unit = unit;
    }

    fn lengthen(&mut self) {
        let short = std::mem::take(&mut self.short);
        self.long = Some(short.into_iter().map(|short| u64::from(short) * self.unit).collect());
    }

    /// The one at a position.
    pub fn get(&self, index: usize) -> Span {
        Span::from_nanos(match &self.long {
            Some(long) => long[index],
            None => u64::from(self.short[index]) * self.unit,
        })
    }
}

impl Rows for Durations {
    fn swap(&mut self, one: usize, other: usize) {
        match &mut self.long {
            Some(long) => long.swap(one, other),
            None => self.short.swap(one, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_span_comes_back_as_it_was(
            spans in prop::collection::vec(
                (0_u64..9_000_000_000, prop::sample::select(UNITS.to_vec())).prop_map(|(count, unit)| {
                    Span::from_nanos(count % 9_000_000 * unit)
                }),
                0..20,
            ),
        ) {
            let mut durations = Durations::default();
            spans.iter().for_each(|&span| durations.push(span));
            let found: Vec<Span> = (0..spans.len()).map(|index| durations.get(index)).collect();
            prop_assert_eq!(found, spans);
        }
    }

    #[test]
    fn milliseconds_up_to_49_days_take_four_bytes() {
        let mut durations = Durations::default();
        for millis in [0, 12, 1_000, u64::from(u32::MAX)] {
            durations.push(Span::from_nanos(millis * 1_000_000));
        }
        assert_eq!((durations.unit, durations.long.is_none()), (1_000_000, true));
        durations.push(Span::from_nanos((u64::from(u32::MAX) + 1) * 1_000_000));
        assert_eq!(durations.long.as_ref().map(Vec::len), Some(5));
    }
}
