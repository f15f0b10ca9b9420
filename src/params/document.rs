//! A TOML document as a tree in which every key and value knows its place.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Place, Problem, Problems, Source};

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
    /// A whole number; wider than TOML's, so that every unsigned one of 64 bits can be written.
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
        let table = Converter { whole: &whole, offset: 0, problems }.table(table.get_ref());
        Node { place: whole, value: Value::Table(table) }
    }

    /// Sets the value at a dotted path (`limit.requests`, `traffic.0.rate`; list positions count
    /// from 0) to `text`, read as a TOML value, or as a plain text where it is none.
    ///
    /// # Errors
    /// A problem placed in the `--set` argument: a part of the path does not exist, or the value
    /// cannot be held.
    pub fn set(&mut self, path: &str, text: &str) -> Result<(), Problem> {
        let argument = format!("{path}={text}");
        let source = Arc::new(Source { name: "--set".to_owned(), text: argument });
        let offset = path.len() + 1;
        let place = Place { source: Arc::clone(&source), span: offset..source.text.len() };
        let problems = Problems::new();
        let converter = Converter { whole: &place, offset, problems: &problems };
        let value = match DeValue::parse(text) {
            Ok(value) => converter.value(value.get_ref(), &place),
            Err(_) => Value::String(text.to_owned()),
        };
        match problems.into_first() {
            Some(problem) => Err(problem),
            None => self.replace(path, &place.at(0..path.len()), Node { place, value }),
        }
    }

    /// Sets what an entry says, its key being a path as in [`Node::set`]. A table changes the table, or
    /// the list of tables, that is there, setting by setting; it takes the place of anything else.
    pub fn merge(&mut self, entry: &Entry, problems: &Problems) {
        match (self.child(&entry.key), &entry.node.value) {
            (Some(child), Value::Table(changes)) if child.has_settings() => {
                changes.entries.iter().for_each(|inner| child.merge(inner, problems));
            }
            (Some(child), _) => *child = entry.node.clone(),
            (None, _) => {
                let node = entry.node.clone();
                if let Err(problem) = self.replace(&entry.key, &entry.place, node) {
                    problems.add(problem);
                }
            }
        }
    }

    /// The node of a key, or of a position in a list.
    fn child(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Array(nodes) => nodes.get_mut(key.parse::<usize>().ok()?),
            Value::Table(table) => {
                let entry = table.entries.iter_mut().find(|entry| entry.key == key)?;
                Some(&mut entry.node)
            }
            _ => None,
        }
    }

    /// Whether it is a table or a list of tables.
    fn has_settings(&self) -> bool {
        match &self.value {
            Value::Table(_) => true,
            Value::Array(nodes) => nodes.iter().any(|node| matches!(node.value, Value::Table(_))),
            _ => false,
        }
    }

    /// Sets the node at a dotted path, as [`Node::set`] does; `path_place` is where the path stands.
    ///
    /// # Errors
    /// A problem at `path_place` where a part of the path does not exist.
    pub fn replace(&mut self, path: &str, path_place: &Place, node: Node) -> Result<(), Problem> {
        let (first, rest) =
            path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
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

/// Turns parsed TOML into nodes.
struct Converter<'a> {
    /// Any place in the source.
    whole: &'a Place,
    /// Where in the source the parsed text begins.
    offset: usize,
    problems: &'a Problems,
}

impl Converter<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        self.whole.at(span.start + self.offset..span.end + self.offset)
    }

    fn table(&self, table: &DeTable) -> Table {
        let entries = table.iter().map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            place: self.place(key.span()),
            node: self.node(value),
        });
        Table { entries: entries.collect() }
    }

    fn node(&self, value: &Spanned<DeValue>) -> Node {
        let place = self.place(value.span());
        let value = self.value(value.get_ref(), &place);
        Node { place, value }
    }

    fn value(&self, value: &DeValue, place: &Place) -> Value {
        match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(number) => {
                let read = whole(number.as_str(), number.radix());
                Value::Integer(read.unwrap_or_else(|| {
                    self.problems.add(Problem::at(place, "a whole number beyond 64 bits"));
                    0
                }))
            }
            DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or_else(|_| {
                self.problems.add(Problem::at(place, "not a number"));
                0.0
            })),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(moment) => Value::Moment(moment.to_string()),
            DeValue::Array(values) => {
                Value::Array(values.iter().map(|value| self.node(value)).collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table)),
        }
    }
}

