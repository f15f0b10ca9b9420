//! How the decisions of two algorithms on the same attempts differ.

use crate::algorithm::{Batch, Decided, Run};
use crate::judge::Wrong;

/// Counts the attempts of a batch that were let through where the reference refused, and the reverse.
pub(super) fn count(batch: &Batch, own: &Decided, reference: &Decided, wrong: &mut Wrong) {
    let (mut from, mut own_from, mut reference_from) = (0, 0, 0);
    let outcomes = own.outcomes.iter().zip(&reference.outcomes);
    for (history, (mine, theirs)) in batch.histories.iter().zip(outcomes) {
        let all = Run { accepted: history.end - from, ..Run::default() };
        from = history.end;
        let mine_to = mine.runs_end as usize;
        let theirs_to = theirs.runs_end as usize;
        let (own_runs, reference_runs) =
            (&own.runs[own_from..mine_to], &reference.runs[reference_from..theirs_to]);
        (own_from, reference_from) = (mine_to, theirs_to);
        let one = match (mine.denied, theirs.denied) {
            (0, 0) => continue,
            (0, _) => of_runs(&[all], reference_runs),
            (_, 0) => of_runs(own_runs, &[all]),
            _ => of_runs(own_runs, reference_runs),
        };
        wrong.allowed += one.allowed;
        wrong.limited += one.limited;
    }
}

/// The same of one history.
fn of_runs(own: &[Run], reference: &[Run]) -> Wrong {
    let mut wrong = Wrong::default();
    let (mut own, mut reference) = (Stretches::of(own), Stretches::of(reference));
    while own.left > 0 || own.next() {
        if reference.left == 0 && !reference.next() {
            break;
        }
        let together = own.left.min(reference.left);
        match (own.allowed, reference.allowed) {
            (true, false) => wrong.allowed += u64::from(together),
            (false, true) => wrong.limited += u64::from(together),
            _ => {}
        }
        own.left -= together;
        reference.left -= together;
    }
    wrong
}

/// Runs as stretches of attempts that met with the same.
struct Stretches<'a> {
    runs: std::slice::Iter<'a, Run>,
    denied: u32,
    allowed: bool,
    left: u32,
}

impl Stretches<'_> {
    fn of(runs: &[Run]) -> Stretches<'_> {
        Stretches { runs: runs.iter(), denied: 0, allowed: false, left: 0 }
    }

    /// Goes on to the next stretch; `false` if there is none.
    fn next(&mut self) -> bool {
        while self.left == 0 {
            if self.denied > 0 {
                (self.allowed, self.left) = (false, std::mem::take(&mut self.denied));
                return true;
            }
            let Some(run) = self.runs.next() else { return false };
            (self.allowed, self.left, self.denied) = (true, run.accepted, run.denied);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(decisions: &[bool]) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut run = Run::default();
        for &allowed in decisions {
            if allowed && run.denied > 0 {
                runs.push(std::mem::take(&mut run));
            }
            *(if allowed { &mut run.accepted } else { &mut run.denied }) += 1;
        }
        runs.push(run);
        runs
    }

    proptest! {
        #[test]
        fn stretches_differ_as_decisions_do_one_by_one(
            decisions in prop::collection::vec(any::<(bool, bool)>(), 0..60),
        ) {
            let (own, reference): (Vec<bool>, Vec<bool>) = decisions.iter().copied().unzip();
            let count = |wanted| decisions.iter().filter(|&&both| both == wanted).count() as u64;
            let expected = Wrong { allowed: count((true, false)), limited: count((false, true)) };
            prop_assert_eq!(of_runs(&runs(&own), &runs(&reference)), expected);
        }
    }
}
