//! The clocks of a fleet in words, as far as they are not right.

use super::MOST;
use crate::clock::{Clock, spread};
use crate::nodes::Placement;
use crate::report::format::length;
use crate::report::words::listed;
use crate::scenario::Fleet;
use crate::store::TimeOf;
use crate::time::{Offset, Span, Window};

/// What a reader must know of the clocks of a fleet that runs for so long, those that tell the time of decisions first;
/// `None` if all are right. A store that no node uses has none.
pub(super) fn in_words(fleet: &Fleet, run: Window) -> Option<String> {
    let Fleet { nodes, store, .. } = fleet;
    let used = !matches!(nodes.placement, Placement::Local | Placement::Split);
    let decides = used && store.time == TimeOf::Store;
    let of_nodes = of(&nodes.clocks, "node", run);
    let of_store = if used { of(&store.clocks, "shard", run) } else { None };
    match (of_nodes, of_store, decides) {
        (None, None, _) => None,
        (Some(nodes), None, false) => Some(nodes),
        (Some(nodes), Some(store), false) => Some(format!("{nodes}; the store's {store}")),
        (None, Some(store), false) => Some(format!("the nodes' right; the store's {store}")),
        (None, Some(store), true) => Some(format!("the store's {store}")),
        (Some(nodes), store, true) => {
            let store = store.unwrap_or_else(|| "right".to_owned());
            Some(format!("the store's {store}; the nodes' {nodes}"))
        }
    }
}

