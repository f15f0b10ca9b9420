//! Times of formats that leave their form open: texts, or numbers whose unit is told by their size,
//! once a file.

use super::number::{Number, Unit};
use super::stamp::{self, OUT_OF_RANGE, Stamp};
use super::{format::Fault, readable};
use crate::error::{Place, Problem};
use crate::params::Choice;
use crate::time::Instant;

/// The unit of times that are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeUnit {
    /// To be told from the first number that is not zero.
    #[default]
    Auto,
    /// As was told.
    Told(Unit),
    /// As the user says.
    Given(Unit),
}

impl Choice for TimeUnit {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("auto", TimeUnit::Auto, "told by the number of digits: 10 are s, 13 ms, 16 us, 19 ns"),
        ("s", TimeUnit::Given(Unit::Seconds), "seconds"),
        ("ms", TimeUnit::Given(Unit::Milliseconds), "milliseconds"),
        ("us", TimeUnit::Given(Unit::Microseconds), "microseconds"),
        ("ns", TimeUnit::Given(Unit::Nanoseconds), "nanoseconds"),
    ];
}

/// Reads the times of one file.
#[derive(Debug, Clone)]
pub struct Times {
    unit: TimeUnit,
    place: Option<Place>,
}

impl Times {
    /// Numbers are in `unit`; problems with it are shown at `place`.
    pub fn new(unit: TimeUnit, place: Option<Place>) -> Times {
        Times { unit, place }
    }

    /// Reads a time in any form that [`stamp::parse`] knows, or a number.
    ///
    /// # Errors
    /// It is none, or a number whose unit cannot be told or is not that of those before.
    pub fn read(&mut self, text: &[u8]) -> Result<Stamp, Fault> {
        match Number::parse(text) {
            Some(number) => self.number(number, text),
            None => Ok(stamp::parse(text)?),
        }
    }

    fn number(&mut self, number: Number, text: &[u8]) -> Result<Stamp, Fault> {
        let unit = match (self.unit, Unit::of_digits(number.digits())) {
            (TimeUnit::Given(unit), _) => unit,
            // Zero is the same instant in every unit.
            _ if number.is_zero() => Unit::Nanoseconds,
            (TimeUnit::Auto, Some(unit)) => {
                self.unit = TimeUnit::Told(unit);
                unit
            }
            (TimeUnit::Told(told), Some(unit)) if told == unit => unit,
            (told, _) => {
                let shown = readable(text);
                let message = match told {
                    TimeUnit::Told(unit) => {
                        let told = unit.word();
                        format!(
                            "the time `{shown}` is not in {told}, as those before it seem to be"
                        )
                    }
                    _ => format!("the unit of the time `{shown}` cannot be told"),
                };
                let help = "say it: `time-unit = \"ms\"`, or \"s\", \"us\", \"ns\"";
                let problem = Problem { place: self.place.clone(), ..Problem::new(message) };
                return Err(Fault::Stop(vec![problem.help(help)]));
            }
        };
        let nanos = number.nanos(unit).ok_or(OUT_OF_RANGE)?;
        Ok(Stamp { at: Instant(nanos), local: false, leap: false })
    }

    /// A sentence on the unit, if it was told from the file.
    pub fn note(&self) -> Option<String> {
        match self.unit {
            TimeUnit::Told(unit) => {
                let (word, name) = (unit.word(), unit.name());
                Some(format!("Times are {word}, by their digits (`time-unit = \"{name}\"`)."))
            }
            _ => None,
        }
    }
}
