//! What a rejection tells the client: the Retry-After header.
//!
//! Servers differ in what they tell (the exact wait, the whole window, something fixed, nothing), in how
//! they round it, and in its form. Each is a known cause of retries that come too early or all at once.

use serde_json::{Value as Json, json};

use crate::algorithm::Wait;
use crate::error::{Problem, suggest};
use crate::params::{Choice, Node, Params, Setting, Value};
use crate::seed::{Stream, below};
use crate::time::{Instant, SECOND, Span};

/// The `[rejection]` table: how the Retry-After of a rejection is made.
#[derive(Debug, Clone)]
pub struct Rejection {
    retry_after: RetryAfter,
    rounding: Rounding,
    form: Form,
    jitter: Span,
}

/// A Retry-After header as a client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// To come back after so long.
    Delay(Span),
    /// To come back at a time, by the server's clock.
    Date(Instant),
}

/// What the table is for.
pub const MEANING: &str = "What a rejection tells the client: its Retry-After header.";

/// What the header is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryAfter {
    Wait,
    Window,
    None,
    Fixed(Span),
}

/// How it becomes whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    Up,
    Down,
    Nearest,
    Exact,
}

/// The two forms of the header (RFC 9110, section 10.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Delay,
    Date,
}

/// The names that a `retry-after` may be, beside a span.
const SOURCES: [(&str, RetryAfter, &str); 3] = [
    ("wait", RetryAfter::Wait, "the algorithm's exact wait; none is sent where no wait would help"),
    (
        "window",
        RetryAfter::Window,
        "the whole window, the longest `per` of the limits that refused",
    ),
    ("none", RetryAfter::None, "no header"),
];

impl Setting for RetryAfter {
    const EXPECTED: &'static str = "\"wait\", \"window\", \"none\", or a span such as \"30s\"";

    fn read(node: &Node) -> Result<Self, Problem> {
        let Value::String(text) = &node.value else {
            let message = format!("expected {}, found {}", Self::EXPECTED, node.value.kind());
            return Err(Problem::at(&node.place, message));
        };
        if let Some((_, source, _)) = SOURCES.iter().find(|(name, _, _)| name == text) {
            return Ok(*source);
        }
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Span::read(node).map(RetryAfter::Fixed);
        }
        let help = suggest(text, SOURCES.iter().map(|(name, _, _)| *name));
        let message = format!("`{text}` is not known, and no span");
        Err(Problem::at(&node.place, message).help(help))
    }

    fn json(&self) -> Json {
        match self {
            RetryAfter::Fixed(span) => span.json(),
            named => {
                let found = SOURCES.iter().find(|(_, source, _)| source == named);
                json!(found.map_or("", |(name, _, _)| name))
            }
        }
    }

    fn schema() -> Json {
        let named =
            SOURCES.iter().map(|(name, _, what)| json!({ "const": name, "description": what }));
        // No name starts with a digit, so that a text is never both.
        let mut span = Span::schema();
        span["pattern"] = json!("^[0-9]");
        json!({ "oneOf": named.chain([span]).collect::<Vec<_>>() })
    }
}

impl Choice for Rounding {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("up", Rounding::Up, "never too early, by less than a second too late"),
        ("down", Rounding::Down, "by less than a second too early"),
        ("nearest", Rounding::Nearest, "half a second up, so too early by half a second at most"),
        ("exact", Rounding::Exact, "not at all: to the nanosecond"),
    ];
}

impl Choice for Form {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("delay", Form::Delay, "how long to wait"),
        ("date", Form::Date, "when to come back, by the server's clock; that is what is rounded"),
    ];
}

impl Default for Rejection {
    /// The algorithm's wait in whole seconds, rounded up.
    fn default() -> Rejection {
        Rejection {
            retry_after: RetryAfter::Wait,
            rounding: Rounding::Up,
            form: Form::Delay,
            jitter: Span::ZERO,
        }
    }
}

impl Rejection {
    /// Reads the table.
    pub fn read(params: &mut Params) -> Rejection {
        let defaults = Rejection::default();
        let rejection = Rejection {
            retry_after: params.or(
                "retry-after",
                defaults.retry_after,
                "What Retry-After is made from: one of the names, or the same span for all.",
            ),
            rounding: params.or("rounding", defaults.rounding, "How it becomes whole seconds."),
            form: params.or("form", defaults.form, "How the header says it."),
            jitter: params.or(
                "jitter",
                defaults.jitter,
                "The server adds so much at most, at random for each rejection, before it rounds.",
            ),
        };
        if rejection.retry_after == RetryAfter::None {
            for name in ["rounding", "form", "jitter"] {
                params.require(
                    name,
                    !params.has(name),
                    format!("`{name}` without a header that it could shape"),
                    "leave it out, or let `retry-after` be something else than \"none\"",
                );
            }
        }
        rejection
    }

