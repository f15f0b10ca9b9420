//! The only place where random generators are made. Every purpose and entity has a stream of its
//! own, derived from (seed, label, index): adding a stream, or drawing more from one, changes no
//! other, so that every algorithm sees the same traffic.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// The seed of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

/// A portable generator: PCG XSL 128/64 (MCG), O'Neill 2014.
pub type Stream = Pcg64Mcg;

impl Seed {
    /// The seed of a replica: of the first, 0, this seed itself, so that one replica alone is the run as
    /// it would be without any.
    pub fn replica(self, replica: u32) -> Seed {
        match replica {
            0 => self,
            _ => self.part("replica", u64::from(replica)),
        }
    }

    /// The seed of a part that derives streams of its own.
    pub fn part(self, label: &str, index: u64) -> Seed {
        Seed(self.stream(label, index).next_u64())
    }

    /// The stream for one purpose (`label`) and entity (`index`).
    pub fn stream(self, label: &str, index: u64) -> Stream {
        self.draws(label).stream(index)
    }

    /// The streams of one purpose, for drawing from many of them without going over the label anew.
    pub fn draws(self, label: &str) -> Draws {
        // FNV-1a over the label spreads names, SplitMix64's finaliser spreads everything else.
        let label = fnv(label);
        Draws { base: mix(self.0 ^ mix(label)), label }
    }
}

/// The streams of one purpose under one seed.
#[derive(Debug, Clone, Copy)]
pub struct Draws {
    base: u64,
    label: u64,
}

impl Draws {
    /// The stream of an entity.
    pub fn stream(self, index: u64) -> Stream {
        let high = mix(self.base.wrapping_add(mix(index ^ 0x9e37_79b9_7f4a_7c15)));
        let low = mix(high ^ self.label.rotate_left(32));
        Stream::new((u128::from(high) << 64) | u128::from(low))
    }

    /// The stream of a part of an entity, such as one attempt of a request.
    pub fn part(self, index: u64, part: u64) -> Stream {
        let base = mix(self.base.wrapping_add(mix(index)));
        Draws { base, ..self }.stream(part)
    }
}

/// A number that depends on a name alone, and on all of it; alike everywhere and in every run.
pub fn digest(name: &str) -> u64 {
    mix(fnv(name))
}

/// A whole number below `end`, which is at least 1; each as likely as the next to within `end` in
/// 2^64.
pub fn below(stream: &mut Stream, end: u64) -> u64 {
    ((u128::from(stream.next_u64()) * u128::from(end)) >> 64) as u64
}

/// A number above 0 and up to 1, in steps of 2^-53.
pub fn unit(stream: &mut Stream) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 53) as f64;
    ((stream.next_u64() >> 11) + 1) as f64 * STEP
}

/// From the exponential distribution with mean 1: at most 36.8.
pub fn exponential(stream: &mut Stream) -> f64 {
    -libm::log(unit(stream))
}

/// From the normal distribution with mean 0 and standard deviation 1 (Box and Muller 1958, whose
/// second number is not used, so that every draw takes the same two steps).
pub fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(2.0 * exponential(stream));
    radius * libm::cos(std::f64::consts::TAU * unit(stream))
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo).
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014, with Stafford's constants).
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn streams_are_the_same_everywhere_and_differ_from_one_another() {
        let first = |seed, label, index| Seed(seed).stream(label, index).next_u64();
        assert_eq!(first(1, "arrivals", 0), first(1, "arrivals", 0));
        let mut seen = BTreeSet::new();
        for seed in 0..8 {
            for label in ["", "arrivals", "costs", "jitter"] {
                for index in 0..64 {
                    assert!(seen.insert(first(seed, label, index)));
                }
            }
        }
        insta::assert_snapshot!(format!("{:016x}", first(1, "arrivals", 7)));
    }

    #[test]
    fn replicas_have_seeds_of_their_own_and_the_first_has_that_of_the_run() {
        let mut seen = BTreeSet::new();
        for seed in [0, 1, 2, u64::MAX] {
            assert_eq!(Seed(seed).replica(0), Seed(seed));
            for replica in 0..1000 {
                assert!(seen.insert(Seed(seed).replica(replica).0));
            }
        }
        insta::assert_snapshot!("replica", format!("{:016x}", Seed(1).replica(7).0));
    }
}
