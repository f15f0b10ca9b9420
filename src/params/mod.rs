//! Settings read from a table of a scenario, with their places.
//!
//! A reader asks a [`Params`] for each setting by name, type, default and meaning. That one list of
//! questions does everything: it reads the values and reports every problem at its place, knows
//! which keys exist (all others are mistakes, with the nearest name suggested), records the table
//! as resolved with its defaults, and, run over an empty table, describes the table for the JSON
//! Schema and the reference. So no second list can drift from it.

mod begin;
mod document;
mod schema;
mod setting;
mod short;
mod variants;

use std::ops::RangeInclusive;

use serde_json::{Map, Value as Json, json};

use crate::error::{Place, Problem, Problems};

pub use begin::Begin;
pub use document::{Entry, Node, Table, Value};
pub use schema::{kind_schema, table_schema};
pub use setting::{Choice, Setting, within};
pub use short::Short;
pub use variants::Named;

/// What one setting of a table is.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its key.
    pub name: String,
    /// What it means, one or two sentences.
    pub meaning: String,
    /// Whether it must be there.
    pub required: bool,
    /// What it is when left out.
    pub default: Option<Json>,
    /// What it may be, as a JSON Schema.
    pub schema: Json,
}

/// A table being read.
#[derive(Debug)]
pub struct Params<'a> {
    table: &'a Table,
    place: Place,
    problems: &'a Problems,
    fields: Vec<Field>,
    resolved: Map<String, Json>,
    /// Which whole numbers the next setting may be.
    range: Option<RangeInclusive<u64>>,
    context: variants::Context,
}

/// What reading a table leaves behind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finished {
    /// The settings that were asked for, in order.
    pub fields: Vec<Field>,
    /// The table with its defaults filled in.
    pub resolved: Map<String, Json>,
}