    /// The header of a rejection at `at` that carries `wait`; `window` gives the longest `per` of the
    /// limits that refused, `draws` is where jitter comes from, which is below `jitter` in whole
    /// nanoseconds. `None` where none is sent. What lies beyond the end of time is cut down to it.
    pub fn header(
        &self,
        at: Instant,
        wait: Wait,
        window: impl FnOnce() -> Span,
        draws: impl FnOnce() -> Stream,
    ) -> Option<Header> {
        let span = match (self.retry_after, wait) {
            (RetryAfter::None, _) | (RetryAfter::Wait, Wait::Never) => return None,
            (RetryAfter::Wait, Wait::After(span)) | (RetryAfter::Fixed(span), _) => span,
            (RetryAfter::Window, _) => window(),
        };
        let jitter = match self.jitter {
            Span::ZERO => 0,
            most => below(&mut draws(), most.nanos()),
        };
        let delay = i128::from(span.nanos()) + i128::from(jitter);
        Some(match self.form {
            Form::Delay => {
                let nanos = self.rounding.apply(delay).unsigned_abs();
                Header::Delay(Span::try_from_nanos(nanos).unwrap_or(Span::MAX))
            }
            Form::Date => {
                let nanos = self.rounding.apply(i128::from(at.0) + delay);
                let last = i128::from(i64::MAX);
                Header::Date(Instant(nanos.clamp(i128::from(i64::MIN), last) as i64))
            }
        })
    }
}

