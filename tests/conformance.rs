//! What every algorithm of the registry keeps, whatever its options, and what some of them promise
//! besides. A new entry of the registry is under test as soon as it is there.

mod support;

use ratesim::algorithm::{ALGORITHMS, Verdict};
use ratesim::rate::Limit;
use support::checks::{self, Answer};
use support::reference::{self, Outcome};
use support::{Make, Situation, Variant, canaries, generated, variants};

/// Runs a check over every variant that `wanted` takes, and names the variant that fails.
fn all(
    (cases, disorder): (u32, u32),
    ticks: &[&str],
    wanted: impl Fn(&Variant) -> bool,
    check: impl Fn(&Variant, Make, &Situation) -> Result<(), String>,
) {
    let mut tried = 0;
    for variant in ALGORITHMS.iter().flat_map(|kind| variants(kind, ticks)).filter(wanted) {
        let make = |limit: &Limit| variant.make(limit);
        if let Err(failure) = generated(cases, disorder, |s| check(&variant, &make, s)) {
            panic!("{}: {failure}", variant.name());
        }
        tried += 1;
    }
    assert!(tried > 0, "no algorithm is wanted");
}

/// Entries of the log that are stored under a name that another may have: so many as pass at a reading are
/// one, or most of them are.
fn shares_names(variant: &Variant) -> bool {
    variant.option("member").is_some_and(|member| member != "unique")
}

/// Names are drawn for the reading at which an entry is stored; at another it has another.
fn draws_names(variant: &Variant) -> bool {
    variant.is("member", "stamp-and-random")
}

const IN_ORDER: u32 = 0;
const DISORDER: u32 = 25;

/// As a scenario has it that says nothing of options.
fn default_options(variant: &Variant) -> bool {
    let defaults = [
        "epoch",
        "half-open",
        "unique",
        "floor",
        "continuous",
        "after-interval",
        "freeze",
        "false",
    ];
    variant.options.iter().all(|(key, value)| {
        key == "tick" || (key != "initial" && defaults.contains(&value.trim_matches('"')))
    })
}

#[test]
fn waits_are_exact_to_the_nanosecond_or_the_tick() {
    for (tick, text) in [(1, "1ns"), (7, "7ns"), (1_000, "1us")] {
        all(
            (100, DISORDER),
            &[text],
            |_| true,
            |variant, make, s| {
                let counter = variant.kind.name == "sliding-window-counter";
                let rewinds = variant.option("backwards").is_some_and(|b| b.starts_with("rewind"));
                let may_make_room = counter && rewinds;
                checks::waits_are_exact(make, tick, may_make_room, s)
            },
        );
    }
}

#[test]
fn nothing_panics_at_the_extremes() {
    all((80, DISORDER), &["1ns", "1s"], |_| true, |_, make, s| checks::nothing_panics(make, s));
}

#[test]
fn windows_hold_what_each_algorithm_promises() {
    let promise = |variant: &Variant| match variant.kind.name {
        "sliding-window-log" => Some(1),
        "fixed-window" | "sliding-window-counter" => Some(2),
        _ => None,
    };
    let wanted = |v: &Variant| default_options(v) && promise(v).is_some();
    all((400, IN_ORDER), &["1ns"], wanted, |variant, make, s| {
        let limits = promise(variant).unwrap_or_default();
        checks::windows_hold(make, limits * s.limit.requests, s)
    });
}

#[test]
fn buckets_pass_their_burst_and_the_rate() {
    let wanted = |v: &Variant| {
        let bucket = matches!(v.kind.name, "token-bucket" | "leaky-bucket" | "gcra");
        bucket && default_options(v)
    };
    all((400, IN_ORDER), &["1ns"], wanted, |_, make, s| checks::rate_holds(make, s.limit.burst, s));
}

