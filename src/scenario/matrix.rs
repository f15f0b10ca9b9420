//! Cases made of lists of values: every combination of them is one.

use serde_json::json;

use super::overlap::{Leaf, leaves, undone};
use super::variation::{self, Variation};
use crate::error::{Place, Problem, Problems};
use crate::params::{Entry, Node, Params, Table, Value};

pub(super) const MEANING: &str = "Cases as combinations: lists of values by dotted path, such as \
    `\"limit.requests\" = [50, 100]`. Each combination of one value from each list is a case, named \
    after its values (`requests 50, per 1s`). A value that is a table or a list needs a name of its \
    own: `{ name = \"small\", set = { requests = 5, per = \"1s\" } }`; so may any other. With \
    `[[case]]`, each case is combined with all of them.";

/// A scenario has at most so many cases.
const MOST: usize = 1000;

/// The lists of values.
pub(super) struct Matrix {
    axes: Vec<Axis>,
    /// Where the table stands, or the whole document.
    place: Place,
    /// Whether everything in it could be read.
    complete: bool,
}

/// A list of values.
struct Axis {
    /// The parts of its path.
    parts: Vec<String>,
    place: Place,
    values: Vec<Named>,
}

/// A value.
struct Named {
    /// What it is called; `own` if the user named it.
    name: String,
    own: bool,
    place: Place,
    set: Entry,
}

/// Reads the table.
pub(super) fn read(params: &mut Params) -> Matrix {
    let mut axes: Vec<Axis> = Vec::new();
    let mut complete = true;
    let schema = json!({ "anyOf": [{ "type": "array" }, { "type": "object" }] });
    let reader = |entry: &Entry, problems: &Problems| {
        complete &= variation::may_change("a matrix", entry, problems)
            && read_axes(&[entry], problems, &mut axes);
        Some(((), json!(null)))
    };
    params.entries("matrix", MEANING, reader, schema);
    complete &= !axes.is_empty() || !params.has("matrix");
    Matrix { axes, place: params.place_of("matrix"), complete }
}

/// Reads the lists below a chain of keys. Whether all of them could be read.
fn read_axes(chain: &[&Entry], problems: &Problems, axes: &mut Vec<Axis>) -> bool {
    let Some(last) = chain.last() else { return true };
    let wrong = |place: &Place, message: String| {
        let help = "write a list of values, such as [50, 100]";
        problems.add(Problem::at(place, message).help(help));
        false
    };
    match &last.node.value {
        Value::Table(table) => {
            let mut complete = true;
            for inner in &table.entries {
                complete &= read_axes(&[chain, &[inner]].concat(), problems, axes);
            }
            complete
        }
        Value::Array(nodes) if nodes.is_empty() => {
            wrong(&last.node.place, format!("`{}` is an empty list, which makes no case", last.key))
        }
        Value::Array(nodes) => {
            let values: Vec<Option<Named>> =
                nodes.iter().map(|node| read_value(chain, node, problems)).collect();
            let mut complete = values.iter().all(Option::is_some);
            // Too many to be cases are refused later.
            for (index, value) in values.iter().enumerate().take(MOST) {
                let Some(Named { name, place, .. }) = value else { continue };
                if values[..index].iter().flatten().any(|other| other.name == *name) {
                    let message = format!("two values are named `{name}`");
                    problems.add(Problem::at(place, message).help("leave one of them out"));
                    complete = false;
                }
            }
            let parts = chain.iter().flat_map(|entry| entry.key.split('.')).map(str::to_owned);
            axes.push(Axis {
                parts: parts.collect(),
                place: last.place.clone(),
                values: values.into_iter().flatten().collect(),
            });
            complete
        }
        other => {
            wrong(&last.node.place, format!("`{}` must be a list, not {}", last.key, other.kind()))
        }
    }
}

