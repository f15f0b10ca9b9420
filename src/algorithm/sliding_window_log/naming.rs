//! How entries of a log in a sorted set are named: by the stamp, alone or with a suffix.
//!
//! Random suffixes come from a generator that for every stamp newer than all before it begins anew, from the number
//! of the key and the stamp. Nothing of it outlives the set, which a store may therefore forget; two keys, and two
//! stamps of a key, draw apart.

use std::collections::VecDeque;

use super::super::UNSEEN;
use crate::seed::{Draws, Stream, below};

/// How the entries of a key are named.
pub(super) trait Naming: Clone + Send + 'static {
    /// What follows the stamp in a name.
    type Suffix: Copy + Ord + Send + 'static;

    /// For the key of this number, which draws from these.
    fn of(key: usize, draws: Draws) -> Self;

    /// Adds `cost` entries of `stamp` to a set, whose names are in order; those that are there already
    /// change nothing.
    fn add(&mut self, names: &mut VecDeque<(i64, Self::Suffix)>, stamp: i64, cost: u32);
}

/// By the stamp alone, or with what is the same for all.
#[derive(Clone)]
pub(super) struct Stamp;

impl Naming for Stamp {
    type Suffix = ();

    fn of(_key: usize, _draws: Draws) -> Stamp {
        Stamp
    }

    fn add(&mut self, names: &mut VecDeque<(i64, ())>, stamp: i64, cost: u32) {
        if cost > 0 {
            insert(names, (stamp, ()));
        }
    }
}

/// By the stamp and a number below [`SUFFIXES`], drawn anew for each entry.
#[derive(Clone)]
pub(super) struct StampAndRandom {
    key: u64,
    draws: Draws,
    stream: Stream,
}

const SUFFIXES: u32 = 100_000;

/// Up to so many entries are put in their places one by one.
const FEW: u32 = 1_000;

/// Of so many draws, the chance that any suffix is not among them is below 10^-12.
const ALL: u32 = 4_000_000;

impl StampAndRandom {
    fn draw(&mut self) -> u32 {
        below(&mut self.stream, u64::from(SUFFIXES)) as u32
    }
}

impl Naming for StampAndRandom {
    type Suffix = u32;

    fn of(key: usize, draws: Draws) -> StampAndRandom {
        let key = key as u64;
        StampAndRandom { key, draws, stream: draws.part(key, UNSEEN as u64) }
    }

    fn add(&mut self, names: &mut VecDeque<(i64, u32)>, stamp: i64, cost: u32) {
        if names.back().is_none_or(|&(newest, _)| newest < stamp) {
            self.stream = self.draws.part(self.key, stamp as u64);
        }
        if cost <= FEW {
            for _ in 0..cost {
                insert(names, (stamp, self.draw()));
            }
            return;
        }
        let first = names.partition_point(|&(other, _)| other < stamp);
        let newer = names.split_off(names.partition_point(|&(other, _)| other <= stamp));
        let mut taken = vec![cost >= ALL; SUFFIXES as usize];
        for &(_, suffix) in names.range(first..) {
            taken[suffix as usize] = true;
        }
        let mut free = taken.iter().filter(|taken| !**taken).count();
        let mut left = cost;
        while left > 0 && free > 0 {
            let drawn = &mut taken[self.draw() as usize];
            free -= usize::from(!*drawn);
            *drawn = true;
            left -= 1;
        }
        names.truncate(first);
        names.extend((0..SUFFIXES).filter(|&s| taken[s as usize]).map(|suffix| (stamp, suffix)));
        names.extend(newer);
    }
}

/// Adds a name, unless it is there.
fn insert<S: Ord>(names: &mut VecDeque<(i64, S)>, name: (i64, S)) {
    match names.back() {
        Some(newest) if *newest >= name => {
            if let Err(place) = names.binary_search(&name) {
                names.insert(place, name);
            }
        }
        _ => names.push_back(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use proptest::prelude::*;

    type Names = VecDeque<(i64, u32)>;

    /// How many names are lost of `count` entries of each of `stamps`.
    fn lost(key: usize, stamps: i64, count: usize) -> usize {
        let (mut naming, mut names) =
            (StampAndRandom::of(key, Seed(0).draws("state")), Names::new());
        for stamp in 0..stamps {
            (0..count).for_each(|_| naming.add(&mut names, stamp, 1));
        }
        stamps as usize * count - names.len()
    }

    #[test]
    fn names_of_one_stamp_are_lost_as_birthdays_coincide() {
        // Of 1,000 entries 1,000 - 100,000 (1 - 0.99999^1000) = 4.98 are lost in the mean, with a deviation
        // of 2.2; of 200 such stamps 996 with one of 31.
        let lost = lost(0, 200, 1_000);
        assert!((840..1_150).contains(&lost), "{lost} are lost");
    }

    #[test]
    fn keys_that_add_at_one_stamp_do_not_draw_alike() {
        // Of 300 entries 0.448 are lost in the mean, with a deviation of 0.67, and none 64 times in 100.
        let lost: Vec<usize> = (0..2_000).map(|key| lost(key, 1, 300)).collect();
        let sum: usize = lost.iter().sum();
        let none = lost.iter().filter(|lost| **lost == 0).count();
        assert!((746..1_046).contains(&sum), "{sum} are lost");
        assert!((1_170..1_390).contains(&none), "{none} keys lose none");
    }

    #[test]
    fn no_more_than_all_suffixes_are_names_of_one_stamp() {
        let (mut naming, mut names) = (StampAndRandom::of(0, Seed(0).draws("state")), Names::new());
        naming.add(&mut names, 1, 7);
        naming.add(&mut names, 1, 2_000_000);
        assert_eq!(names.len(), 100_000);
        naming.add(&mut names, 2, u32::MAX);
        naming.add(&mut names, 2, 1);
        assert_eq!(names.len(), 200_000);
        assert!(names.iter().is_sorted());
    }

    #[test]
    fn no_entries_have_no_name() {
        let (mut bare, mut random) = (VecDeque::new(), VecDeque::new());
        Stamp.add(&mut bare, 1, 0);
        StampAndRandom::of(0, Seed(0).draws("state")).add(&mut random, 1, 0);
        assert_eq!((bare.len(), random.len()), (0, 0));
    }

    proptest! {
        #[test]
        fn a_cost_is_named_as_its_units_would_be_one_by_one(
            charges in prop::collection::vec((0..5_i64, 1..3_000_u32), 1..8),
        ) {
            let (mut whole, mut units) = (Names::new(), Names::new());
            let (mut of_whole, mut of_units) = (StampAndRandom::of(3, Seed(0).draws("state")), StampAndRandom::of(3, Seed(0).draws("state")));
            for (stamp, cost) in charges {
                of_whole.add(&mut whole, stamp, cost);
                (0..cost).for_each(|_| of_units.add(&mut units, stamp, 1));
                prop_assert_eq!(&whole, &units);
            }
        }
    }
}
