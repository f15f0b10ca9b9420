//! `exponential`: each delay is the one before times a factor, up to a cap: the load of those who fail
//! again and again falls with time. (Binary exponential backoff: Metcalfe and Boggs 1976, with the factor
//! 2 and a cap.)
//!
//! Delays are exact: base times factor to the n-th, in decimal digits of any number, and only then rounded
//! down to a whole nanosecond. They never wrap: clients that shift a 32-bit number of milliseconds reach
//! a negative or zero delay at attempt 24, and become the tight loop that backoff is there to prevent.

use super::{Policy, Schedule};
use crate::client::jitter::Jitter;
use crate::params::Params;
use crate::rate::Decimal;
use crate::time::Span;

/// The entry of the registry.
pub const POLICY: Policy = Policy {
    name: "exponential",
    summary: "Each delay is the one before times a factor, up to a cap.",
    formula: "min(cap, base x factor^(n-1))",
    source: "Metcalfe and Boggs, Ethernet (CACM 19:7, 1976)",
    jitters: &["none", "full", "equal", "decorrelated", "proportional"],
    unjittered: "",
    delays: Some(delays),
};

/// The least factor above 1: slower growth is a fixed delay for all that a simulation shows, and takes
/// thousands of steps to its cap.
const LEAST_GROWTH: Decimal = Decimal::thousandth_parts(1010);

const MOST_GROWTH: Decimal = Decimal::whole(1000);

fn delays(params: &mut Params, jitter: Option<&Jitter>) -> Option<Schedule> {
    let base =
        params.or("base", Span::from_nanos(100_000_000), "The delay before the first retry.");
    let cap = params.or("cap", Span::from_secs(20), "No delay is longer, before jitter.");
    let grows = params.only(
        jitter.map(|jitter| !jitter.feeds_back),
        "a `jitter` other than \"decorrelated\"",
        |params| {
            let factor = params.or(
                "factor",
                Decimal::whole(2),
                "Each delay is the one before times this, from 1 up.",
            );
            let known = factor == Decimal::whole(1) || factor >= LEAST_GROWTH;
            let grows = params.require(
                "factor",
                known && factor <= MOST_GROWTH,
                format!("delays cannot grow by a factor of {factor}"),
                "write 1, or a number from 1.01 to 1000 with at most three decimals",
            );
            grows.then_some(factor)
        },
    );
    let waits = params.require(
        "base",
        base != Span::ZERO,
        "a delay of no time at all never grows",
        "write a span such as \"100ms\", or `retries = \"immediate\"`",
    );
    let below = params.require(
        if params.has("cap") { "cap" } else { "base" },
        base <= cap,
        format!("the `base` of {base} is longer than the `cap` of {cap}"),
        "make `cap` at least as long as `base`",
    );
    let factor = match grows {
        Some(factor) => factor?,
        None => Decimal::whole(1),
    };
    (waits && below).then(|| grown(base, factor, cap))
}

/// The delays of `base` that grows by `factor`, up to `cap`.
fn grown(base: Span, factor: Decimal, cap: Span) -> Schedule {
    let mut later = Vec::new();
    let mut power = Digits::new(base.nanos());
    let mut last = base;
    while factor > Decimal::whole(1) && last < cap {
        power.times(factor.thousandths());
        last = power.whole(later.len() + 1, cap.nanos());
        later.push(last);
    }
    Schedule { first: base, later, cap }
}

/// A whole number of any size in digits to the base 1000, the lowest first. A number times n factors in
/// thousandths is such a number, of which the lowest n digits are its fraction.
struct Digits(Vec<u64>);

impl Digits {
    fn new(mut number: u64) -> Digits {
        let mut digits = Vec::new();
        while number > 0 {
            digits.push(number % 1000);
            number /= 1000;
        }
        Digits(digits)
    }

    fn times(&mut self, factor: u64) {
        let mut carry = 0;
        for digit in &mut self.0 {
            let product = *digit * factor + carry;
            *digit = product % 1000;
            carry = product / 1000;
        }
        self.0.extend(Digits::new(carry).0);
    }