/// Reads a value of a list.
fn read_value(chain: &[&Entry], node: &Node, problems: &Problems) -> Option<Named> {
    let plain = |name: String| Some((name, false, node));
    let (name, own, value) = match &node.value {
        Value::Boolean(value) => plain(value.to_string()),
        Value::Integer(number) => plain(number.to_string()),
        Value::Float(number) => plain(format!("{number:?}")),
        Value::String(text) if text.trim().is_empty() => plain(format!("\"{text}\"")),
        Value::String(text) | Value::Moment(text) => plain(text.clone()),
        Value::Array(_) => {
            let message = "a list as a value needs a name";
            problems.add(Problem::at(&node.place, message).help(NAMED));
            None
        }
        Value::Table(table) => {
            read_named(table, &node.place, problems).map(|(name, value)| (name, true, value))
        }
    }?;
    let (last, above) = chain.split_last()?;
    let innermost = Entry { node: value.clone(), ..(*last).clone() };
    let set = above.iter().rev().fold(innermost, |inner, entry| {
        let value = Value::Table(Table { entries: vec![inner] });
        Entry { node: Node { place: entry.place.clone(), value }, ..(*entry).clone() }
    });
    Some(Named { name, own, place: node.place.clone(), set })
}

const NAMED: &str = "write { name = \"…\", set = … }";

/// Reads `{ name = "…", set = … }`.
fn read_named<'a>(
    table: &'a Table,
    place: &Place,
    problems: &Problems,
) -> Option<(String, &'a Node)> {
    let wrong = |place: &Place, message: &str| {
        problems.add(Problem::at(place, message).help(NAMED));
        None
    };
    let (Some(name), Some(set)) = (table.get("name"), table.get("set")) else {
        return wrong(place, "a table as a value needs a name");
    };
    let known = ["name", "set"];
    let is_known = |entry: &&Entry| known.contains(&entry.key.as_str());
    if let Some(entry) = table.entries.iter().find(|entry| !is_known(entry)) {
        problems.add(Problem::unknown(&entry.place, "key", &entry.key, known));
        return None;
    }
    match &name.node.value {
        Value::String(text) if text.trim().is_empty() => wrong(&name.node.place, "an empty name"),
        Value::String(text) => Some((text.clone(), &set.node)),
        _ => wrong(&name.node.place, "a name must be a text"),
    }
}

impl Matrix {
    /// Every case with every combination of values; the cases as they are without a matrix. Also
    /// whether all cases could be made, so that no other can be meant.
    pub fn cross(self, cases: Vec<Variation>, problems: &Problems) -> (Vec<Variation>, bool) {
        let combinations = self.axes.iter().map(|axis| axis.values.len());
        let count = combinations.fold(cases.len().max(1), usize::saturating_mul);
        if count > MOST {
            let message = format!("{count} cases are more than {MOST}");
            let place = if self.axes.is_empty() { &cases[MOST].place } else { &self.place };
            problems.add(Problem::at(place, message).help("leave some of them out"));
            return (Vec::new(), false);
        }
        if self.axes.is_empty() {
            return (cases, self.complete);
        }
        if !self.complete || self.is_contradictory(&cases, problems) {
            return (Vec::new(), false);
        }
        let one = || vec![Variation::unnamed(&self.place)];
        let mut crossed = if cases.is_empty() { one() } else { cases };
        for (axis, label) in self.axes.iter().zip(self.labels()) {
            let with = |case: &Variation| -> Vec<Variation> {
                axis.values.iter().map(|value| value.added_to(case, &label)).collect()
            };
            crossed = crossed.iter().flat_map(with).collect();
        }
        (crossed, true)
    }

    /// Reports lists that undo one another, or what a case sets.
    fn is_contradictory(&self, cases: &[Variation], problems: &Problems) -> bool {
        let mut before: Vec<Leaf> =
            cases.iter().flat_map(|case| &case.set).flat_map(|entry| leaves(entry, true)).collect();
        let of_cases = before.len();
        let mut found = false;
        for axis in &self.axes {
            let later: Vec<Leaf> =
                axis.values.iter().flat_map(|value| leaves(&value.set, false)).collect();
            if let Some((new, old)) = undone(&before, &later) {
                let by_case = before[..of_cases].iter().any(|leaf| std::ptr::eq(leaf, old));
                let problem = match by_case {
                    true => {
                        let message =
                            format!("the matrix changes `{}`, which this case sets", new.path());
                        Problem::at(&old.place, message)
                    }
                    false => {
                        let message = format!("the matrix changes `{}` twice", new.path());
                        Problem::at(&axis.place, message)
                    }
                };
                problems
                    .add(problem.help("the later one would undo the other; leave one of them out"));
                found = true;
            }
            before.extend(axis.values.iter().flat_map(|value| leaves(&value.set, true)));
        }
        found
    }

