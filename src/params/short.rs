//! Tables with a short form: `round-trip = "1ms"` for `round-trip = { kind = "constant", time = "1ms" }`.

use serde_json::{Value as Json, json};

use super::{Entry, Field, Node, Params, Table, Value, table_schema};
use crate::error::{Place, Problem};

/// How a table may be written in short.
#[derive(Debug, Clone, Copy)]
pub struct Short {
    /// What the short form may be, as a JSON Schema.
    pub schema: fn() -> Json,
    /// The table that a value is short for, or what is wrong with the value.
    pub expand: fn(&Node) -> Result<Table, Problem>,
}

impl Table {
    /// A table of these settings that stands at one place.
    pub fn at<const N: usize>(place: &Place, settings: [(&str, Value); N]) -> Table {
        let entries = settings.into_iter().map(|(key, value)| Entry {
            key: key.to_owned(),
            place: place.clone(),
            node: Node { place: place.clone(), value },
        });
        Table { entries: entries.collect() }
    }
}

impl Params<'_> {
    /// A table, or what is short for one; `reader` sees the table either way, and so does whoever looks at what was
    /// resolved. `None` if it was left out and `default` (as a short form) does not stand in, or after a problem
    /// with a short form was reported.
    pub fn shortened<R>(
        &mut self,
        name: &str,
        meaning: &str,
        short: Short,
        default: Option<&str>,
        mut reader: impl FnMut(&mut Params) -> R,
    ) -> Option<R> {
        let table = table_schema(&Params::describe(|params| drop(reader(params))));
        self.fields.push(Field {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            required: false,
            default: default.map(|default| json!(default)),
            schema: json!({ "anyOf": [(short.schema)(), table] }),
        });
        let node = match (self.entry(name), default) {
            (Some(entry), _) => entry.node.clone(),
            (None, Some(default)) => {
                Node { place: self.place.clone(), value: Value::String(default.to_owned()) }
            }
            (None, None) => return None,
        };
        let node = match &node.value {
            Value::Table(_) => node,
            _ => match (short.expand)(&node) {
                Ok(table) => Node { value: Value::Table(table), ..node },
                Err(problem) => {
                    self.problems.add(problem.of(format_args!("`{name}`")));
                    return None;
                }
            },
        };
        let mut inner = Params::new(&node, self.problems);
        let result = reader(&mut inner);
        let resolved = inner.finish().resolved;
        self.resolved.insert(name.to_owned(), Json::Object(resolved));
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Problems, Source};
    use crate::params::Setting;
    use std::sync::Arc;

    const SHORT: Short = Short {
        schema: u64::schema,
        expand: |node| {
            u64::read(node)?;
            Ok(Table::at(&node.place, [("size", node.value.clone())]))
        },
    };

    /// What is read and what is resolved, or all problems.
    fn outcome(text: &str) -> Result<String, String> {
        let problems = Problems::new();
        let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
        let node = Node::parse(Arc::new(source), &problems);
        let mut params = Params::new(&node, &problems);
        let read = params.shortened("box", "", SHORT, None, |params| {
            let size = params.within(1..=9).required::<u64>("size", "");
            (size, params.or("colour", "red".to_owned(), ""))
        });
        let resolved = Json::Object(params.finish().resolved);
        problems.into_result().map_err(|error| error.render(false))?;
        Ok(format!("{read:?} {resolved}"))
    }

    #[test]
    fn a_table_and_its_short_form_are_read_and_resolved_alike() {
        let same = r#"Some((Some(3), "red")) {"box":{"size":3,"colour":"red"}}"#;
        assert_eq!(outcome("box = 3\n").unwrap(), same);
        assert_eq!(outcome("box = { size = 3 }\n").unwrap(), same);
        assert_eq!(outcome("").unwrap(), "None {}");
    }

    #[test]
    fn what_is_wrong_with_a_short_form_is_reported_where_it_stands() {
        for (text, message, place) in [
            ("box = \"x\"\n", "`box`: expected a whole number", "t.toml:1:7"),
            ("box = 10\n", "`size`: 10 is out of range", "t.toml:1:7"),
            ("box = { colour = \"blue\" }\n", "`size` is missing", "t.toml:1:7"),
            ("box = { size = 3, sise = 4 }\n", "unknown key `sise`", "t.toml:1:19"),
        ] {
            let shown = outcome(text).unwrap_err();
            assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
        }
    }
}
