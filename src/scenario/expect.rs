//! What a scenario must show, for `ratesim check`.

use serde_json::Value as Json;

use crate::error::{Place, Problem};
use crate::params::{Choice, Node, Params, Setting, Value};

pub(super) const MEANING: &str =
    "What this scenario must show, in every replica; `ratesim check` judges it.";

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
pub enum Bound {
    /// A number within bounds.
    Within {
        /// At least this.
        at_least: Option<f64>,
        /// At most this.
        at_most: Option<f64>,
    },
    /// Something that did not happen within the run: later than any number.
    Never,
    /// Nothing: there is no such value.
    Absent,
}

impl Bound {
    /// Whether what was found satisfies it; infinite stands for never. A number does to within 10^-9 of
    /// it, so that a ratio may be written with nine digits, and always within half of one, so that no
    /// count passes for another.
    pub fn holds(&self, found: Option<f64>) -> bool {
        match (*self, found) {
            (Bound::Within { at_least, at_most }, Some(value)) => {
                let slack = (1e-9 * value.abs().max(1.0)).min(0.49);
                at_least.is_none_or(|least| value >= least - slack)
                    && at_most.is_none_or(|most| value <= most + slack)
            }
            (Bound::Never, Some(value)) => value == f64::INFINITY,
            (Bound::Absent, None) => true,
            _ => false,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Bound::Within { at_least, at_most } = *self else {
            return formatter.write_str(if *self == Bound::Never { "= never" } else { "absent" });
        };
        match (at_least, at_most) {
            (Some(least), Some(most)) if least == most => write!(formatter, "= {least}"),
            (Some(least), Some(most)) => write!(formatter, "in {least} to {most}"),
            (Some(least), None) => write!(formatter, ">= {least}"),
            (None, Some(most)) => write!(formatter, "<= {most}"),
            (None, None) => formatter.write_str("anything"),
        }
    }
}

/// What `is` may be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Is {
    Number(f64),
    Word(Word),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    Never,
    Absent,
}

impl Choice for Word {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("never", Word::Never, "it did not happen within the run, as a recovery may not"),
        ("absent", Word::Absent, "there is no such value; of the run only"),
    ];
}

impl Setting for Is {
    const EXPECTED: &'static str = "a number";

    fn read(node: &Node) -> Result<Self, Problem> {
        match &node.value {
            Value::String(text) => Word::read(node).map(Is::Word).map_err(|problem| {
                let message = format!("`{text}` is neither a number nor a known word");
                let help = problem.help.map(|help| format!("{help}; or write a number"));
                Problem { message, help, ..problem }
            }),
            _ => f64::read(node).map(Is::Number),
        }
    }

    fn json(&self) -> Json {
        match self {
            Is::Number(number) => number.json(),
            Is::Word(word) => word.json(),
        }
    }

