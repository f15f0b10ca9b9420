//! What a key is called in the store.

/// A template: `<limit>` and `<key>` stand for the name of the limit and of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName(pub String);

impl Default for KeyName {
    fn default() -> KeyName {
        KeyName("ratelimit:<limit>:{<key>}".to_owned())
    }
}

impl KeyName {
    /// The name of a key of a limit.
    pub fn of(&self, limit: &str, key: &str) -> String {
        self.0.replace("<limit>", limit).replace("<key>", key)
    }
}
