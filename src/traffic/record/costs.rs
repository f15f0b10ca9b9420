//! What requests of a record cost, by fields of whole numbers that are added up.

use std::borrow::Cow;

use crate::log::format::Fault;
use crate::log::{Entry, Number, count};

/// The fields that are added up, and how many requests had nothing in them.
#[derive(Debug, Default)]
pub struct Costs {
    /// Their positions and names.
    fields: Vec<(usize, String)>,
    /// How many requests have a cost.
    costly: u64,
    /// How many have one of 0.
    zero: u64,
    /// How many have none.
    without: u64,
}

impl Costs {
    /// The sum of these fields, given by their positions and names; if there are none, every request costs 1.
    pub fn of(fields: Vec<(usize, String)>) -> Costs {
        Costs { fields, ..Costs::default() }
    }

    /// Whether there are no fields.
    pub fn is_none(&self) -> bool {
        self.fields.is_empty()
    }

    /// What a request costs: the sum of the fields that it has. One with no cost, or one of 0, is a request like any
    /// other, and costs 1.
    ///
    /// # Errors
    /// One of the fields is no whole number, or the sum is too large.
    pub fn total(&mut self, entry: &Entry) -> Result<u32, Fault> {
        if self.fields.is_empty() {
            return Ok(1);
        }
        let mut sum = None;
        for (position, name) in &self.fields {
            let Some(part) = entry.get(*position) else { continue };
            let Some(part) = Number::parse(part).and_then(|number| number.as_count()) else {
                let reason = format!("`{name}` is not a whole number from 0 up");
                return Err(Fault::Skip(Cow::Owned(reason)));
            };
            sum = Some(part.saturating_add(sum.unwrap_or(0)));
        }
        let counted = match sum {
            None => &mut self.without,
            Some(0) => &mut self.zero,
            Some(_) => &mut self.costly,
        };
        *counted += 1;
        let most = u32::MAX;
        u32::try_from(sum.unwrap_or(0).max(1))
            .map_err(|_| Fault::Skip(Cow::Owned(format!("it costs more than {most}"))))
    }

    /// That no request has a cost, though some should.
    pub fn mistake(&self) -> Option<String> {
        let none = self.without > 0 && self.costly + self.zero == 0;
        none.then(|| format!("no request has a cost in {}", self.names()))
    }

    /// A sentence on requests that count though they cost nothing.
    pub fn note(&self) -> Option<String> {
        let requests = |number| count(number, "request has", "requests have");
        let names = self.names();
        let of = match (self.without, self.zero) {
            (0, 0) => return None,
            (0, zero) => format!("{} a cost of 0 in {names}", requests(zero)),
            (without, 0) => format!("{} no cost in {names}", requests(without)),
            (without, zero) => {
                format!("{} no cost in {names}, and {zero} one of 0", requests(without))
            }
        };
        Some(format!("{of}: each counts as 1."))
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.fields.iter().map(|(_, name)| format!("`{name}`")).collect();
        names.join(" and ")
    }
}