#[test]
fn limit_burst_and_costs_scale_together() {
    // Cutting an estimate down is relative to a unit of cost, and so are the place of the unit that
    // left last, a given number of tokens, and an entry of which there can be but one.
    let unit = |v: &Variant| {
        let one = v.is("round", "floor") || v.is("first", "immediate") || v.is("initial", "1");
        one || shares_names(v)
    };
    all(
        (60, DISORDER),
        &["1ns"],
        |v| !unit(v),
        |_, make, s| {
            checks::costs_scale(make, 3, s)?;
            checks::costs_scale(make, 1_000, s)
        },
    );
}

#[test]
fn width_and_readings_scale_together() {
    all(
        (60, DISORDER),
        &["1ns"],
        |v| !draws_names(v),
        |_, make, s| {
            checks::times_scale(make, 3, s)?;
            checks::times_scale(make, 1_000, s)
        },
    );
}

#[test]
fn a_shift_in_time_changes_nothing() {
    all(
        (60, DISORDER),
        &["1ns"],
        |v| !draws_names(v),
        |variant, make, s| {
            let width = s.limit.per.signed();
            checks::times_shift(make, width, s)?;
            checks::times_shift(make, width.saturating_mul(-12), s)?;
            if variant.is("anchor", "epoch") || variant.kind.name == "sliding-window-counter" {
                return Ok(());
            }
            checks::times_shift(make, 1, s)?;
            checks::times_shift(make, -1_000_000_000_007, s)
        },
    );
}

#[test]
fn older_readings_never_earn_anything_under_freeze() {
    // A key that was forgotten has no last reading.
    all(
        (100, DISORDER),
        &["1ns"],
        |v| v.is("backwards", "freeze") && !v.is("anchor", "expiry"),
        |variant, make, s| {
            let charges_denials = variant.is("count-rejected", "true");
            checks::older_readings_count_as_the_last(make, charges_denials, s)
        },
    );
}

#[test]
fn neutral_state_may_be_dropped_while_readings_do_not_go_back() {
    all(
        (60, IN_ORDER),
        &["1ns", "7ns"],
        |_| true,
        |_, make, s| checks::neutral_state_may_be_dropped(make, s),
    );
}

#[test]
fn a_denial_that_is_not_written_changes_nothing() {
    all(
        (60, DISORDER),
        &["1ns"],
        |_| true,
        |_, make, s| checks::unwritten_denials_change_nothing(make, s),
    );
}

#[test]
fn asking_more_often_never_lowers_what_is_admitted() {
    // Windows that a key opens for itself move with its requests, the counter's estimate is of all that
    // passed, and one name is room for as many as come at its reading: none of them promises this.
    let wanted = |v: &Variant| {
        v.is("count-rejected", "false")
            && !v.is("anchor", "first-request")
            && !v.is("anchor", "expiry")
            && !shares_names(v)
            && v.kind.name != "sliding-window-counter"
    };
    all((100, IN_ORDER), &["1ns"], wanted, |_, make, s| checks::asking_more_never_lowers(make, s));
}

#[test]
fn what_is_left_passes_and_not_one_more() {
    // A unit that left an idle queue at once is no longer in it; a rewound reading decides by another
    // part of the window once it is stored; several entries may be one.
    let moves = |v: &Variant| {
        let rewinds = v.option("backwards").is_some_and(|b| b.starts_with("rewind"));
        v.is("first", "immediate") || rewinds || shares_names(v)
    };
    all(
        (100, DISORDER),
        &["1ns"],
        |v| !moves(v),
        |_, make, s| checks::what_is_left_passes(make, s),
    );
}

#[test]
fn gcra_decides_as_the_token_bucket_does_waits_included() {
    let find = |name| ratesim::algorithm::find(name).unwrap();
    let (gcra, bucket) = (find("gcra"), find("token-bucket"));
    let mut pairs = 0;
    for one in variants(gcra, &["1ns", "7ns"]) {
        if !bucket.backwards.iter().any(|mode| one.is("backwards", name_of(*mode))) {
            continue;
        }
        let other = Variant { kind: bucket, options: one.options.clone() };
        let alike = generated(1_500, DISORDER, |situation| {
            // A limit of none is the slowest of rates to one, and no rate to the other, which shows
            // where an older reading is taken as it is.
            if situation.limit.requests == 0 && one.is("backwards", "naive") {
                return Ok(());
            }
            checks::decide_alike(&|l| one.make(l), &|l| other.make(l), situation)
        });
        assert_eq!(alike, Ok(()), "{}", one.name());
        pairs += 1;
    }
    assert_eq!(pairs, 2 * 2 * 4, "count-rejected, tick, and four ways to take older readings");
}

