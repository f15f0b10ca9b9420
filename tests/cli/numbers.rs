//! Situations that real limiters got wrong, or that people misjudge, with their right numbers worked
//! by hand; made-up traffic.

use crate::support::{Bench, summary};

#[test]
fn one_per_10_s_asked_ten_times_a_second_passes_10_in_100_s_or_5_where_fractions_count() {
    // The log admits at 0, 10, 20 ... 90. The counter with fractions lets nothing pass while any
    // weight of the last window is left: only each second window, at 0, 20 ... 80. Cut down to whole
    // requests, the weight is gone an instant after the edge: 0, 10.1, 20.1 ... 90.1.
    let text = r#"
name = "rounding"
duration = "100s"
limit = "1/10s"
[[traffic]]
kind = "steady"
rate = "10/s"
[[algorithm]]
kind = "sliding-window-log"
[[algorithm]]
kind = "sliding-window-counter"
name = "with fractions"
round = "none"
[[algorithm]]
kind = "sliding-window-counter"
name = "whole"
"#;
    let summary = summary("rounding", text);
    let expected = ["sliding-window-log 10", "whole 10", "with fractions 5"];
    assert_eq!(summary.column("accepted"), expected);
    assert_eq!(summary.of("sliding-window-log", "attempts"), "1000");
}

/// `quota` requests just before the whole hour or minute and as many just after.
fn edge(quota: u32, per: &str, before: &str, after: &str) -> String {
    format!(
        "name = \"edge\"\nstart = \"09:00:00\"\nduration = \"2h\"\nlimit = \"{quota}/{per}\"\n\
         [[traffic]]\nkind = \"burst\"\nat = \"{before}\"\nrequests = {quota}\n\
         [[traffic]]\nkind = \"burst\"\nat = \"{after}\"\nrequests = {quota}\n"
    )
}

#[test]
fn five_an_hour_are_ten_within_two_minutes_at_the_edge_of_the_hour() {
    let summary = summary("edge", &edge(5, "h", "59m10s", "60m50s"));
    let columns = ["accepted", "over_limit", "peak_window", "peak_ratio"];
    assert_eq!(summary.cells("fixed-window", columns), ["10", "5", "10", "2"]);
    assert_eq!(summary.cells("sliding-window-log", columns), ["5", "0", "5", "1"]);
}

#[test]
fn sixty_a_minute_are_120_at_the_edge_of_the_minute() {
    let summary = summary("edge", &edge(60, "m", "59s", "60s"));
    let columns = ["accepted", "over_limit", "peak_window", "peak_ratio"];
    assert_eq!(summary.cells("fixed-window", columns), ["120", "60", "120", "2"]);
    assert_eq!(summary.cells("sliding-window-log", columns), ["60", "0", "60", "1"]);
}

#[test]
fn a_window_that_starts_with_the_first_request_has_no_edge_to_meet() {
    let text = edge(60, "m", "59s", "60s")
        + "[[algorithm]]\nkind = \"fixed-window\"\nanchor = \"first-request\"\n";
    assert_eq!(summary("edge", &text).of("fixed-window", "accepted"), "60");
}

#[test]
fn a_burst_of_5_is_five_at_once() {
    // Some products let one more through, which their readers must be told: here it is five.
    let text = "name = \"burst\"\nduration = \"1s\"\n[limit]\nrequests = 10\nper = \"1s\"\nburst = 5\n\
                [[traffic]]\nkind = \"burst\"\nrequests = 10\n";
    let summary = summary("burst", text);
    for algorithm in ["token-bucket", "gcra"] {
        assert_eq!(summary.cells(algorithm, ["accepted", "rejected"]), ["5", "5"]);
    }
    // Five wait in the queue and leave at 0.1 s ... 0.5 s.
    let columns = ["accepted", "rejected", "wait_max_s"];
    assert_eq!(summary.cells("leaky-bucket", columns), ["5", "5", "0.5"]);
}

