//! The pictures of many charts, made by several threads while the results are written. What a picture looks
//! like does not depend on who makes it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use super::{Figure, picture::png};
use crate::error::Error;

/// A picture, by the position of its figure.
type Made = (usize, Result<Vec<u8>, Error>);

/// Has the pictures of all figures made by so many threads, this one among them, and hands each to `done` as soon
/// as it is there. `before` is done by this thread first, while others have begun. Both get `to`.
///
/// # Errors
/// The first that any of them reports; no other picture is begun then.
pub fn pictures<T>(
    figures: &[Figure],
    threads: usize,
    to: &mut T,
    before: impl FnOnce(&mut T) -> Result<(), Error>,
    mut done: impl FnMut(&mut T, &Figure, Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let make = || -> Option<Made> {
        let position = next.fetch_add(1, Ordering::Relaxed);
        figures.get(position).map(|figure| (position, png(&figure.svg)))
    };
    let (give, others) = channel();
    std::thread::scope(|scope| {
        for _ in 1..threads.min(figures.len() + 1) {
            let (give, make) = (give.clone(), &make);
            scope.spawn(move || {
                while let Some(made) = make() {
                    if give.send(made).is_err() {
                        return;
                    }
                }
            });
        }
        drop(give);
        let result = before(to).and_then(|()| {
            let mut take = |(position, picture): Made| done(to, &figures[position], picture?);
            while let Some(made) = make() {
                take(made)?;
                others.try_iter().try_for_each(&mut take)?;
            }
            others.iter().try_for_each(take)
        });
        if result.is_err() {
            next.store(figures.len(), Ordering::Relaxed);
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::CHARTS;

    fn figures(count: usize) -> Vec<Figure> {
        let figure = |number: usize| Figure {
            stem: number.to_string(),
            chart: &CHARTS[0],
            case: None,
            svg: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"1\"/>",
                number + 1
            ),
        };
        (0..count).map(figure).collect()
    }

    #[test]
    fn every_picture_is_made_once_and_is_the_same_whoever_makes_it() {
        let figures = figures(9);
        let made = |threads| {
            let mut all = Vec::new();
            let before = |all: &mut Vec<_>| {
                all.push((String::new(), Vec::new()));
                Ok(())
            };
            let done = |all: &mut Vec<_>, figure: &Figure, picture| {
                all.push((figure.stem.clone(), picture));
                Ok(())
            };
            pictures(&figures, threads, &mut all, before, done).unwrap();
            assert_eq!(all[0].0, "");
            all.sort();
            all
        };
        assert_eq!(made(1).len(), 10);
        assert_eq!(made(1), made(3));
    }

    #[test]
    fn the_first_mistake_ends_it() {
        let mut figures = figures(9);
        figures[0].svg = "no chart".to_owned();
        for threads in [1, 3] {
            let mut all = 0;
            let done = |all: &mut i32, _: &Figure, _| {
                *all += 1;
                Ok(())
            };
            assert!(pictures(&figures, threads, &mut all, |_| Ok(()), done).is_err());
            assert!(all < 9);
            let interrupted = |_: &mut i32| Err(Error::Interrupted);
            let ended = pictures(&figures[1..], threads, &mut all, interrupted, done);
            assert!(matches!(ended, Err(Error::Interrupted)));
        }
    }
}
