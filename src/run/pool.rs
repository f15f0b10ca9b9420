//! Work spread over threads in two steps: what is made for one stage (a replica) serves all of its parts
//! (the algorithms), whichever threads run them. Results come in the order of stages and parts.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};

use crate::error::Error;

/// How many stages there are, and how many parts each has.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub stages: usize,
    pub parts: usize,
}

/// Opens every stage that has parts and runs all parts of each, on so many threads (at least one). Parts of stages that
/// are open go first, so that no more stages than threads are open at a time. Gives the results by stage
/// and part.
///
/// # Errors
/// The first in the order of stages and parts, whichever thread met it; what comes after it and has not
/// begun by then is not begun.
pub fn run<S: Send + Sync, T: Send>(
    work: Work,
    threads: usize,
    open: impl Fn(usize) -> Result<S, Error> + Sync,
    part: impl Fn(&S, usize) -> Result<T, Error> + Sync,
) -> Result<Vec<Vec<T>>, Error> {
    if work.parts == 0 {
        return Ok((0..work.stages).map(|_| Vec::new()).collect());
    }
    let pool = Pool {
        state: Mutex::new(State { begun: 0, opening: 0, open: VecDeque::new(), failure: None }),
        changed: Condvar::new(),
    };
    let slots: Vec<Vec<Mutex<Option<T>>>> =
        (0..work.stages).map(|_| (0..work.parts).map(|_| Mutex::new(None)).collect()).collect();
    let threads = threads.clamp(1, work.stages.saturating_mul(work.parts).max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(task) = pool.next(work) {
                    match task {
                        Task::Open(stage) => {
                            let _opening = Opening(&pool);
                            match open(stage) {
                                Ok(opened) => pool.opened(stage, opened),
                                Err(error) => pool.fail((stage, 0), error),
                            }
                        }
                        Task::Part(stage, index, opened) => match part(&opened, index) {
                            Ok(result) => {
                                if let Ok(mut slot) = slots[stage][index].lock() {
                                    *slot = Some(result);
                                }
                            }
                            Err(error) => pool.fail((stage, index), error),
                        },
                    }
                }
            });
        }
    });
    if let Some((_, error)) = pool.state.into_inner().ok().and_then(|state| state.failure) {
        return Err(error);
    }
    let result = |slot: Mutex<Option<T>>| slot.into_inner().ok().flatten();
    let of_stage = |slots: Vec<Mutex<Option<T>>>| slots.into_iter().map(result).collect();
    // Nothing is missing where nothing failed.
    let results: Option<Vec<Vec<T>>> = slots.into_iter().map(of_stage).collect();
    results.ok_or(Error::Interrupted)
}

struct Pool<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
}

struct State<S> {
    /// How many stages were begun.
    begun: usize,
    /// How many of them are being opened.
    opening: usize,
    /// Those that have parts which were not taken yet, with the first of these.
    open: VecDeque<(usize, Arc<S>, usize)>,
    /// The first so far, with its stage and part.
    failure: Option<((usize, usize), Error)>,
}

enum Task<S> {
    Open(usize),
    Part(usize, usize, Arc<S>),
}

impl<S> Pool<S> {
    /// What to do next; waits where that is being opened. `None` once there is nothing left.
    fn next(&self, work: Work) -> Option<Task<S>> {
        let mut state = self.state.lock().ok()?;
        loop {
            if let Some(&((failed, _), _)) = state.failure.as_ref() {
                state.open.retain(|&(stage, ..)| stage < failed);
            }
            if let Some((stage, opened, next)) = state.open.front_mut() {
                let task = Task::Part(*stage, *next, Arc::clone(opened));
                *next += 1;
                if *next >= work.parts {
                    state.open.pop_front();
                }
                return Some(task);
            }
            if state.begun < work.stages && state.failure.is_none() {
                state.begun += 1;
                state.opening += 1;
                return Some(Task::Open(state.begun - 1));
            }
            if state.opening == 0 {
                return None;
            }
            state = self.changed.wait(state).ok()?;
        }
    }