#[test]
fn sixty_a_minute_pass_119_in_a_minute_through_a_full_bucket() {
    // 60 at the start and one each second after it: at 1, 2 ... 59 s, since 60 s is not in the run.
    let text = "name = \"full\"\nduration = \"60s\"\nlimit = \"60/60s\"\n[[traffic]]\n\
                kind = \"steady\"\nrate = \"10/s\"\n";
    let summary = summary("full", text);
    for algorithm in ["token-bucket", "gcra"] {
        let columns = ["accepted", "peak_window", "over_limit"];
        assert_eq!(summary.cells(algorithm, columns), ["119", "119", "59"]);
    }
    assert_eq!(summary.of("sliding-window-log", "accepted"), "60");
    assert_eq!(summary.of("fixed-window", "accepted"), "60");
}

#[test]
fn twelve_hundred_a_minute_pass_3599_in_two_minutes() {
    // 1,200 at the start and 20 a second for 120 s without the last instant: 1,200 + 2,399.
    let text = "name = \"two\"\nduration = \"2m\"\nlimit = \"1200/60s\"\n[[traffic]]\n\
                kind = \"steady\"\nrate = \"100/s\"\n[[algorithm]]\nkind = \"token-bucket\"\n";
    let summary = summary("two", text);
    let columns = ["attempts", "accepted", "rejected"];
    assert_eq!(summary.cells("token-bucket", columns), ["12000", "3599", "8401"]);
}

/// 10 per 10 minutes, asked twice a minute for two hours: 240 requests.
fn impatient(count_rejected: bool) -> crate::support::Sheet {
    let kinds =
        ["fixed-window", "sliding-window-log", "sliding-window-counter", "token-bucket", "gcra"];
    let tables = kinds.map(|kind| {
        format!("[[algorithm]]\nkind = \"{kind}\"\ncount-rejected = {count_rejected}\n")
    });
    let text = "name = \"impatient\"\nduration = \"2h\"\nlimit = \"10/10m\"\n[[traffic]]\n\
                kind = \"steady\"\nrate = \"2/m\"\n";
    summary("impatient", &(text.to_owned() + &tables.concat()))
}

#[test]
fn who_keeps_asking_gets_in_where_refusals_do_not_count() {
    let summary = impatient(false);
    // Ten in each of twelve windows; a bucket adds one each minute to its ten until 119 min.
    assert_eq!(summary.of("sliding-window-log", "accepted"), "120");
    assert_eq!(summary.of("fixed-window", "accepted"), "120");
    assert_eq!(summary.of("token-bucket", "accepted"), "129");
    assert_eq!(summary.of("gcra", "accepted"), "129");
}

#[test]
fn who_keeps_asking_stays_out_where_refusals_count() {
    let summary = impatient(true);
    // The log and the counter see twenty tries in every window from then on: the first ten pass, then
    // none. A fixed window forgets at its edge. A bucket is drained by each try from its 19th minute.
    assert_eq!(summary.of("sliding-window-log", "accepted"), "10");
    assert_eq!(summary.of("sliding-window-counter", "accepted"), "10");
    assert_eq!(summary.of("fixed-window", "accepted"), "120");
    assert_eq!(summary.of("token-bucket", "accepted"), "19");
    assert_eq!(summary.of("gcra", "accepted"), "19");
    // From the refusal at 5 min to the last at 119.5 min.
    assert_eq!(summary.of("sliding-window-log", "longest_lockout_s"), "6870");
}