/// A number of 64 bits, signed or not.
fn whole(digits: &str, radix: u32) -> Option<i128> {
    let fits = i128::from(i64::MIN)..=i128::from(u64::MAX);
    i128::from_str_radix(digits, radix).ok().filter(|number| fits.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Node {
        let problems = Problems::new();
        let source = Arc::new(Source { name: "t.toml".to_owned(), text: text.to_owned() });
        let node = Node::parse(source, &problems);
        problems.into_result().unwrap();
        node
    }

    fn at<'a>(node: &'a Node, path: &str) -> &'a Node {
        path.split('.').fold(node, |node, part| match &node.value {
            Value::Table(table) => &table.get(part).unwrap().node,
            Value::Array(nodes) => &nodes[part.parse::<usize>().unwrap()],
            other => panic!("{part} in {}", other.kind()),
        })
    }

    #[test]
    fn a_path_reaches_into_tables_and_lists_and_adds_what_is_not_there() {
        let mut node = parse("[limit]\nrequests = 5\n[[traffic]]\nrate = \"1/s\"\n");
        node.set("limit.requests", "7").unwrap();
        node.set("limit.per", "60s").unwrap();
        node.set("traffic.0.rate", "\"5/s\"").unwrap();
        node.set("a.b.c", "[1, 2.5, true]").unwrap();
        assert_eq!(at(&node, "limit.requests").value, Value::Integer(7));
        assert_eq!(at(&node, "limit.per").value, Value::String("60s".to_owned()));
        assert_eq!(at(&node, "traffic.0.rate").value, Value::String("5/s".to_owned()));
        assert_eq!(at(&node, "a.b.c.1").value, Value::Float(2.5));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_a_problem_and_changes_nothing() {
        let before = parse("seed = 1\n[[traffic]]\nrate = \"1/s\"\n");
        for (path, message) in [
            ("traffic.1.rate", "`1` is no position in a list of 1"),
            ("traffic.first.rate", "`first` is no position in a list of 1"),
            ("seed.x", "`x` cannot be set inside a whole number"),
            ("limit..per", "a part of the path is empty"),
            ("", "a part of the path is empty"),
        ] {
            let mut node = before.clone();
            let problem = node.set(path, "1").unwrap_err();
            assert_eq!(problem.message, message, "{path}");
            assert_eq!(problem.place.unwrap().source.name, "--set");
        }
    }

    #[test]
    fn a_number_of_too_many_digits_is_a_problem_wherever_it_is_written() {
        let digits = "9".repeat(40);
        let source = Source { name: "t.toml".to_owned(), text: format!("a = {digits}\n") };
        let problems = Problems::new();
        Node::parse(Arc::new(source), &problems);
        let message = "a whole number beyond 64 bits";
        assert_eq!(problems.into_first().unwrap().message, message);
        assert_eq!(parse("").set("a", &digits).unwrap_err().message, message);
        assert_eq!(parse("").set("a.b", &format!("[{digits}]")).unwrap_err().message, message);
    }

    #[test]
    fn every_unsigned_number_of_64_bits_can_be_set() {
        let mut node = parse("a = 0xFFFF_FFFF_FFFF_FFFF\n");
        assert_eq!(at(&node, "a").value, Value::Integer(u64::MAX.into()));
        node.set("b", &u64::MAX.to_string()).unwrap();
        assert_eq!(at(&node, "b").value, Value::Integer(u64::MAX.into()));
    }

    #[test]
    fn what_stands_inside_a_value_that_was_set_knows_its_place_in_the_argument() {
        let mut node = parse("");
        node.set("limit", "{ per = 5 }").unwrap();
        let place = &at(&node, "limit.per").place;
        assert_eq!(&place.source.text[place.span.clone()], "5");
    }
}
