//! Paths of requests, and their templates: `/users/42/orders` and `/users/43/orders` are one endpoint,
//! `/users/{id}/orders`.

/// What stands for an id.
const ID: &[u8] = b"{id}";

/// The path of a request's target: without query and fragment, and of `http://host/path` the path alone.
/// A target that has none (`*`, or the `host:443` of CONNECT) is itself.
pub fn path(target: &[u8]) -> &[u8] {
    let end = memchr::memchr2(b'?', b'#', target).unwrap_or(target.len());
    let target = &target[..end];
    if target.first() == Some(&b'/') {
        return target;
    }
    let Some(scheme) = memchr::memmem::find(target, b"://") else { return target };
    let is_scheme = |text: &[u8]| {
        let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        text.first().is_some_and(u8::is_ascii_alphabetic) && text.iter().all(inside)
    };
    if !is_scheme(&target[..scheme]) {
        return target;
    }
    let rest = &target[scheme + 3..];
    memchr::memchr(b'/', rest).map_or(b"/", |slash| &rest[slash..])
}

/// Appends a path with `{id}` for each of its segments that names one thing of many: a number, a UUID, at
/// least eight hexadecimal digits of which one is no letter, or at least twenty characters of base 64 with
/// digits and letters of both cases; each also before an ending such as `.json`.
pub fn fold(path: &[u8], into: &mut Vec<u8>) {
    let mut rest = path;
    loop {
        let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
        let segment = &rest[..end];
        let (stem, ending) = segment.split_at(ending(segment));
        match is_id(stem) {
            true => into.extend_from_slice(ID),
            false => into.extend_from_slice(stem),
        }
        into.extend_from_slice(ending);
        let Some(after) = rest.get(end + 1..) else { return };
        into.push(b'/');
        rest = after;
    }
}

/// Where the ending of a segment starts: a point and up to five letters or digits, the first a letter.
fn ending(segment: &[u8]) -> usize {
    let Some(point) = memchr::memrchr(b'.', segment) else { return segment.len() };
    match &segment[point + 1..] {
        [b'a'..=b'z' | b'A'..=b'Z', rest @ ..]
            if rest.len() < 5 && rest.iter().all(u8::is_ascii_alphanumeric) =>
        {
            point
        }
        _ => segment.len(),
    }
}

fn is_id(segment: &[u8]) -> bool {
    let mut of = Makeup::default();
    for &byte in segment {
        match byte {
            b'0'..=b'9' => of.digits += 1,
            b'a'..=b'f' => of.lower_hex += 1,
            b'A'..=b'F' => of.upper_hex += 1,
            b'g'..=b'z' => of.lower += 1,
            b'G'..=b'Z' => of.upper += 1,
            b'-' | b'_' => of.joints += 1,
            b'+' | b'=' | b'~' => {}
            _ => return false,
        }
    }
    if of.digits == 0 {
        return false;
    }
    let length = segment.len();
    let hexadecimal = of.digits + of.lower_hex + of.upper_hex;
    let base_64 = length >= 20
        && of.lower + of.lower_hex > 0
        && of.upper + of.upper_hex > 0
        // Words between hyphens are a title.
        && of.joints * 6 <= length;
    of.digits == length || hexadecimal == length && length >= 8 || is_uuid(segment) || base_64
}

/// How many characters of each sort a segment has.
#[derive(Default)]
struct Makeup {
    digits: usize,
    lower_hex: usize,
    upper_hex: usize,
    lower: usize,
    upper: usize,
    joints: usize,
}

/// 8-4-4-4-12 hexadecimal digits.
fn is_uuid(segment: &[u8]) -> bool {
    segment.len() == 36
        && segment.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(text: &str) -> String {
        let mut folded = Vec::new();
        fold(text.as_bytes(), &mut folded);
        String::from_utf8(folded).unwrap()
    }

    #[test]
    fn a_path_is_what_stands_between_host_and_query() {
        for (target, right) in [
            ("/a/b?c=/d#e", "/a/b"),
            ("/a#b?c", "/a"),
            ("http://example.com/a?b", "/a"),
            ("HTTPS://example.com:8443/a/b", "/a/b"),
            ("http://example.com", "/"),
            ("http://example.com?a=/b", "/"),
            ("//a/b", "//a/b"),
            ("/go?to=http://example.com/x", "/go"),
            ("/http://example.com/x", "/http://example.com/x"),
            ("*", "*"),
            ("example.com:443", "example.com:443"),
            ("a b://c/d", "a b://c/d"),
            ("://c/d", "://c/d"),
            ("", ""),
            ("?a", ""),
        ] {
            assert_eq!(path(target.as_bytes()), right.as_bytes(), "{target}");
        }
    }

    #[test]
    fn ids_of_every_sort_are_folded() {
        for (path, right) in [
            ("/users/42/orders/7", "/users/{id}/orders/{id}"),
            ("/0", "/{id}"),
            ("/u/6f1c0b1e-8f0a-4a3e-9b1d-0123456789ab", "/u/{id}"),
            ("/u/6F1C0B1E-8F0A-4A3E-9B1D-0123456789AB/x", "/u/{id}/x"),
            ("/objects/507f1f77bcf86cd799439011", "/objects/{id}"),
            ("/c/deadbee1", "/c/{id}"),
            ("/f/MTIzNDU2Nzg5MDEyMzQ1Ng==", "/f/{id}"),
            ("/s/aB3_xY7-kLmNoPqRsTuVwXyZ", "/s/{id}"),
            ("/img/12345.jpg", "/img/{id}.jpg"),
            ("/a/507f1f77bcf86cd799439011.json", "/a/{id}.json"),
        ] {
            assert_eq!(folded(path), right, "{path}");
        }
    }

    #[test]
    fn words_versions_and_titles_stay() {
        for path in [
            "/",
            "",
            "*",
            "/api/v1/users",
            "/deadbeef",
            "/facade",
            "/c/dead12",
            "/blog/my-first-10-posts-of-2015",
            "/Blog/My-First-Ten-Posts-Of-2015",
            "/articles/dynamic-dns-with-dhcp/",
            "/presentations/logstash-monitorama-2013/images/kibana-search.png",
            "/jquery-3.6.0.min.js",
            "/1.2.3",
            "/InternationalizationAndLocalization",
            "/%20/12a",
            "//x//",
        ] {
            assert_eq!(folded(path), path);
        }
    }

    proptest! {
        #[test]
        fn what_is_folded_stays_as_it_is_and_has_as_many_segments(path in "(/[a-zA-Z0-9._{}=-]{0,24}){0,5}") {
            let once = folded(&path);
            prop_assert_eq!(once.matches('/').count(), path.matches('/').count());
            prop_assert_eq!(folded(&once), once);
        }

        #[test]
        fn every_number_is_an_id(number: u64) {
            prop_assert_eq!(folded(&format!("/a/{number}/b")), "/a/{id}/b");
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            fold(path(&bytes), &mut Vec::new());
        }
    }
}
