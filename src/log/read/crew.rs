//! Several threads that parse the pieces of a text, and one of them that takes in what was found, piece by piece in the
//! order of the text. All of them do whatever there is to do next, so none waits while another has too much.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::block::Supply;
use super::piece::{Cutter, Parsed, Piece};
use crate::log::format::Parser;

/// More threads would only wait for the one that takes in.
const MOST_THREADS: usize = 8;

/// Threads that work on one text.
pub struct Crew<S> {
    cutter: Mutex<Cutter<S>>,
    state: Mutex<State>,
    changed: Condvar,
    longest: usize,
    /// Whether whoever takes in takes what is plain.
    tell_plain: bool,
    /// Whether the thread that takes in is the only one that reads: whoever waits for a pipe cannot be told that nobody
    /// does any more.
    one_reads: bool,
    /// How many pieces there may be at a time.
    most: usize,
}

#[derive(Default)]
struct State {
    /// Pieces that were read, but not parsed, by their positions in the text.
    read: VecDeque<(u64, Piece)>,
    /// What was parsed and not taken in; the first is the one at position `taken`.
    parsed: VecDeque<Option<io::Result<Parsed>>>,
    taken: u64,
    /// How many pieces are being read, parsed or taken in, or wait for it.
    afoot: usize,
    /// How many pieces there are, once that is known.
    all: Option<u64>,
    /// Whether nobody needs what is still to come.
    over: bool,
    /// Memory to be used again.
    spare: Vec<Parsed>,
    /// How many threads wait for a change.
    waiting: usize,
}

/// What a thread does next.
enum Task {
    Read(Parsed),
    Parse(u64, Piece, Parsed),
    Take(io::Result<Parsed>),
}

impl<S: Supply + Send> Crew<S> {
    /// Threads that parse what is cut, whose lines are too long from `longest` bytes on.
    pub fn new(cutter: Cutter<S>, longest: usize, tell_plain: bool, one_reads: bool) -> Crew<S> {
        Crew {
            cutter: Mutex::new(cutter),
            state: Mutex::default(),
            changed: Condvar::new(),
            longest,
            tell_plain,
            one_reads,
            most: 0,
        }
    }

    /// Works with so many threads, this one included. `parser` has twins; `take` is given every piece and how many lines
    /// of the text stand before it. Also gives back what the text came from.
    ///
    /// # Errors
    /// The first that `take` gives, which ends the work; `unreadable` makes one of a text that cannot be read to its end.
    pub fn work<E>(
        mut self,
        threads: usize,
        parser: &mut dyn Parser,
        unreadable: impl Fn(io::Error) -> E,
        mut take: impl FnMut(&mut Parsed, u64) -> Result<(), E>,
    ) -> (Result<(), E>, S) {
        let threads = threads.clamp(1, MOST_THREADS);
        self.most = 2 * threads + 1;
        let outcome = std::thread::scope(|scope| {
            let crew = &self;
            // However this ends, by a panic even, the others do not wait for it.
            let _over = Over(crew);
            for mut twin in (1..threads).map_while(|_| parser.twin()) {
                scope.spawn(move || {
                    let _panicked = Panicked(crew);
                    crew.help(&mut *twin);
                });
            }
            let mut lines = 0;
            while let Some(task) = crew.next(true) {
                match task {
                    Task::Take(parsed) => {
                        let mut parsed = parsed.map_err(&unreadable)?;
                        take(&mut parsed, lines)?;
                        lines += parsed.lines;
                        crew.with(|state| {
                            state.afoot -= 1;
                            state.spare.push(parsed);
                        });
                    }
                    other => crew.carry_out(other, parser),
                }
            }
            Ok(())
        });
        let cutter = self.cutter.into_inner().unwrap_or_else(PoisonError::into_inner);
        (outcome, cutter.into_supply())
    }

    /// Reads and parses until there is nothing left to do.
    fn help(&self, parser: &mut dyn Parser) {
        while let Some(task) = self.next(false) {
            self.carry_out(task, parser);
        }
    }

    /// What to do next; waits where that is for others to say. `None` once there is nothing left.
    fn next(&self, takes: bool) -> Option<Task> {
        let mut state = self.state();
        loop {
            if state.over {
                return None;
            }
            if takes && let Some(Some(_)) = state.parsed.front() {
                state.taken += 1;
                return state.parsed.pop_front().flatten().map(Task::Take);
            }
            if takes && state.all == Some(state.taken) {
                return None;
            }
            let may_read = state.all.is_none() && state.afoot < self.most;
            if may_read && (takes || !self.one_reads) {
                state.afoot += 1;
                return Some(Task::Read(state.spare.pop().unwrap_or_default()));
            }
            if let Some((position, piece)) = state.read.pop_front() {
                let into = state.spare.pop().unwrap_or_default();
                return Some(Task::Parse(position, piece, into));
            }
            if !takes && state.all.is_some() {
                return None;
            }
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    fn carry_out(&self, task: Task, parser: &mut dyn Parser) {
        match task {
            Task::Read(into) => self.read(into, parser),
            Task::Parse(position, piece, into) => self.parse(position, piece, into, parser),
            Task::Take(_) => unreachable!("only one thread takes in"),
        }
    }

    /// Reads a piece, and parses it unless others may read as well.
    fn read(&self, mut into: Parsed, parser: &mut dyn Parser) {
        let (read, position) = {
            let mut cutter = self.cutter.lock().unwrap_or_else(PoisonError::into_inner);
            let read = cutter.next(into.block());
            (read, cutter.count().saturating_sub(1))
        };
        match read {
            Ok(Some(piece)) if self.one_reads => self.with(|state| {
                state.spare.push(into);
                state.read.push_back((position, piece));
            }),
            Ok(Some(piece)) => self.parse(position, piece, into, parser),
            Ok(None) => self.with(|state| {
                state.afoot -= 1;
                state.all.get_or_insert(position + 1);
            }),
            Err(cause) => self.with(|state| {
                state.all = Some(position + 1);
                state.keep(position, Err(cause));
            }),
        }
    }

    fn parse(&self, position: u64, piece: Piece, mut into: Parsed, parser: &mut dyn Parser) {
        into.parse(piece, self.longest, self.tell_plain, parser);
        self.with(|state| state.keep(position, Ok(into)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        // Telling is a call of the system even where nobody waits.
        if state.waiting > 0 {
            drop(state);
            self.changed.notify_all();
        }
    }
}

impl State {
    /// Keeps what was found in the piece at a position.
    fn keep(&mut self, position: u64, found: io::Result<Parsed>) {
        let index = (position - self.taken) as usize;
        if self.parsed.len() <= index {
            self.parsed.resize_with(index + 1, || None);
        }
        self.parsed[index] = Some(found);
    }
}

/// Ends the work.
struct Over<'a, S: Supply + Send>(&'a Crew<S>);

impl<S: Supply + Send> Drop for Over<'_, S> {
    fn drop(&mut self) {
        self.0.with(|state| state.over = true);
    }
}

/// Ends the work if a thread panics.
struct Panicked<'a, S: Supply + Send>(&'a Crew<S>);

impl<S: Supply + Send> Drop for Panicked<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.with(|state| state.over = true);
        }
    }
}
