//! What stands after the time of a line: the request, status and bytes, referer and agent, and whatever
//! a server was told to add. Quotes may be escaped, raw or missing; a field that is spoilt by them is
//! joined again where its last quote shows it.

use crate::log::format::naming::span;
use crate::log::format::request::{closing_quote, split, unquoted};
use crate::log::format::words::Words;
use crate::log::number::Unit;
use crate::time::Span;

/// A field after the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Of the request.
    Method,
    /// Of the request.
    Target,
    /// The status of the answer.
    Status,
    /// The length of the answer.
    Bytes,
    /// The page that the client came from.
    Referer,
    /// What the client calls itself.
    Agent,
    /// One of those after the agent, from 0.
    Extra(usize),
}

/// The fields after the time of the line that was split last.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    words: Words,
}

/// How many fields the format has.
const OWN: usize = 5;

impl Tail {
    /// Splits a text.
    pub fn split(&mut self, text: &[u8]) {
        self.words.split(text);
    }

    /// Finds the request alone, which is cheaper.
    pub fn request_only(&mut self, text: &[u8]) {
        self.words.first_only(text);
    }

    /// A field of `text`, which was split last.
    pub fn part<'a>(&self, text: &'a [u8], part: Part) -> Option<&'a [u8]> {
        let field = |index: usize| self.words.get(index, text);
        match part {
            Part::Method => self.request(text).map(|(method, _)| method),
            Part::Target => self.request(text)?.1,
            Part::Status => field(1),
            Part::Bytes => field(2),
            Part::Referer => field(3).map(unquoted),
            Part::Agent => field(4).map(unquoted),
            Part::Extra(index) => field(OWN + index).map(unquoted),
        }
    }

    fn request<'a>(&self, text: &'a [u8]) -> Option<(&'a [u8], Option<&'a [u8]>)> {
        let field = self.words.get(0, text)?;
        let inner = field.strip_prefix(b"\"")?;
        // The field ends with the quote that closes it, or with the text.
        let closed = closing_quote(inner).is_some();
        split(if closed { unquoted(field) } else { inner }, closed)
    }

    /// The first quoted field after the agent; none of those that Traefik adds is a list.
    pub fn forwarded<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        if self.is_of_traefik(text) {
            return None;
        }
        let mut more = (OWN..self.words.len()).filter_map(|index| self.words.get(index, text));
        let field = more.find(|field| field.starts_with(b"\""))?;
        Some(unquoted(field))
    }

    /// The last field as a span, quotes aside. `None` if it belongs to the format: to request, status and
    /// bytes, or to these with referer and agent, which are quoted.
    pub fn duration(&self, text: &[u8], unit: Unit) -> Option<Span> {
        let more = match self.words.len() {
            0..=3 => false,
            OWN => !self.words.get(3, text)?.starts_with(b"\""),
            _ => true,
        };
        let last = self.words.len().checked_sub(1).filter(|_| more)?;
        span(unquoted(self.words.get(last, text)?), unit)
    }

    /// Whether after the agent there is what Traefik adds: how many requests there were, router and server in
    /// quotes, and the duration with its unit, as in `17 "web@docker" "http://10.0.0.1:80" 12ms`.
    fn is_of_traefik(&self, text: &[u8]) -> bool {
        let more: [Option<&[u8]>; 4] =
            std::array::from_fn(|index| self.words.get(OWN + index, text));
        let [Some(count), Some(router), Some(server), Some(took)] = more else { return false };
        self.words.len() == OWN + 4
            && count.iter().all(u8::is_ascii_digit)
            && router.starts_with(b"\"")
            && server.starts_with(b"\"")
            && took.strip_suffix(b"ms").is_some_and(|ms| ms.iter().all(u8::is_ascii_digit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(text: &str) -> Vec<String> {
        let mut tail = Tail::default();
        tail.split(text.as_bytes());
        let all = [
            Part::Method,
            Part::Target,
            Part::Status,
            Part::Bytes,
            Part::Referer,
            Part::Agent,
            Part::Extra(0),
            Part::Extra(1),
        ];
        let found = all.iter().map_while(|&part| tail.part(text.as_bytes(), part));
        found.map(|part| part.escape_ascii().to_string()).collect()
    }

    #[test]
    fn quotes_in_any_state_leave_the_other_fields_where_they_are() {
        let agent = r#"Dalvik/2.1.0 (Linux; U; Android 5.1; Alba 10\" Build/LMY47V)"#;
        let before = r#" "GET /a HTTP/1.1" 200 12 "http://a/" "#;
        let own = ["GET", "/a", "200", "12", "http://a/"];
        for (tail, more) in [
            (format!("\"{agent}\""), vec![agent]),
            (format!("\"{agent}\" \"1.2.3.4\" 0.5"), vec![agent, "1.2.3.4", "0.5"]),
            (r#""raw "user" agent""#.to_owned(), vec![r#"raw "user" agent"#]),
            (r#""raw"user"agent""#.to_owned(), vec![r#"raw"user"agent"#]),
            (r#""raw "user" agent" 3"#.to_owned(), vec![r#"raw "user" agent"#, "3"]),
            (r#""cut off he"#.to_owned(), vec!["cut off he"]),
            ("-".to_owned(), vec!["-"]),
            (r#""" "-""#.to_owned(), vec!["", "-"]),
        ] {
            let found = parts(&format!("{before}{tail}"));
            let unescaped: Vec<String> =
                found.iter().map(|part| part.replace(r#"\""#, "\"").replace(r"\\", r"\")).collect();
            assert_eq!(unescaped[..5], own, "{tail}");
            assert_eq!(unescaped[5..], more, "{tail}");
        }
    }

    #[test]
    fn the_first_quoted_field_after_the_agent_is_the_list_of_addresses() {
        let list = |text: &str| {
            let mut tail = Tail::default();
            tail.split(text.as_bytes());
            tail.forwarded(text.as_bytes()).map(|list| list.escape_ascii().to_string())
        };
        let own = r#" "GET / HTTP/1.1" 200 5 "-" "agent""#;
        assert_eq!(list(&format!(r#"{own} "1.2.3.4, 5.6.7.8""#)).unwrap(), "1.2.3.4, 5.6.7.8");
        assert_eq!(list(&format!(r#"{own} 0.5 "1.2.3.4""#)).unwrap(), "1.2.3.4");
        assert_eq!(
            list(&format!(r#"{own} "1.2.3.4" rt=0.25 uct="0.001" urt="0.2""#)).unwrap(),
            "1.2.3.4"
        );
        assert_eq!(list(own), None);
        let traefik = format!(r#"{own} 17 "web@docker" "http://10.0.0.1:80" 1500ms"#);
        assert_eq!(list(&traefik), None);
        let mut tail = Tail::default();
        tail.split(traefik.as_bytes());
        let took = tail.duration(traefik.as_bytes(), Unit::Milliseconds);
        assert_eq!(took, Some(Span::from_nanos(1_500_000_000)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            text in prop::collection::vec(prop::sample::select(b"G / \"\\1.-\t\xff".to_vec()), 0..50),
        ) {
            let mut tail = Tail::default();
            tail.split(&text);
            for part in [Part::Method, Part::Target, Part::Status, Part::Agent, Part::Extra(1)] {
                tail.part(&text, part);
            }
            tail.duration(&text, Unit::Seconds);
            tail.forwarded(&text);
        }
    }
}
