//! Settings of one table that depend on one another: a name out of a registry, settings that mean
//! something only with some of these names, and a set of settings that stands in for those left out.

use serde_json::json;

use super::{Field, Params, Setting, Table};
use crate::error::Problem;

/// An entry of a registry, as a setting names it.
pub trait Named: 'static {
    /// What an entry is, for messages: "retry policy".
    const WHAT: &'static str;

    /// As written in a scenario.
    fn name(&self) -> &'static str;

    /// One line on it.
    fn summary(&self) -> &'static str;
}

/// How a description says what a setting goes with.
const ONLY: &str = "Only with ";

/// What the settings of a table depend on, besides the table.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// Whether the reader runs to learn its settings: then all are asked for, whatever they go with.
    pub describing: bool,
    /// What stands in for settings that the user left out.
    pub defaults: Table,
    /// Settings that have no effect here, and what they go with.
    pub elsewhere: Vec<(String, String)>,
}

impl Params<'_> {
    /// These settings stand in for those that the user left out, in the tables within it as well. What of them
    /// nobody asks for is passed over.
    pub fn fall_back(&mut self, defaults: Table) {
        self.context.defaults = defaults;
    }

    /// A setting that names an entry of a registry; left out, it names `default`. `None` if it was left
    /// out and there is no default, or after a problem was reported.
    pub fn pick<K: Named>(
        &mut self,
        name: &str,
        registry: &'static [K],
        default: Option<&'static str>,
        meaning: &str,
    ) -> Option<&'static K> {
        let options: Vec<_> = registry
            .iter()
            .map(|kind| json!({ "const": kind.name(), "description": kind.summary() }))
            .collect();
        self.fields.push(Field {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            required: false,
            default: default.map(|default| json!(default)),
            schema: json!({ "oneOf": options }),
        });
        let given = match self.entry(name) {
            None => default?.to_owned(),
            Some(entry) => match String::read(&entry.node) {
                Ok(text) => text,
                Err(problem) => {
                    let known: Vec<&str> = registry.iter().map(K::name).collect();
                    let help = format!("known are: {}", known.join(", "));
                    self.problems.add(problem.of(format_args!("`{name}`")).help(help));
                    return None;
                }
            },
        };
        let found = registry.iter().find(|kind| kind.name() == given);
        match found {
            Some(_) => drop(self.resolved.insert(name.to_owned(), json!(given))),
            None => {
                let known = registry.iter().map(K::name);
                self.problems.add(Problem::unknown(&self.place_of(name), K::WHAT, &given, known));
            }
        }
        found
    }

    /// A setting with a default, on which others depend: `None` after a problem was reported, since what goes
    /// with it is not known then.
    pub fn or_unknown<T: Setting>(&mut self, name: &str, default: T, meaning: &str) -> Option<T> {
        let range = self.declare::<T>(name, meaning, false, Some(default.json()));
        if self.entry(name).is_some() {
            return self.read(name, range);
        }
        self.resolved.insert(name.to_owned(), default.json());
        Some(default)
    }

    /// Settings that mean something only `with` some value of another ("`retries = \"fixed\"`"). Where that
    /// does not apply, a user who wrote them made a mistake, and is told what they go with; where it is
    /// not known (`None`, after a problem was reported), they are taken unread.
    pub fn only<R>(
        &mut self,
        applies: Option<bool>,
        with: &str,
        reader: impl FnOnce(&mut Params) -> R,
    ) -> Option<R> {
        if self.context.describing {
            let before = self.fields.len();
            let result = reader(self);
            for field in &mut self.fields[before..] {
                field.required = false;
                // What an inner dependency goes with says more, and has a setting that says the rest.
                if !field.meaning.starts_with(ONLY) {
                    field.meaning = format!("{ONLY}{with}. {}", field.meaning);
                }
            }
            return Some(result);
        }
        if applies == Some(true) {
            return Some(reader(self));
        }
        let fields = Params::describe(|params| drop(reader(params)));
        match applies {
            None => self.fields.extend(fields),
            Some(_) => {
                let names = fields.into_iter().map(|field| field.name);
                self.context.elsewhere.extend(names.map(|name| (name, with.to_owned())));
            }
        }
        None
    }

    /// The problem that nobody asked for the key `name`.
    pub(super) fn unasked(&self, name: &str) -> Problem {
        let known = self.fields.iter().map(|field| field.name.as_str());
        let place = self.table.get(name).map_or(&self.place, |entry| &entry.place);
        match self.context.elsewhere.iter().find(|(key, _)| key == name) {
            Some((_, with)) => Problem::at(place, format!("`{name}` has no effect here"))
                .help(format!("`{name}` goes with {with}")),
            None => Problem::unknown(place, "key", name, known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Problems, Source};
    use crate::params::{Node, Value};
    use serde_json::Value as Json;
    use std::sync::Arc;

    struct Shape(&'static str);

    impl Named for Shape {
        const WHAT: &'static str = "shape";

        fn name(&self) -> &'static str {
            self.0
        }

        fn summary(&self) -> &'static str {
            "A shape."
        }
    }

    const SHAPES: &[Shape] = &[Shape("round"), Shape("square"), Shape("none")];

    fn read(params: &mut Params) -> (Option<u64>, Option<u64>) {
        let shape = params.pick("shape", SHAPES, Some("none"), "Its shape.").map(Named::name);
        let is = |name: &str| shape.map(|shape| shape == name);
        let radius = params.only(is("round"), "`shape = \"round\"`", |params| {
            params.or("radius", 1_u64, "How far out it reaches.")
        });
        let side = params.only(is("square"), "`shape = \"square\"`", |params| {
            params.required("side", "How long a side is.")
        });
        params.optional_table("inner", "", |params| params.or("deep", 1_u64, ""));
        (radius, side.flatten())
    }

    fn parse(text: &str, problems: &Problems) -> Node {
        let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
        Node::parse(Arc::new(source), problems)
    }

    /// What is read, what is resolved, or all problems.
    fn outcome(text: &str, defaults: &str) -> Result<String, String> {
        let problems = Problems::new();
        let node = parse(text, &problems);
        let Value::Table(defaults) = parse(defaults, &problems).value else { panic!("a table") };
        let mut params = Params::new(&node, &problems);
        params.fall_back(defaults);
        let read = read(&mut params);
        let resolved = Json::Object(params.finish().resolved);
        problems.into_result().map_err(|error| error.render(false))?;
        Ok(format!("{read:?} {resolved}"))
    }

    #[test]
    fn settings_that_go_with_the_name_are_read_and_no_others() {
        let read = outcome("shape = \"round\"\n", "").unwrap();
        assert_eq!(read, r#"(Some(1), None) {"shape":"round","radius":1}"#);
        let none = outcome("", "").unwrap();
        assert_eq!(none, r#"(None, None) {"shape":"none"}"#);
    }

    #[test]
    fn a_setting_of_another_name_is_a_mistake_that_says_what_it_goes_with() {
        let shown = outcome("shape = \"round\"\nside = 3\n", "").unwrap_err();
        assert!(shown.starts_with("error: `side` has no effect here"), "{shown}");
        assert!(shown.contains("`side` goes with `shape = \"square\"`"), "{shown}");
    }

    #[test]
    fn a_misspelt_name_is_the_only_problem_whatever_goes_with_it() {
        let shown = outcome("shape = \"sqare\"\nside = 3\nradius = 2\n", "").unwrap_err();
        assert!(shown.contains("unknown shape `sqare`"), "{shown}");
        assert!(shown.contains("did you mean `square`?"), "{shown}");
        assert_eq!(shown.matches("error").count(), 1, "{shown}");
        let shown = outcome("shape = 3\n", "").unwrap_err();
        assert!(shown.contains("known are: round, square, none"), "{shown}");
    }

    #[test]
    fn defaults_stand_in_for_what_was_left_out_and_are_dropped_where_they_do_not_apply() {
        let defaults = "shape = \"square\"\nside = 5\ninner = { deep = 7 }\n";
        let read = outcome("", defaults).unwrap();
        let expected = r#"(None, Some(5)) {"shape":"square","side":5,"inner":{"deep":7}}"#;
        assert_eq!(read, expected);
        let read = outcome("side = 6\ninner = {}", defaults).unwrap();
        assert_eq!(read, expected.replace('5', "6"));
        let read = outcome("shape = \"round\"", defaults).unwrap();
        assert_eq!(read, r#"(Some(1), None) {"shape":"round","radius":1,"inner":{"deep":7}}"#);
    }

    #[test]
    fn a_description_has_all_settings_and_says_what_they_go_with() {
        let fields = Params::describe(|params| {
            read(params);
        });
        let shown: Vec<_> = fields.iter().map(|f| (f.name.as_str(), f.meaning.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("shape", "Its shape."),
                ("radius", "Only with `shape = \"round\"`. How far out it reaches."),
                ("side", "Only with `shape = \"square\"`. How long a side is."),
                ("inner", ""),
            ]
        );
        assert!(fields.iter().all(|field| !field.required));
    }
}
