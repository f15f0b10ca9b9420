//! The types that a setting may have.

use std::ops::RangeInclusive;

use serde_json::{Value as Json, json};

use super::document::{Node, Value};
use crate::error::{Problem, suggest};
use crate::rate::{Decimal, Rate, Share};
use crate::time::{Instant, Offset, Span};

/// A type that can be read from a value of a scenario.
pub trait Setting: Sized {
    /// What would be right, for messages: "a span such as …".
    const EXPECTED: &'static str;

    /// Reads it.
    ///
    /// # Errors
    /// A problem at the value's place, with what would be right.
    fn read(node: &Node) -> Result<Self, Problem>;

    /// The value as JSON, in the form in which it would be written in a scenario.
    fn json(&self) -> Json;

    /// What it may be, as a JSON Schema.
    fn schema() -> Json;
}

/// A setting that is one of a few names.
pub trait Choice: Copy + PartialEq + 'static {
    /// Name, value and meaning of each.
    const CHOICES: &'static [(&'static str, Self, &'static str)];

    /// The name of this one.
    fn name(self) -> &'static str {
        let found = Self::CHOICES.iter().find(|(_, value, _)| *value == self);
        found.map_or("", |(name, _, _)| name)
    }
}

fn wrong<T: Setting>(node: &Node, message: String) -> Problem {
    Problem::at(&node.place, message).help(format!("write {}", T::EXPECTED))
}

fn expected<T: Setting>(node: &Node) -> Problem {
    wrong::<T>(node, format!("expected {}, found {}", T::EXPECTED, node.value.kind()))
}

impl<T: Choice> Setting for T {
    const EXPECTED: &'static str = "one of the known names";

    fn read(node: &Node) -> Result<Self, Problem> {
        let known = T::CHOICES.iter().map(|(name, _, _)| *name);
        let Value::String(text) = &node.value else {
            let message = format!("expected a name, found {}", node.value.kind());
            let names = known.collect::<Vec<_>>().join(", ");
            return Err(Problem::at(&node.place, message).help(format!("known are: {names}")));
        };
        let found = T::CHOICES.iter().find(|(name, _, _)| name == text);
        found.map(|(_, value, _)| *value).ok_or_else(|| {
            Problem::at(&node.place, format!("`{text}` is not known")).help(suggest(text, known))
        })
    }

    fn json(&self) -> Json {
        json!(self.name())
    }

    fn schema() -> Json {
        let options: Vec<Json> = T::CHOICES
            .iter()
            .map(|(name, _, meaning)| json!({ "const": name, "description": meaning }))
            .collect();
        json!({ "oneOf": options })
    }
}

macro_rules! whole_number {
    ($type:ty, $expected:literal) => {
        impl Setting for $type {
            const EXPECTED: &'static str = $expected;

            fn read(node: &Node) -> Result<Self, Problem> {
                match node.value {
                    Value::Integer(number) => <$type>::try_from(number)
                        .map_err(|_| wrong::<Self>(node, format!("{number} is out of range"))),
                    _ => Err(expected::<Self>(node)),
                }
            }

            fn json(&self) -> Json {
                json!(self)
            }

            fn schema() -> Json {
                json!({ "type": "integer", "minimum": <$type>::MIN, "maximum": <$type>::MAX })
            }
        }
    };
}

whole_number!(u64, "a whole number from 0 up");
whole_number!(u32, "a whole number from 0 to 4294967295");

/// Reads a whole number that must lie in `range`.
///
/// # Errors
/// As [`Setting::read`], with the range for what would be right.
pub fn within<T: Setting>(node: &Node, range: &RangeInclusive<u64>) -> Result<T, Problem> {
    let help = format!("write a whole number from {} to {}", range.start(), range.end());
    match node.value {
        Value::Integer(number) if !u64::try_from(number).is_ok_and(|n| range.contains(&n)) => {
            Err(Problem::at(&node.place, format!("{number} is out of range")).help(help))
        }
        _ => T::read(node).map_err(|problem| problem.help(help)),
    }
}

impl Setting for f64 {
    const EXPECTED: &'static str = "a number";

    fn read(node: &Node) -> Result<Self, Problem> {
        match node.value {
            Value::Integer(number) => Ok(number as f64),
            Value::Float(number) if number.is_finite() => Ok(number),
            Value::Float(_) => Err(wrong::<Self>(node, "not a finite number".to_owned())),
            _ => Err(expected::<Self>(node)),
        }
    }

    fn json(&self) -> Json {
        json!(self)
    }

    fn schema() -> Json {
        json!({ "type": "number" })
    }
}

impl Setting for bool {
    const EXPECTED: &'static str = "true or false";

    fn read(node: &Node) -> Result<Self, Problem> {
        match node.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(expected::<Self>(node)),
        }
    }

    fn json(&self) -> Json {
        json!(self)
    }

    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

impl Setting for String {
    const EXPECTED: &'static str = "a text";

    fn read(node: &Node) -> Result<Self, Problem> {
        match &node.value {
            Value::String(text) => Ok(text.clone()),
            _ => Err(expected::<Self>(node)),
        }
    }

    fn json(&self) -> Json {
        json!(self)
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

/// A type written as a text with a grammar of its own.
macro_rules! parsed {
    ($type:ty) => {
        impl Setting for $type {
            const EXPECTED: &'static str = <$type>::GRAMMAR;

            fn read(node: &Node) -> Result<Self, Problem> {
                match &node.value {
                    Value::String(text) | Value::Moment(text) => {
                        <$type>::parse(text).map_err(|message| wrong::<Self>(node, message))
                    }
                    _ => Err(expected::<Self>(node)),
                }
            }

            fn json(&self) -> Json {
                json!(self.to_string())
            }

            fn schema() -> Json {
                json!({ "type": "string", "title": <$type>::GRAMMAR })
            }
        }
    };
}

parsed!(Span);
parsed!(Rate);
parsed!(Share);
parsed!(Offset);
parsed!(Instant);

impl Setting for Decimal {
    const EXPECTED: &'static str = Decimal::GRAMMAR;

    /// A float is read by its shortest decimal form, which is what the user wrote where that has up to
    /// 15 digits.
    fn read(node: &Node) -> Result<Self, Problem> {
        let text = match node.value {
            Value::Integer(number) => number.to_string(),
            Value::Float(number) if number.is_finite() => number.to_string(),
            Value::Float(_) => return Err(wrong::<Self>(node, "not a finite number".to_owned())),
            _ => return Err(expected::<Self>(node)),
        };
        Decimal::parse(&text).map_err(|message| wrong::<Self>(node, message))
    }

    fn json(&self) -> Json {
        match self.thousandths() {
            whole if whole.is_multiple_of(1000) => json!(whole / 1000),
            thousandths => json!(thousandths as f64 / 1000.0),
        }
    }

    fn schema() -> Json {
        json!({ "type": "number", "minimum": 0, "maximum": 1_000_000_000, "title": Self::GRAMMAR })
    }
}

impl<T: Setting> Setting for Vec<T> {
    const EXPECTED: &'static str = "a list";

    /// A single value counts as a list of one.
    fn read(node: &Node) -> Result<Self, Problem> {
        match &node.value {
            Value::Array(nodes) => nodes.iter().map(T::read).collect(),
            _ => T::read(node).map(|value| vec![value]),
        }
    }

    fn json(&self) -> Json {
        Json::Array(self.iter().map(T::json).collect())
    }

    fn schema() -> Json {
        json!({ "anyOf": [ { "type": "array", "items": T::schema() }, T::schema() ] })
    }
}
