//! The time in brackets of a line in the combined format. Lines that follow one another differ in little
//! but the second, so what was made of the minute before is kept.

use crate::log::number::value_of;
use crate::log::stamp::{self, NOT_A_TIME, Stamp};
use crate::time::{Instant, SECOND};

/// A time that was found in a text.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The time.
    pub stamp: Stamp,
    /// Where the bracket before it stands.
    pub open: usize,
    /// Where what follows the bracket after it starts.
    pub after: usize,
    /// Whether it is `17/May/2015:10:05:03 +0000`, with or without the offset.
    pub in_access_log_form: bool,
}

/// `17/May/2015:10:05:03 +0000`: the bytes before the second, and those after it.
const LENGTH: usize = 26;
const MINUTE: usize = 18;

/// Finds times in brackets.
#[derive(Debug, Clone, Default)]
pub struct Bracketed {
    /// All of the last time in the usual form.
    last: [u8; LENGTH],
    /// The start of its minute.
    minute: Option<Instant>,
}

impl Bracketed {
    /// The first time in brackets; user names may have brackets too.
    ///
    /// # Errors
    /// A reason for which the line is left out.
    #[inline]
    pub fn find(&mut self, text: &[u8]) -> Result<Found, &'static str> {
        // ` - - [` is what nearly all lines have.
        let usual = text.starts_with(b" - - [").then_some(5);
        if let Some(open) = usual.or_else(|| memchr::memchr(b'[', text))
            && let Some(stamp) = self.usual(&text[open + 1..])
        {
            let after = open + LENGTH + 2;
            return Ok(Found { stamp, open, after, in_access_log_form: true });
        }
        self.any(text)
    }

    /// The same as a second from 1970, if it is one before 2106 and has an offset.
    #[inline]
    pub fn second(&mut self, text: &[u8]) -> Option<u32> {
        let Stamp { at, local, leap } = self.find(text).ok()?.stamp;
        let is_whole = at.0 % SECOND as i64 == 0;
        (is_whole && !local && !leap).then(|| u32::try_from(at.0 / SECOND as i64).ok()).flatten()
    }

    /// The time that starts the text in the usual form, with its bracket; `None` for any other.
    #[inline]
    fn usual(&mut self, text: &[u8]) -> Option<Stamp> {
        let (time, rest) = text.split_at_checked(LENGTH)?;
        if rest.first() != Some(&b']') {
            return None;
        }
        let same =
            time[..MINUTE] == self.last[..MINUTE] && time[MINUTE + 2..] == self.last[MINUTE + 2..];
        if let (true, Some(minute)) = (same, self.minute) {
            let second = value_of(&time[MINUTE..MINUTE + 2])?;
            if second < 60 {
                let at = Instant(minute.0 + (second * SECOND) as i64);
                return Some(Stamp { at, local: false, leap: false });
            }
        }
        let stamp = stamp::parse(time).ok().filter(|stamp| !stamp.local)?;
        let second = value_of(&time[MINUTE..MINUTE + 2])?;
        // What is near the ends of time is not worth being kept.
        if let Some(minute) = stamp.at.0.checked_sub((second * SECOND) as i64)
            && minute.checked_add(60 * SECOND as i64).is_some()
        {
            self.last.copy_from_slice(time);
            self.minute = Some(Instant(minute));
        }
        Some(stamp)
    }

    fn any(&self, text: &[u8]) -> Result<Found, &'static str> {
        let mut fault = None;
        // The closing bracket that was found last, which closes all that open before it.
        let mut close = 0;
        for open in memchr::memchr_iter(b'[', text) {
            let inner = &text[open + 1..];
            if !inner.first().is_some_and(u8::is_ascii_digit) {
                continue;
            }
            if close <= open {
                close = memchr::memchr(b']', inner).map_or(text.len(), |close| open + 1 + close);
            }
            let found = match close < text.len() {
                true => stamp::parse(&text[open + 1..close]),
                false => Err(NOT_A_TIME),
            };
            match found {
                Ok(stamp) => {
                    let in_access_log_form =
                        inner.get(2) == Some(&b'/') && inner.get(20) != Some(&b'.');
                    let after = close + 1;
                    return Ok(Found { stamp, open, after, in_access_log_form });
                }
                Err(reason) => fault = fault.or(Some(reason)),
            }
        }
        Err(fault.unwrap_or("there is no time in brackets"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn brackets_may_stand_in_names_and_a_time_in_any_form_in_them() {
        let found = |text: &str| {
            let found = Bracketed::default().find(text.as_bytes())?;
            let rest = &text[found.after..];
            Ok(format!("{} {} `{rest}`", found.open, found.stamp.at))
        };
        let at = "2015-05-17T10:05:03Z";
        assert_eq!(found(" - - [17/May/2015:10:05:03 +0000] x"), Ok(format!("5 {at} ` x`")));
        assert_eq!(found(" - [7] [17/May/2015:10:05:03 +0000]"), Ok(format!("7 {at} ``")));
        assert_eq!(found(" - - [2015-05-17T12:05:03+02:00]"), Ok(format!("5 {at} ``")));
        assert_eq!(found(" - - [17/May/2015:10:05:03]"), Ok(format!("5 {at} ``")));
        assert_eq!(found(" - - [17/May/2015:10:05:03 +0000"), Err(NOT_A_TIME));
        assert_eq!(found(" - - [31/Feb/2015:10:05:03 +0000]"), Err(stamp::NO_SUCH_TIME));
        assert_eq!(found(" - - "), Err("there is no time in brackets"));
    }

    /// The text has 2^18 brackets that may open a time; looking for the end of each from its beginning on
    /// would read 2^18 * 2^18 * 2 / 2 bytes and more.
    #[test]
    fn brackets_without_end_are_read_once() {
        let mut text = "[1".repeat(1 << 18);
        let found = |text: &str| Bracketed::default().find(text.as_bytes()).map(|found| found.open);
        assert_eq!(found(&text), Err(NOT_A_TIME));
        text.push_str("[17/May/2015:10:05:03 +0000]");
        assert_eq!(found(&text), Ok(1 << 19));
    }

    proptest! {
        /// What is kept from one time never shows in another.
        #[test]
        fn times_after_one_another_are_as_each_alone(
            times in prop::collection::vec("(16|17|31)/(May|Feb)/201[56]:1[01]:0[56]:(03|04|59|60|61|6x) [+-]0[01]00", 1..12),
        ) {
            let mut kept = Bracketed::default();
            for time in times {
                let line = format!(" - - [{time}] x");
                let one = kept.find(line.as_bytes()).map(|found| (found.stamp, found.after));
                let alone = stamp::parse(time.as_bytes()).map(|stamp| (stamp, line.len() - 2));
                prop_assert_eq!(one, alone, "{}", time);
                let whole = alone.ok().filter(|(stamp, _)| !stamp.leap);
                let second = whole.map(|(stamp, _)| (stamp.at.0 / SECOND as i64) as u32);
                prop_assert_eq!(kept.second(line.as_bytes()), second, "{}", time);
            }
        }
    }
}
