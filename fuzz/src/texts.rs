//! Times, numbers, zones, spans and rates, line by line. What is read and written reads the same again, and
//! what a zone makes of a time is what its clocks show.

use std::collections::BTreeSet;

use jiff::Timestamp;
use ratesim::log::format::FORMATS;
use ratesim::log::zone::Localiser;
use ratesim::log::{Number, Order, TimeUnit, Times, Unit, Zone, readable, stamp};
use ratesim::rate::Rate;
use ratesim::time::{Instant, Offset, Span};

use crate::Target;

/// The target.
pub const TARGET: Target = Target { name: "texts", seeds, words: BTreeSet::new, run };

const UNITS: [Unit; 4] = [Unit::Seconds, Unit::Milliseconds, Unit::Microseconds, Unit::Nanoseconds];

fn run(data: &[u8]) {
    let mut lines = data.split(|&byte| byte == b'\n');
    let zone = lines.next().and_then(|line| std::str::from_utf8(line).ok());
    let zone = zone.and_then(|zone| Zone::parse(zone).ok());
    let mut local = Localiser::new(zone.clone());
    let mut order = Order::default();
    let mut told = Times::new(TimeUnit::Auto, None);
    for (number, line) in lines.enumerate() {
        readable(line);
        numbers(line);
        if let Ok(stamp) = told.read(line) {
            order.push(stamp.at, number as u64);
            in_zone(&zone, &mut local, stamp.at);
        }
        if let Ok(stamp) = stamp::parse(line) {
            let shown = stamp.at.to_string();
            assert_eq!(Instant::parse(&shown), Ok(stamp.at), "{shown}");
        }
        for unit in UNITS {
            // One that a line has told is that of the next.
            let mut given = Times::new(TimeUnit::Given(unit), None);
            let _ = (given.read(line), given.note());
        }
        if let Ok(text) = std::str::from_utf8(line) {
            words(text);
        }
    }
    let _ =
        (local.notes(), told.note(), order.late_note("sorted"), order.step_note(), order.most());
}

/// A number is what its digits say, whatever the unit.
fn numbers(text: &[u8]) {
    let Some(number) = Number::parse(text) else { return };
    let text = std::str::from_utf8(text).expect("digits are text");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (digits, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    const MOST: i32 = 60;
    let Ok(exponent) = exponent.parse::<i32>() else { return };
    if exponent.unsigned_abs() > MOST as u32 {
        return;
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // The exponent moves the point among zeros on both sides.
    let zeros = "0".repeat(MOST as usize);
    let digits = format!("{zeros}{whole}{fraction}{zeros}");
    let (whole, fraction) = digits.split_at(whole.len() + (MOST + exponent) as usize);
    for unit in UNITS {
        // As many digits after the point as the unit has down to the nanosecond.
        let places = unit.nanos().ilog10() as usize;
        let nanos = format!("{whole}{:0<places$.places$}", fraction);
        let right = nanos.parse::<i128>().expect("digits make a number") * sign;
        assert_eq!(number.nanos(unit).map(i128::from), i64::try_from(right).ok().map(i128::from));
    }
}

/// The clocks of the zone showed that time then.
fn in_zone(zone: &Option<Zone>, local: &mut Localiser, shown: Instant) {
    let (Some(zone), Ok(at)) = (zone, local.instant(shown)) else { return };
    let Ok(stamp) = Timestamp::from_nanosecond(i128::from(at.0)) else { return };
    let offset = i128::from(zone.clocks().to_offset(stamp).seconds());
    let right = i128::from(at.0) + offset * 1_000_000_000;
    // At the ends of time there is no room for an offset.
    if i64::try_from(right).is_ok() && at.0 != i64::MAX && at.0 != i64::MIN {
        assert_eq!(right, i128::from(shown.0), "{shown} in {zone}");
    }
}

fn words(text: &str) {
    if let Ok(span) = Span::parse(text) {
        assert_eq!(Span::parse(&span.to_string()), Ok(span));
    }
    if let Ok(rate) = Rate::parse(text) {
        assert_eq!(Rate::parse(&rate.to_string()), Ok(rate));
    }
    if let Ok(offset) = Offset::parse(text) {
        assert_eq!(Offset::parse(&offset.to_string()), Ok(offset));
    }
    if let Ok(instant) = Instant::parse(text) {
        assert_eq!(Instant::parse(&instant.to_string()), Ok(instant));
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let times = "2023-11-16 18:17:03.97\n2023-11-16T18:17:03Z\n17/May/2015:10:05:03 +0000\n\
                 2026-10-25 02:30:00\n2026-03-29 02:30:00\n1431857103.586\n1431857103586\n-0.5\n\
                 2016-12-31 23:59:60+0800\n1969-12-31T23:59:59.123456789-08\n250ms\n1h\n100/60s\n\
                 12:00:00.5\n-3s\n";
    let zones = ["", "UTC", "Europe/Berlin", "America/New_York", "+05:45"];
    let zones = zones.iter().map(|zone| format!("{zone}\n{times}").into_bytes());
    // What records look like around their times.
    let examples =
        FORMATS.iter().map(|format| format!("UTC\n{}", format.example.replace(' ', "\n")));
    zones.chain(examples.map(String::into_bytes)).collect()
}
