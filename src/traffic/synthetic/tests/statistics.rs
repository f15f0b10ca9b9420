//! Counts of what is random, with fixed seeds, within five standard deviations.

use super::{S, assert_near, bins, merged, source, times};

#[test]
fn poisson_counts_have_the_rate_as_mean_and_as_variance() {
    for clients in [1, 7] {
        let settings = format!(r#"kind = "poisson"; rate = "100/s"; clients = {clients}"#);
        let counts = bins(&times("1000s", &settings), S, 1000);
        let mean = counts.iter().sum::<f64>() / 1000.0;
        assert_near(mean * 1000.0, 100_000.0);
        // The variance of 1,000 counts of mean 100 has standard deviation 100 * sqrt(2 / 1000) = 4.5.
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / 999.0;
        assert!((variance - 100.0).abs() < 5.0 * 4.5, "{variance}");
    }
}

#[test]
fn gaps_shorter_than_a_nanosecond_lose_nothing() {
    let found = times("100us", r#"kind = "poisson"; rate = "4/ns""#);
    assert_near(found.len() as f64, 400_000.0);
}

#[test]
fn zipf_clients_make_their_shares_at_random_too() {
    let settings =
        r#"kind = "poisson"; rate = "110/s"; clients = 3; share = "zipf"; exponent = 1.0"#;
    let traffic = source("100s", settings);
    for (client, mean) in [6000.0, 3000.0, 2000.0].into_iter().enumerate() {
        assert_near(traffic.sources[0].stream(client).count() as f64, mean);
    }
}

#[test]
fn a_random_ramp_from_0_to_100_a_second_grows_as_its_area_does() {
    let settings = r#"kind = "ramp"; start-rate = "0/s"; end-rate = "100/s"; spacing = "poisson"; clients = 3"#;
    let counts = bins(&times("100s", settings), 10 * S, 10);
    for (bin, count) in counts.into_iter().enumerate() {
        // From 10k to 10k + 10 per second over 10 s: the mean rate times 10.
        assert_near(count, 10.0 * (10.0 * bin as f64 + 5.0));
    }
    let falling = r#"kind = "ramp"; start-rate = "6000/m"; end-rate = "0/s"; spacing = "poisson"; until = "100s""#;
    let counts = bins(&times("50s", falling), 25 * S, 2);
    // Cut at half of its length: 87.5 and 62.5 a second on average.
    assert_near(counts[0], 87.5 * 25.0);
    assert_near(counts[1], 62.5 * 25.0);
}

#[test]
fn a_wave_is_highest_at_its_peak_and_lowest_half_a_period_later() {
    let settings = r#"kind = "wave"; rate = "3600/h"; amplitude = 0.8; peak = "14h"; clients = 5"#;
    let counts = bins(&times("24h", settings), 3600 * S, 24);
    for (hour, count) in counts.into_iter().enumerate() {
        // The mean of the cosine over an hour around its middle is cos(middle) * sin(x) / x for
        // x = pi / 24.
        let x = std::f64::consts::PI / 24.0;
        let middle = libm::cos(2.0 * x * (hour as f64 + 0.5 - 14.0)) * libm::sin(x) / x;
        assert_near(count, 3600.0 * (1.0 + 0.8 * middle));
    }
}

#[test]
fn a_wave_of_amplitude_1_is_silent_in_its_trough() {
    let settings =
        r#"kind = "wave"; rate = "1000/s"; amplitude = 1; period = "100s"; peak = "50s""#;
    let counts = bins(&times("100s", settings), 5 * S, 20);
    // In the first 5 s: 1 - cos averages 2 pi^2 / 3 * (5 / 100)^2 = 0.0164.
    assert_near(counts[0], 82.0);
    assert_near(counts.iter().sum(), 100_000.0);
}

#[test]
fn random_arrivals_of_fixed_turns_fall_into_the_turns() {
    let settings = r#"kind = "on-off"; rate = "50/s"; on = "1s"; off = "3s"; spacing = "poisson"; clients = 4"#;
    let counts = bins(&times("400s", settings), S, 400);
    let (on, off): (Vec<_>, Vec<_>) = counts.iter().enumerate().partition(|(s, _)| s % 4 == 0);
    assert!(off.iter().all(|(_, count)| **count == 0.0));
    assert_near(on.iter().map(|(_, count)| **count).sum(), 5000.0);
}

#[test]
fn spread_clients_are_on_in_the_same_number_at_any_time() {
    let fixed = r#"kind = "on-off"; rate = "1000/s"; on = "1s"; off = "3s"; phase = "spread"; clients = 500; spacing = "poisson""#;
    let random = format!(r#"{fixed}; lengths = "exponential""#);
    for count in bins(&times("20s", fixed), S, 20) {
        assert_near(count, 250.0);
    }
    for count in bins(&times("20s", &random), S, 20) {
        // Turns vary too: of 500 clients 125 are on, give or take 9.7 of them or 19 requests, which
        // with the 16 of the requests themselves makes less than 1.6 times 16.
        assert!((count - 250.0).abs() < 5.0 * 1.6 * 16.0, "{count}");
    }
}

#[test]
fn random_turns_together_are_the_same_for_all_clients() {
    let settings = r#"kind = "on-off"; rate = "100/s"; on = "1s"; off = "9s"; lengths = "exponential"; clients = 4"#;
    let found = times("2000s", settings);
    let gaps: Vec<i64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let pauses = gaps.iter().filter(|&&gap| gap > S / 100).count();
    // About one pause in ten seconds; the requests of a turn are 10 ms apart, whoever makes them.
    assert_near(pauses as f64, 200.0);
    let regular = gaps.iter().filter(|&&gap| gap == S / 100).count();
    assert_eq!(regular + pauses, gaps.len());
}

#[test]
fn endpoints_are_asked_for_by_weight_and_cost_what_theirs_cost() {
    let settings = r#"kind = "poisson"; rate = "100/s"; endpoints = { "/a" = 3, "/b" = 1, "/c" = 0 }; cost = 2; costs = { "/b" = 10 }"#;
    let found = merged("100s", settings);
    let of = |endpoint| found.iter().filter(|a| a.endpoint == endpoint).count() as f64;
    assert_near(of(0), 7500.0);
    assert_near(of(1), 2500.0);
    assert_eq!(of(2), 0.0);
    assert!(found.iter().all(|a| a.cost == [2, 10][a.endpoint as usize]));
}

#[test]
fn uniform_costs_are_each_as_frequent_as_the_others() {
    let settings =
        r#"kind = "burst"; requests = 9000; cost = { kind = "uniform", min = 4, max = 6 }"#;
    let found = merged("1s", settings);
    for cost in 4..=6 {
        assert_near(found.iter().filter(|a| a.cost == cost).count() as f64, 3000.0);
    }
}

#[test]
fn log_normal_costs_have_the_median_and_the_spread_and_stop_at_the_maximum() {
    let settings = r#"kind = "burst"; requests = 10000; clients = 10; cost = { kind = "log-normal", median = 1000, sigma = 0.5, max = 2000 }"#;
    let found = merged("1s", settings);
    let above = |cost| found.iter().filter(|a| a.cost > cost).count() as f64;
    assert_near(above(1000), 5000.0);
    // exp(0.5) = 1.6487: one standard deviation above, 15.87 %; ln 2 is 1.386 of them, 8.29 %.
    assert_near(above(1648), 1587.0);
    assert_near(above(1999), 829.0);
    assert_eq!(above(2000), 0.0);
    let none =
        r#"kind = "burst"; requests = 99; cost = { kind = "log-normal", median = 1, sigma = 9 }"#;
    assert!(merged("1s", none).iter().all(|a| a.cost >= 1));
}
