//! What chance makes of delays is the same wherever the same attempt is made, and spread as it says.

use super::*;

const FULL: &str = "retries = \"fixed\"\ndelay = \"1s\"\njitter = \"full\"\n";

/// The delays of a thousand requests after their first failure.
fn delays(text: &str, seed: u64, tries: u32) -> Vec<Span> {
    let clients = clients(text);
    let mut crowd = Crowd::new(&clients, Seed(seed), 1000);
    let delay = |request: u64| {
        let mut memory = Memory { tries, ..fresh() };
        crowd.failed(request as u32, request, Instant::MIDNIGHT, &mut memory, None);
        memory.delay
    };
    (0..1000).map(delay).collect()
}

#[test]
fn requests_tries_and_seeds_draw_apart_and_each_the_same_again() {
    let first = delays(FULL, 1, 1);
    assert_eq!(first, delays(FULL, 1, 1));
    let mut distinct = first.clone();
    distinct.extend(delays(FULL, 1, 2));
    distinct.extend(delays(FULL, 2, 1));
    distinct.sort();
    distinct.dedup();
    // 3000 draws of a billion numbers: 0.0045 pairs are expected to be equal.
    assert_eq!(distinct.len(), 3000);
}

#[test]
fn an_attempt_draws_the_same_whatever_was_drawn_before() {
    let clients = clients(FULL);
    let expected = delays(FULL, 1, 1);
    let mut crowd = Crowd::new(&clients, Seed(1), 1000);
    for request in [999, 3, 3, 500] {
        let mut memory = fresh();
        crowd.failed(0, request, at("1h"), &mut memory, None);
        assert_eq!(memory.delay, expected[request as usize]);
    }
}

#[test]
fn delays_have_the_mean_and_the_spread_of_their_range() {
    // A uniform draw over a range of width w has the standard deviation w / sqrt(12), its mean over
    // 1000 that over sqrt(1000): five of these are 4.6 % of w.
    let around = "jitter-share = \"20%\"\njitter-side = \"around\"\n";
    let proportional = FULL.replace("full", "proportional") + around;
    for (text, least, most) in [
        (FULL.to_owned(), 0.0, 1.0),
        (FULL.replace("full", "equal"), 0.5, 1.0),
        (proportional.clone(), 0.8, 1.2),
        (proportional.replace("around", "above"), 1.0, 1.2),
    ] {
        let mut delays: Vec<f64> = delays(&text, 1, 1).iter().map(|d| d.as_secs_f64()).collect();
        delays.sort_by(f64::total_cmp);
        let (mean, width) = (delays.iter().sum::<f64>() / 1000.0, most - least);
        let middle: f64 = (least + most) / 2.0;
        assert!((mean - middle).abs() < 0.046 * width, "{text}{mean}");
        assert!(least <= delays[0] && delays[0] < least + 0.02 * width, "{text}{}", delays[0]);
        assert!(most - 0.02 * width < delays[999] && delays[999] <= most, "{text}");
        let quarter = delays.iter().filter(|&&delay| delay < least + width / 4.0).count();
        assert!((180..320).contains(&quarter), "{text}{quarter}");
    }
}

#[test]
fn the_first_draws_are_the_same_on_every_machine() {
    let first: Vec<String> = delays(FULL, 1, 1).iter().take(4).map(Span::to_string).collect();
    insta::assert_snapshot!(first.join(" "));
}
