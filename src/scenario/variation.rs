//! The cases of a scenario: what each of them changes, and what becomes of the document.

use serde_json::Value as Json;

use super::case::Case;
use super::overlap::{Leaf, leaves, undone};
use super::read_document;
use crate::error::{Place, Problem, Problems};
use crate::params::{Entry, Node, Params, Table, Value};

/// What makes a case: a name and what it changes.
pub(super) struct Variation {
    /// Its name.
    pub name: String,
    /// Where that is written.
    pub place: Place,
    /// What it changes, in this order.
    pub set: Vec<Entry>,
}

impl Variation {
    /// One that changes nothing.
    pub fn unnamed(place: &Place) -> Variation {
        Variation { name: String::new(), place: place.clone(), set: Vec::new() }
    }
}

pub(super) const MEANING: &str =
    "A named variation: the scenario with some settings changed. The table compares them.";

/// What belongs to the scenario as a whole.
const OF_THE_SCENARIO: [&str; 7] =
    ["name", "about", "case", "matrix", "replicas", "baseline", "expect"];

/// Reads one `[[case]]`.
pub(super) fn read_variation(params: &mut Params) -> Option<Variation> {
    let name: Option<String> = params.required("name", "The name of the case.");
    let place = params.place_of("name");
    let named = !name.as_deref().is_some_and(|name| name.trim().is_empty());
    params.require("name", named, "an empty name", "write a name for the case");
    let bare = !named || name.as_deref().is_none_or(|name| name.trim() == name);
    params.require("name", bare, "a name with blanks around it", "write it without");
    let mut set = Vec::new();
    params.entries(
        "set",
        "What it changes: dotted paths with their values, such as `limit.requests = 50`; \
         positions in a list count from 0.",
        |entry, _| {
            set.push(entry.clone());
            Some(((), Json::Null))
        },
        serde_json::json!({}),
    );
    set.retain(|setting: &Entry| may_change("a case", setting, params.problems()));
    Some(Variation { name: name?, place, set })
}

/// Whether a case may have such a setting; reports a problem if not.
pub(super) fn may_change(who: &str, setting: &Entry, problems: &Problems) -> bool {
    let first = setting.key.split('.').next().unwrap_or("");
    let may = !OF_THE_SCENARIO.contains(&first);
    if !may {
        let message = format!("{who} cannot change `{first}`");
        problems.add(Problem::at(&setting.place, message));
    }
    may
}

/// A setting of the command line.
pub(super) struct Argument {
    shown: String,
    sets: Vec<Leaf>,
}

impl Argument {
    /// `path=value`, as the user wrote it in `shown`.
    pub fn new(shown: String, path: &str, value: &str) -> Argument {
        let mut document = Node::empty();
        // One that leads nowhere is reported where it is applied.
        let _ = document.set(path, value);
        let Node { value: Value::Table(Table { entries }), .. } = &document else {
            return Argument { shown, sets: Vec::new() };
        };
        let sets = entries.iter().flat_map(|entry| leaves(entry, true)).collect();
        Argument { shown, sets }
    }
}

/// The cases that the variations make of a document, which has the `arguments` of the command line.
pub(super) fn vary(
    root: &Node,
    variations: &[Variation],
    arguments: &[Argument],
    problems: &Problems,
) -> Vec<Case> {
    let any = serde_json::json!({ "type": "object" });
    let root = without_cases(root);
    let mut cases: Vec<Case> = Vec::new();
    for variation in variations {
        if cases.iter().any(|case| case.name == variation.name) {
            let message = format!("two cases are named `{}`", variation.name);
            let help = "give each a name of its own";
            problems.add(Problem::at(&variation.place, message).help(help));
            continue;
        }
        let mut root = root.clone();
        for setting in &variation.set {
            root.merge(setting, problems);
        }
        let mut params = Params::new(&root, problems);
        let mut case = read_document(&mut params, &variation.name, &any, &any).case;
        case.notes = notes(variation, arguments);
        let mut resolved = params.finish().resolved;
        for name in OF_THE_SCENARIO.iter().filter(|name| !matches!(**name, "name" | "about")) {
            resolved.shift_remove(*name);
        }
        cases.push(case.with_resolved(resolved));
    }
    cases
}

