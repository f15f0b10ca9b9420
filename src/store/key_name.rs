//! What a key is called in the store.

use crate::params::Params;

/// A template: `<limit>` and `<key>` stand for the name of the limit and of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName(pub String);

impl Default for KeyName {
    fn default() -> KeyName {
        KeyName("ratelimit:<limit>:{<key>}".to_owned())
    }
}

const LIMIT: &str = "<limit>";
const KEY: &str = "<key>";

impl KeyName {
    /// The name of a key of a limit. What stands in angle brackets in the two names stays as it is.
    pub fn of(&self, limit: &str, key: &str) -> String {
        let with_key = |part: &str| part.split(KEY).collect::<Vec<_>>().join(key);
        self.0.split(LIMIT).map(with_key).collect::<Vec<_>>().join(limit)
    }

    /// Reads the setting `key-name` of a store for so many limits.
    pub(super) fn read(params: &mut Params, limits: usize) -> KeyName {
        let name = params.or(
            "key-name",
            KeyName::default().0,
            "What a key is called in it: `<limit>` stands for the name of the limit, `<key>` for what it counts by. \
             Only what is in braces, if anything, tells the shard.",
        );
        let help = "write a name such as \"ratelimit:<limit>:{<key>}\"";
        params.require(
            "key-name",
            name.contains(KEY),
            "all keys would have the same name: there is no `<key>` in it",
            help,
        );
        params.require(
            "key-name",
            limits == 1 || name.contains(LIMIT),
            format!("the {limits} limits would share their keys: there is no `<limit>` in it"),
            help,
        );
        if let Some(other) = placeholder(&name.replace(LIMIT, "").replace(KEY, "")) {
            params.require("key-name", false, format!("`{other}` stands for nothing"), help);
        }
        KeyName(name)
    }
}

/// The first word in angle brackets.
fn placeholder(name: &str) -> Option<&str> {
    let word =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    name.match_indices('<').find_map(|(start, _)| {
        let end = start + name[start..].find('>')?;
        word(&name[start + 1..end]).then(|| &name[start..=end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_limits_and_keys_are_put_in_as_they_are() {
        let default = KeyName::default();
        assert_eq!(default.of("10 per 60s", "ann"), "ratelimit:10 per 60s:{ann}");
        assert_eq!(default.of("<key>", "<limit>"), "ratelimit:<key>:{<limit>}");
        assert_eq!(KeyName("<key>/<key>".to_owned()).of("a", "b"), "b/b");
    }

    #[test]
    fn a_word_in_angle_brackets_is_a_placeholder() {
        assert_eq!(placeholder("a<b>c<d>"), Some("<b>"));
        assert_eq!(placeholder("a<>b<1>c<x"), None);
        assert_eq!(placeholder("<<api-key>"), Some("<api-key>"));
    }
}