impl<'a> Params<'a> {
    /// Starts to read `node`; a node that is no table is a problem and reads as an empty one.
    pub fn new(node: &'a Node, problems: &'a Problems) -> Params<'a> {
        let table = match &node.value {
            Value::Table(table) => table,
            other => {
                let message = format!("expected a table, found {}", other.kind());
                problems.add(Problem::at(&node.place, message));
                &EMPTY
            }
        };
        let place = node.place.clone();
        Params {
            table,
            place,
            problems,
            fields: Vec::new(),
            resolved: Map::new(),
            range: None,
            context: variants::Context::default(),
        }
    }

    /// Runs a reader over an empty table to learn its settings.
    pub fn describe(reader: impl FnOnce(&mut Params)) -> Vec<Field> {
        let (node, problems) = (Node::empty(), Problems::new());
        let mut params = Params::new(&node, &problems);
        params.context.describing = true;
        reader(&mut params);
        params.finish().fields
    }

    /// The setting asked for next is a whole number from this range.
    pub fn within(&mut self, range: RangeInclusive<u64>) -> &mut Self {
        self.range = Some(range);
        self
    }

    /// A setting that must be there. `None` after a problem was reported.
    pub fn required<T: Setting>(&mut self, name: &str, meaning: &str) -> Option<T> {
        let range = self.declare::<T>(name, meaning, true, None);
        match self.entry(name) {
            Some(_) => self.read(name, range),
            None => {
                let message = format!("`{name}` is missing");
                let expected = match &range {
                    Some(range) => {
                        format!("a whole number from {} to {}", range.start(), range.end())
                    }
                    None => T::EXPECTED.to_owned(),
                };
                let help = format!("add `{name} = …`: {expected}");
                self.problems.add(Problem::at(&self.place, message).help(help));
                None
            }
        }
    }

    /// A setting that may be left out. `None` if it was, or after a problem was reported.
    pub fn optional<T: Setting>(&mut self, name: &str, meaning: &str) -> Option<T> {
        let range = self.declare::<T>(name, meaning, false, None);
        self.read(name, range)
    }

    /// A setting with a default, which also stands in after a problem was reported.
    pub fn or<T: Setting>(&mut self, name: &str, default: T, meaning: &str) -> T {
        let range = self.declare::<T>(name, meaning, false, Some(default.json()));
        let value = self.read(name, range).unwrap_or(default);
        self.resolved.insert(name.to_owned(), value.json());
        value
    }

    /// A table within this one; `reader` sees it, or an empty one where it was left out.
    pub fn table<R>(
        &mut self,
        name: &str,
        meaning: &str,
        reader: impl FnOnce(&mut Params) -> R,
    ) -> R {
        let empty = Node { place: self.place.clone(), value: Value::Table(Table::default()) };
        let node = self.table.get(name).map_or(&empty, |entry| &entry.node);
        let mut inner = Params::new(node, self.problems);
        inner.context.describing = self.context.describing;
        if let Some(Entry { node: Node { value: Value::Table(defaults), .. }, .. }) =
            self.context.defaults.get(name)
        {
            inner.fall_back(defaults.clone());
        }
        let result = reader(&mut inner);
        let finished = inner.finish();
        self.fields.push(Field {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            required: false,
            default: None,
            schema: table_schema(&finished.fields),
        });
        self.resolved.insert(name.to_owned(), Json::Object(finished.resolved));
        result
    }

    /// A table within this one that means something only where it is there: `None` if it was left
    /// out, and then nothing is recorded as resolved.
    pub fn optional_table<R>(
        &mut self,
        name: &str,
        meaning: &str,
        reader: impl FnOnce(&mut Params) -> R,
    ) -> Option<R> {
        if self.entry(name).is_some() {
            return Some(self.table(name, meaning, reader));
        }
        let fields = Params::describe(|params| drop(reader(params)));
        self.fields.push(Field {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            required: false,
            default: None,
            schema: table_schema(&fields),
        });
        None
    }

    /// An array of tables (or a single table where one is enough); `reader` sees each.
    pub fn tables<R>(
        &mut self,
        name: &str,
        meaning: &str,
        mut reader: impl FnMut(&mut Params) -> R,
    ) -> Vec<R> {
        let fields = Params::describe(|params| {
            reader(params);
        });
        let mut resolved = Vec::new();
        let results = self
            .raw_tables(name, meaning, table_schema(&fields))
            .into_iter()
            .map(|node| {
                let mut inner = Params::new(node, self.problems);
                let result = reader(&mut inner);
                resolved.push(Json::Object(inner.finish().resolved));
                result
            })
            .collect();
        self.resolved.insert(name.to_owned(), Json::Array(resolved));
        results
    }

    /// The nodes of an array of tables that another layer reads (`schema` says what each may be).
    /// A single table counts as an array of one.
    pub fn raw_tables(&mut self, name: &str, meaning: &str, schema: Json) -> Vec<&'a Node> {
        self.fields.push(Field {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            required: false,
            default: None,
            schema: json!({ "anyOf": [ { "type": "array", "items": schema.clone() }, schema ] }),
        });
        match self.table.get(name).map(|entry| &entry.node) {
            None => Vec::new(),
            Some(Node { value: Value::Array(nodes), .. }) => nodes.iter().collect(),
            Some(node) => vec![node],
        }
    }

    /// A table whose keys the user chooses; `reader` sees each key with its node.
    pub fn entries<R>(
        &mut self,
        name: &str,
        meaning: &str,
        mut reader: impl FnMut(&Entry, &Problems) -> Option<(R, Json)>,
        schema: Json,
    ) -> Vec<R> {
        self.fields.push(Field {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            required: false,
            default: None,
            schema: json!({ "type": "object", "additionalProperties": schema }),
        });
        let Some(entry) = self.table.get(name) else { return Vec::new() };
        let Value::Table(table) = &entry.node.value else {
            let message = format!("`{name}` must be a table, not {}", entry.node.value.kind());
            self.problems.add(Problem::at(&entry.node.place, message));
            return Vec::new();
        };
        let mut resolved = Map::new();
        let mut results = Vec::new();
        for entry in &table.entries {
            if let Some((result, json)) = reader(entry, self.problems) {
                resolved.insert(entry.key.clone(), json);
                results.push(result);
            }
        }
        self.resolved.insert(name.to_owned(), Json::Object(resolved));
        results
    }

    /// What a setting is read from: what the user wrote, or what stands in for it.
    fn entry(&self, name: &str) -> Option<&Entry> {
        self.table.get(name).or_else(|| self.context.defaults.get(name))
    }

    /// Whether the user wrote this key.
    pub fn has(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    /// Where the value of `name` stands, or the table if the key was left out.
    pub fn place_of(&self, name: &str) -> Place {
        self.table.get(name).map_or_else(|| self.place.clone(), |entry| entry.node.place.clone())
    }

    /// Where the table stands.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Where problems go.
    pub fn problems(&self) -> &'a Problems {
        self.problems
    }

    /// Reports a problem with the value of `name` unless `holds`. Returns `holds`.
    pub fn require(&self, name: &str, holds: bool, message: impl Into<String>, help: &str) -> bool {
        if !holds {
            self.problems.add(Problem::at(&self.place_of(name), message).help(help));
        }
        holds
    }

    /// Replaces what is recorded as the resolved value of `name`, where a later step knows better.
    pub fn resolve(&mut self, name: &str, value: Json) {
        self.resolved.insert(name.to_owned(), value);
    }

    /// Reports every key that nobody asked for.
    pub fn finish(self) -> Finished {
        for entry in &self.table.entries {
            if !self.fields.iter().any(|field| field.name == entry.key) {
                self.problems.add(self.unasked(&entry.key));
            }
        }
        Finished { fields: self.fields, resolved: self.resolved }
    }

    fn declare<T: Setting>(
        &mut self,
        name: &str,
        meaning: &str,
        required: bool,
        default: Option<Json>,
    ) -> Option<RangeInclusive<u64>> {
        debug_assert!(!self.fields.iter().any(|f| f.name == name), "`{name}` is asked for twice");
        let (name, meaning) = (name.to_owned(), meaning.to_owned());
        let mut schema = T::schema();
        let range = self.range.take();
        if let Some(range) = &range {
            schema["minimum"] = json!(range.start());
            schema["maximum"] = json!(range.end());
        }
        self.fields.push(Field { name, meaning, required, default, schema });
        range
    }

    fn read<T: Setting>(&mut self, name: &str, range: Option<RangeInclusive<u64>>) -> Option<T> {
        let node = &self.entry(name)?.node;
        let read = match range {
            Some(range) => within(node, &range),
            None => T::read(node),
        };
        match read {
            Ok(value) => {
                self.resolved.insert(name.to_owned(), value.json());
                Some(value)
            }
            Err(problem) => {
                self.problems.add(problem.of(format_args!("`{name}`")));
                None
            }
        }
    }
}

