//! What the user most likely meant by a name that does not exist.

/// The name among `known` that the user most likely meant by `given`, if one is near.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&given, name), name))
        .filter(|&(likeness, _)| likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// "did you mean `x`?" where a name is near, followed by all that are known, each once.
pub fn suggest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in known {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let all = names.join(", ");
    match nearest(given, names) {
        Some(name) => format!("did you mean `{name}`? known are: {all}"),
        None if all.is_empty() => "there are none".to_owned(),
        None => format!("known are: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_a_slip_of_the_keys_and_nothing_for_a_stranger() {
        let known = ["fixed-window", "sliding-window-log", "token-bucket"];
        assert_eq!(nearest("fixed-widow", known), Some("fixed-window"));
        assert_eq!(nearest("token_bucket", known), Some("token-bucket"));
        assert_eq!(nearest("quux", known), None);
    }
}
