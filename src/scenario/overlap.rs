//! Which settings undo one another: of two that are made one after the other, the later one may leave
//! nothing of the earlier.

use crate::error::Place;
use crate::params::{Entry, Node, Value};

/// Something that is set: where in the document, part by part, and where in the user's text.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    parts: Vec<String>,
    /// Where it is written.
    pub place: Place,
}

impl Leaf {
    /// Its path with dots between the parts.
    pub fn path(&self) -> String {
        self.parts.join(".")
    }
}

/// What an entry sets, its key being a path as in [`Node::set`]. Tables are taken apart, for they change
/// what is there setting by setting; so are lists of tables, if `lists` says so.
pub(super) fn leaves(entry: &Entry, lists: bool) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(&entry.key, &entry.place, &entry.node, lists, &mut Vec::new(), &mut found);
    found
}

fn collect(
    key: &str,
    place: &Place,
    node: &Node,
    lists: bool,
    above: &mut Vec<String>,
    found: &mut Vec<Leaf>,
) {
    let depth = above.len();
    above.extend(key.split('.').map(str::to_owned));
    let is_table =
        |node: &Node| matches!(&node.value, Value::Table(table) if !table.entries.is_empty());
    match &node.value {
        Value::Table(table) if is_table(node) => {
            for inner in &table.entries {
                collect(&inner.key, &inner.place, &inner.node, lists, above, found);
            }
        }
        Value::Array(nodes) if lists && nodes.iter().any(is_table) => {
            for (index, inner) in nodes.iter().enumerate() {
                collect(&index.to_string(), place, inner, lists, above, found);
            }
        }
        _ => found.push(Leaf { parts: above.clone(), place: place.clone() }),
    }
    above.truncate(depth);
}

/// The first of what is set `later` that undoes, or changes a part of, something set `earlier`, with
/// what it undoes.
pub(super) fn undone<'a>(earlier: &'a [Leaf], later: &'a [Leaf]) -> Option<(&'a Leaf, &'a Leaf)> {
    let touches = |a: &Leaf, b: &Leaf| {
        a.parts.starts_with(b.parts.as_slice()) || b.parts.starts_with(a.parts.as_slice())
    };
    later.iter().find_map(|new| Some((new, earlier.iter().find(|old| touches(old, new))?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Problems, Source};
    use std::sync::Arc;

    /// What the settings of a text set.
    fn of(text: &str, lists: bool) -> Vec<Leaf> {
        let problems = Problems::new();
        let source = Arc::new(Source { name: "t.toml".to_owned(), text: text.to_owned() });
        let node = Node::parse(source, &problems);
        problems.into_result().unwrap();
        let Value::Table(table) = &node.value else { panic!("a table") };
        table.entries.iter().flat_map(|entry| leaves(entry, lists)).collect()
    }

    #[test]
    fn a_setting_is_undone_by_itself_by_what_holds_it_and_by_what_it_holds() {
        for (earlier, later, undone) in [
            ("limit.requests = 1", "\"limit.requests\" = 2", Some("limit.requests")),
            ("limit.requests = 1", "limit = { requests = 2 }", Some("limit.requests")),
            ("limit.requests = 1", "limit = \"2/1s\"", Some("limit")),
            ("limit = \"2/1s\"", "limit.requests = 1", Some("limit.requests")),
            ("limit.requests = 1", "limit.per = \"1s\"", None),
            ("limit.requests = 1", "limits.requests = 1", None),
            ("\"traffic.0.rate\" = 1", "traffic.0 = { rate = 2, at = 1 }", Some("traffic.0.rate")),
            ("\"traffic.0.rate\" = 1", "\"traffic.1.rate\" = 2", None),
            ("traffic = [{ rate = 1 }]", "\"traffic.0.rate\" = 2", Some("traffic.0.rate")),
            ("traffic = [{ rate = 1 }]", "\"traffic.0.at\" = 2", None),
            ("\"traffic.0.rate\" = 1", "traffic = [{ at = 1 }]", Some("traffic")),
        ] {
            let (earlier_leaves, later_leaves) = (of(earlier, true), of(later, false));
            let found = super::undone(&earlier_leaves, &later_leaves);
            let found = found.map(|(new, _)| new.path());
            assert_eq!(found.as_deref(), undone, "{earlier}; {later}");
        }
    }
}
