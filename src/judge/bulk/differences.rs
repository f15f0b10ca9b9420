//! How the decisions of two algorithms on the same attempts differ.

use crate::algorithm::Run;
use crate::judge::Wrong;

/// Counts the attempts of a history of so many that were let through where the reference refused, and the reverse.
/// Where nothing was denied, there are no runs.
pub(super) fn of_history(attempts: usize, own: &[Run], reference: &[Run]) -> Wrong {
    let all = [Run { accepted: attempts as u32, ..Run::default() }];
    match (own, reference) {
        ([], []) => Wrong::default(),
        ([], _) => of_runs(&all, reference),
        (_, []) => of_runs(own, &all),
        _ => of_runs(own, reference),
    }
}

/// The same of attempts that were told of in runs.
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