    /// What each list is called: the last part of its path; with parts before it where that is a
    /// position in a list, or also the end of another's path.
    fn labels(&self) -> Vec<String> {
        let of = |axis: &Axis| {
            let parts = &axis.parts;
            let is_position = |part: &String| part.bytes().all(|byte| byte.is_ascii_digit());
            let others = || self.axes.iter().filter(|other| !std::ptr::eq(*other, axis));
            let tells = |suffix: &[String]| {
                !suffix.iter().all(is_position)
                    && !others().any(|other| other.parts.ends_with(suffix))
            };
            let mut suffixes = (0..parts.len()).rev().map(|from| &parts[from..]);
            suffixes.find(|suffix| tells(suffix)).unwrap_or(parts).join(".")
        };
        self.axes.iter().map(of).collect()
    }
}

impl Named {
    /// A case with this value.
    fn added_to(&self, case: &Variation, label: &str) -> Variation {
        let own = if self.own { self.name.clone() } else { format!("{label} {}", self.name) };
        let name = if case.name.is_empty() { own } else { format!("{}, {own}", case.name) };
        let set = case.set.iter().chain([&self.set]).cloned().collect();
        Variation { name, place: self.place.clone(), set }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Case, Changes, Scenario};
    use std::path::Path;

    const BASE: &str = "name = \"t\"\nduration = \"1m\"\n[limit]\nrequests = 10\nper = \"60s\"\n\
                        [[traffic]]\nkind = \"burst\"\nrequests = 1\n";

    fn read(text: &str) -> Result<Vec<Case>, String> {
        let text = format!("{BASE}{text}");
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
        scenario.map(|scenario| scenario.cases).map_err(|error| error.render(false))
    }

    /// Each case with L, W and the seed.
    fn cases(text: &str) -> Vec<String> {
        let cases = read(text).unwrap_or_else(|message| panic!("{message}"));
        let shown = cases
            .iter()
            .map(|case| format!("{}: {} seed {}", case.name, case.limits[0].limit, case.seed.0));
        shown.collect()
    }

    #[test]
    fn every_combination_is_a_case_named_after_its_values_the_last_list_runs_fastest() {
        let expected = [
            "requests 50, per 1s: 50 per 1s seed 1",
            "requests 50, per 2m: 50 per 2m seed 1",
            "requests 100, per 1s: 100 per 1s seed 1",
            "requests 100, per 2m: 100 per 2m seed 1",
        ];
        let quoted = "[matrix]\n\"limit.requests\" = [50, 100]\n\"limit.per\" = [\"1s\", \"2m\"]\n";
        assert_eq!(cases(quoted), expected);
        let nested = "[matrix.limit]\nrequests = [50, 100]\nper = [\"1s\", \"2m\"]\n";
        assert_eq!(cases(nested), expected);
    }

    #[test]
    fn each_case_is_combined_with_all_values() {
        assert_eq!(
            cases(
                "[[case]]\nname = \"short\"\nset.limit.per = \"1s\"\n[[case]]\nname = \"long\"\n\
                 [matrix]\nlimit.requests = [5, 6]\n"
            ),
            [
                "short, requests 5: 5 per 1s seed 1",
                "short, requests 6: 6 per 1s seed 1",
                "long, requests 5: 5 per 60s seed 1",
                "long, requests 6: 6 per 60s seed 1",
            ]
        );
    }

    #[test]
    fn values_of_any_kind_have_names_and_tables_change_setting_by_setting() {
        assert_eq!(
            cases(
                "[matrix]\nseed = [3, { name = \"other\", set = 4 }]\n\
                 limit = [{ name = \"small\", set = { requests = 5 } }, \"7/1s\"]\n"
            ),
            [
                "seed 3, small: 5 per 60s seed 3",
                "seed 3, limit 7/1s: 7 per 1s seed 3",
                "other, small: 5 per 60s seed 4",
                "other, limit 7/1s: 7 per 1s seed 4",
            ]
        );
        let names = |text: &str| -> Vec<String> {
            read(text).unwrap().into_iter().map(|case| case.name).collect()
        };
        let keys =
            "[matrix]\nlimit.key = [{ name = \"both\", set = [\"client\", \"endpoint\"] }]\n";
        assert_eq!(names(keys), ["both"]);
        let starts = "[matrix]\nstart = [12:00:00, \"13:00:00\"]\ntraffic.0.client = [\"\"]\n";
        assert_eq!(names(starts), ["start 12:00:00, client \"\"", "start 13:00:00, client \"\""]);
    }

