//! Filters over entries: what each keeps, and what is no filter.

use super::*;
use crate::log::entry::Values;
use crate::log::stamp::Stamp;
use crate::time::Instant;

/// An entry in the first minute past ten with these fields, and what filters make of it.
fn keeps(filters: &[&str], fields: &[(&str, &str)]) -> bool {
    let filters: Vec<Filter> = filters.iter().map(|text| Filter::parse(text).unwrap()).collect();
    let mut wanted = Wanted::default();
    let mut sieve = Sieve::new(&filters, &mut wanted, &TimeZone::UTC).unwrap();
    sieve.keeps(&entry(&values(&wanted, fields)))
}

fn values(wanted: &Wanted, fields: &[(&str, &str)]) -> Values {
    let mut values = Values::of(wanted.fields().len());
    for (position, field) in wanted.fields().iter().enumerate() {
        if let Some((_, value)) = fields.iter().find(|(name, _)| Field::of(name) == *field) {
            values.put(position, b"", value.as_bytes());
        }
    }
    values
}

fn entry(values: &Values) -> Entry<'_> {
    let at = Instant::parse("2015-05-17T10:00:30Z").unwrap();
    Entry::new(Stamp { at, local: false, leap: false }, None, b"", values)
}

const ENTRY: &[(&str, &str)] = &[
    ("address", "192.0.2.77"),
    ("forwarded", "203.0.113.5, 198.51.100.2"),
    ("method", "GET"),
    ("target", "/api/users/42?page=2"),
    ("status", "429"),
    ("host", "example.com"),
    ("header:x-api-key", "k-1"),
    ("tenant", "a b"),
];

#[test]
fn an_entry_is_kept_by_each_filter_that_holds() {
    for (filter, kept) in [
        ("status=429", true),
        ("status=4xx", true),
        ("status=200,500..599", false),
        ("status!=429", false),
        ("status~^4", true),
        ("method=get", true),
        ("method=GET,POST", true),
        ("method!=GET, POST", false),
        ("path=/api/*", true),
        ("path=/api/users/42", true),
        ("path=/api/users/{id}", false),
        ("path~^/api/users/[0-9]+$", true),
        ("path!~users", false),
        ("target=*page=2", true),
        ("address=192.0.2.0/24", true),
        ("address!=192.0.2.0/24,2001:db8::/32", false),
        ("forwarded:1=198.51.100.2", true),
        ("forwarded:2=198.51.100.2", false),
        ("user=-", true),
        ("user!=-", false),
        ("user=*", false),
        ("user!=frank", true),
        ("user~.", false),
        ("host=*.com", true),
        ("header:X-Api-Key=k-?", true),
        ("field:tenant=a b", true),
        ("field:absent=-", true),
        ("time=10:00..10:01", true),
        ("time!=10:00..10:01", false),
        ("time=2015-05-18..", false),
        (" status = 429 ", true),
    ] {
        assert_eq!(keeps(&[filter], ENTRY), kept, "{filter}");
    }
}

#[test]
fn all_filters_must_hold_and_the_first_that_does_not_counts_it() {
    let filters = ["status=429", "method=POST", "path=/x"].map(|text| Filter::parse(text).unwrap());
    let mut wanted = Wanted::default();
    let mut sieve = Sieve::new(&filters, &mut wanted, &TimeZone::UTC).unwrap();
    let values = values(&wanted, ENTRY);
    assert!(!sieve.keeps(&entry(&values)));
    let counts: Vec<u64> = sieve.left_out().into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [0, 1, 0]);
    assert!(keeps(&[], ENTRY));
}

#[test]
fn keys_are_filtered_by_their_names() {
    let filters = ["key=192.0.2.*", "key!=192.0.2.9"].map(|text| Filter::parse(text).unwrap());
    let mut sieve = Sieve::new(&filters, &mut Wanted::default(), &TimeZone::UTC).unwrap();
    assert!(sieve.has_keys());
    let judged = ["192.0.2.1", "192.0.3.1", "192.0.2.9"].map(|name| sieve.keeps_key(name));
    assert_eq!(judged, [Ok(()), Err(0), Err(1)]);
    sieve.left_out_by_key(1);
    assert_eq!(
        sieve.left_out(),
        [("key=192.0.2.*".to_owned(), 0), ("key!=192.0.2.9".to_owned(), 1)]
    );
}

#[test]
fn what_is_no_filter_is_refused_with_what_would_be_right() {
    for (text, message) in [
        ("status", "`status` has no `=`; write a filter such as"),
        ("status>400", "`status>400` has no `=`"),
        ("status!400", "after `status` comes `=`, `!=`, `~` or `!~`, not `!400`"),
        ("status=", "`status=` has no value; for requests without one write `status=-`"),
        ("status=42", "`42` is no status; write 429, 4xx, 500..599 (both included) or -"),
        ("sttus=429", "`sttus` cannot be filtered by; did you mean `status`?"),
        ("everything=1", "`everything` cannot be filtered by"),
        ("endpoint=GET", "an endpoint is a method and a path"),
        ("address/24=192.0.2.0", "a network is written as a value: `address=192.0.2.0/24`"),
        ("address=example.com/8", "`example.com` before the `/` is no address"),
        ("forwarded=192.0.2.1", "write which hop"),
        ("field:=1", "write its name after a colon"),
        ("path~(", "`(` after `path~` is no regular expression: unclosed group"),
        ("time~10", "a time is compared with `=`"),
        ("time=10:00", "`10:00` has no `..`"),
        ("time=", "`time=` has no value; write from and to with `..` between them"),
        ("time=2015-05-18..2015-05-17", "`2015-05-18..2015-05-17` is no time at all"),
    ] {
        let wrong = Filter::parse(text).unwrap_err();
        assert!(wrong.starts_with(message), "{text}: {wrong}");
    }
}

#[test]
fn a_filter_is_shown_as_it_was_written() {
    assert_eq!(Filter::parse(" path=/a,/b ").unwrap().to_string(), "path=/a,/b");
}
