//! A second judge for the tests, written from the definitions: it keeps everything and looks
//! everything up anew.

use proptest::prelude::*;

use super::calls::*;
use super::*;
use crate::algorithm::{Footprint, Wait};
use crate::rate::Limit;
use crate::time::{Instant, Span};

/// What the definitions say.
struct Naive<'a> {
    promises: &'a Promises,
    calls: &'a [Call],
}

impl Naive<'_> {
    /// What was accepted for a key in (t-W, t] by the calls before the `upto`-th, with instants.
    fn trailing(&self, limit: usize, key: usize, t: Instant, upto: usize) -> Vec<(Instant, u64)> {
        let per = self.promises[limit][key].per.signed();
        let accepted = self.calls[..upto].iter().filter(|call| call.is_accepted());
        accepted
            .filter(|call| t.0 - per < call.at.0 && call.at <= t)
            .filter_map(|call| Some((call.at, call.cost(limit, key)?)))
            .collect()
    }

    fn sum(&self, limit: usize, key: usize, t: Instant, upto: usize) -> u64 {
        self.trailing(limit, key, t, upto).iter().map(|accepted| accepted.1).sum()
    }

    fn breaks(&self, index: usize, touch: &Touch) -> bool {
        let sum = self.sum(touch.limit, touch.key, self.calls[index].at, index + 1);
        sum > self.promises[touch.limit][touch.key].requests
    }

    fn has_room(&self, index: usize, touch: &Touch) -> bool {
        let sum = self.sum(touch.limit, touch.key, self.calls[index].at, index);
        sum + u64::from(touch.cost) <= self.promises[touch.limit][touch.key].requests
    }

    fn which(&self, what: impl Fn(usize, &Call) -> bool) -> Vec<usize> {
        let all = self.calls.iter().enumerate();
        all.filter(|&(index, call)| what(index, call)).map(|(index, _)| index).collect()
    }

    fn over(&self, index: usize) -> bool {
        let call = &self.calls[index];
        call.is_accepted() && call.touches.iter().any(|touch| self.breaks(index, touch))
    }

    fn subject(
        &self,
        promise: Option<Limit>,
        peak: Option<u64>,
        of: impl Fn(&Call) -> bool,
        over: impl Fn(usize) -> bool,
    ) -> SubjectTally {
        let count = |what: &dyn Fn(&Call) -> bool| self.which(|_, c| of(c) && what(c)).len() as u64;
        let decided = self.which(|_, call| of(call) && (call.is_accepted() || call.is_rejected()));
        let lockouts = decided.iter().enumerate().filter_map(|(n, &first)| {
            let locks = self.calls[first].is_rejected()
                && (n == 0 || self.calls[decided[n - 1]].is_accepted());
            let accepted = decided[n..].iter().position(|&i| self.calls[i].is_accepted());
            let end = match accepted {
                None => self.calls[*decided.last()?].at,
                Some(ahead) => {
                    let (last, next) = (decided[n + ahead.max(1) - 1], decided[n + ahead]);
                    let opens = match self.calls[last].what {
                        What::Rejected(_, Wait::After(wait)) => self.calls[last].at + wait,
                        _ => Instant(i64::MAX),
                    };
                    opens.min(self.calls[next].at)
                }
            };
            locks.then(|| end - self.calls[first].at)
        });
        SubjectTally {
            promise,
            attempts: count(&|call| call.what == What::Offered),
            accepted: count(&Call::is_accepted),
            rejected: count(&Call::is_rejected),
            over_limit: self.which(|i, c| of(c) && c.is_accepted() && over(i)).len() as u64,
            peak,
            longest_lockout: lockouts.max().unwrap_or(Span::ZERO),
        }
    }

    fn peak(&self, limit: usize, key: usize) -> Option<Peak> {
        let accepted = self.which(|_, c| c.is_accepted() && c.cost(limit, key).is_some());
        let peaks = accepted.into_iter().map(|index| {
            let to = self.calls[index].at;
            let window = self.trailing(limit, key, to, index + 1);
            Peak { cost: window.iter().map(|accepted| accepted.1).sum(), from: window[0].0, to }
        });
        peaks.reduce(|most, next| if next.cost > most.cost { next } else { most })
    }

    fn key(&self, limit: usize, key: usize) -> SubjectTally {
        let promise = Some(self.promises[limit][key]);
        let peak = self.peak(limit, key).map(|peak| peak.cost);
        let of = |call: &Call| call.cost(limit, key).is_some();
        let over = |index| self.breaks(index, &Touch { limit, key, cost: 0 });
        self.subject(promise, peak, of, over)
    }

    fn limit(&self, (index, (name, promise)): (usize, (String, Limit))) -> LimitTally {
        let count = self.promises[index].len();
        let keys: Vec<_> = (0..count).map(|key| self.key(index, key)).collect();
        // Among keys above a promise of nothing, the one with the highest cost.
        let height = |key: &SubjectTally| match (key.peak, key.promise.unwrap().requests) {
            (None, _) => (0.0, 0),
            (Some(cost), 0) => (f64::INFINITY, cost),
            (Some(cost), requests) => (cost as f64 / requests as f64, 0),
        };
        let higher = |one: (f64, u64), other| if other > one { other } else { one };
        let highest = keys.iter().map(height).fold((0.0, 0), higher);
        let refuses = |call: &Call| match call.what {
            What::Rejected(refused, _) => {
                let touch = call.touches.iter().position(|touch| touch.limit == index);
                touch.filter(|bit| refused & (1 << bit) != 0)
            }
            _ => None,
        };
        let needless = |index, call: &Call| {
            refuses(call).is_some_and(|bit| self.has_room(index, &call.touches[bit]))
        };
        LimitTally {
            name,
            promise,
            attempts: keys.iter().map(|key| key.attempts).sum(),
            accepted: keys.iter().map(|key| key.accepted).sum(),
            refused: self.which(|_, call| refuses(call).is_some()).len() as u64,
            over_limit: keys.iter().map(|key| key.over_limit).sum(),
            needless_rejections: self.which(needless).len() as u64,
            worst: keys.iter().position(|key| height(key) == highest).map(|key| Worst {
                key,
                promise: self.promises[index][key],
                peak: self.peak(index, key),
            }),
            keys: (0..count).map(|key| key_name(index, key)).zip(keys).collect(),
        }
    }

    fn bin(&self, from: Instant, to: Instant) -> Bin {
        let within = |call: &Call| from <= call.at && call.at < to;
        let count = |what: &dyn Fn(usize, &Call) -> bool| {
            self.which(|i, c| within(c) && what(i, c)).len() as u64
        };
        let before = self.calls.iter().take_while(|call| call.at < from).count();
        let windows = (0..self.promises[0].len()).flat_map(|key| {
            let accepted = self.which(|_, c| within(c) && c.is_accepted());
            let sums = accepted.into_iter().map(move |i| self.sum(0, key, self.calls[i].at, i + 1));
            sums.chain([self.sum(0, key, from, before)]).collect::<Vec<_>>()
        });
        let mut bin = Bin {
            offered: count(&|_, call| call.what == What::Offered),
            accepted: count(&|_, call| call.is_accepted()),
            rejected: count(&|_, call| call.is_rejected()),
            over_limit: count(&|index, _| self.over(index)),
            window_max: windows.max().unwrap_or(0),
            ..Bin::default()
        };
        for (limit, keys) in self.promises.iter().enumerate() {
            for key in 0..keys.len() {
                let kept = self.footprints(limit, key, from, to);
                bin.keys += u64::from(!kept.is_empty());
                bin.entries += kept.iter().map(|footprint| footprint.entries).max().unwrap_or(0);
                bin.bytes += kept.iter().map(|footprint| footprint.bytes).max().unwrap_or(0);
            }
        }
        bin
    }

    /// What a key's state took at some time in [from, to).
    fn footprints(&self, limit: usize, key: usize, from: Instant, to: Instant) -> Vec<Footprint> {
        let told = |call: &Call| match call.what {
            What::Kept(footprint, until) if call.cost(limit, key).is_some() => {
                Some((call.at, footprint, until.unwrap_or(Instant(i64::MAX))))
            }
            _ => None,
        };
        let told: Vec<_> = self.calls.iter().filter_map(told).collect();
        let kept = told.iter().enumerate().filter(|&(index, &(at, _, until))| {
            let replaced = told.get(index + 1).map_or(Instant(i64::MAX), |next| next.0);
            let in_bin = from <= at && at < to && at < until;
            in_bin || (at < from && from < until && from < replaced)
        });
        kept.map(|(_, told)| told.1).collect()
    }

    fn tally(&self) -> Tally {
        let mut timeline = Timeline::over(WINDOW);
        for index in 0..timeline.bins.len() {
            let from = WINDOW.start + Span::from_nanos(10 * index as u64);
            timeline.bins[index] = self.bin(from, from + Span::from_nanos(10));
        }
        let count = |what: &dyn Fn(&Call) -> bool| self.which(|_, call| what(call)).len() as u64;
        let attempts = count(&|call| call.what == What::Offered);
        let needless = |index, call: &Call| {
            call.is_rejected() && call.touches.iter().all(|touch| self.has_room(index, touch))
        };
        let clients = (0..CLIENTS).map(|client| {
            let of = |call: &Call| call.client as usize == client;
            (client_name(client), self.subject(None, None, of, |index| self.over(index)))
        });
        let (mut queue_waits, mut denial_waits) = Default::default();
        for call in self.calls {
            match call.what {
                What::Accepted(Some(waited)) => Distribution::record(&mut queue_waits, waited),
                What::Rejected(_, Wait::After(wait)) => {
                    Distribution::record(&mut denial_waits, wait);
                }
                _ => {}
            }
        }
        Tally {
            books: Books::of_open_loop(
                attempts,
                count(&Call::is_accepted),
                count(&Call::is_rejected),
                pending(self.calls),
            ),
            over_limit: self.which(|index, _| self.over(index)).len() as u64,
            needless_rejections: self.which(needless).len() as u64,
            wrong: None,
            limits: limits(self.promises).into_iter().enumerate().map(|l| self.limit(l)).collect(),
            clients: clients.filter(|(_, client)| client.attempts > 0).collect(),
            queue_waits,
            denial_waits,
            denied_for_ever: count(&|c| matches!(c.what, What::Rejected(_, Wait::Never))),
            kept: Kept {
                keys_max: timeline.bins.iter().map(|bin| bin.keys).max().unwrap(),
                entries_max: timeline.bins.iter().map(|bin| bin.entries).max().unwrap(),
                bytes_max: timeline.bins.iter().map(|bin| bin.bytes).max().unwrap(),
            },
            timeline,
            closed: None,
            fleet: None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_judge_finds_what_the_definitions_say(promises in two_limits(), calls in any_calls()) {
        let naive = Naive { promises: &promises, calls: &calls };
        assert_equal(&judged(&promises, &calls), &naive.tally());
    }
}