static EMPTY: Table = Table { entries: Vec::new() };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Source;
    use crate::time::Span;
    use std::sync::Arc;

    fn parse(text: &str) -> (Node, Problems) {
        let problems = Problems::new();
        let source = Arc::new(Source { name: "t.toml".to_owned(), text: text.to_owned() });
        (Node::parse(source, &problems), problems)
    }

    #[test]
    fn every_problem_of_a_table_is_reported_at_once_and_in_order() {
        let (node, problems) = parse("per = \"10/60\"\nrequest = 5\ncount = -1\n");
        let mut params = Params::new(&node, &problems);
        assert_eq!(params.required::<Span>("per", ""), None);
        assert_eq!(params.or("count", 7_u64, ""), 7);
        assert_eq!(params.optional::<u64>("requests", ""), None);
        params.finish();
        let shown = problems.into_result().unwrap_err().render(false);
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn what_was_left_out_is_resolved_to_its_default() {
        let (node, problems) = parse("per = \"60s\"\n[inner]\na = 1\n");
        let mut params = Params::new(&node, &problems);
        assert_eq!(params.required("per", ""), Some(Span::from_secs(60)));
        assert_eq!(params.or("count", 7_u64, ""), 7);
        params.table("inner", "", |inner| {
            assert_eq!(inner.required::<u64>("a", ""), Some(1));
        });
        let finished = params.finish();
        assert!(problems.is_empty());
        let resolved = Json::Object(finished.resolved).to_string();
        assert_eq!(resolved, r#"{"per":"60s","count":7,"inner":{"a":1}}"#);
    }
}