impl Rounding {
    fn apply(self, nanos: i128) -> i128 {
        let second = i128::from(SECOND);
        let rest = || nanos.rem_euclid(second);
        let up = |is_up: bool| if is_up { second } else { 0 };
        match self {
            Rounding::Up => nanos - rest() + up(rest() > 0),
            Rounding::Down => nanos - rest(),
            Rounding::Nearest => nanos - rest() + up(2 * rest() >= second),
            Rounding::Exact => nanos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Problems, Source};
    use crate::seed::Seed;
    use proptest::prelude::*;
    use std::sync::Arc;

    const WINDOW: Span = Span::from_secs(60);

    fn read(text: &str) -> Result<Rejection, String> {
        let problems = Problems::new();
        let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
        let node = Node::parse(Arc::new(source), &problems);
        let mut params = Params::new(&node, &problems);
        let rejection = Rejection::read(&mut params);
        params.finish();
        problems.into_result().map(|()| rejection).map_err(|error| error.render(false))
    }

    fn ms(ms: u64) -> Span {
        Span::from_nanos(ms * 1_000_000)
    }

    /// The header of a rejection at 0.7 s after 1970 whose wait is so many milliseconds.
    fn header(text: &str, wait: u64) -> Option<Header> {
        let (at, wait) = (Instant(700_000_000), Wait::After(ms(wait)));
        read(text).unwrap().header(at, wait, || WINDOW, || Seed(1).stream("retry-after", 0))
    }

    fn delay(secs: u64) -> Option<Header> {
        Some(Header::Delay(Span::from_secs(secs)))
    }

    fn date(secs: i64) -> Option<Header> {
        Some(Header::Date(Instant(secs * SECOND as i64)))
    }

    #[test]
    fn a_wait_of_1_s_499_and_one_of_500_ms_round_to_2_1_1_and_to_1_0_1() {
        for (rounding, [longer, shorter]) in [("up", [2, 1]), ("down", [1, 0]), ("nearest", [1, 1])]
        {
            let text = format!("rounding = \"{rounding}\"");
            assert_eq!(header(&text, 1499), delay(longer), "{rounding}");
            assert_eq!(header(&text, 500), delay(shorter), "{rounding}");
            assert_eq!(header(&text, 3000), delay(3), "{rounding} of whole seconds");
        }
        assert_eq!(header("rounding = \"exact\"", 1499), Some(Header::Delay(ms(1499))));
        assert_eq!(header("", 1499), delay(2));
    }

    /// At 0.7 s, 0.9 s later is 1.6 s and 1.1 s later is 1.8 s.
    #[test]
    fn of_a_date_the_absolute_second_is_rounded() {
        let text = |rounding: &str| format!("form = \"date\"\nrounding = \"{rounding}\"");
        assert_eq!(header(&text("up"), 900), date(2));
        assert_eq!(header(&text("down"), 900), date(1));
        assert_eq!(header(&text("nearest"), 700), date(1), "1.4 s");
        assert_eq!(header(&text("nearest"), 800), date(2), "1.5 s");
        assert_eq!(header(&text("exact"), 1100), Some(Header::Date(Instant(1_800_000_000))));
        // Before 1970 too: 0.25 s after -1.5 s is -1.25 s.
        let before = Instant(-1_500_000_000);
        for (rounding, secs) in [("up", -1), ("down", -2), ("nearest", -1)] {
            let rejection = read(&text(rounding)).unwrap();
            let found =
                rejection.header(before, Wait::After(ms(250)), || WINDOW, || unreachable!());
            assert_eq!(found, date(secs), "{rounding}");
        }
    }

    #[test]
    fn what_it_is_made_from() {
        let told = |text: &str, wait| {
            read(text).unwrap().header(Instant(0), wait, || WINDOW, || unreachable!("no jitter"))
        };
        let short = Wait::After(ms(1));
        for (text, expected) in [
            ("retry-after = \"wait\"", [delay(1), None]),
            ("retry-after = \"window\"", [delay(60), delay(60)]),
            ("retry-after = \"1500ms\"", [delay(2), delay(2)]),
            ("retry-after = \"none\"", [None, None]),
        ] {
            assert_eq!([told(text, short), told(text, Wait::Never)], expected, "{text}");
        }
    }

    #[test]
    fn jitter_spreads_over_its_span_and_never_shortens() {
        let rejection = read("jitter = \"10s\"\nrounding = \"exact\"").unwrap();
        let draw = |index| match rejection.header(
            Instant(0),
            Wait::After(ms(5000)),
            || WINDOW,
            || Seed(1).stream("retry-after", index),
        ) {
            Some(Header::Delay(span)) => span.nanos() - ms(5000).nanos(),
            other => panic!("{other:?}"),
        };
        let mut by_second = [0; 10];
        (0..10_000).for_each(|index| by_second[(draw(index) / SECOND) as usize] += 1);
        // 1,000 each with a standard deviation of 30.
        assert!(by_second.iter().all(|count| (850..1150).contains(count)), "{by_second:?}");
        assert_eq!(draw(7), draw(7));
    }

    #[test]
    fn what_makes_no_sense_is_a_problem_at_its_place() {
        for (text, message, place) in [
            ("retry-after = \"wiat\"", "did you mean `wait`?", "t.toml:1:15"),
            ("retry-after = \"30\"", "`30` has no unit", "t.toml:1:15"),
            ("retry-after = \"-1s\"", "a span cannot be negative", "t.toml:1:15"),
            ("retry-after = 30", "or a span such as \"30s\", found a whole number", "t.toml:1:15"),
            ("rounding = \"ceil\"", "`ceil` is not known", "t.toml:1:12"),
            ("retry-after = \"none\"\nform = \"date\"", "`form` without a header", "t.toml:2:8"),
            ("retry-after = \"none\"\njitter = \"1s\"", "`jitter` without a header", "t.toml:2:10"),
        ] {
            let shown = read(text).unwrap_err();
            assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
        }
    }

    #[test]
    fn the_schema_takes_a_name_or_a_span_but_no_text_is_both() {
        let schema = RetryAfter::schema();
        let span = schema["oneOf"].as_array().unwrap().last().unwrap();
        assert_eq!(span["pattern"], "^[0-9]");
        for (name, source, _) in SOURCES {
            assert!(!name.starts_with(|c: char| c.is_ascii_digit()));
            assert_eq!(source.json(), json!(name));
        }
        assert_eq!(RetryAfter::Fixed(ms(1500)).json(), json!("1.5s"));
    }

    fn any_rejection() -> impl Strategy<Value = Rejection> {
        let source = prop_oneof![
            Just(RetryAfter::Wait),
            Just(RetryAfter::Window),
            Just(RetryAfter::None),
            any_span().prop_map(RetryAfter::Fixed),
        ];
        let rounding = prop::sample::select(Rounding::CHOICES).prop_map(|choice| choice.1);
        let form = prop::sample::select(Form::CHOICES).prop_map(|choice| choice.1);
        (source, rounding, form, any_span()).prop_map(|(retry_after, rounding, form, jitter)| {
            Rejection { retry_after, rounding, form, jitter }
        })
    }

    fn any_span() -> impl Strategy<Value = Span> {
        prop_oneof![Just(0), Just(Span::MAX.nanos()), 0..=Span::MAX.nanos(), 0..10 * SECOND]
            .prop_map(Span::from_nanos)
    }

    proptest! {
        /// Rounded up, nobody is told to come before the wait is over, unless time ends before.
        #[test]
        fn nothing_panics_and_rounding_moves_by_less_than_a_second(
            rejection in any_rejection(),
            at in any::<i64>(),
            wait in any_span(),
            window in any_span(),
        ) {
            let header = |rounding| {
                let draws = || Seed(1).stream("retry-after", 3);
                let rejection = Rejection { rounding, ..rejection.clone() };
                match rejection.header(Instant(at), Wait::After(wait), || window, draws) {
                    None => None,
                    Some(Header::Delay(span)) => Some(i128::from(span.nanos())),
                    Some(Header::Date(date)) => Some(i128::from(date.0)),
                }
            };
            let [up, down, nearest, exact] =
                [Rounding::Up, Rounding::Down, Rounding::Nearest, Rounding::Exact].map(header);
            prop_assert_eq!(exact.is_none(), rejection.retry_after == RetryAfter::None);
            if let (Some(up), Some(down), Some(nearest), Some(exact)) = (up, down, nearest, exact) {
                let (second, end) = (i128::from(SECOND), i128::from(i64::MAX));
                prop_assert!(exact <= up && up < exact + second);
                prop_assert!(up % second == 0 || up == end);
                prop_assert!(down <= exact && exact - second < down);
                prop_assert!(nearest == up || nearest == down);
            }
        }
    }
}