#[test]
fn two_limits_spend_20_of_30_together_and_30_each_for_itself() {
    // 10 a minute and 30 in half an hour, 31 requests in two minutes: ten pass in each minute. Charged
    // to both or to none, they are 20 of the 30, and a later request passes. Where each limit counts
    // for itself, refused ones spend the 30 as well: the 31st finds them gone, and so does the later.
    let text = r#"
name = "both"
duration = "3m"
[[limit]]
name = "minute"
requests = 10
per = "1m"
[[limit]]
name = "half hour"
requests = 30
per = "30m"
[[traffic]]
kind = "burst"
requests = 31
over = "2m"
[[traffic]]
kind = "burst"
at = "150s"
requests = 1
[[algorithm]]
kind = "fixed-window"
[[algorithm]]
kind = "sliding-window-log"
[[case]]
name = "together"
[[case]]
name = "independent"
set.combine = "independent"
"#;
    let bench = crate::support::simulated("both", text);
    let summary = bench.sheet("output/both/summary.csv");
    let limits = bench.sheet("output/both/limits.csv");
    for algorithm in ["fixed-window", "sliding-window-log"] {
        for (case, accepted, refused) in [("together", "21", "0"), ("independent", "20", "2")] {
            let of = [("case", case), ("algorithm", algorithm)];
            assert_eq!(summary.cell(&of, "accepted"), accepted, "{of:?}");
            let of = [&of[..], &[("limit", "half hour")]].concat();
            assert_eq!(limits.cell(&of, "refused"), refused, "{of:?}");
        }
    }
}

#[test]
fn under_two_buckets_29_of_31_pass_where_two_fixed_windows_spend_30() {
    // 31 requests in two minutes: ten tokens to begin with, and one each six seconds, 19 of them before
    // the last request. The thirty of the half hour are enough for that.
    let text = "name = \"spent\"\nduration = \"3m\"\nlimit = [\"10/m\", \"30/30m\"]\n\
                combine = \"independent\"\n\
                [[traffic]]\nkind = \"burst\"\nrequests = 31\nover = \"2m\"\n";
    let bench = crate::support::simulated("spent", text);
    let limits = bench.sheet("output/spent/limits.csv");
    for (algorithm, accepted, refused) in [("token-bucket", "29", "0"), ("fixed-window", "20", "1")]
    {
        let of = [("algorithm", algorithm), ("limit", "30 per 30m")];
        assert_eq!(limits.cell(&of, "accepted"), accepted, "{algorithm}");
        assert_eq!(limits.cell(&of, "refused"), refused, "{algorithm}");
    }
}

#[test]
fn a_second_limit_is_burnt_where_limits_are_asked_in_turn() {
    // 1 a second after 2 a minute, three requests at 0, 0 and 1 s: the second is refused by the later
    // limit, yet stays charged to the first, which then has nothing left.
    let text = "name = \"turn\"\nduration = \"20s\"\nlimit = [\"2/m\", \"1/s\"]\n\
                [[traffic]]\nkind = \"burst\"\nrequests = 2\n\
                [[traffic]]\nkind = \"burst\"\nat = \"1s\"\nrequests = 1\n\
                [[algorithm]]\nkind = \"sliding-window-log\"\n\
                [[case]]\nname = \"together\"\n\
                [[case]]\nname = \"in turn\"\nset.combine = \"sequential\"\n";
    let summary = summary("turn", text);
    assert_eq!(summary.cell(&[("case", "together")], "accepted"), "2");
    assert_eq!(summary.cell(&[("case", "in turn")], "accepted"), "1");
}

#[test]
fn a_run_ends_exactly_at_its_end() {
    // Each second from 0: the one at 5 s is not in a run of 5 s. A burst at the end neither, nor one
    // that would begin after it.
    let text = "name = \"end\"\nduration = \"5s\"\nlimit = \"100/s\"\n\
                [[traffic]]\nkind = \"steady\"\nrate = \"1/s\"\n\
                [[traffic]]\nkind = \"burst\"\nat = \"4999999999ns\"\nrequests = 1\n\
                [[traffic]]\nkind = \"burst\"\nat = \"5s\"\nrequests = 7\n\
                [[traffic]]\nkind = \"burst\"\nat = \"1h\"\nrequests = 7\n";
    let bench = crate::support::simulated("end", text);
    let summary = bench.sheet("output/end/summary.csv");
    assert_eq!(summary.of("fixed-window", "attempts"), "6");
    let case = &bench.record("end")["cases"][0];
    assert_eq!(case["start"], "2026-01-01T00:00:00Z");
    assert_eq!(case["end"], "2026-01-01T00:00:05Z");
    // What leaves the queue at the end is still in it: at 100 a second the last of six waits 10 ms.
    assert_eq!(summary.cells("leaky-bucket", ["accepted", "pending"]), ["5", "1"]);
}

