//! The first line of a request of HTTP as servers quote it: method, target, protocol; cut short, empty
//! or no text at all where scanners have called.

/// Method and target of `GET /a?b HTTP/1.1`. `whole` is false where the end is missing: a target that may
/// go on is none then. `None` if there is no method.
pub fn split(request: &[u8], whole: bool) -> Option<(&[u8], Option<&[u8]>)> {
    let space = memchr::memchr(b' ', request)?;
    let (method, rest) = (&request[..space], &request[space + 1..]);
    if method.is_empty() || !method.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-') {
        return None;
    }
    // A target with spaces ends at the protocol, any other at the space or quote after it.
    let protocol = memchr::memmem::rfind(rest, b" HTTP/");
    let space = || memchr::memchr(b' ', rest);
    let length = protocol.or_else(space).or_else(|| whole.then_some(rest.len()));
    Some((method, length.map(|length| &rest[..length])))
}

/// Where the quote that closes a field stands; a backslash takes the meaning from what follows it.
pub fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        match text[at] {
            b'"' => return Some(at),
            _ => from = at + 2,
        }
    }
}

/// A field without the quotes around it.
pub fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] => inner,
        [b'"', inner @ ..] => inner,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_method_and_a_target_as_far_as_it_goes() {
        let shown = |request: &str, whole| {
            let (method, target) = split(request.as_bytes(), whole)?;
            let target =
                target.map_or("none".to_owned(), |target| target.escape_ascii().to_string());
            Some(format!("{} {target}", method.escape_ascii()))
        };
        for (request, whole, found) in [
            ("GET /a?b=c HTTP/1.1", true, Some("GET /a?b=c")),
            ("GET /a b HTTP/1.1", true, Some("GET /a b")),
            ("GET /a", true, Some("GET /a")),
            ("GET /cut/sho", false, Some("GET none")),
            ("GET /cut HT", false, Some("GET /cut")),
            ("M-SEARCH * HTTP/1.1", true, Some("M-SEARCH *")),
            ("quit", true, None),
            ("\\x16\\x03 /a HTTP/1.1", true, None),
            (" /a", true, None),
            ("", true, None),
        ] {
            assert_eq!(shown(request, whole).as_deref(), found, "{request}");
        }
    }

    #[test]
    fn a_field_loses_its_quotes_even_where_the_second_is_cut_off() {
        for (field, bare) in
            [("\"a b\"", "a b"), ("\"a b", "a b"), ("\"", ""), ("a", "a"), ("", "")]
        {
            assert_eq!(unquoted(field.as_bytes()), bare.as_bytes(), "{field}");
        }
    }
}
