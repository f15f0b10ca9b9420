//! What nodes do every so often, and how often in a run.

use crate::error::{Place, Problem, Problems};
use crate::time::Span;

/// A setting that says how often each node does something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// What the setting is called.
    pub name: &'static str,
    /// How often.
    pub every: Span,
    /// Where that stands.
    pub place: Place,
}

impl Rounds {
    /// All nodes together do something at most so often in a run.
    pub const MOST: u64 = 1_000_000_000;

    /// Reports that so many nodes would do it more often than [`Rounds::MOST`] allows in a run of this length.
    pub fn check_within(&self, duration: Span, nodes: usize, problems: &Problems) {
        let (duration_ns, nodes) = (u128::from(duration.nanos()), nodes as u128);
        let rounds = duration_ns / u128::from(self.every.nanos().max(1)) * nodes;
        if rounds <= u128::from(Self::MOST) {
            return;
        }
        let (name, every) = (self.name, self.every);
        let among = if nodes == 1 { String::new() } else { format!(" of {nodes} nodes") };
        let message = format!(
            "`{name}` = {every} is {rounds} rounds{among} in a run of {duration}: more than {}",
            Self::MOST
        );
        let least = Span::saturating((duration_ns * nodes).div_ceil(u128::from(Self::MOST)));
        let help = format!("write {least} or longer");
        problems.add(Problem::at(&self.place, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Source;
    use std::sync::Arc;

    fn told(every: u64, duration: u64, nodes: usize) -> Option<String> {
        let (every, duration) = (Span::from_nanos(every), Span::from_nanos(duration));
        let source = Source { name: "t.toml".to_owned(), text: "every".to_owned() };
        let place = Place { source: Arc::new(source), span: 0..5 };
        let problems = Problems::new();
        Rounds { name: "every", every, place }.check_within(duration, nodes, &problems);
        problems.into_result().err().map(|error| error.render(false))
    }

    #[test]
    fn a_billion_rounds_of_all_nodes_are_allowed_and_not_one_more() {
        assert_eq!(told(1, 1_000_000_000, 1), None);
        let shown = told(1, 1_000_000_001, 1).unwrap();
        let all = ["`every` = 1ns is 1000000001 rounds in a run of", "write 2ns or longer"];
        assert!(all.iter().all(|part| shown.contains(part)), "{shown}");
        assert_eq!(told(3, 1_000_000_000, 3), None);
        let shown = told(2, 60_000_000_000, 3).unwrap();
        let all = ["is 90000000000 rounds of 3 nodes in a run of 60s", "write 180ns or longer"];
        assert!(all.iter().all(|part| shown.contains(part)), "{shown}");
        assert_eq!(told(180, 60_000_000_000, 3), None);
    }
}
