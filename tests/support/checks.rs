//! The properties asked of algorithms, as functions that name what broke. They take anything that
//! makes limiters, so that an algorithm wrong on purpose can be fed to the very same ones.

use ratesim::algorithm::{Limiter, Verdict, Wait};
use ratesim::rate::Limit;
use ratesim::time::{Reading, Span};

use super::{Attempt, LATEST, Make, Situation};

/// What a limiter said of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Admit,
    Queue(Span),
    Deny(Wait),
}

impl Answer {
    pub fn passed(self) -> bool {
        !matches!(self, Answer::Deny(_))
    }
}

/// Decides, charges or denies, and asks a denied attempt's wait, as engines do.
pub fn ask(limiter: &mut dyn Limiter, key: usize, attempt: Attempt) -> Answer {
    let Attempt { cost, .. } = attempt;
    let now = attempt.at();
    limiter.reserve(key);
    match limiter.check(key, now, cost) {
        Verdict::Deny => {
            limiter.deny(key, now, cost);
            Answer::Deny(limiter.wait(key, now, cost))
        }
        verdict => {
            limiter.charge(key, now, cost);
            match verdict {
                Verdict::Queue(span) => Answer::Queue(span),
                _ => Answer::Admit,
            }
        }
    }
}

fn answers(make: Make, limit: &Limit, traffic: &[Attempt]) -> Option<Vec<Answer>> {
    let mut limiter = make(limit)?;
    Some(traffic.iter().map(|&attempt| ask(limiter.as_mut(), 0, attempt)).collect())
}

