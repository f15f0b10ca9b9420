//! Times worked by hand.

use super::{S, merged, source, times};

const MS: i64 = S / 1000;

#[test]
fn a_burst_of_100_over_a_second_comes_every_10_ms() {
    let worked: Vec<i64> = (0..100).map(|i| 60 * S + i * 10 * MS).collect();
    let settings = r#"kind = "burst"; at = "60s"; over = "1s"; requests = 100"#;
    assert_eq!(times("3m", settings), worked);
}

#[test]
fn a_burst_of_36_over_15_s_comes_every_five_twelfths_of_a_second_rounded_down() {
    let found = times("1m", r#"kind = "burst"; over = "15s"; requests = 36"#);
    assert_eq!(found[..4], [0, 416_666_666, 833_333_333, 1_250_000_000]);
    assert_eq!(found[35], 14_583_333_333);
    assert_eq!(found.len(), 36);
}

#[test]
fn a_burst_without_a_span_comes_at_once() {
    let settings = r#"kind = "burst"; at = "59s"; requests = 3; clients = 2"#;
    let found: Vec<_> = merged("1m", settings).iter().map(|a| (a.at.0, a.client)).collect();
    // Clients 0, 1, 0 in turn; of one instant in the order of the clients.
    assert_eq!(found, [(59 * S, 0), (59 * S, 0), (59 * S, 1)]);
}

#[test]
fn two_a_second_come_every_500_ms_from_the_first_instant_to_before_the_last() {
    let settings = r#"kind = "steady"; rate = "2/s"; from = "1s"; until = "3s""#;
    assert_eq!(times("1m", settings), [S, S + 500 * MS, 2 * S, 2 * S + 500 * MS]);
}

#[test]
fn three_a_second_do_not_drift() {
    let found = times("24h", r#"kind = "steady"; rate = "3/s"; from = "23h59m59s""#);
    let from = 86_399 * S;
    assert_eq!(found, [from, from + 333_333_333, from + 666_666_666]);
}

#[test]
fn clients_with_even_shares_take_turns() {
    let settings = r#"kind = "steady"; rate = "4/s"; clients = 3"#;
    let found: Vec<_> = merged("2s", settings).iter().map(|a| (a.at.0, a.client)).collect();
    let worked: Vec<_> = (0..8).map(|i| (i * 250 * MS, (i % 3) as u32)).collect();
    assert_eq!(found, worked);
}

#[test]
fn what_lies_at_or_beyond_the_end_does_not_exist() {
    for (settings, count) in [
        (r#"kind = "burst"; at = "10s"; requests = 5"#, 0),
        (r#"kind = "burst"; at = "9s"; over = "2s"; requests = 4"#, 2),
        (r#"kind = "burst"; at = "9s"; over = "2s"; requests = 4; clients = 9"#, 2),
        (r#"kind = "steady"; rate = "1/s""#, 10),
        (r#"kind = "steady"; rate = "1/s"; until = "1h""#, 10),
        (r#"kind = "steady"; rate = "1/s"; from = "1h""#, 0),
        (r#"kind = "steady"; rate = "1/10s""#, 1),
        (r#"kind = "steady"; rate = "0/s""#, 0),
        (r#"kind = "burst"; requests = 0; share = "zipf"; clients = 2"#, 0),
        (r#"kind = "poisson"; rate = "0/s""#, 0),
        (r#"kind = "ramp"; start-rate = "0/s"; end-rate = "0/s""#, 0),
        (r#"kind = "ramp"; start-rate = "0/s"; end-rate = "0/s"; spacing = "poisson""#, 0),
        (r#"kind = "wave"; rate = "0/s""#, 0),
        (r#"kind = "on-off"; rate = "0/s"; on = "1s"; off = "1s"; spacing = "poisson""#, 0),
    ] {
        let traffic = source("10s", settings);
        assert_eq!(traffic.merged().count(), count, "{settings}");
    }
}

#[test]
fn zipf_divides_11_requests_into_6_3_2_each_clients_own_evenly_spaced() {
    let settings = r#"kind = "burst"; over = "12s"; requests = 11; clients = 3; share = "zipf""#;
    let traffic = source("1m", settings);
    let of = |client| traffic.sources[0].stream(client).map(|a| a.at.0).collect::<Vec<_>>();
    assert_eq!(of(0), [0, 2, 4, 6, 8, 10].map(|s| s * S));
    let (second, third) = (of(1), of(2));
    assert_eq!([second.len(), third.len()], [3, 2]);
    assert_eq!(second[1] - second[0], 4 * S);
    assert_eq!(third[1] - third[0], 6 * S);
    // The phase of client 1 is the golden ratio's fraction, 0.618, of its 4 s.
    assert_eq!(second[0] / MS, 2472);
}

#[test]
fn on_for_1_s_and_off_for_2_s_places_two_a_second_at_the_start_of_every_third_second() {
    let settings = r#"kind = "on-off"; rate = "2/s"; on = "1s"; off = "2s"; from = "1s""#;
    assert_eq!(times("8s", settings), [2, 3, 8, 9, 14, 15].map(|half| half * S / 2));
}

#[test]
fn active_time_goes_on_where_the_last_turn_ended() {
    // Two in three seconds: after 0, 1.5, 3 and 4.5 s of active time.
    let settings = r#"kind = "on-off"; rate = "2/3s"; on = "1s"; off = "9s""#;
    assert_eq!(times("50s", settings), [0, 10_500, 30_000, 40_500].map(|ms| ms * MS));
}

#[test]
fn clients_that_are_on_together_take_turns() {
    let settings = r#"kind = "on-off"; rate = "4/s"; on = "1s"; off = "1s"; clients = 3"#;
    let found: Vec<_> = merged("3s", settings).iter().map(|a| (a.at.0, a.client)).collect();
    let at = [0, 250, 500, 750, 2000, 2250, 2500, 2750].map(|ms| ms * MS);
    assert_eq!(found, at.into_iter().zip([0, 1, 2, 0, 1, 2, 0, 1]).collect::<Vec<_>>());
}

#[test]
fn a_spread_client_may_start_in_the_middle_of_a_turn() {
    // The phase of client 1 is 0.618 of 10 s: 6.18 s are over, 1.82 s of being on are left.
    let settings =
        r#"kind = "on-off"; rate = "2/s"; on = "8s"; off = "2s"; phase = "spread"; clients = 2"#;
    let traffic = source("20s", settings);
    let second: Vec<i64> = traffic.sources[0].stream(1).map(|a| a.at.0 / MS).collect();
    // After 0.5, 1.5, 2.5 s and so on of active time; from 1.82 to 3.82 s it is off.
    assert_eq!(second[..4], [500, 1500, 4500, 5500]);
}

#[test]
fn an_even_ramp_from_0_to_10_a_second_in_10_s_makes_request_k_at_the_root_of_2k_seconds() {
    let settings =
        r#"kind = "ramp"; start-rate = "0/s"; end-rate = "10/s"; from = "5s"; until = "15s""#;
    let found = times("1h", settings);
    assert_eq!(found.len(), 50);
    assert_eq!([found[0], found[2], found[8], found[18]], [5, 7, 9, 11].map(|s| s * S));
    // The end of the run cuts the ramp; it does not make it steeper.
    assert_eq!(times("9s", settings), found[..8]);
}
