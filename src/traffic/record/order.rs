//! What becomes of requests that are stamped earlier than one before them.

use crate::error::Problem;
use crate::log::count;
use crate::log::format::Fault;
use crate::params::Choice;
use crate::time::{Instant, Span};

/// What becomes of requests whose stamp is earlier than that of one before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// All are sorted by time.
    #[default]
    Sort,
    /// They keep their place.
    File,
    /// They are a mistake.
    Error,
}

impl Choice for Order {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("sort", Order::Sort, "requests are sorted by time; those of one instant keep their order"),
        (
            "file",
            Order::File,
            "requests keep their order; one with an earlier stamp counts as of that of the one before it",
        ),
        ("error", Order::Error, "the first request with an earlier stamp is a mistake"),
    ];
}

/// The stamps of requests, one after the other, as an [`Order`] has them count.
#[derive(Debug, Clone)]
pub struct InOrder {
    order: Order,
    latest: Instant,
    /// The file of the last request, and the latest stamp of those before that file.
    file: usize,
    before: Instant,
    /// How many requests are earlier than that, and by how much at most.
    late: u64,
    most: Span,
}

impl InOrder {
    /// No request so far.
    pub fn new(order: Order) -> InOrder {
        let never = Instant(i64::MIN);
        InOrder { order, latest: never, file: 0, before: never, late: 0, most: Span::ZERO }
    }

    /// The stamp that counts for the next request, if it is one that counts.
    ///
    /// # Errors
    /// It is earlier than one before it, which is a mistake.
    pub fn stamp(&self, at: Instant) -> Result<Instant, Fault> {
        match self.order {
            Order::Error if at < self.latest => {
                let latest = self.latest;
                let message =
                    format!("the time {at} is earlier than {latest}, which stands before it");
                let help = "leave `order` out, and the requests are sorted";
                Err(Fault::Stop(vec![Problem::new(message).help(help)]))
            }
            Order::Sort | Order::Error => Ok(at),
            Order::File => Ok(self.latest.max(at)),
        }
    }

    /// Whether any stamp counts as it is.
    pub fn is_any(&self) -> bool {
        self.order == Order::Sort
    }

    /// A request of a file counts, with the stamp that it has.
    pub fn push(&mut self, at: Instant, file: usize) {
        if file != self.file {
            (self.file, self.before) = (file, self.latest);
        }
        if at < self.before {
            self.late += 1;
            self.most = self.most.max(self.before - at);
        }
        self.latest = self.latest.max(at);
    }

    /// A sentence on files that were named in another order than that of their times, where that matters.
    pub fn note(&self) -> Option<String> {
        let late = count(self.late, "request is", "requests are");
        (self.order == Order::File && self.late > 0).then(|| {
            format!(
                "{late} earlier than the last of a file named before, by {} at most, and count as of its time: \
                 name files in the order of their times.",
                self.most
            )
        })
    }

    /// What is done about requests out of order, to follow a semicolon.
    pub fn done(order: Order) -> &'static str {
        match order {
            Order::Sort | Order::Error => {
                "requests were sorted by time, those of one instant kept their order"
            }
            Order::File => "they keep their place and count as of the time of the one before",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;

    #[test]
    fn requests_that_keep_their_place_are_told_where_files_are_named_in_another_order() {
        let stamps = [(50, 0), (60, 0), (55, 0), (10, 1), (20, 1), (70, 1), (65, 2)];
        let counted = |order| {
            let mut in_order = InOrder::new(order);
            let counted: Vec<i64> = stamps
                .iter()
                .map(|&(second, file)| {
                    let at = Instant(second * SECOND as i64);
                    let stamp = in_order.stamp(at).ok().unwrap();
                    in_order.push(at, file);
                    stamp.0 / SECOND as i64
                })
                .collect();
            (counted, in_order.note())
        };
        let (stamps, note) = counted(Order::File);
        assert_eq!(stamps, [50, 60, 60, 60, 60, 70, 70]);
        let note = note.unwrap();
        let told = "3 requests are earlier than the last of a file named before, by 50s at most";
        assert!(note.starts_with(told), "{note}");
        assert_eq!(counted(Order::Sort), (vec![50, 60, 55, 10, 20, 70, 65], None));
    }
}
