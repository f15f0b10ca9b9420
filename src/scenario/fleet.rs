//! The servers that decide and the store that they share.

use super::limit;
use crate::error::{Place, Problems};
use crate::nodes::{self, NodesSpec, Placement, Rounds, Where};
use crate::params::{Begin, Params};
use crate::store::{self, Around, StoreSpec};
use crate::time::Span;

/// The `[nodes]` and `[store]` tables of a case that has any of them.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The servers.
    pub nodes: NodesSpec,
    /// What they share; one that answers at once and never fails where the case says nothing of it.
    pub store: StoreSpec,
    /// What begins at a stated time, for problems with what never does.
    pub begins: Vec<Begin>,
    /// What nodes do every so often, for problems with what they do too often.
    pub rounds: Vec<Rounds>,
    /// Where it stands what keys are called and how many shards they are spread over, for problems with that.
    pub shards_at: Option<Place>,
}

impl Fleet {
    /// Nodes and a store that no scenario names.
    pub fn new(nodes: NodesSpec, store: StoreSpec) -> Fleet {
        Fleet { nodes, store, begins: Vec::new(), rounds: Vec::new(), shards_at: None }
    }

    /// Reports what would begin only after a run of this length, and what would be done too often in it.
    pub fn check_within(&self, duration: Span, problems: &Problems) {
        self.begins.iter().for_each(|begin| begin.check_within(duration, problems));
        let count = self.nodes.count;
        self.rounds.iter().for_each(|rounds| rounds.check_within(duration, count, problems));
    }
}

