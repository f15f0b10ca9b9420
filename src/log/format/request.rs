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

/// The host that a request's first line names itself: that of a whole URL, or of `CONNECT example.com:443`.
pub fn host(request: &[u8]) -> Option<&[u8]> {
    let (method, target) = split(request, true)?;
    host_of(method, target?)
}

/// As [`host`], where method and target stand apart.
pub fn host_of<'a>(method: &[u8], target: &'a [u8]) -> Option<&'a [u8]> {
    let authority = match memchr::memmem::find(target, b"://") {
        Some(scheme) if target[..scheme].iter().all(u8::is_ascii_alphanumeric) => {
            &target[scheme + 3..]
        }
        _ if method == b"CONNECT" => target,
        _ => return None,
    };
    let end = authority.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let authority = &authority[..end.unwrap_or(authority.len())];
    let host = memchr::memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    match host {
        // Colons in brackets are those of an address.
        [b'[', inner @ ..] => memchr::memchr(b']', inner).map(|close| &host[..close + 2]),
        _ => Some(&host[..memchr::memchr(b':', host).unwrap_or(host.len())]),
    }
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
    fn a_whole_url_names_the_host() {
        for (request, found) in [
            ("GET http://example.com/a HTTP/1.1", Some("example.com")),
            ("GET http://ann:x@example.com:80?b HTTP/1.1", Some("example.com")),
            ("GET https://[2001:db8::1]:443/ HTTP/1.1", Some("[2001:db8::1]")),
            ("CONNECT example.com:443 HTTP/1.1", Some("example.com")),
            ("GET /a?to=http://example.com/ HTTP/1.1", None),
            ("OPTIONS * HTTP/1.1", None),
            ("", None),
        ] {
            assert_eq!(host(request.as_bytes()), found.map(str::as_bytes), "{request}");
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
