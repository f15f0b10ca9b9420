//! What can go wrong, in two kinds that are never mixed: the user's input is wrong ([`Problem`]s,
//! each with its place and what would be right), or something outside failed ([`Error::Failed`]).
//!
//! A denial by a rate limiter is neither; it is data. A panic is a bug of ratesim.

mod render;
mod suggest;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{Renderer, renderer::DecorStyle};

use render::{MOST_SHOWN, floor_boundary, grouped, render_problem};
pub use suggest::{nearest, suggest};

/// A text that the user wrote: a file, or one `--set` argument.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// How the user knows it: the path as given, or `--set`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A part of a [`Source`], in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The text.
    pub source: Arc<Source>,
    /// The part, in bytes of [`Source::text`].
    pub span: Range<usize>,
}

impl Place {
    /// The same source, other bytes.
    pub fn at(&self, span: Range<usize>) -> Place {
        Place { source: Arc::clone(&self.source), span }
    }

    /// Line and column of the start, both counted from 1, the column in characters.
    pub fn line_column(&self) -> (usize, usize) {
        let before = &self.source.text[..floor_boundary(&self.source.text, self.span.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

/// One mistake in the user's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, as a lowercase sentence without a full stop.
    pub message: String,
    /// Where; `None` only where there is no text to point at (a file that does not exist).
    pub place: Option<Place>,
    /// What would be right.
    pub help: Option<String>,
}

impl Problem {
    /// A problem without a place.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), place: None, help: None }
    }

    /// A problem at a place.
    pub fn at(place: &Place, message: impl Into<String>) -> Problem {
        Problem { message: message.into(), place: Some(place.clone()), help: None }
    }

    /// A name at `place` that is not among those that are `known`, with the nearest suggested;
    /// `what` it should be the name of.
    pub fn unknown<'a>(
        place: &Place,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Problem {
        Problem::at(place, format!("unknown {what} `{name}`")).help(suggest(name, known))
    }

    /// The same problem, said of `what`: the key whose value it is about.
    pub fn of(self, what: impl fmt::Display) -> Problem {
        Problem { message: format!("{what}: {}", self.message), ..self }
    }

    /// The same problem with what would be right.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

/// Collects problems, so that one look at a file reports all of them.
#[derive(Debug, Default)]
pub struct Problems {
    found: RefCell<Vec<Problem>>,
    added: Cell<usize>,
}

impl Problems {
    /// None so far.
    pub fn new() -> Problems {
        Problems::default()
    }

    /// Adds one, unless the very same is there already.
    pub fn add(&self, problem: Problem) {
        self.added.update(|added| added + 1);
        let mut found = self.found.borrow_mut();
        if !found.contains(&problem) {
            found.push(problem);
        }
    }

    /// Adds all of another collection.
    pub fn take(&self, other: Problems) {
        other.found.into_inner().into_iter().for_each(|problem| self.add(problem));
    }

    /// How often one was added, those that were there already included.
    pub fn added(&self) -> usize {
        self.added.get()
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// The value of a result, or `None` after its problems were added.
    ///
    /// # Errors
    /// What is not the user's mistake.
    pub fn keep<T>(&self, result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Input(found)) => {
                found.into_iter().for_each(|problem| self.add(problem));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// `Ok` if none was added, else all of them: text by text, in the order in which a text was first
    /// complained about, and within a text in the order of their places. Those without a place stand
    /// first.
    ///
    /// # Errors
    /// [`Error::Input`] with all that were added.
    pub fn into_result(self) -> Result<(), Error> {
        let mut found = self.found.into_inner();
        if found.is_empty() {
            return Ok(());
        }
        let mut sources: Vec<Arc<Source>> = Vec::new();
        for Place { source, .. } in found.iter().filter_map(|problem| problem.place.as_ref()) {
            if !sources.iter().any(|known| Arc::ptr_eq(known, source)) {
                sources.push(Arc::clone(source));
            }
        }
        found.sort_by_key(|problem| {
            let Place { source, span } = problem.place.as_ref()?;
            Some((sources.iter().position(|known| Arc::ptr_eq(known, source)), span.start))
        });
        Err(Error::Input(found))
    }

    /// The first that was added, where one is enough to say.
    pub fn into_first(self) -> Option<Problem> {
        self.found.into_inner().into_iter().next()
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// The user's input is wrong; at least one problem.
    Input(Vec<Problem>),
    /// Something outside failed: a disk is full, a folder cannot be written.
    Failed {
        /// What was being done, to follow "cannot".
        doing: String,
        /// What was reported.
        cause: String,
    },
    /// The user asked to stop.
    Interrupted,
    /// The user asked to stop after these folders of results had been written.
    InterruptedAfter(Vec<String>),
    /// The user asked to stop, and this became of what had been begun.
    InterruptedThen(String),
    /// Whoever read the output went away; no message is wanted.
    ClosedPipe,
}

impl Error {
    /// One problem in the user's input.
    pub fn input(problem: Problem) -> Error {
        Error::Input(vec![problem])
    }

    /// Something outside failed while `doing` (to follow "cannot").
    pub fn failed(doing: impl Into<String>, cause: impl fmt::Display) -> Error {
        Error::Failed { doing: doing.into(), cause: cause.to_string() }
    }

    /// Output could not be written.
    pub fn output(cause: std::io::Error) -> Error {
        match cause.kind() {
            std::io::ErrorKind::BrokenPipe => Error::ClosedPipe,
            _ => Error::failed("write to the standard output", cause),
        }
    }

    /// The same error after these folders of results had been written.
    pub fn after(self, kept: &[String]) -> Error {
        match self {
            Error::Interrupted if !kept.is_empty() => Error::InterruptedAfter(kept.to_vec()),
            other => other,
        }
    }

    /// 2 for the user's input, 3 for a failure, 130 for an interrupt, 0 for a closed pipe.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input(_) => 2,
            Error::Failed { .. } => 3,
            Error::Interrupted | Error::InterruptedAfter(_) | Error::InterruptedThen(_) => 130,
            Error::ClosedPipe => 0,
        }
    }

    /// The whole message for a terminal, with the lines at fault; `styled` adds colour.
    pub fn render(&self, styled: bool) -> String {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() }
            .decor_style(DecorStyle::Ascii);
        match self {
            Error::Input(problems) => {
                let shown = problems.iter().take(MOST_SHOWN);
                let mut parts: Vec<String> =
                    shown.map(|problem| render_problem(problem, &renderer)).collect();
                match problems.len().saturating_sub(MOST_SHOWN) {
                    0 => {}
                    1 => parts.push("… and 1 more problem".to_owned()),
                    more => parts.push(format!("… and {} more problems", grouped(more))),
                }
                parts.join("\n\n")
            }
            Error::Failed { doing, cause } => {
                render_problem(&Problem::new(format!("cannot {doing}: {cause}")), &renderer)
            }
            Error::Interrupted => {
                render_problem(&Problem::new("interrupted; nothing was written"), &renderer)
            }
            Error::InterruptedAfter(kept) => {
                let kept: Vec<String> = kept.iter().map(|folder| format!("`{folder}`")).collect();
                let message = format!("interrupted; kept are the results in {}", kept.join(", "));
                render_problem(&Problem::new(message), &renderer)
            }
            Error::InterruptedThen(then) => {
                render_problem(&Problem::new(format!("interrupted; {then}")), &renderer)
            }
            Error::ClosedPipe => String::new(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.render(false))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_lists_each_name_once() {
        let shown = suggest("gcra", ["fixed-window", "token-bucket", "fixed-window"]);
        assert_eq!(shown, "known are: fixed-window, token-bucket");
    }

    #[test]
    fn problems_of_several_texts_stay_together() {
        let place = |name: &str| {
            let source = Source { name: name.to_owned(), text: "0123456789".to_owned() };
            Place { source: Arc::new(source), span: 0..1 }
        };
        let (one, other) = (place("one"), place("other"));
        let problems = Problems::new();
        problems.add(Problem::at(&one.at(7..8), "b"));
        problems.add(Problem::at(&other.at(5..6), "d"));
        problems.add(Problem::at(&one.at(9..10), "c"));
        problems.add(Problem::new("a"));
        problems.add(Problem::at(&other.at(4..5), "e"));
        let Err(Error::Input(found)) = problems.into_result() else { panic!("there are some") };
        let messages: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(messages, ["a", "b", "c", "e", "d"]);
    }

    #[test]
    fn a_problem_without_a_place_is_its_message_and_its_help() {
        let error = Error::input(Problem::new("there is no `x.toml`").help("name a file"));
        assert_eq!(error.render(false), "error: there is no `x.toml`\n  = help: name a file");
    }

    #[test]
    fn of_many_problems_the_first_are_shown_and_the_others_counted() {
        let shown = |count: usize| {
            let problems = (0..count).map(|number| Problem::new(format!("number {number}")));
            Error::Input(problems.collect()).render(false)
        };
        assert!(shown(20).ends_with("error: number 19"), "{}", shown(20));
        assert!(shown(21).ends_with("error: number 19\n\n… and 1 more problem"), "{}", shown(21));
        assert!(shown(10_000).ends_with("… and 9,980 more problems"), "{}", shown(10_000));
        assert!(shown(1_000_021).ends_with("… and 1,000,001 more problems"));
    }

    #[test]
    fn an_interrupt_names_what_is_kept() {
        let shown = |kept: &[&str]| {
            let kept: Vec<String> = kept.iter().map(|&folder| folder.to_owned()).collect();
            let error = Error::Interrupted.after(&kept);
            (error.exit_code(), error.render(false))
        };
        assert_eq!(shown(&[]), (130, "error: interrupted; nothing was written".to_owned()));
        let kept = "error: interrupted; kept are the results in `output/a/`, `output/b/`";
        assert_eq!(shown(&["output/a/", "output/b/"]), (130, kept.to_owned()));
    }

    #[test]
    fn a_problem_shows_file_line_column_and_help() {
        let text = "a = 1\nper = \"10\"\n".to_owned();
        let source = Arc::new(Source { name: "x.toml".to_owned(), text });
        let place = Place { source, span: 12..16 };
        assert_eq!(place.line_column(), (2, 7));
        let error = Error::input(Problem::at(&place, "a span needs a unit").help("\"10s\""));
        let shown = error.render(false);
        assert!(shown.contains("x.toml:2:7"), "{shown}");
        assert!(shown.contains("per = \"10\""), "{shown}");
        assert!(shown.contains("help: \"10s\""), "{shown}");
    }
}