    /// The number without its lowest `fraction` digits, or `most` if that is less.
    fn whole(&self, fraction: usize, most: u64) -> Span {
        let digits = self.0.get(fraction..).unwrap_or_default();
        let most = u128::from(most);
        let number = digits.iter().rev().try_fold(0_u128, |number, digit| {
            let number = number * 1000 + u128::from(*digit);
            (number < most).then_some(number)
        });
        number.and_then(Span::try_from_nanos).unwrap_or(Span::from_nanos(most as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn span(text: &str) -> Span {
        Span::parse(text).unwrap()
    }

    fn factor(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    /// The first delays, and the number of those that differ.
    fn delays(base: &str, by: &str, cap: &str, count: u32) -> Vec<String> {
        let schedule = grown(span(base), factor(by), span(cap));
        (1..=count).map(|n| schedule.delay(n).to_string()).collect()
    }

    #[test]
    fn delays_double_up_to_the_cap_and_stay_there() {
        let doubled = delays("100ms", "2", "1s", 6);
        assert_eq!(doubled, ["100ms", "200ms", "400ms", "800ms", "1s", "1s"]);
    }

    #[test]
    fn a_factor_with_decimals_is_exact_and_only_the_delay_is_rounded() {
        // 1 ns x 1.5^k: 1, 1.5, 2.25, 3.375, 5.0625, 7.59375, 11.390625 ns
        assert_eq!(delays("1ns", "1.5", "1s", 7).join(" "), "1ns 1ns 2ns 3ns 5ns 7ns 11ns");
        assert_eq!(delays("1s", "1.6", "120s", 4), ["1s", "1.6s", "2560ms", "4096ms"]);
    }

    #[test]
    fn a_factor_of_one_never_grows() {
        assert_eq!(delays("5ms", "1", "1s", 3), ["5ms", "5ms", "5ms"]);
    }

    #[test]
    fn a_base_at_the_cap_stays_there() {
        assert_eq!(delays("1s", "2", "1s", 2), ["1s", "1s"]);
    }

    #[test]
    fn no_number_of_attempts_wraps_around() {
        let without_cap = |base: &str| grown(span(base), factor("2"), Span::MAX);
        // 100 ms x 2^25, which is -939,524,096 in 32 bits of milliseconds.
        assert_eq!(without_cap("100ms").delay(26), span("3355443200ms"));
        // 200 ms before retry 24: 200 ms x 2^23.
        assert_eq!(without_cap("200ms").delay(24), span("1677721600ms"));
        // 1 ns at attempt 40: 2^39 ns.
        assert_eq!(without_cap("1ns").delay(40), Span::from_nanos(1 << 39));
        // 100 ms x 2^36 is the last that fits into 63 bits of nanoseconds.
        assert_eq!(without_cap("100ms").delay(37), Span::from_nanos(100_000_000 << 36));
        for n in [38, 40, 64, 65, 4_000_000, u32::MAX] {
            assert_eq!(without_cap("100ms").delay(n), Span::MAX, "{n}");
        }
        assert_eq!(grown(span("100ms"), factor("2"), span("20s")).delay(4_000_000), span("20s"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn delays_are_the_formula_in_numbers_of_any_size(
            base in 1..=Span::MAX.nanos(),
            shift in 0..63_u32,
            thousandths in 1010..=1_000_000_u64,
            cap in 1..=Span::MAX.nanos(),
            n in 1..200_u32,
        ) {
            let base = (base >> shift).max(1);
            let cap = cap.max(base);
            let factor = Decimal::thousandth_parts(thousandths);
            let schedule = grown(Span::from_nanos(base), factor, Span::from_nanos(cap));
            let exact = BigUint::from(base) * BigUint::from(thousandths).pow(n - 1)
                / BigUint::from(1000_u64).pow(n - 1);
            let expected = exact.min(BigUint::from(cap));
            prop_assert_eq!(BigUint::from(schedule.delay(n).nanos()), expected);
            prop_assert!(schedule.delay(n + 1) >= schedule.delay(n));
        }
    }

    #[test]
    fn the_slowest_growth_from_least_to_most_takes_a_few_thousand_steps() {
        let schedule = grown(Span::from_nanos(1), LEAST_GROWTH, Span::MAX);
        // ln(2^63) / ln(1.01) = 4388.6
        assert_eq!(schedule.later.len(), 4389);
        assert_eq!(schedule.delay(4_000_000), Span::MAX);
    }
}