/// "up to 10s apart, node 2 set back by 30s at 60s, read in steps of 1s"; `None` if all of them are right.
fn of(clocks: &[Clock], what: &str, run: Window) -> Option<String> {
    let skew = spread(clocks, run);
    let apart = (skew > Span::ZERO).then(|| format!("up to {} apart", length(skew)));
    let all = if clocks.len() > 1 { "all " } else { "" };
    let parts = [apart, off(clocks, all), drift(clocks, all), steps(clocks, what), coarse(clocks)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// "all 30s behind", which clocks that agree with one another may be.
fn off(clocks: &[Clock], all: &str) -> Option<String> {
    let offsets = clocks.iter().map(|clock| clock.offset.nanos());
    let (least, most) = (offsets.clone().min()?, offsets.max()?);
    let (nearest, side) = match (least, most) {
        (1.., _) => (least, "ahead"),
        (_, ..=-1) => (most, "behind"),
        _ => return None,
    };
    let at_least = if least == most { "" } else { "at least " };
    Some(format!("{all}{at_least}{} {side}", length(Span::from_nanos(nearest.unsigned_abs()))))
}

/// "all 20 ppm fast"; drifts that differ show in how far clocks come apart.
fn drift(clocks: &[Clock], all: &str) -> Option<String> {
    let first = clocks.first()?.drift_ppb;
    if first == 0 || clocks.iter().any(|clock| clock.drift_ppb != first) {
        return None;
    }
    let side = if first > 0 { "fast" } else { "slow" };
    Some(format!("{all}{} ppm {side}", first.unsigned_abs() as f64 / 1000.0))
}

/// "set back by 30s at 60s, node 2 set forwards by 1s at 70s".
fn steps(clocks: &[Clock], what: &str) -> Option<String> {
    let mut found: Vec<(Span, Offset, Vec<usize>)> = Vec::new();
    for (index, clock) in clocks.iter().enumerate() {
        for (at, by) in &clock.steps {
            match found.iter_mut().find(|(when, how, _)| (when, how) == (at, by)) {
                Some((.., of)) => of.push(index),
                None => found.push((*at, *by, vec![index])),
            }
        }
    }
    found.sort_by_key(|(at, ..)| *at);
    let step = |(at, by, of): &(Span, Offset, Vec<usize>)| {
        let numbers: Vec<String> = of.iter().map(|index| (index + 1).to_string()).collect();
        let whose = match numbers.len() {
            every if every == clocks.len() => String::new(),
            1 => format!("{what} {} ", numbers[0]),
            2..=5 => format!("{what}s {} ", listed(&numbers)),
            more => format!("{more} {what}s "),
        };
        let side = if by.nanos() < 0 { "back" } else { "forwards" };
        let by = Span::from_nanos(by.nanos().unsigned_abs());
        format!("{whose}set {side} by {} at {}", length(by), length(*at))
    };
    let mut told: Vec<String> = found.iter().take(MOST).map(step).collect();
    match found.len().saturating_sub(MOST) {
        0 => {}
        1 => told.push("set once more".to_owned()),
        more => told.push(format!("set {more} times more")),
    }
    (!told.is_empty()).then(|| told.join(", "))
}

/// "read in steps of 1s"; clocks of one fleet have one resolution.
fn coarse(clocks: &[Clock]) -> Option<String> {
    let coarsest = clocks.iter().map(|clock| clock.resolution).max()?;
    (coarsest > Span::from_nanos(1)).then(|| format!("read in steps of {}", length(coarsest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::NodesSpec;
    use crate::store::StoreSpec;
    use crate::time::Instant;

    fn run() -> Window {
        Window { start: Instant(0), end: Instant(0) + Span::from_secs(100) }
    }

    fn offset(secs: i128) -> Offset {
        Offset::saturating(secs * 1_000_000_000)
    }

    fn ahead(secs: i128) -> Clock {
        Clock { offset: offset(secs), ..Clock::default() }
    }

    /// A clock that is set at each of these seconds by so many.
    fn stepped(steps: &[(u64, i128)]) -> Clock {
        let steps = steps.iter().map(|(at, by)| (Span::from_secs(*at), offset(*by))).collect();
        Clock { steps, ..Clock::default() }
    }

    #[test]
    fn clocks_that_agree_with_one_another_and_not_with_the_world_are_told() {
        let said = |clocks: &[Clock]| of(clocks, "node", run()).unwrap_or_default();
        assert_eq!(said(&[Clock::default(), Clock::default()]), "");
        let back = stepped(&[(60, -30)]);
        assert_eq!(said(std::slice::from_ref(&back)), "set back by 30s at 60s");
        assert_eq!(said(&[back.clone(), back.clone(), back.clone()]), "set back by 30s at 60s");
        assert_eq!(
            said(&[back.clone(), Clock::default(), back]),
            "up to 30s apart, nodes 1 and 3 set back by 30s at 60s"
        );
        assert_eq!(said(&[ahead(-5)]), "5s behind");
        assert_eq!(said(&[ahead(5), ahead(5)]), "all 5s ahead");
        assert_eq!(said(&[ahead(-5), ahead(-7)]), "up to 2s apart, all at least 5s behind");
        assert_eq!(said(&[ahead(-5), ahead(7)]), "up to 12s apart");
        let slow = Clock { drift_ppb: -20_500, ..Clock::default() };
        assert_eq!(said(&[slow.clone(), slow]), "all 20.5 ppm slow");
        let coarse = Clock { resolution: Span::from_secs(1), ..Clock::default() };
        assert_eq!(said(&[coarse.clone(), coarse]), "read in steps of 1s");
        let often = stepped(&[(10, 1), (20, 2), (30, 3), (40, 4), (50, 5)]);
        assert_eq!(
            said(&[often]),
            "set forwards by 1s at 10s, set forwards by 2s at 20s, set forwards by 3s at 30s, set 2 times more"
        );
    }

    #[test]
    fn clocks_that_decide_are_told_first_and_those_that_nobody_reads_not_at_all() {
        let fleet = |nodes: Clock, shard: Clock, time| {
            let nodes = NodesSpec { clocks: vec![nodes], ..NodesSpec::single(Placement::Shared) };
            Fleet::new(nodes, StoreSpec { clocks: vec![shard], time, ..StoreSpec::default() })
        };
        let said = |fleet: &Fleet| in_words(fleet, run()).unwrap_or_default();
        let right = Clock::default;
        let shard = || Clock { offset: offset(-5), ..stepped(&[(9, 2)]) };
        for (nodes, shard, by_node, by_store) in [
            (right(), right(), "", ""),
            (ahead(1), right(), "1s ahead", "the store's right; the nodes' 1s ahead"),
            (
                right(),
                shard(),
                "the nodes' right; the store's 5s behind, set forwards by 2s at 9s",
                "the store's 5s behind, set forwards by 2s at 9s",
            ),
            (
                ahead(1),
                shard(),
                "1s ahead; the store's 5s behind, set forwards by 2s at 9s",
                "the store's 5s behind, set forwards by 2s at 9s; the nodes' 1s ahead",
            ),
        ] {
            assert_eq!(said(&fleet(nodes.clone(), shard.clone(), TimeOf::Node)), by_node);
            assert_eq!(said(&fleet(nodes, shard, TimeOf::Store)), by_store);
        }
        let mut local = fleet(ahead(1), shard(), TimeOf::Store);
        local.nodes.placement = Placement::Local;
        assert_eq!(said(&local), "1s ahead");
    }
}
