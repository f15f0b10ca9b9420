//! What a scenario must show, for `ratesim check`.

use crate::error::{Place, Problem};
use crate::params::Params;

pub(super) const MEANING: &str = "What this scenario must show; `ratesim check` judges it.";

/// One expectation: a metric of a case and algorithm (or of one of its keys) against bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    /// The case; `None` means every case.
    pub case: Option<String>,
    /// The algorithm's name in the table; `None` means every algorithm.
    pub algorithm: Option<String>,
    /// Of whom.
    pub subject: Subject,
    /// The metric's name.
    pub metric: String,
    /// What it must be.
    pub bound: Bound,
    /// Where it stands.
    pub place: Place,
    /// Where the names stand that a later layer resolves, by key.
    pub places: Vec<(&'static str, Place)>,
}

impl Expect {
    /// Where the value of one of its keys stands.
    pub fn place_of(&self, key: &str) -> &Place {
        let found = self.places.iter().find(|(name, _)| *name == key);
        found.map_or(&self.place, |(_, place)| place)
    }
}

/// Whom an expectation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The whole run.
    Run,
    /// One key of a limit (by default the first).
    Key {
        /// The limit's name.
        limit: Option<String>,
        /// The key.
        key: String,
    },
    /// One client.
    Client(String),
}

/// What a metric must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// At least this.
    pub at_least: Option<f64>,
    /// At most this.
    pub at_most: Option<f64>,
}

impl Bound {
    /// Whether `value` satisfies it.
    pub fn holds(&self, value: f64) -> bool {
        let slack = 1e-9 * value.abs().max(1.0);
        self.at_least.is_none_or(|least| value >= least - slack)
            && self.at_most.is_none_or(|most| value <= most + slack)
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) if least == most => write!(formatter, "= {least}"),
            (Some(least), Some(most)) => write!(formatter, "in {least} to {most}"),
            (Some(least), None) => write!(formatter, ">= {least}"),
            (None, Some(most)) => write!(formatter, "<= {most}"),
            (None, None) => formatter.write_str("anything"),
        }
    }
}

/// Reads one `[[expect]]`.
pub(super) fn read(params: &mut Params) -> Option<Expect> {
    let case = params.optional("case", "The case it is about; every case if left out.");
    let algorithm =
        params.optional("algorithm", "The algorithm it is about; every algorithm if left out.");
    let limit: Option<String> =
        params.optional("limit", "With `key`: the limit whose key it is; by default the first.");
    let key: Option<String> = params.optional("key", "The key it is about, instead of the run.");
    let client: Option<String> =
        params.optional("client", "The client it is about, instead of the run.");
    let metric = params.required("metric", "The metric; see `ratesim list metrics`.");
    let is: Option<f64> = params.optional("is", "What the metric must be.");
    let at_least: Option<f64> = params.optional("at-least", "What it must not fall below.");
    let at_most: Option<f64> = params.optional("at-most", "What it must not exceed.");
    let place = params.place().clone();
    let bound = match (is, at_least, at_most) {
        (Some(is), None, None) => Bound { at_least: Some(is), at_most: Some(is) },
        (None, None, None) => {
            let written = ["is", "at-least", "at-most"].iter().any(|name| params.has(name));
            if !written {
                let problem = Problem::at(&place, "an expectation without a bound");
                params.problems().add(problem.help("add `is`, `at-least` or `at-most`"));
            }
            return None;
        }
        (None, at_least, at_most) => Bound { at_least, at_most },
        (Some(_), _, _) => {
            let place = params.place_of("is");
            params.problems().add(Problem::at(&place, "`is` stands alone, without other bounds"));
            return None;
        }
    };
    let subject = match (key, client) {
        (Some(key), None) => Subject::Key { limit, key },
        (None, Some(client)) => Subject::Client(client),
        (None, None) => Subject::Run,
        (Some(_), Some(_)) => {
            let place = params.place_of("client");
            params.problems().add(Problem::at(&place, "`key` and `client` exclude each other"));
            return None;
        }
    };
    if params.has("limit") && !matches!(subject, Subject::Key { .. }) {
        let problem = Problem::at(&params.place_of("limit"), "`limit` goes with `key`");
        params.problems().add(problem);
    }
    let places = ["case", "algorithm", "limit", "key", "client", "metric"];
    let places = places.map(|name| (name, params.place_of(name))).to_vec();
    Some(Expect { case, algorithm, subject, metric: metric?, bound, place, places })
}
