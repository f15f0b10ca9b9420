//! How evenly acceptances are shared out.

use super::Value;
use crate::judge::{self, Evenness, SubjectTally};

/// Accepted attempts / attempts; `None` where nothing was attempted.
pub(super) fn share(subject: &SubjectTally) -> Option<f64> {
    judge::share(subject.accepted, subject.attempts)
}

/// Jain's index of fairness, (sum x)^2 / (n sum x^2) (R. Jain, D. Chiu and W. Hawe, DEC-TR-301,
/// 1984); `None` where all are zero.
pub(super) fn jain(of: Evenness) -> Option<Value> {
    let index = of.sum * of.sum / (of.count * of.squares);
    // Rounding may take it above 1.
    Value::number(if index > 1.0 { 1.0 } else { index })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(shares: &[f64]) -> Option<f64> {
        jain(shares.iter().copied().collect()).map(Value::as_f64)
    }

    #[test]
    fn equal_shares_are_perfectly_fair_and_no_more_than_that() {
        for part in 1..50 {
            for count in 2..30 {
                let found = index(&vec![f64::from(part) / 50.0; count]).unwrap();
                assert!((1.0 - 1e-12..=1.0).contains(&found), "{count} of {part}/50: {found}");
            }
        }
    }

    #[test]
    fn equal_shares_are_fair_and_one_of_four_having_all_is_a_quarter() {
        assert_eq!(index(&[0.5, 0.5, 0.5]), Some(1.0));
        assert_eq!(index(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 1/2)^2 / (2 * (1 + 1/4)) = 2.25 / 2.5
        assert_eq!(index(&[1.0, 0.5]), Some(0.9));
    }

    #[test]
    fn where_nobody_got_anything_nothing_is_fair_or_unfair() {
        assert_eq!(index(&[]), None);
        assert_eq!(index(&[0.0, 0.0]), None);
    }
}