/// After a denial: passes at `now + wait`, and not one tick earlier; or at no time to come. A wait of
/// zero is right only where the denial itself `may_make_room`.
pub fn waits_are_exact(
    make: Make,
    tick: i64,
    may_make_room: bool,
    situation: &Situation,
) -> Result<(), String> {
    let Some(mut limiter) = make(&situation.limit) else { return Ok(()) };
    for (index, &attempt) in situation.traffic.iter().enumerate() {
        let Answer::Deny(wait) = ask(limiter.as_mut(), 0, attempt) else { continue };
        let denied = |now: i64| limiter.check(0, Reading(now), attempt.cost) == Verdict::Deny;
        match wait {
            Wait::After(span) => {
                let Some(then) = attempt.now.checked_add(span.signed()) else { continue };
                if denied(then) {
                    return Err(format!("attempt {index}: denied after its wait of {span}"));
                }
                let made_room = may_make_room && span == Span::ZERO;
                if !made_room && !denied(then - tick) {
                    return Err(format!("attempt {index}: passes earlier than after {span}"));
                }
            }
            Wait::Never => {
                let width = situation.limit.per.signed();
                for later in [0, 1, width, width.saturating_mul(3), i64::MAX] {
                    if !denied(attempt.now.saturating_add(later)) {
                        return Err(format!("attempt {index}: passes {later} ns after a never"));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Everything that may be asked can be asked, whatever was charged; queue spans are never zero.
pub fn nothing_panics(make: Make, situation: &Situation) -> Result<(), String> {
    let Some(mut limiter) = make(&situation.limit) else { return Ok(()) };
    limiter.reserve(0);
    for (index, &attempt) in situation.traffic.iter().enumerate() {
        let (now, cost) = (attempt.at(), attempt.cost);
        limiter.wait(0, now, cost);
        if limiter.check(0, now, cost) == Verdict::Queue(Span::ZERO) {
            return Err(format!("attempt {index}: queued for no time"));
        }
        limiter.check(0, now, 0);
        // Every third is charged although nobody asked whether it passes.
        if index % 3 == 2 {
            limiter.charge(0, now, cost);
        } else {
            ask(limiter.as_mut(), 0, attempt);
        }
        limiter.kept(0, now);
    }
    Ok(())
}

/// A denial that need not be written might as well not have been told.
pub fn unwritten_denials_change_nothing(make: Make, situation: &Situation) -> Result<(), String> {
    let (Some(mut told), Some(mut untold)) = (make(&situation.limit), make(&situation.limit))
    else {
        return Ok(());
    };
    told.reserve(0);
    untold.reserve(0);
    for (index, &attempt) in situation.traffic.iter().enumerate() {
        let (now, cost) = (attempt.at(), attempt.cost);
        let denied = untold.check(0, now, cost) == Verdict::Deny;
        let expected = ask(told.as_mut(), 0, attempt);
        let answer = match denied && !untold.denial_writes(0) {
            true => Answer::Deny(untold.wait(0, now, cost)),
            false => ask(untold.as_mut(), 0, attempt),
        };
        if answer != expected {
            return Err(format!("attempt {index}: {answer:?}, not {expected:?}"));
        }
    }
    Ok(())
}

/// No half-open window of the limit's width holds more than `bound`.
pub fn windows_hold(make: Make, bound: u64, situation: &Situation) -> Result<(), String> {
    let Situation { limit, traffic } = situation;
    let Some(answers) = answers(make, limit, traffic) else { return Ok(()) };
    let passed = passed(traffic, &answers);
    for (index, last) in passed.iter().enumerate() {
        let held: u64 = passed[..=index]
            .iter()
            .filter(|first| last.now - first.now < limit.per.signed())
            .map(|attempt| u64::from(attempt.cost))
            .sum();
        if held > bound {
            return Err(format!("{held} within a window that ends at {}, not {bound}", last.now));
        }
    }
    Ok(())
}

/// No closed span holds more than `burst` and what the rate gives in it.
pub fn rate_holds(make: Make, burst: u64, situation: &Situation) -> Result<(), String> {
    let Situation { limit, traffic } = situation;
    let Some(answers) = answers(make, limit, traffic) else { return Ok(()) };
    let passed = passed(traffic, &answers);
    for first in 0..passed.len() {
        let mut held = 0_i128;
        for attempt in &passed[first..] {
            held += i128::from(attempt.cost);
            let width = i128::from(limit.per.signed());
            let span = i128::from(attempt.now) - i128::from(passed[first].now);
            if held * width > i128::from(burst) * width + i128::from(limit.requests) * span {
                return Err(format!("{held} within {span} ns from {}", passed[first].now));
            }
        }
    }
    Ok(())
}

fn passed(traffic: &[Attempt], answers: &[Answer]) -> Vec<Attempt> {
    let both = traffic.iter().zip(answers);
    both.filter(|(_, answer)| answer.passed()).map(|(&attempt, _)| attempt).collect()
}

/// Limit, burst and costs times `factor` change nothing.
pub fn costs_scale(make: Make, factor: u32, situation: &Situation) -> Result<(), String> {
    let Situation { limit, traffic } = situation;
    let scaled = Limit {
        requests: limit.requests * u64::from(factor),
        burst: limit.burst * u64::from(factor),
        per: limit.per,
    };
    let dear: Option<Vec<Attempt>> =
        traffic.iter().map(|a| Some(Attempt { cost: a.cost.checked_mul(factor)?, ..*a })).collect();
    let Some(dear) = dear.filter(|_| scaled.requests.max(scaled.burst) <= 1 << 32) else {
        return Ok(());
    };
    same(answers(make, limit, traffic), answers(make, &scaled, &dear), |a, b| a == b)
}

/// Width and readings times `factor` change nothing; spans are as much longer, before they are
/// rounded up.
pub fn times_scale(make: Make, factor: i64, situation: &Situation) -> Result<(), String> {
    let Situation { limit, traffic } = situation;
    let longer = |span: Span, long: Span| {
        let (span, long) = (i128::from(span.signed()), i128::from(long.signed()));
        (span - 1) * i128::from(factor) < long && long <= span * i128::from(factor)
    };
    let width = limit.per.signed().checked_mul(factor).filter(|&w| w <= Limit::MAX_PER.signed());
    let slow: Option<Vec<Attempt>> =
        traffic.iter().map(|a| Some(Attempt { now: a.now.checked_mul(factor)?, ..*a })).collect();
    let (Some(width), Some(slow)) = (width, slow) else { return Ok(()) };
    let scaled = Limit { per: Span::from_nanos(width as u64), ..*limit };
    same(answers(make, limit, traffic), answers(make, &scaled, &slow), |a, b| match (a, b) {
        (Answer::Queue(a), Answer::Queue(b)) => longer(a, b),
        (Answer::Deny(Wait::After(a)), Answer::Deny(Wait::After(b))) => longer(a, b),
        // Longer than any span there is.
        (Answer::Deny(Wait::After(a)), Answer::Deny(Wait::Never)) => a > Span::from_secs(1 << 32),
        (a, b) => a == b,
    })
}

/// All readings later by `by` changes nothing.
pub fn times_shift(make: Make, by: i64, situation: &Situation) -> Result<(), String> {
    let Situation { limit, traffic } = situation;
    let later: Option<Vec<Attempt>> = traffic
        .iter()
        .map(|a| Some(Attempt { now: a.now.checked_add(by).filter(|&n| n.abs() <= LATEST)?, ..*a }))
        .collect();
    let Some(later) = later else { return Ok(()) };
    same(answers(make, limit, traffic), answers(make, limit, &later), |a, b| a == b)
}

fn same(
    left: Option<Vec<Answer>>,
    right: Option<Vec<Answer>>,
    alike: impl Fn(Answer, Answer) -> bool,
) -> Result<(), String> {
    let (Some(left), Some(right)) = (left, right) else { return Ok(()) };
    for (index, (&a, &b)) in left.iter().zip(&right).enumerate() {
        if !alike(a, b) {
            return Err(format!("attempt {index}: {a:?}, then {b:?}"));
        }
    }
    Ok(())
}

/// A history is decided as the same history in which every reading older than the latest that was
/// charged is replaced by that one: so an older reading never earns anything.
pub fn older_readings_count_as_the_last(
    make: Make,
    charges_denials: bool,
    situation: &Situation,
) -> Result<(), String> {
    let (Some(mut plain), Some(mut raised)) = (make(&situation.limit), make(&situation.limit))
    else {
        return Ok(());
    };
    let mut last = i64::MIN;
    for (index, &attempt) in situation.traffic.iter().enumerate() {
        let now = attempt.now.max(last);
        let older = ask(plain.as_mut(), 0, attempt);
        let newer = ask(raised.as_mut(), 0, Attempt { now, ..attempt });
        let until = |answer: Answer, from: i64| match answer {
            Answer::Queue(span) | Answer::Deny(Wait::After(span)) => {
                Some(i128::from(from) + i128::from(span.signed()))
            }
            Answer::Admit | Answer::Deny(Wait::Never) => None,
        };
        let far = |answer: Answer| match answer {
            Answer::Queue(span) => span == Span::MAX,
            Answer::Deny(wait) => wait >= Wait::After(Span::from_secs(1 << 33)),
            Answer::Admit => false,
        };
        let alike = older.passed() == newer.passed()
            && (until(older, attempt.now) == until(newer, now) || (far(older) && far(newer)));
        if !alike {
            return Err(format!("attempt {index}: {older:?}, but {newer:?} at the last reading"));
        }
        if older.passed() || charges_denials {
            last = now;
        }
    }
    Ok(())
}

/// While readings do not go back, forgetting a key that is neutral changes nothing.
pub fn neutral_state_may_be_dropped(make: Make, situation: &Situation) -> Result<(), String> {
    let (Some(mut kept), Some(mut dropped)) = (make(&situation.limit), make(&situation.limit))
    else {
        return Ok(());
    };
    // The second is never asked for.
    dropped.reserve(1);
    for (index, &attempt) in situation.traffic.iter().enumerate() {
        let neutral_from = dropped.kept(0, attempt.at()).neutral_from;
        if neutral_from.is_some_and(|from| from <= attempt.at()) {
            dropped.forget(0);
            let [forgotten, unseen] = [0, 1].map(|key| dropped.kept(key, attempt.at()));
            if forgotten != unseen {
                return Err(format!(
                    "attempt {index}: {forgotten:?} once forgotten, not {unseen:?}"
                ));
            }
        }
        let (a, b) = (ask(kept.as_mut(), 0, attempt), ask(dropped.as_mut(), 0, attempt));
        if a != b {
            return Err(format!("attempt {index}: {a:?} where kept, {b:?} where dropped"));
        }
    }
    Ok(())
}

/// Of unit costs, whoever leaves out every third attempt never has more admitted at any time.
pub fn asking_more_never_lowers(make: Make, situation: &Situation) -> Result<(), String> {
    let (Some(mut all), Some(mut some)) = (make(&situation.limit), make(&situation.limit)) else {
        return Ok(());
    };
    let (mut more, mut fewer) = (0, 0);
    for (index, &attempt) in situation.traffic.iter().enumerate() {
        let attempt = Attempt { cost: 1, ..attempt };
        more += u32::from(ask(all.as_mut(), 0, attempt).passed());
        if index % 3 != 0 {
            fewer += u32::from(ask(some.as_mut(), 0, attempt).passed());
        }
        if more < fewer {
            return Err(format!("up to attempt {index}: {more} of all, {fewer} of fewer"));
        }
    }
    Ok(())
}

/// Two algorithms answer alike, waits included.
pub fn decide_alike(one: Make, other: Make, situation: &Situation) -> Result<(), String> {
    let Situation { limit, traffic } = situation;
    same(answers(one, limit, traffic), answers(other, limit, traffic), |a, b| a == b)
}

/// What is left, the largest cost that would pass, is what passes in unit costs at the same reading.
pub fn what_is_left_passes(make: Make, situation: &Situation) -> Result<(), String> {
    let Some(mut limiter) = make(&situation.limit) else { return Ok(()) };
    let Some(last) = situation.traffic.last().copied() else { return Ok(()) };
    for &attempt in &situation.traffic {
        ask(limiter.as_mut(), 0, attempt);
    }
    let fits =
        |limiter: &dyn Limiter, cost: u32| limiter.check(0, last.at(), cost) != Verdict::Deny;
    let left = (0..200).find(|&cost| !fits(limiter.as_ref(), cost + 1));
    let Some(left) = left else { return Ok(()) };
    for _ in 0..left {
        if !ask(limiter.as_mut(), 0, Attempt { cost: 1, ..last }).passed() {
            return Err(format!("{left} are left, but so many do not pass"));
        }
    }
    match fits(limiter.as_ref(), 1) {
        true => Err(format!("{left} are left, but one more passes")),
        false => Ok(()),
    }
}
