//! What a limit is counted by.

use serde_json::{Value as Json, json};

use crate::error::Problem;
use crate::params::{Choice, Node, Setting, Value};

/// A field of a request that a key may be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// Who asks.
    Client,
    /// What is asked for.
    Endpoint,
    /// The organisation the client belongs to.
    Tenant,
    /// The plan the client pays for.
    Tier,
    /// The network address the client comes from.
    Address,
    /// The part of the address that a provider hands out as one.
    AddressPrefix,
    /// The client's API key.
    ApiKey,
}

impl Choice for Attribute {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("client", Attribute::Client, "who asks"),
        ("endpoint", Attribute::Endpoint, "what is asked for"),
        ("tenant", Attribute::Tenant, "the organisation the client belongs to"),
        ("tier", Attribute::Tier, "the plan the client pays for"),
        ("address", Attribute::Address, "the network address the client comes from"),
        ("address-prefix", Attribute::AddressPrefix, "the first bits of the address"),
        ("api-key", Attribute::ApiKey, "the client's API key"),
    ];
}

/// What a limit is counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// All requests together.
    Everything,
    /// Each combination of these.
    Each(Vec<Attribute>),
    /// The first of these that a request has; all requests that have none share one key.
    FirstOf(Vec<Attribute>),
}

impl Setting for Key {
    const EXPECTED: &'static str = "\"everything\", a field such as \"client\", a list of fields \
         for their combinations, or { first-of = [\"api-key\", \"address\"] }";

    fn read(node: &Node) -> Result<Self, Problem> {
        match &node.value {
            Value::String(text) if text == "everything" => Ok(Key::Everything),
            Value::Table(table) => match table.entries.as_slice() {
                [entry] if entry.key == "first-of" => attributes(&entry.node).map(Key::FirstOf),
                _ => Err(Problem::at(&node.place, "a key as a table has `first-of` alone")
                    .help(format!("write {}", Key::EXPECTED))),
            },
            Value::String(_) | Value::Array(_) => attributes(node).map(Key::Each),
            other => Err(Problem::at(&node.place, format!("{} is no key", other.kind()))
                .help(format!("write {}", Key::EXPECTED))),
        }
    }

    fn json(&self) -> Json {
        match self {
            Key::Everything => json!("everything"),
            Key::Each(attributes) => attributes.json(),
            Key::FirstOf(attributes) => json!({ "first-of": attributes.json() }),
        }
    }

    fn schema() -> Json {
        let list = Vec::<Attribute>::schema();
        json!({ "anyOf": [
            { "const": "everything", "description": "all requests together" },
            list,
            {
                "type": "object",
                "properties": { "first-of": list },
                "required": ["first-of"],
                "additionalProperties": false,
            },
        ] })
    }
}

fn attributes(node: &Node) -> Result<Vec<Attribute>, Problem> {
    let attributes = Vec::<Attribute>::read(node).map_err(|problem| {
        let help = problem.help.map(|help| format!("{help}, everything"));
        Problem { help, ..problem }
    })?;
    if attributes.is_empty() {
        let help = "write \"everything\" for one key for all requests";
        return Err(Problem::at(&node.place, "a key of no fields").help(help));
    }
    for (index, attribute) in attributes.iter().enumerate() {
        if attributes[..index].contains(attribute) {
            let message = format!("`{}` is there twice", attribute.name());
            return Err(Problem::at(&node.place, message));
        }
    }
    Ok(attributes)
}

impl std::fmt::Display for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |attributes: &[Attribute], between: &str| {
            attributes.iter().map(|a| a.name()).collect::<Vec<_>>().join(between)
        };
        match self {
            Key::Everything => formatter.write_str("everything"),
            Key::Each(attributes) => formatter.write_str(&names(attributes, " and ")),
            Key::FirstOf(attributes) => formatter.write_str(&names(attributes, ", else ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Problems, Source};
    use std::sync::Arc;

    fn read(value: &str) -> Result<Key, Problem> {
        let source = Source { name: "t.toml".to_owned(), text: format!("key = {value}\n") };
        let problems = Problems::new();
        let node = Node::parse(Arc::new(source), &problems);
        problems.into_result().unwrap();
        let Value::Table(table) = &node.value else { panic!("a document is a table") };
        Key::read(&table.entries[0].node)
    }

    #[test]
    fn a_key_is_written_in_four_forms_and_writes_itself_the_same_way() {
        use Attribute::{Address, ApiKey, Client, Endpoint};
        for (text, key, words) in [
            ("\"everything\"", Key::Everything, "everything"),
            ("\"client\"", Key::Each(vec![Client]), "client"),
            (
                "[\"client\", \"endpoint\"]",
                Key::Each(vec![Client, Endpoint]),
                "client and endpoint",
            ),
            (
                "{ first-of = [\"api-key\", \"address\"] }",
                Key::FirstOf(vec![ApiKey, Address]),
                "api-key, else address",
            ),
        ] {
            let read_key = read(text).unwrap();
            assert_eq!((&read_key, read_key.to_string().as_str()), (&key, words));
            let json = read_key.json().to_string();
            let back = json.replace("{\"first-of\":", "{ first-of = ");
            assert_eq!(read(&back).unwrap(), key, "{back}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for (text, message) in [
            ("\"cleint\"", "`cleint` is not known"),
            ("[\"client\", \"everything\"]", "`everything` is not known"),
            ("[]", "a key of no fields"),
            ("[\"client\", \"tier\", \"client\"]", "`client` is there twice"),
            ("[3]", "expected a name, found a whole number"),
            ("7", "a whole number is no key"),
            ("{ first-of = [] }", "a key of no fields"),
            ("{ first = [\"client\"] }", "a key as a table has `first-of` alone"),
            ("{ first-of = [\"client\"], x = 1 }", "a key as a table has `first-of` alone"),
        ] {
            assert_eq!(read(text).unwrap_err().message, message, "{text}");
        }
        let help = read("\"cleint\"").unwrap_err().help.unwrap();
        assert!(
            help.starts_with("did you mean `client`?") && help.ends_with(", everything"),
            "{help}"
        );
    }
}