fn name_of(mode: ratesim::algorithm::Backwards) -> &'static str {
    ratesim::params::Choice::name(mode)
}

fn agrees_with_reference(variant: &Variant, make: Make, s: &Situation) -> Result<(), String> {
    // The rule draws every name one by one.
    let cost: u64 = s.traffic.iter().map(|attempt| u64::from(attempt.cost)).sum();
    if draws_names(variant) && cost > 20_000 {
        return Ok(());
    }
    let Some(mut limiter) = make(&s.limit) else { return Ok(()) };
    let Some(mut rule) = reference::rule(variant, &s.limit) else { return Ok(()) };
    for (index, &attempt) in s.traffic.iter().enumerate() {
        let answer = match checks::ask(limiter.as_mut(), 0, attempt) {
            Answer::Admit => Outcome::Admit,
            Answer::Queue(span) => Outcome::Queue(span),
            Answer::Deny(_) => Outcome::Deny,
        };
        let right = rule.attempt(attempt.now, attempt.cost);
        if answer != right {
            return Err(format!("attempt {index}: {answer:?}, by its rule {right:?}"));
        }
    }
    Ok(())
}

#[test]
fn each_algorithm_decides_as_its_rule_says_in_exact_fractions() {
    let limit = Limit::new(1, ratesim::time::Span::from_secs(1));
    let plain = ALGORITHMS.iter().map(|kind| Variant { kind, options: Vec::new() });
    let ruled = plain.filter(|variant| reference::rule(variant, &limit).is_some()).count();
    assert!(ruled >= 6, "only {ruled} algorithms have a second implementation");
    all((200, DISORDER), &["1ns"], |_| true, agrees_with_reference);
    all((60, IN_ORDER), &["1ns"], |_| true, agrees_with_reference);
}

#[test]
fn what_is_wrong_on_purpose_is_caught() {
    let even = |s: &Situation| canaries::even(&s.limit).is_some();
    let waits = |make: Make, s: &Situation| match even(s) {
        true => checks::waits_are_exact(make, 1, false, s),
        false => Ok(()),
    };
    let older = |make: Make, s: &Situation| match even(s) {
        true => checks::older_readings_count_as_the_last(make, false, s),
        false => Ok(()),
    };
    let windows = |make: Make, s: &Situation| checks::windows_hold(make, s.limit.requests, s);

    let caught = |result: Result<(), String>, what: &str| {
        let failure = result.expect_err(what);
        assert!(failure.contains(what), "caught for another reason: {failure}");
    };
    caught(
        generated(2_000, IN_ORDER, |s| waits(&canaries::wait_without_burst, s)),
        "passes earlier than after",
    );
    caught(generated(2_000, DISORDER, |s| older(&canaries::earns_twice, s)), "at the last reading");
    caught(
        generated(2_000, IN_ORDER, |s| windows(&canaries::edge_too_early, s)),
        "within a window",
    );
    assert_eq!(generated(2_000, DISORDER, |s| waits(&canaries::faultless, s)), Ok(()));
    assert_eq!(generated(2_000, DISORDER, |s| older(&canaries::faultless, s)), Ok(()));
}

#[test]
fn a_burst_of_zero_and_a_limit_of_none_block_everything() {
    for kind in ALGORITHMS {
        let variant = Variant { kind, options: Vec::new() };
        let blocked = Limit::new(0, ratesim::time::Span::from_secs(1));
        let mut limiter = variant.make(&blocked).unwrap();
        limiter.reserve(0);
        for now in [0, 1, 1_000_000_000, i64::MAX / 2] {
            let verdict = limiter.check(0, ratesim::time::Reading(now), 1);
            assert_eq!(verdict, Verdict::Deny, "{}", kind.name);
        }
    }
}
