//! How numbers read to people: thousands apart, spans and sizes in the unit that suits
//! them. Files for programs have exact numbers instead: those of
//! [`crate::metrics::Value`].

use crate::time::{SECOND, Span};

/// A count with its thousands apart: `1,234,567`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of a million or more with three digits and a prefix, `1.23M`, `10.0M`; a smaller one as
/// [`count`].
pub fn short_count(count: u64) -> String {
    if count < 1_000_000 {
        return self::count(count);
    }
    let count = u128::from(count);
    let mut size = 1_000_000_u128;
    for prefix in ["M", "G", "T", "P", "E"] {
        let hundredths = (count * 100 + size / 2) / size;
        let tenths = (count * 10 + size / 2) / size;
        let whole = (count + size / 2) / size;
        match () {
            () if hundredths < 1000 => {
                return format!("{}.{:02}{prefix}", hundredths / 100, hundredths % 100);
            }
            () if tenths < 1000 => return format!("{}.{}{prefix}", tenths / 10, tenths % 10),
            () if whole < 1000 => return format!("{whole}{prefix}"),
            () => size *= 1000,
        }
    }
    unreachable!("every count is below a thousand E")
}

/// A size in bytes with two or three digits and a decimal unit: `856 B`, `1.6 kB`, `152 kB`.
pub fn bytes(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let bytes = u128::from(bytes);
    let mut unit = 1000_u128;
    for name in ["kB", "MB", "GB", "TB", "PB"] {
        let tenths = (bytes * 10 + unit / 2) / unit;
        let whole = (bytes + unit / 2) / unit;
        if tenths < 100 {
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
        if whole < 1000 {
            return format!("{whole} {name}");
        }
        unit *= 1000;
    }
    format!("{} EB", (bytes + unit / 2) / unit)
}

/// A span to about three digits: `850 ns`, `12.5 ms`, `59.4 s`, `3m20s`, `26h05m`, `3d4h`. Below two
/// minutes more decimals, up to three, keep it from reading as a round number: `60.001 s`.
pub fn span(span: Span) -> String {
    let nanos = span.nanos();
    if nanos == 0 {
        return "0 s".to_owned();
    }
    let seconds = (nanos + SECOND / 2) / SECOND;
    if seconds >= 72 * 3600 {
        let hours = (seconds + 1800) / 3600;
        return match (hours / 24, hours % 24) {
            (days, 0) => format!("{days}d"),
            (days, hours) => format!("{days}d{hours}h"),
        };
    }
    if seconds >= 2 * 3600 {
        let minutes = (seconds + 30) / 60;
        return match (minutes / 60, minutes % 60) {
            (hours, 0) => format!("{hours}h"),
            (hours, minutes) => format!("{hours}h{minutes:02}m"),
        };
    }
    if seconds >= 120 {
        return match (seconds / 60, seconds % 60) {
            (minutes, 0) => format!("{minutes}m"),
            (minutes, seconds) => format!("{minutes}m{seconds:02}s"),
        };
    }
    for (name, unit) in [("ns", 1), ("us", 1_000), ("ms", 1_000_000)] {
        if (nanos + unit / 2) / unit < 1000 {
            return format!("{} {name}", three_digits(nanos, unit));
        }
    }
    format!("{} s", three_digits(nanos, SECOND))
}

/// `nanos / unit` with three digits, fewer where the rest are zeros, more where it would read as
/// a round number that it is not.
fn three_digits(nanos: u64, unit: u64) -> String {
    let decimals = match nanos / unit {
        0..10 => 2,
        10..100 => 1,
        _ => 0,
    };
    let text = decimal(nanos, unit, decimals);
    let reads_round = !text.contains('.') && (decimals > 0 || text.ends_with('0'));
    if reads_round && !nanos.is_multiple_of(unit) { decimal(nanos, unit, 3) } else { text }
}

/// `nanos / unit` to so many decimals, without zeros at its end.
fn decimal(nanos: u64, unit: u64, decimals: u32) -> String {
    let scale = 10_u64.pow(decimals);
    let scaled = (u128::from(nanos) * u128::from(scale) + u128::from(unit / 2)) / u128::from(unit);
    let (whole, part) = (scaled / u128::from(scale), scaled % u128::from(scale));
    if part == 0 {
        return whole.to_string();
    }
    let fraction = format!("{part:0width$}", width = decimals as usize);
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// A span in words that repeat what the user wrote where that is short, else as [`span`].
pub fn length(span: Span) -> String {
    let exact = span.to_string();
    if exact.len() <= 6 { exact } else { self::span(span) }
}

/// A ratio to a limit: `2.0x`. What is not the limit never reads `1.0x`.
pub fn ratio(ratio: f64) -> String {
    if !ratio.is_finite() {
        return String::new();
    }
    if ratio > 1.0 && ratio < 1.05 {
        return format!("{:.2}x", ((ratio * 100.0).ceil() / 100.0).max(1.01));
    }
    if (0.95..1.0).contains(&ratio) {
        return format!("{:.2}x", (ratio * 100.0).floor() / 100.0);
    }
    if ratio >= 100.0 {
        return format!("{}x", count(ratio.round() as u64));
    }
    format!("{ratio:.1}x")
}

/// How many times as much: `1.23x`, `12.3x`, `384x`.
pub fn factor(factor: f64) -> String {
    match factor {
        _ if !factor.is_finite() => String::new(),
        ..9.995 => format!("{factor:.2}x"),
        ..99.95 => format!("{factor:.1}x"),
        _ => format!("{}x", count(factor.round() as u64)),
    }
}

/// A share of 1 in percent with one decimal. What is not all never reads `100%`, and what is something never
/// `0%`: below a thousandth, `<0.1%`.
pub fn share(share: f64) -> String {
    match share {
        ..=0.0 => "0%".to_owned(),
        ..0.001 => "<0.1%".to_owned(),
        1.0.. => "100%".to_owned(),
        _ => format!("{:.1}%", (share * 100.0).min(99.9)),
    }
}

/// A share of 1 that may be small, in percent with three digits: `6.28%`, `0.243%`, `0.0031%`. What is something
/// never reads `0%`: below a ten-millionth, `<0.00001%`.
pub fn small_share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        ..=0.0 => "0%".to_owned(),
        ..0.00001 => "<0.00001%".to_owned(),
        ..0.001 => format!("{percent:.5}%"),
        ..0.01 => format!("{percent:.4}%"),
        ..0.9995 => format!("{percent:.3}%"),
        ..9.995 => format!("{percent:.2}%"),
        _ => self::share(share),
    }
}