/// The document without what was read of it once and for all: every case is read anew.
fn without_cases(root: &Node) -> Node {
    let mut root = root.clone();
    if let Value::Table(table) = &mut root.value {
        for Entry { key, node, .. } in &mut table.entries {
            match key.as_str() {
                "case" | "expect" => node.value = Value::Array(Vec::new()),
                "matrix" => node.value = Value::Table(Table::default()),
                _ => {}
            }
        }
    }
    root
}

/// What a case undoes of what the command line sets.
fn notes(variation: &Variation, arguments: &[Argument]) -> Vec<String> {
    let sets: Vec<Leaf> = variation.set.iter().flat_map(|entry| leaves(entry, false)).collect();
    let note = |argument: &Argument| {
        let (new, _) = undone(&argument.sets, &sets)?;
        Some(format!("`{}` gives way: the case sets `{}` itself.", argument.shown, new.path()))
    };
    arguments.iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::scenario::{Attribute, Changes, Key, Scenario};
    use crate::time::Span;
    use std::path::Path;

    const BASE: &str = "name = \"t\"\nduration = \"1m\"\n[limit]\nrequests = 10\nper = \"60s\"\n\
                        [[traffic]]\nkind = \"burst\"\nrequests = 1\n";

    fn read(cases: &str, changes: &Changes) -> Result<Vec<Case>, String> {
        let scenario = Scenario::parse(Path::new("t.toml"), format!("{BASE}{cases}"), changes);
        scenario.map(|scenario| scenario.cases).map_err(|error| error.render(false))
    }

    fn cases(text: &str) -> Vec<Case> {
        read(text, &Changes::default()).unwrap_or_else(|message| panic!("{message}"))
    }

    fn problem(text: &str) -> String {
        read(text, &Changes::default()).unwrap_err()
    }

    #[test]
    fn without_cases_there_is_one_without_a_name() {
        let cases = cases("");
        assert_eq!(cases.len(), 1);
        assert_eq!((cases[0].name.as_str(), cases[0].limits[0].limit.requests), ("", 10));
        assert_eq!(cases[0].resolved["seed"], 1);
    }

    #[test]
    fn a_case_changes_what_it_names_and_nothing_else() {
        let cases = cases(
            "[[case]]\nname = \"nested\"\nset = { limit = { requests = 20 }, seed = 7 }\n\
             [[case]]\nname = \"dotted\"\nset.limit.requests = 30\n\
             [[case]]\nname = \"path\"\nset.\"traffic.0.requests\" = 5\n\
             [[case]]\nname = \"whole\"\nset.\"limit\" = \"40/1s\"\n\
             [[case]]\nname = \"as it is\"\n",
        );
        let numbers: Vec<_> = cases
            .iter()
            .map(|case| (case.name.as_str(), case.limits[0].limit.requests, case.seed.0))
            .collect();
        assert_eq!(
            numbers,
            [
                ("nested", 20, 7),
                ("dotted", 30, 1),
                ("path", 10, 1),
                ("whole", 40, 1),
                ("as it is", 10, 1)
            ]
        );
        assert!(cases.iter().all(|case| case.duration == Some(Span::from_secs(60))));
        let Value::Table(traffic) = &cases[2].traffic[0].value else { panic!("a table") };
        assert_eq!(traffic.get("requests").unwrap().node.value, Value::Integer(5));
        assert_eq!(cases[3].limits[0].limit.per, Span::from_secs(1));
        assert!(!cases[0].resolved.contains_key("case"));
    }

    #[test]
    fn a_table_takes_the_place_of_what_is_none() {
        let cases = cases(
            "[[case]]\nname = \"absent\"\nset = { limit.key = { first-of = [\"tenant\"] } }\n\
             [[case]]\nname = \"text\"\n[case.set]\n\"limit.key\" = \"tier\"\n\
             limit.key.first-of = [\"tier\", \"tenant\"]\n\
             [[case]]\nname = \"list\"\nset.\"limit.key\" = [\"tier\"]\n\
             set.limit = { key = { first-of = [\"client\"] } }\n\
             [[case]]\nname = \"costs\"\n\
             set.traffic.0 = { endpoint = \"/a.b\", costs = { \"/a.b\" = 3 } }\n",
        );
        let keys: Vec<_> = cases.iter().map(|case| case.limits[0].key.clone()).collect();
        let expected = [
            Key::FirstOf(vec![Attribute::Tenant]),
            Key::FirstOf(vec![Attribute::Tier, Attribute::Tenant]),
            Key::FirstOf(vec![Attribute::Client]),
            Key::Each(vec![Attribute::Client]),
        ];
        assert_eq!(keys, expected);
        assert!(cases.iter().all(|case| case.limits[0].limit.requests == 10));
        let Value::Table(traffic) = &cases[3].traffic[0].value else { panic!("a table") };
        let Value::Table(costs) = &traffic.get("costs").unwrap().node.value else { panic!("too") };
        assert_eq!(costs.get("/a.b").unwrap().node.value, Value::Integer(3));
        assert!(traffic.get("requests").is_some());
    }

    #[test]
    fn a_case_has_a_name() {
        let shown = problem("[[case]]\nname = \" \"\n");
        assert!(shown.contains("an empty name") && shown.contains("t.toml:10:8"), "{shown}");
        assert_eq!(shown.matches("error").count(), 1, "{shown}");
    }

    #[test]
    fn the_command_line_changes_all_cases_and_a_case_has_the_last_word() {
        let set = vec![("limit.requests".to_owned(), "50".to_owned())];
        let changes = Changes { set, seed: Some(u64::MAX), replicas: None };
        let text = "[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\nset.limit.requests = 20\n";
        let cases = read(text, &changes).unwrap();
        let numbers: Vec<_> =
            cases.iter().map(|case| (case.limits[0].limit.requests, case.seed.0)).collect();
        assert_eq!(numbers, [(50, u64::MAX), (20, u64::MAX)]);
    }

    #[test]
    fn a_case_that_undoes_the_command_line_says_so() {
        let set = [("limit.requests", "50"), ("duration", "2m")];
        let set = set.map(|(path, value)| (path.to_owned(), value.to_owned())).to_vec();
        let changes = Changes { set, seed: Some(3), replicas: Some(2) };
        let text = "[[case]]\nname = \"a\"\n\
                    [[case]]\nname = \"b\"\nset.limit = { requests = 20, burst = 5 }\n\
                    [[case]]\nname = \"c\"\nset.seed = 7\n\
                    [[case]]\nname = \"d\"\nset.limit = \"7/1s\"\nset.\"traffic.0.requests\" = 5\n";
        let cases = read(text, &changes).unwrap();
        let notes: Vec<Vec<&str>> =
            cases.iter().map(|case| case.notes.iter().map(String::as_str).collect()).collect();
        let expected: [&[&str]; 4] = [
            &[],
            &["`--set limit.requests=50` gives way: the case sets `limit.requests` itself."],
            &["`--seed 3` gives way: the case sets `seed` itself."],
            &["`--set limit.requests=50` gives way: the case sets `limit` itself."],
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn a_change_that_leads_nowhere_is_a_problem_where_it_stands() {
        for (case, message, place) in [
            ("set.limit.reqests = 1", "unknown key `reqests`", "t.toml:11:11"),
            ("set.\"traffic.1.requests\" = 1", "`1` is no position in a list of 1", "t.toml:11:5"),
            ("set.\"duration.x\" = 1", "`x` cannot be set inside a text", "t.toml:11:5"),
            ("set.about = \"x\"", "a case cannot change `about`", "t.toml:11:5"),
            ("set.seed = -1", "`seed`: -1 is out of range", "t.toml:11:12"),
            ("set = 3", "`set` must be a table, not a whole number", "t.toml:11:7"),
        ] {
            let shown = problem(&format!("[[case]]\nname = \"a\"\n{case}\n"));
            assert!(shown.contains(message) && shown.contains(place), "{case}:\n{shown}");
            assert_eq!(shown.matches("error").count(), 1, "{case}:\n{shown}");
        }
        let twice = problem("[[case]]\nname = \"a\"\n[[case]]\nname = \"a\"\n");
        assert!(
            twice.contains("two cases are named `a`") && twice.contains("t.toml:12:8"),
            "{twice}"
        );
    }
}