#[test]
fn what_has_no_value_is_an_empty_cell() {
    let text = |traffic: &str, requests: u32| {
        format!(
            "name = \"none\"\nduration = \"10s\"\n[limit]\nrequests = {requests}\nper = \"1s\"\n\
             [[traffic]]\n{traffic}"
        )
    };
    let columns =
        ["attempts", "accepted", "peak_window", "peak_ratio", "fairness", "retry_after_max_s"];
    // No event at all: no key was ever seen.
    let nothing = summary("none", &text("kind = \"steady\"\nrate = \"0/s\"\n", 5));
    assert_eq!(nothing.cells("gcra", columns), ["0", "0", "0", "", "", ""]);
    assert_eq!(nothing.of("leaky-bucket", "wait_mean_s"), "");
    // One event.
    let one = summary("none", &text("kind = \"burst\"\nrequests = 1\n", 5));
    assert_eq!(one.cells("gcra", columns), ["1", "1", "1", "0.2", "1", ""]);
    // All refused, since nothing is allowed: no ratio to nothing, and no wait that would end.
    let refused = summary("none", &text("kind = \"burst\"\nrequests = 3\n", 0));
    assert_eq!(refused.cells("gcra", columns), ["3", "0", "0", "", "", ""]);
    assert_eq!(refused.of("gcra", "denied_for_ever"), "3");
    for sheet in [nothing, one, refused] {
        assert_eq!(sheet.rows.len(), 6);
        let cells = sheet.rows.iter().flat_map(|row| row.values());
        let wrong = |cell: &&String| ["nan", "inf", "-inf"].contains(&&*cell.to_lowercase());
        assert_eq!(cells.clone().find(wrong), None);
    }
}

#[test]
fn what_has_no_value_is_said_so_in_the_table_and_null_in_json() {
    let text = "name = \"none\"\nduration = \"10s\"\nlimit = \"5/s\"\n[[traffic]]\nkind = \"steady\"\n\
                rate = \"0/s\"\n";
    let bench = Bench::with("it.toml", text);
    insta::assert_snapshot!(bench.prints(&["run", "it.toml", "--no-charts"]));
    let printed = bench.prints(&["run", "it.toml", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert!(document["rows"][0]["peak_ratio"].is_null(), "{printed}");
    assert_eq!(document["rows"][0]["attempts"], 0);
}

#[test]
fn rates_and_spans_are_read_as_a_whole_or_not_at_all() {
    // `10/60` is not ten a minute, a month is no minute, and a millisecond no minute either.
    let text = |limit: &str| {
        format!(
            "name = \"it\"\nduration = \"1s\"\n{limit}\n[[traffic]]\nkind = \"burst\"\nrequests = 1\n"
        )
    };
    for limit in [
        "limit = \"10/60\"",
        "limit = \"10/perr\"",
        "limit = \"10 per minute\"",
        "limit = \"10/1 month\"",
        "limit = \"10/mo\"",
        "limit = \"10/1m \"",
        "limit = { requests = 10, per = \"10/60\" }",
        "limit = { requests = 10, per = \"1 month\" }",
        "limit = { requests = 10, per = \"mo\" }",
        "limit = { requests = 10, perr = \"1m\" }",
    ] {
        let message = Bench::with("it.toml", text(limit)).refuses(&["run", "it.toml"]);
        assert!(message.contains(" --> it.toml:3:"), "{limit}: {message}");
    }
    for (limit, words) in [
        ("limit = \"10/1ms\"", "10 per 1ms"),
        ("limit = \"10/m\"", "10 per 60s"),
        ("limit = { requests = 10, per = \"1h30m\" }", "10 per 90m"),
    ] {
        let bench = Bench::with("it.toml", text(limit));
        bench.prints(&["run", "it.toml", "--no-charts"]);
        assert_eq!(bench.record("it")["cases"][0]["limits"][0]["name"], words, "{limit}");
    }
}
