//! A TOML document as a tree in which every key and value knows its place.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Place, Problem, Problems, Source};

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A TOML value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number of 64 bits, with or without a sign.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// A text.
    String(String),
    /// A date or time written without quotes.
    Moment(String),
    /// A list.
    Array(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Boolean(_) => "true or false",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number with a fraction",
            Value::String(_) => "a text",
            Value::Moment(_) => "a date or time",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Keys and values in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The entries; no key is there twice.
    pub entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// The value.
    pub node: Node,
}

impl Table {
    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

impl Node {
    /// An empty table that stands nowhere.
    pub fn empty() -> Node {
        let source = Arc::new(Source { name: String::new(), text: String::new() });
        Node { place: Place { source, span: 0..0 }, value: Value::Table(Table::default()) }
    }

    /// Parses a document. Reports every syntax error; what could be read is returned.
    pub fn parse(source: Arc<Source>, problems: &Problems) -> Node {
        let whole = Place { source: Arc::clone(&source), span: 0..0 };
        let (table, errors) = DeTable::parse_recoverable(&source.text);
        for error in errors {
            let place = whole.at(error.span().unwrap_or(0..0));
            problems.add(Problem::at(&place, format!("not TOML: {}", error.message())));
        }
        let table = convert_table(table.get_ref(), &whole, problems);
        Node { place: whole, value: Value::Table(table) }
    }

    /// Sets the value at a dotted path (`limit.requests`, `traffic.0.rate`; list positions count
    /// from 0) to `text`, read as a TOML value, or as a plain text where it is none.
    ///
    /// # Errors
    /// A problem placed in the `--set` argument where a part of the path does not exist or a number
    /// is none.
    pub fn set(&mut self, path: &str, text: &str) -> Result<(), Problem> {
        let argument = format!("{path}={text}");
        let source = Arc::new(Source { name: "--set".to_owned(), text: argument });
        let offset = path.len() + 1;
        let place = Place { source: Arc::clone(&source), span: offset..source.text.len() };
        let problems = Problems::new();
        let value = match DeValue::parse(text) {
            Ok(value) => convert(value.get_ref(), &place, &problems),
            Err(_) => Value::String(text.to_owned()),
        };
        if let Err(Error::Input(mut found)) = problems.into_result() {
            return Err(found.swap_remove(0));
        }
        self.replace(path, &place.at(0..path.len()), Node { place, value })
    }

    /// Sets the node at a dotted path, as [`Node::set`] does; `path_place` is where the path stands.
    ///
    /// # Errors
    /// A problem at `path_place` where a part of the path does not exist.
    pub fn replace(&mut self, path: &str, path_place: &Place, node: Node) -> Result<(), Problem> {
        let (first, rest) = match path.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        let wrong = |message: String| Err(Problem::at(path_place, message));
        if first.is_empty() {
            return wrong("a part of the path is empty".to_owned());
        }
        let slot = match &mut self.value {
            Value::Array(nodes) => {
                let count = nodes.len();
                match first.parse::<usize>().ok().and_then(|index| nodes.get_mut(index)) {
                    Some(slot) => slot,
                    None => {
                        return wrong(format!("`{first}` is no position in a list of {count}"));
                    }
                }
            }
            Value::Table(table) => {
                let known = table.entries.iter().position(|entry| entry.key == first);
                let index = known.unwrap_or_else(|| {
                    table.entries.push(Entry {
                        key: first.to_owned(),
                        place: path_place.clone(),
                        node: Node { place: path_place.clone(), ..Node::empty() },
                    });
                    table.entries.len() - 1
                });
                &mut table.entries[index].node
            }
            other => {
                let kind = other.kind();
                return wrong(format!("`{first}` cannot be set inside {kind}"));
            }
        };
        match rest {
            Some(rest) => slot.replace(rest, path_place, node),
            None => {
                *slot = node;
                Ok(())
            }
        }
    }
}

fn convert_table(table: &DeTable, whole: &Place, problems: &Problems) -> Table {
    let entries = table.iter().map(|(key, value)| Entry {
        key: key.get_ref().to_string(),
        place: whole.at(key.span()),
        node: convert_node(value, whole, problems),
    });
    Table { entries: entries.collect() }
}

fn convert_node(value: &Spanned<DeValue>, whole: &Place, problems: &Problems) -> Node {
    let place = whole.at(value.span());
    let value = convert(value.get_ref(), &place, problems);
    Node { place, value }
}

fn convert(value: &DeValue, place: &Place, problems: &Problems) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => match whole(number.as_str(), number.radix()) {
            Some(number) => Value::Integer(number),
            None => {
                problems.add(Problem::at(place, "a whole number beyond 64 bits"));
                Value::Integer(0)
            }
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Value::Float(number),
            Err(_) => {
                problems.add(Problem::at(place, "not a number"));
                Value::Float(0.0)
            }
        },
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(moment) => Value::Moment(moment.to_string()),
        DeValue::Array(values) => {
            Value::Array(values.iter().map(|value| convert_node(value, place, problems)).collect())
        }
        DeValue::Table(table) => Value::Table(convert_table(table, place, problems)),
    }
}

/// A number of 64 bits, signed or not.
fn whole(digits: &str, radix: u32) -> Option<i128> {
    let fits = i128::from(i64::MIN)..=i128::from(u64::MAX);
    i128::from_str_radix(digits, radix).ok().filter(|number| fits.contains(number))
}