    #[test]
    fn paths_with_one_end_are_told_apart_by_what_is_before_it() {
        let names = |text: &str| read(text).unwrap().remove(0).name;
        let text = "[[traffic]]\nkind = \"burst\"\nrequests = 1\n[matrix]\n\
                    \"traffic.0.requests\" = [1]\n\"traffic.1.requests\" = [2]\nlimit.requests = [3]\n\
                    limit.per = [\"4s\"]\n";
        assert_eq!(names(text), "0.requests 1, 1.requests 2, limit.requests 3, per 4s");
        // A position alone says nothing.
        let text = "[[traffic]]\nkind = \"burst\"\nrequests = 1\n\
                    [matrix]\ntraffic.1 = [{ name = \"x\", set = { requests = 5 } }]\n\
                    \"limit.endpoints\" = [\"/a\"]\n";
        assert_eq!(names(text), "x, endpoints /a");
    }

    #[test]
    fn what_makes_no_case_is_a_problem_where_it_stands() {
        let seeds: Vec<u32> = (0..1001).collect();
        let many = format!("limit.requests = [1]\nseed = {seeds:?}");
        for (matrix, message, place) in [
            (
                "limit.requests = []",
                "`requests` is an empty list, which makes no case",
                "t.toml:10:18",
            ),
            ("limit.requests = 5", "`requests` must be a list, not a whole number", "t.toml:10:18"),
            ("\"limit.reqests\" = [5, 6]", "unknown key `reqests`", "t.toml:10:1"),
            ("limit.requests = [5, -1]", "`requests`: -1 is out of range", "t.toml:10:22"),
            ("\"traffic.1.at\" = [\"1s\"]", "`1` is no position in a list of 1", "t.toml:10:1"),
            ("name = [\"a\"]", "a matrix cannot change `name`", "t.toml:10:1"),
            ("replicas = [1, 2]", "a matrix cannot change `replicas`", "t.toml:10:1"),
            ("limit = [{ requests = 5 }]", "a table as a value needs a name", "t.toml:10:10"),
            ("limit = [{ name = \"a\", sett = 5, set = 5 }]", "unknown key `sett`", "t.toml:10:24"),
            ("limit = [{ name = 5, set = 5 }]", "a name must be a text", "t.toml:10:19"),
            ("limit.key = [[\"client\"]]", "a list as a value needs a name", "t.toml:10:14"),
            ("seed = [5, 6, 5]", "two values are named `5`", "t.toml:10:15"),
            ("seed = [5]\n\"seed\" = [6]", "duplicate key", "t.toml:11:1"),
            (
                "limit.requests = [5]\n\"limit.requests\" = [6]",
                "the matrix changes `limit.requests` twice",
                "t.toml:11:1",
            ),
            (&many, "1001 cases are more than 1000", "t.toml:9:1"),
        ] {
            let shown = read(&format!("[matrix]\n{matrix}\n")).unwrap_err();
            assert!(shown.contains(message) && shown.contains(place), "{matrix}:\n{shown}");
            assert_eq!(shown.matches("error").count(), 1, "{matrix}:\n{shown}");
        }
        let shown = read(
            "[[case]]\nname = \"a\"\nset.limit.requests = 5\n\
             [matrix]\n\"limit.requests\" = [6, 7]\n",
        )
        .unwrap_err();
        let message = "the matrix changes `limit.requests`, which this case sets";
        assert!(shown.contains(message) && shown.contains("t.toml:11:11"), "{shown}");
    }

    #[test]
    fn a_thousand_cases_are_not_too_many_and_a_case_more_is_refused_where_it_stands() {
        let list = |count: usize| {
            let cases: Vec<_> = (0..count).map(|n| format!("[[case]]\nname = \"{n}\"\n")).collect();
            read(&cases.concat())
        };
        assert_eq!(list(1000).unwrap().len(), 1000);
        let shown = list(1001).unwrap_err();
        assert!(shown.contains("1001 cases are more than 1000"), "{shown}");
        assert!(shown.contains("t.toml:2010:8"), "{shown}");
    }
}
