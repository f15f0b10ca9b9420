//! Shares and other numbers with decimals, held as whole numbers of their smallest part, so that what
//! is decided by them is decided as the user wrote it.

use std::fmt;

/// A share of a whole, from none to all, in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Share(u32);

impl Share {
    /// Nothing.
    pub const ZERO: Share = Share(0);
    /// The whole.
    pub const ALL: Share = Share(1_000_000);

    /// So many percent.
    ///
    /// # Panics
    /// If that is more than 100.
    pub const fn percent(percent: u32) -> Share {
        assert!(percent <= 100, "a share is at most the whole");
        Share(percent * 10_000)
    }

    /// Its parts per million, at most a million.
    pub const fn ppm(self) -> u32 {
        self.0
    }

    /// This share of `whole`, rounded down.
    pub fn of(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0) / 1_000_000) as u64
    }

    /// Parses `"20%"`, `"2.5%"`, `"0.01%"`: percent with at most four decimals.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Share, String> {
        let Some(number) = text.strip_suffix('%') else {
            return Err(format!("`{text}` does not end with `%`"));
        };
        let ppm = scaled(number, 4)?;
        match u32::try_from(ppm) {
            Ok(ppm) if ppm <= Share::ALL.0 => Ok(Share(ppm)),
            _ => Err(format!("`{text}` is more than the whole")),
        }
    }

    /// What [`Share::parse`] takes, for messages.
    pub const GRAMMAR: &str = "a share from \"0%\" to \"100%\", such as \"20%\" or \"2.5%\"";
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}%", shown(self.0.into(), 4))
    }
}

/// A number from 0 to a billion with up to three decimals, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Decimal(u64);

impl Decimal {
    /// The largest.
    pub const MAX: Decimal = Decimal::whole(1_000_000_000);

    /// A whole number.
    ///
    /// # Panics
    /// If it is more than a billion.
    pub const fn whole(number: u64) -> Decimal {
        assert!(number <= 1_000_000_000, "a decimal reaches to a billion");
        Decimal(number * 1000)
    }

    /// So many thousandths.
    ///
    /// # Panics
    /// If that is more than a billion.
    pub const fn thousandth_parts(thousandths: u64) -> Decimal {
        assert!(thousandths <= 1_000_000_000_000, "a decimal reaches to a billion");
        Decimal(thousandths)
    }

    /// Its thousandths.
    pub const fn thousandths(self) -> u64 {
        self.0
    }

    /// Parses `"2"`, `"1.5"`, `"0.001"`.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parse(text: &str) -> Result<Decimal, String> {
        let number = Decimal(scaled(text, 3)?);
        if number > Decimal::MAX {
            return Err(format!("{text} is more than a billion"));
        }
        Ok(number)
    }

    /// What [`Decimal::parse`] takes, for messages.
    pub const GRAMMAR: &str = "a number from 0 to a billion with at most three decimals";
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&shown(self.0, 3))
    }
}

/// Digits with at most one point between them, times 10 to the `places`; exact or refused.
fn scaled(text: &str, places: usize) -> Result<u64, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if text.starts_with('-') && digits(&whole[1..]) && digits(fraction) {
        return Err(format!("{text} is negative"));
    }
    if !digits(whole) || !digits(fraction) {
        return Err(format!("`{text}` is not a number"));
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > places {
        return Err(format!("{text} has more than {places} decimals"));
    }
    let number = format!("{whole}{fraction:0<places$}");
    number.parse().map_err(|_| format!("{text} is too large"))
}

/// The number whose 10 to the `places` fold is `scaled`, as [`scaled`] takes it back.
fn shown(scaled: u64, places: usize) -> String {
    let one = 10_u64.pow(places as u32);
    let fraction = format!("{:0places$}", scaled % one);
    match fraction.trim_end_matches('0') {
        "" => (scaled / one).to_string(),
        fraction => format!("{}.{fraction}", scaled / one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_is_percent_with_up_to_four_decimals() {
        for (text, ppm) in [
            ("20%", 200_000),
            ("2.5%", 25_000),
            ("0.01%", 100),
            ("0.0001%", 1),
            ("100%", 1_000_000),
        ] {
            let share = Share::parse(text).unwrap();
            assert_eq!((share.ppm(), share.to_string().as_str()), (ppm, text));
        }
        for (text, reason) in [
            ("20", "`20` does not end with `%`"),
            ("%", "`` is not a number"),
            ("-1%", "-1 is negative"),
            ("100.0001%", "`100.0001%` is more than the whole"),
            ("0.00001%", "0.00001 has more than 4 decimals"),
            ("1.%", "`1.` is not a number"),
            ("1.2.3%", "`1.2.3` is not a number"),
        ] {
            assert_eq!(Share::parse(text), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_share_of_a_number_is_rounded_down() {
        assert_eq!(Share::percent(20).of(7), 1);
        assert_eq!(Share::ALL.of(u64::MAX), u64::MAX);
        assert_eq!(Share::ZERO.of(u64::MAX), 0);
    }

    #[test]
    fn a_decimal_has_up_to_three_decimals_and_is_held_exactly() {
        for (text, thousandths) in [("0.1", 100), ("1.5", 1500), ("5", 5000), ("0.001", 1)] {
            let number = Decimal::parse(text).unwrap();
            assert_eq!((number.thousandths(), number.to_string().as_str()), (thousandths, text));
        }
        assert_eq!(Decimal::parse("2.000000"), Ok(Decimal::whole(2)));
        for (text, reason) in [
            ("0.0001", "0.0001 has more than 3 decimals"),
            ("-0.5", "-0.5 is negative"),
            ("-", "`-` is not a number"),
            ("1000000000.001", "1000000000.001 is more than a billion"),
            ("99999999999999999999", "99999999999999999999 is too large"),
            ("1e3", "`1e3` is not a number"),
        ] {
            assert_eq!(Decimal::parse(text), Err(reason.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(ppm in 0..=1_000_000_u32, thousandths in 0..=1u64 << 39) {
            prop_assert_eq!(Share::parse(&Share(ppm).to_string()), Ok(Share(ppm)));
            let number = Decimal(thousandths);
            prop_assert_eq!(Decimal::parse(&number.to_string()), Ok(number));
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in "-?.{0,12}%?") {
            let _ = Share::parse(&text);
            let _ = Decimal::parse(&text);
        }
    }
}
