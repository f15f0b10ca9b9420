//! Keys of entries: which are the same, and how they are shown.

use proptest::prelude::*;

use super::*;
use crate::log::entry::{Field, Values};
use crate::log::stamp::Stamp;
use crate::time::Instant;

/// The bytes of a key, and how many forwarded lists were too short, for an entry with these fields.
fn bytes(key: &Key, fields: &[(&str, &str)]) -> (Vec<u8>, u64) {
    let mut wanted = Wanted::default();
    let mut reader = key.reader(&mut wanted);
    let mut values = Values::of(wanted.fields().len());
    for (position, field) in wanted.fields().iter().enumerate() {
        if let Some((_, value)) = fields.iter().find(|(name, _)| Field::of(name) == *field) {
            values.put(position, b"", value.as_bytes());
        }
    }
    let stamp = Stamp { at: Instant(0), local: false, leap: false };
    let mut bytes = Vec::new();
    reader.append(&Entry::new(stamp, None, b"", &values), &mut bytes);
    (bytes, reader.short_lists())
}

fn name(key: &str, fields: &[(&str, &str)]) -> String {
    let key = Key::parse(key).unwrap();
    key.name(&bytes(&key, fields).0)
}

const ENTRY: &[(&str, &str)] = &[
    ("address", "::ffff:192.0.2.77"),
    ("forwarded", "203.0.113.5, [2001:db8:1:2::3]:443, 198.51.100.2"),
    ("user", "frank zappa"),
    ("method", "GET"),
    ("target", "https://example.com/users/42?page=2"),
    ("host", "example.com"),
    ("status", "429"),
    ("header:x-api-key", "k-1"),
    ("tenant.id", "7"),
];

#[test]
fn an_entry_has_a_name_by_every_key() {
    for (key, shown) in [
        ("address", "192.0.2.77"),
        ("address/24", "192.0.2.0/24"),
        ("address/24/56", "192.0.2.0/24"),
        ("forwarded:1", "198.51.100.2"),
        ("forwarded:2", "2001:db8:1:2::3"),
        ("forwarded:2/24/48", "2001:db8:1::/48"),
        ("forwarded:9", "203.0.113.5"),
        ("header:X-API-Key", "k-1"),
        ("user", "frank zappa"),
        ("method", "GET"),
        ("host", "example.com"),
        ("status", "429"),
        ("path", "/users/{id}"),
        ("path:raw", "/users/42"),
        ("target", "https://example.com/users/42?page=2"),
        ("endpoint", "GET /users/{id}"),
        ("field:tenant.id", "7"),
        ("field:absent", "-"),
        ("everything", "everything"),
        ("address/24+endpoint", "192.0.2.0/24 GET /users/{id}"),
        ("user + method", "frank\\x20zappa GET"),
        ("field:absent+user+address", "- frank\\x20zappa 192.0.2.77"),
    ] {
        assert_eq!(name(key, ENTRY), shown, "{key}");
    }
}

#[test]
fn what_is_no_address_is_a_name_and_what_is_not_there_a_dash() {
    assert_eq!(name("address/24", &[("address", "crawl.example.com")]), "crawl.example.com");
    assert_eq!(name("address+user", &[("address", "-")]), "- -");
    assert_eq!(name("path", &[("target", "?a=b")]), "-");
    assert_eq!(name("user", &[("user", "a\u{1}b")]), "a\\x01b");
}

#[test]
fn a_list_that_is_too_short_is_counted_and_gives_its_leftmost() {
    let short = |number: u32| bytes(&Key::parse(&format!("forwarded:{number}")).unwrap(), ENTRY).1;
    assert_eq!([1, 3, 4].map(short), [0, 0, 1]);
}

#[test]
fn the_address_of_a_key_is_known() {
    let address = |key: &str| {
        let key = Key::parse(key).unwrap();
        key.address_in(&bytes(&key, ENTRY).0).map(|address| address.to_string())
    };
    assert_eq!(address("user+address").as_deref(), Some("192.0.2.77"));
    assert_eq!(address("forwarded:2/24/48").as_deref(), Some("2001:db8:1::"));
    assert_eq!(address("user"), None);
    assert_eq!(address("everything"), None);
}

#[test]
fn a_key_writes_itself_as_it_is_read() {
    for text in
        ["everything", "address", "address/24/56+endpoint", "user+header:x-api-key+path:raw"]
    {
        assert_eq!(Key::parse(text).unwrap().to_string(), text);
    }
    let wrong = Key::parse(" user + Host ").unwrap_err();
    assert!(wrong.starts_with("`Host` is no part of a request; did you mean `host`?"), "{wrong}");
    assert_eq!(Key::parse("address").unwrap(), Key::address());
}

#[test]
fn what_is_no_key_is_refused() {
    for (text, message) in [
        ("", "a key has parts, with `+` between them"),
        ("address+", "a key has parts, with `+` between them"),
        ("user+user", "`user` is there twice"),
        ("user+everything", "`everything` stands alone: it has no parts to tell apart"),
    ] {
        assert_eq!(Key::parse(text), Err(message.to_owned()), "{text}");
    }
}

proptest! {
    /// Whatever the values, bytes are those of the same components and no others.
    #[test]
    fn keys_are_the_same_only_if_all_components_are(
        left in prop::array::uniform3("[ab.:/1]{0,3}|192[.]0[.]2[.][0-3]"),
        right in prop::array::uniform3("[ab.:/1]{0,3}|192[.]0[.]2[.][0-3]"),
    ) {
        let key = Key::parse("user+address+host").unwrap();
        let fields = |values: &[String; 3]| -> Vec<u8> {
            let fields: Vec<(&str, &str)> =
                ["user", "address", "host"].into_iter().zip(values.iter().map(String::as_str)).collect();
            bytes(&key, &fields).0
        };
        // An address that is written in another way is the same; none of these is.
        prop_assert_eq!(fields(&left) == fields(&right), left == right);
    }

    #[test]
    fn no_values_make_it_panic(value in ".{0,20}", key in prop::sample::select(vec![
        "address/24/56", "forwarded:2", "endpoint", "path:raw+user",
    ])) {
        let fields: Vec<(&str, &str)> =
            ["address", "forwarded", "method", "target", "user"].map(|name| (name, value.as_str())).into();
        name(key, &fields);
    }
}