/// Reads both tables in a case with so many limits; `None` if it has neither. Something stands in for what could
/// not be read.
pub(super) fn read(params: &mut Params, limits: usize) -> Option<Fleet> {
    let (has_nodes, has_store) = (params.has("nodes"), params.has("store"));
    let default = if has_store { Where::Shared } else { Where::Local };
    let mut begins = Vec::new();
    let read = params.optional_table("nodes", nodes::MEANING, |params| {
        NodesSpec::read(params, limits, default, &mut begins)
    });
    let nodes::Read { nodes, count, placement, rounds } = read.unwrap_or_else(|| nodes::Read {
        nodes: NodesSpec::single(Placement::Shared),
        count: Some(1),
        placement: Some(Where::Shared),
        rounds: Vec::new(),
    });
    let around = Around {
        nodes: count,
        limits,
        decides: placement.map(|placement| placement == Where::Shared),
        awaited: placement.map(Where::waits_for_store),
        short_limit: limit::SHORT,
        limit: limit::read_plain,
    };
    let store = params.optional_table("store", store::MEANING, |params| {
        let at = if params.has("key-name") { "key-name" } else { "shards" };
        let shards_at = params.place_of(at);
        (StoreSpec::read(params, &around, &mut begins), shards_at)
    });
    let (store, shards_at) = store.unzip();
    let store = store.unwrap_or_default();
    (has_nodes || has_store).then_some(Fleet { nodes, store, begins, rounds, shards_at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Limit;
    use crate::scenario::{Case, Changes, Scenario};
    use crate::store::{OnFailure, RoundTrip};
    use std::path::Path;

    const BASE: &str = "name = \"t\"\nduration = \"60s\"\nlimit = \"10/60s\"\n\
                        [[traffic]]\nkind = \"burst\"\nrequests = 1\n";

    fn read_with(text: &str, set: &[(&str, &str)]) -> Result<Vec<Case>, String> {
        let set = set.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned()));
        let changes = Changes { set: set.collect(), ..Changes::default() };
        let scenario = Scenario::parse(Path::new("t.toml"), format!("{BASE}{text}"), &changes);
        scenario.map(|scenario| scenario.cases).map_err(|error| error.render(false))
    }

    fn cases(text: &str) -> Vec<Case> {
        read_with(text, &[]).unwrap_or_else(|message| panic!("{message}"))
    }

    fn fleet(text: &str) -> Fleet {
        cases(text).remove(0).fleet.expect("a fleet")
    }

    #[track_caller]
    fn refused(text: &str, message: &str, place: &str) {
        let shown = read_with(text, &[]).unwrap_err();
        assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
        assert_eq!(shown.matches("error").count(), 1, "{text}:\n{shown}");
    }

    #[test]
    fn without_both_tables_there_is_no_fleet_and_nothing_of_it_is_resolved() {
        let case = cases("").remove(0);
        assert!(case.fleet.is_none() && !case.is_closed_loop());
        assert!(!case.resolved.contains_key("nodes") && !case.resolved.contains_key("store"));
    }

    #[test]
    fn either_table_alone_has_a_plain_one_beside_it() {
        let nodes = fleet("[nodes]\ncount = 3\n");
        assert_eq!((nodes.nodes.count, nodes.nodes.placement), (3, Placement::Local));
        assert!(nodes.store.round_trip.is_free());
        let store = fleet("[store]\nround-trip = \"1ms\"\n");
        assert_eq!((store.nodes.count, store.nodes.placement), (1, Placement::Shared));
        assert!(!store.store.round_trip.is_free());
        let both = fleet("[nodes]\ncount = 3\n[store]\n");
        assert_eq!((both.nodes.count, both.nodes.placement), (3, Placement::Shared));
        let shared = fleet("[nodes]\ncount = 3\nplacement = \"shared\"\n");
        assert!(shared.nodes.placement == Placement::Shared && shared.store.round_trip.is_free());
    }

    #[test]
    fn what_was_left_out_is_resolved() {
        let resolved = cases("[nodes]\ncount = 2\n[store]\nexpiry = \"none\"\n").remove(0).resolved;
        insta::assert_snapshot!(format!("{} {}", resolved["nodes"], resolved["store"]));
    }

    #[test]
    fn a_store_that_nobody_asks_may_be_described_and_nothing_chosen_for_it() {
        let facts = "[store]\nround-trip = \"2ms\"\nshards = 2\nexpiry = \"none\"\n\
                     [[store.outage]]\nat = \"1s\"\nfor = \"1s\"\n";
        for placement in ["local", "split"] {
            let nodes = format!("[nodes]\ncount = 3\nplacement = \"{placement}\"\n");
            assert_eq!(fleet(&format!("{nodes}{facts}")).store.clocks.len(), 2);
            let chosen = format!("{nodes}[store]\non-failure = \"open\"\n");
            refused(&chosen, "`on-failure` goes with `placement = \"shared\"`", "t.toml:11:1");
            refused(&format!("{nodes}[store.breaker]\n"), "`breaker` goes with", "t.toml:10");
        }
        let all = cases(&format!(
            "[nodes]\ncount = 3\n{facts}[matrix]\n\"nodes.placement\" = [\"local\", \"split\", \"shared\"]\n"
        ));
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn placements_that_use_the_store_have_its_settings() {
        let synced = "[nodes]\ncount = 2\nplacement = \"synced\"\nsync-every = \"1s\"\n[store]\n";
        assert!(fleet(&format!("{synced}round-trip = \"1ms\"\n")).store.fallback.is_none());
        refused(&format!("{synced}time = \"store\"\n"), "`time` goes with", "t.toml:12:1");
        refused(
            &format!("{synced}atomicity = \"script\"\n"),
            "`atomicity` goes with",
            "t.toml:12:1",
        );
    }

    #[test]
    fn leased_quota_is_that_of_one_limit() {
        let leased =
            "[nodes]\ncount = 2\nplacement = \"leased\"\nlease-batch = 5\nlease-lasts = \"1s\"\n";
        let batch = Placement::Leased { batch: 5, lasts: Span::from_secs(1) };
        assert_eq!(fleet(leased).nodes.placement, batch);
        let shown = read_with(leased, &[("limit", "[\"1/1s\", \"2/1s\"]")]).unwrap_err();
        assert!(shown.contains("quota of 2 limits cannot be leased together"), "{shown}");
    }

    #[test]
    fn a_fallback_is_written_as_a_limit_is() {
        let fallback = |text: &str| {
            fleet(&format!("[store]\non-failure = \"local\"\nfallback = {text}\n")).store.fallback
        };
        assert_eq!(fallback("\"10/2s\""), Some(Limit::new(10, Span::from_secs(2))));
        let limit = Limit { requests: 10, per: Span::from_secs(2), burst: 3 };
        assert_eq!(fallback("{ requests = 10, per = \"2s\", burst = 3 }"), Some(limit));
        let local = "[store]\non-failure = \"local\"\nfallback = ";
        refused(&format!("{local}\"10\""), "`fallback`: `10` has no `/`", "t.toml:9:12");
        refused(&format!("{local}\"1/5000d\""), "a limit per more than ten years", "t.toml:9:12");
        refused(&format!("{local}{{ requests = 1 }}"), "`per` is missing", "t.toml:9:12");
        refused(
            &format!("{local}{{ requests = 1, per = \"1s\", key = \"client\" }}"),
            "unknown key `key`",
            "t.toml",
        );
    }

    #[test]
    fn what_would_begin_only_after_the_run_is_a_problem() {
        let of = |table: &str, rest: &str| {
            let nodes =
                if table.starts_with("nodes") { "[nodes]\ncount = 1\n" } else { "[store]\n" };
            format!("{nodes}[[{table}]]\nat = \"60s\"\n{rest}\n")
        };
        for (table, rest, what) in [
            ("nodes.step", "by = \"1s\"", "step"),
            ("store.step", "by = \"1s\"", "step"),
            ("store.outage", "for = \"1s\"", "outage"),
            ("store.fail-over", "lag = \"1s\"", "fail-over"),
        ] {
            let text = of(table, rest);
            let place = if table.starts_with("nodes") { "t.toml:10:6" } else { "t.toml:9:6" };
            refused(&text, &format!("this {what} begins when the run is over"), place);
            assert!(read_with(&text, &[("duration", "61s")]).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_would_be_done_too_often_is_a_problem_at_its_place() {
        let synced = "[nodes]\ncount = 3\nplacement = \"synced\"\nsync-every = \"179ns\"\n";
        refused(synced, "`sync-every` = 179ns is", "t.toml:10:14");
        let swept = "[nodes]\ncount = 3\n[nodes.sweep]\nevery = \"1ns\"\nidle = \"1s\"\n";
        refused(swept, "`every` = 1ns is", "t.toml:10:9");
    }

    #[test]
    fn a_matrix_may_begin_with_nothing() {
        let of = |path: &str, values: &str, rest: &str| {
            cases(&format!("[store]\n{rest}[matrix]\n\"{path}\" = {values}\n")).len()
        };
        let spans = "[\"0s\", \"1s\"]";
        let outage = |rest| format!("[[store.outage]]\nat = \"1s\"\nfor = \"1s\"\n{rest}");
        let step = "[[store.step]]\nat = \"1s\"\nby = \"0s\"\n";
        let fail_over = "[[store.fail-over]]\nat = \"1s\"\nlag = \"0s\"\n";
        let lost = "expiry = { kind = \"lost\", probability = \"0%\" }\n";
        let shares = "[\"0%\", \"1%\"]";
        for (path, values, rest) in [
            ("store.step.0.by", spans, step.to_owned()),
            ("store.fail-over.0.lag", spans, fail_over.to_owned()),
            ("store.expiry.probability", shares, lost.to_owned()),
            ("store.outage.0.share", shares, outage("kind = \"lossy\"\nshare = \"0%\"\n")),
            ("store.outage.0.times", "[1, 5]", outage("kind = \"slow\"\ntimes = 1\n")),
            ("store.outage.0.extra", spans, outage("kind = \"slow\"\nextra = \"0s\"\n")),
        ] {
            assert_eq!(of(path, values, &rest), 2, "{path}");
        }
    }

    #[test]
    fn without_a_timeout_an_answer_is_waited_for_as_long_as_the_attempt_is_held() {
        let timeout = |text: &str| fleet(&format!("[store]\n{text}")).store.timeout;
        assert_eq!(timeout("on-failure = \"open\"\n"), Span::from_secs(1));
        let held = "on-failure = \"open-after\"\nopen-after = \"5s\"\n";
        assert_eq!(timeout(held), Span::from_secs(5));
        assert_eq!(timeout(&format!("{held}timeout = \"2s\"\n")), Span::from_secs(2));
    }

    #[test]
    fn a_breaker_without_calls_to_keep_back_is_a_problem() {
        let synced = "[nodes]\ncount = 2\nplacement = \"synced\"\nsync-every = \"1s\"\n";
        refused(&format!("{synced}[store.breaker]\n"), "`breaker` goes with", "t.toml:11");
    }

    #[test]
    fn the_command_line_and_a_matrix_reach_every_setting() {
        let set = [
            ("nodes.count", "2"),
            ("nodes.offsets", "[\"1s\", \"-1s\"]"),
            ("store.round-trip", "{ kind = \"uniform\", max = \"2ms\" }"),
            ("store.outage.0.for", "5s"),
        ];
        let text = "[store]\n[[store.outage]]\nat = \"1s\"\nfor = \"1s\"\n";
        let Fleet { nodes, store, .. } = read_with(text, &set).unwrap().remove(0).fleet.unwrap();
        let offsets: Vec<_> = nodes.clocks.iter().map(|clock| clock.offset.to_string()).collect();
        assert_eq!(offsets, ["1s", "-1s"]);
        let max = Span::from_nanos(2_000_000);
        assert_eq!(store.round_trip, RoundTrip::Uniform { min: Span::ZERO, max });
        assert_eq!(store.outages[0].lasts, Span::from_secs(5));

        let cases = cases(
            "[nodes]\ncount = 2\n[store]\n[matrix]\n\
             \"nodes.offsets\" = [{ name = \"apart\", set = [\"0s\", \"1s\"] }]\n\
             \"store.on-failure\" = [\"open\", \"closed\"]\n",
        );
        let seen = cases.iter().map(|case| {
            let fleet = case.fleet.as_ref().unwrap();
            (case.name.as_str(), fleet.nodes.clocks[1].offset.to_string(), fleet.store.on_failure)
        });
        let apart = "1s".to_owned();
        assert_eq!(
            seen.collect::<Vec<_>>(),
            [
                ("apart, on-failure open", apart.clone(), OnFailure::Open),
                ("apart, on-failure closed", apart, OnFailure::Closed),
            ]
        );
    }
}