/// How far `cost` is above a limit, to follow "200 through in 1.99 s, ": `twice the limit`,
/// `1.3 times the limit`, `2 more than the limit`.
pub fn above(cost: u64, limit: u64) -> String {
    const WORDS: [&str; 8] = [
        "twice",
        "three times",
        "four times",
        "five times",
        "six times",
        "seven times",
        "eight times",
        "nine times",
    ];
    let (cost, limit) = (u128::from(cost), u128::from(limit));
    if limit == 0 {
        return "where nothing may pass".to_owned();
    }
    let word = |times: u128| times.checked_sub(2).and_then(|index| WORDS.get(index as usize));
    if cost.is_multiple_of(limit)
        && let Some(word) = word(cost / limit)
    {
        return format!("{word} the limit");
    }
    if cost * 20 < limit * 21 {
        return format!("{} more than the limit", count(cost.saturating_sub(limit) as u64));
    }
    let tenths = (cost * 20 + limit) / (2 * limit);
    match tenths % 10 {
        0 if cost.is_multiple_of(limit) || tenths >= 100 => {
            format!("{} times the limit", count((tenths / 10) as u64))
        }
        0 => match word(tenths / 10) {
            Some(word) => format!("about {word} the limit"),
            None => "about the limit".to_owned(),
        },
        _ if tenths >= 100 => {
            format!("{} times the limit", count(((tenths + 5) / 10) as u64))
        }
        tenth => format!("{}.{tenth} times the limit", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn short_counts_have_three_digits_from_a_million_on() {
        for (number, text) in [
            (999_999, "999,999"),
            (1_000_000, "1.00M"),
            (9_994_999, "9.99M"),
            (9_995_000, "10.0M"),
            (12_345_678, "12.3M"),
            (999_499_999, "999M"),
            (999_500_000, "1.00G"),
            (u64::MAX, "18.4E"),
        ] {
            assert_eq!(short_count(number), text);
        }
    }

    #[test]
    fn sizes_have_two_or_three_digits_and_round_to_the_nearest() {
        for (number, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_950, "10 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (8_200_000, "8.2 MB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn spans_have_three_digits_below_two_minutes_and_two_units_above() {
        for (text, shown) in [
            ("0s", "0 s"),
            ("1ns", "1 ns"),
            ("999ns", "999 ns"),
            ("999.6us", "1 ms"),
            ("12.5ms", "12.5 ms"),
            ("1.99s", "1.99 s"),
            ("1.994s", "1.99 s"),
            ("59.4s", "59.4 s"),
            ("59.94s", "59.9 s"),
            ("59.96s", "59.96 s"),
            ("60.001s", "60.001 s"),
            ("60.0001s", "60 s"),
            ("100.2s", "100.2 s"),
            ("100s", "100 s"),
            ("119.4s", "119 s"),
            ("119.6s", "2m"),
            ("200s", "3m20s"),
            ("2h5m", "2h05m"),
            ("71h", "71h"),
            ("76h", "3d4h"),
            ("3650d", "3650d"),
        ] {
            assert_eq!(span(Span::parse(text).unwrap()), shown, "{text}");
        }
        assert_eq!(length(Span::from_secs(60)), "60s");
        assert_eq!(length(Span::from_nanos(264_240_000_000_001)), "3d1h");
    }

    #[test]
    fn only_the_limit_itself_is_one_time_the_limit() {
        for (number, text) in [
            (1.0, "1.0x"),
            (2.0, "2.0x"),
            (1.29, "1.3x"),
            (1.0004, "1.01x"),
            (1.02, "1.02x"),
            (0.999, "0.99x"),
            (0.5, "0.5x"),
            (1234.5, "1,235x"),
            (f64::INFINITY, ""),
        ] {
            assert_eq!(ratio(number), text);
        }
    }

    #[test]
    fn how_far_above_is_said_in_words() {
        for (cost, limit, text) in [
            (200, 100, "twice the limit"),
            (300, 100, "three times the limit"),
            (130, 100, "1.3 times the limit"),
            (101, 100, "1 more than the limit"),
            (197, 100, "about twice the limit"),
            (203, 100, "about twice the limit"),
            (1000, 100, "10 times the limit"),
            (123_456, 100, "1,235 times the limit"),
            (5, 0, "where nothing may pass"),
        ] {
            assert_eq!(above(cost, limit), text);
        }
    }
}
