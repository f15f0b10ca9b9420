//! An open loop: clients send on schedule, whatever they are answered.
//!
//! Departures from queues come before arrivals of the same instant: a place that becomes free at an
//! instant can be taken at that instant.

use super::desk::Desk;
use super::queue::Queue;
use super::{Asked, By, Decided, Fate, Observer, STRIDE, Stopped};
use crate::time::{Instant, Span, Window};
use crate::traffic::Arrival;

/// An attempt in a queue.
struct Queued {
    arrival: Arrival,
    span: Span,
}

/// Decides all arrivals, which come in time order, and returns how many are still queued at the end.
pub(super) fn run(
    desk: &mut Desk,
    window: Window,
    arrivals: impl Iterator<Item = Arrival>,
    observer: &mut dyn Observer,
) -> Result<u64, Stopped> {
    let mut departures = Queue::new();
    let mut undecided = 0;
    for (number, arrival) in arrivals.enumerate() {
        depart_until(desk, &mut departures, arrival.at);
        let fate = desk.decide(&arrival);
        if let Fate::Queued(span) = fate {
            departures.push(arrival.at + span, Queued { arrival, span });
        }
        let by = By::Node(Asked { node: None, reading: arrival.at.exact() });
        let request = number as u64;
        let at = arrival.at;
        let decided = Decided { arrival: &arrival, request, attempt: 1, fate, at, node: 0, by };
        observer.decided(decided);
        undecided += 1;
        if undecided == STRIDE
            && !observer.progressed(arrival.at - window.start, std::mem::take(&mut undecided))
        {
            return Err(Stopped::ByObserver);
        }
    }
    observer.progressed(window.span(), undecided);
    // The run is half-open: who would leave at its end has not left.
    depart_until(desk, &mut departures, window.end - Span::from_nanos(1));
    Ok(departures.len() as u64)
}

/// Lets leave whoever's time has come.
fn depart_until(desk: &mut Desk, departures: &mut Queue<Queued>, until: Instant) {
    while departures.next_at().is_some_and(|at| at <= until)
        && let Some((at, queued)) = departures.pop(|_| {})
    {
        desk.depart(at, &queued.arrival, queued.span);
    }
}