    fn opened(&self, stage: usize, opened: S) {
        self.with(|state| state.open.push_back((stage, Arc::new(opened), 0)));
    }

    fn fail(&self, at: (usize, usize), error: Error) {
        self.with(|state| {
            if state.failure.as_ref().is_none_or(|(first, _)| at < *first) {
                state.failure = Some((at, error));
            }
        });
    }

    fn with(&self, change: impl FnOnce(&mut State<S>)) {
        if let Ok(mut state) = self.state.lock() {
            change(&mut state);
        }
        self.changed.notify_all();
    }
}

/// A stage being opened; no longer once this is dropped, even by a panic, for which nobody must wait.
struct Opening<'a, S>(&'a Pool<S>);

impl<S> Drop for Opening<'_, S> {
    fn drop(&mut self) {
        self.0.with(|state| state.opening -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const WORK: Work = Work { stages: 7, parts: 3 };

    #[test]
    fn results_come_in_order_with_any_number_of_threads_and_no_stage_is_opened_twice() {
        for threads in [0, 1, 2, 5, 64] {
            let opened = AtomicUsize::new(0);
            let open = |stage: usize| {
                opened.fetch_add(1, Ordering::Relaxed);
                Ok(stage * 10)
            };
            let results = run(WORK, threads, open, |stage, part| Ok(stage + part)).unwrap();
            let expected: Vec<Vec<usize>> =
                (0..7).map(|stage| (0..3).map(|part| stage * 10 + part).collect()).collect();
            assert_eq!(results, expected, "{threads}");
            assert_eq!(opened.into_inner(), 7);
        }
    }

    #[test]
    fn no_more_stages_are_open_than_there_are_threads() {
        struct Stage<'a>(&'a AtomicUsize);
        impl Drop for Stage<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let open = |_| {
            let open = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(open, Ordering::SeqCst);
            Ok(Stage(&now))
        };
        let part = |_: &Stage, _| {
            std::thread::yield_now();
            Ok(())
        };
        run(Work { stages: 50, parts: 4 }, 3, open, part).unwrap();
        assert!(most.into_inner() <= 3);
        assert_eq!(now.into_inner(), 0);
    }

    #[test]
    fn the_first_error_ends_all() {
        let done = AtomicUsize::new(0);
        let part = |stage: &usize, part: usize| match (stage, part) {
            (2, 1) => Err(Error::failed("do it", "it broke")),
            _ => {
                done.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        };
        let failed = run(WORK, 1, Ok, part).unwrap_err();
        assert!(failed.to_string().contains("it broke"), "{failed}");
        assert_eq!(done.into_inner(), 2 * 3 + 1);
        let open = |_| Err::<(), _>(Error::Interrupted);
        let failed = run(WORK, 4, open, |_: &(), _| Ok(())).unwrap_err();
        assert!(matches!(failed, Error::Interrupted));
    }

    #[test]
    fn the_first_error_in_order_is_told_even_if_it_comes_last() {
        for threads in [1, 2, 5] {
            let part = |&stage: &usize, part: usize| {
                let place = (stage * 3 + part) as u64;
                std::thread::sleep(std::time::Duration::from_millis(3 * (20 - place)));
                match place {
                    0 => Ok(()),
                    _ => Err(Error::failed("do it", format!("{stage} {part}"))),
                }
            };
            let failed = run(WORK, threads, Ok, part).unwrap_err();
            assert!(failed.to_string().contains("0 1"), "{threads}: {failed}");
        }
    }

    #[test]
    fn a_stage_without_parts_has_no_results() {
        let results = run(Work { stages: 2, parts: 0 }, 2, Ok, |_, _| Ok(())).unwrap();
        assert_eq!(results, [vec![], vec![]]);
    }
}
