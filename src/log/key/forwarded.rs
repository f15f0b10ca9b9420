//! The hops of a forwarded request: the lists of `X-Forwarded-For` and of `Forwarded` (RFC 7239), of one
//! header or of several joined by commas, read from the right, since only its right end was written by
//! proxies that one trusts.

/// A hop that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop<'a> {
    /// The address or name, without the quotes and the `for=` of RFC 7239.
    pub node: &'a [u8],
    /// Whether the list was too short; it is then the leftmost.
    pub short: bool,
}

/// The `number`-th hop from the right, 1 being the last. `None` for a list of nothing.
///
/// # Panics
/// If `number` is 0.
pub fn hop(list: &[u8], number: u32) -> Option<Hop<'_>> {
    assert!(number > 0, "hops are counted from 1");
    let count = elements(list).count();
    let short = count < number as usize;
    let element = elements(list).nth(count.saturating_sub(number as usize))?;
    Some(Hop { node: node(element), short })
}

/// The elements of a list that are not empty. Commas within quotes separate nothing.
fn elements(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    separated(list, b',').map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}

/// The parts between separators that stand in no quotes. A quote that is never closed is no quote.
fn separated(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut at = 0;
        while let Some(found) = memchr::memchr2(separator, b'"', &text[at..]) {
            let found = at + found;
            if text[found] == separator {
                rest = Some(&text[found + 1..]);
                return Some(&text[..found]);
            }
            at = end_of_quotes(text, found).unwrap_or(found) + 1;
        }
        rest = None;
        Some(text)
    })
}

/// Where the quotes that open at `open` close. A backslash takes the meaning of what follows it.
fn end_of_quotes(text: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..)?) {
        match text[at + found] {
            b'"' => return Some(at + found),
            _ => at += found + 2,
        }
    }
    None
}

/// Who an element is about: the value of its `for=` if it is one of RFC 7239, else all of it.
fn node(element: &[u8]) -> &[u8] {
    if !element.contains(&b'=') {
        return unquoted(element);
    }
    let pairs = separated(element, b';').filter_map(|pair| {
        let equals = memchr::memchr(b'=', pair)?;
        Some((pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii()))
    });
    let found = pairs.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(b"for"));
    // A proxy that does not say whom it forwarded for is as good as one that does not know.
    found.map_or(b"unknown", |(_, value)| unquoted(value))
}

fn unquoted(text: &[u8]) -> &[u8] {
    match text {
        [b'"', inside @ .., b'"'] => inside.trim_ascii(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The hop, with a `<` where the list was too short.
    fn shown(list: &str, number: u32) -> String {
        hop(list.as_bytes(), number).map_or("none".to_owned(), |hop| {
            let node = String::from_utf8(hop.node.to_vec()).unwrap();
            if hop.short { format!("<{node}") } else { node }
        })
    }

    #[test]
    fn hops_are_counted_from_the_right() {
        let list = "203.0.113.5, 198.51.100.2 ,192.0.2.1";
        let hops = [1, 2, 3, 4, 9].map(|number| shown(list, number));
        assert_eq!(
            hops,
            ["192.0.2.1", "198.51.100.2", "203.0.113.5", "<203.0.113.5", "<203.0.113.5"]
        );
        assert_eq!(shown("192.0.2.1", 1), "192.0.2.1");
        assert_eq!(shown(" , 192.0.2.1,, ", 1), "192.0.2.1");
        assert_eq!(shown(" , ", 1), "none");
        assert_eq!(shown("", 1), "none");
    }

    #[test]
    fn the_lists_of_rfc_7239_give_their_for() {
        let list = "for=192.0.2.43, For=\"[2001:db8:cafe::17]:4711\";proto=http;by=203.0.113.43, \
                    by=203.0.113.60;FOR = \"_a,b;c\" , proto=https";
        let hops = [4, 3, 2, 1].map(|number| shown(list, number));
        assert_eq!(hops, ["192.0.2.43", "[2001:db8:cafe::17]:4711", "_a,b;c", "unknown"]);
        assert_eq!(shown("for=\"a\\\"b, c\", for=d", 2), "a\\\"b, c");
    }

    #[test]
    fn quotes_need_not_be_closed() {
        assert_eq!(shown("for=\"a, for=b", 1), "b");
        assert_eq!(shown("\"192.0.2.1\", \"", 2), "192.0.2.1");
        assert_eq!(shown("a\\", 1), "a\\");
    }

    proptest! {
        #[test]
        fn every_list_is_read_in_both_directions(nodes in prop::collection::vec("[a-z0-9.:]{1,9}", 1..6)) {
            let list = nodes.join(", ");
            for (number, node) in (1..).zip(nodes.iter().rev()) {
                prop_assert_eq!(&shown(&list, number), node);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(
            list in prop::collection::vec(prop::sample::select(b"a=;,\"\\ f".to_vec()), 0..30),
            number in 1_u32..5,
        ) {
            let _ = hop(&list, number);
        }
    }
}