    fn schema() -> Json {
        let mut schema = Word::schema();
        if let Some(options) = schema["oneOf"].as_array_mut() {
            options.insert(0, f64::schema());
        }
        schema
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
    let is: Option<Is> = params.optional("is", "What the metric must be.");
    let at_least: Option<f64> = params.optional("at-least", "What it must not fall below.");
    let at_most: Option<f64> = params.optional("at-most", "What it must not exceed.");
    let place = params.place().clone();
    let bound = match (is, at_least, at_most) {
        (Some(Is::Number(is)), None, None) => {
            Bound::Within { at_least: Some(is), at_most: Some(is) }
        }
        (Some(Is::Word(Word::Never)), None, None) => Bound::Never,
        (Some(Is::Word(Word::Absent)), None, None) => Bound::Absent,
        (None, None, None) => {
            let written = ["is", "at-least", "at-most"].iter().any(|name| params.has(name));
            if !written {
                let problem = Problem::at(&place, "an expectation without a bound");
                params.problems().add(problem.help("add `is`, `at-least` or `at-most`"));
            }
            return None;
        }
        (None, Some(least), Some(most)) if least > most => {
            let message = format!("nothing is both at least {least} and at most {most}");
            params.problems().add(Problem::at(&params.place_of("at-most"), message));
            return None;
        }
        (None, at_least, at_most) => Bound::Within { at_least, at_most },
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
    // One that does not exist has no values at all, so that a misspelt name would hold.
    params.require(
        "is",
        bound != Bound::Absent || subject == Subject::Run,
        "`absent` is told of the run only",
        "leave out `key` and `client`, or write a number",
    );
    let places = ["case", "algorithm", "limit", "key", "client", "metric"];
    let places = places.map(|name| (name, params.place_of(name))).to_vec();
    Some(Expect { case, algorithm, subject, metric: metric?, bound, place, places })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Changes, Scenario};
    use std::path::Path;

    fn read(expect: &str) -> Result<Expect, String> {
        let text = format!(
            "name = \"t\"\nduration = \"1s\"\nlimit = \"1/1s\"\n\
             [[traffic]]\nkind = \"burst\"\n[[expect]]\n{expect}"
        );
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
        scenario.map(|mut scenario| scenario.expects.remove(0)).map_err(|error| error.render(false))
    }

    #[test]
    fn a_bound_is_one_number_or_a_range() {
        let bound = |text: &str| read(&format!("metric = \"accepted\"\n{text}")).unwrap().bound;
        for (text, words, inside, outside) in [
            ("is = 100", "= 100", vec![100.0], vec![99.0, 101.0]),
            ("at-least = 2", ">= 2", vec![2.0, 1e300], vec![1.0]),
            ("at-most = 0.5", "<= 0.5", vec![0.5, -1.0], vec![0.6]),
            ("at-least = 1\nat-most = 2", "in 1 to 2", vec![1.0, 2.0], vec![0.9, 2.1]),
        ] {
            let bound = bound(text);
            assert_eq!(bound.to_string(), words);
            assert!(inside.iter().all(|&value| bound.holds(Some(value))), "{text}");
            assert!(!outside.iter().any(|&value| bound.holds(Some(value))), "{text}");
            assert!(!bound.holds(None), "{text}");
        }
    }

    #[test]
    fn a_ratio_holds_to_nine_digits_and_a_count_to_the_last_one() {
        let holds = |number, value| {
            Bound::Within { at_least: Some(number), at_most: Some(number) }.holds(Some(value))
        };
        assert!(holds(1.333_333_333, 4.0 / 3.0));
        assert!(!holds(1.333_33, 4.0 / 3.0));
        for count in [1e9, 5e9, (1_u64 << 52) as f64] {
            assert!(holds(count, count));
            assert!(!holds(count, count + 1.0) && !holds(count, count - 1.0));
        }
    }

    #[test]
    fn never_is_later_than_any_number_and_absent_is_neither() {
        let bound = |text: &str| read(&format!("metric = \"recovery_s\"\n{text}")).unwrap().bound;
        for (text, words, [number, never, absent]) in [
            ("is = \"never\"", "= never", [false, true, false]),
            ("is = \"absent\"", "absent", [false, false, true]),
            ("is = 5", "= 5", [true, false, false]),
            ("at-least = 5", ">= 5", [true, true, false]),
            ("at-most = 5", "<= 5", [true, false, false]),
        ] {
            let bound = bound(text);
            assert_eq!(bound.to_string(), words);
            let found = [Some(5.0), Some(f64::INFINITY), None].map(|found| bound.holds(found));
            assert_eq!(found, [number, never, absent], "{text}");
        }
    }

    #[test]
    fn it_is_about_the_run_a_key_or_a_client() {
        let subject =
            |text: &str| read(&format!("metric = \"accepted\"\nis = 1\n{text}")).unwrap().subject;
        let key = |limit: Option<&str>| Subject::Key {
            limit: limit.map(str::to_owned),
            key: "ann".to_owned(),
        };
        assert_eq!(subject(""), Subject::Run);
        assert_eq!(subject("key = \"ann\""), key(None));
        assert_eq!(subject("key = \"ann\"\nlimit = \"hourly\""), key(Some("hourly")));
        assert_eq!(subject("client = \"ann\""), Subject::Client("ann".to_owned()));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_at_its_place() {
        for (text, message, place) in [
            ("metric = \"accepted\"", "an expectation without a bound", "t.toml:6:1"),
            ("metric = \"accepted\"\nis = 1\nat-most = 2", "`is` stands alone", "t.toml:8:6"),
            ("is = 1", "`metric` is missing", "t.toml:6:1"),
            (
                "metric = \"accepted\"\nis = \"1\"",
                "`1` is neither a number nor a known word",
                "t.toml:8:6",
            ),
            ("metric = \"accepted\"\nis = true", "expected a number, found true", "t.toml:8:6"),
            ("metric = \"accepted\"\nis = \"nevr\"", "did you mean `never`?", "t.toml:8:6"),
            (
                "metric = \"accepted\"\nis = \"absent\"\nclient = \"a\"",
                "`absent` is told of the run only",
                "t.toml:8:6",
            ),
            ("metric = \"accepted\"\nis = nan", "not a finite number", "t.toml:8:6"),
            (
                "metric = \"accepted\"\nis = 1\nkey = \"a\"\nclient = \"b\"",
                "`key` and `client` exclude each other",
                "t.toml:10:10",
            ),
            (
                "metric = \"accepted\"\nis = 1\nlimit = \"a\"",
                "`limit` goes with `key`",
                "t.toml:9:9",
            ),
        ] {
            let shown = read(text).unwrap_err();
            assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
        }
    }
}
