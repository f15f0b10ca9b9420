//! Cases worked by hand, and the formulas of queueing theory.

use super::*;

/// Of jobs offered at these milliseconds, all of which somebody waits for.
fn of(text: &str, offers: &[i64]) -> Vec<Fate> {
    waiting(text, offers, &|_, _| true)
}

fn waiting(text: &str, offers: &[i64], waits: &dyn Fn(Instant, Job) -> bool) -> Vec<Fate> {
    let offers = offers.iter().zip(0..).map(|(ms, ticket)| (Instant(ms * MS), job(ticket)));
    fates(&read(text).unwrap(), run(1000), &offers.collect::<Vec<_>>(), waits)
}

/// Done from and to these milliseconds.
fn done(from: i64, to: i64) -> Fate {
    Fate::Done(Instant(from * MS), Instant(to * MS))
}

fn lost(ms: u64) -> Fate {
    Fate::Lost(Span::from_nanos(ms * 1_000_000))
}

const ONE: &str = "slots = 1\nservice-time = \"10ms\"\n";
const TWO: &str = "slots = 2\nservice-time = \"10ms\"\n";

#[test]
fn five_at_once_for_two_slots_of_10_ms_start_at_0_0_10_10_and_20_ms() {
    let expected = [done(0, 10), done(0, 10), done(10, 20), done(10, 20), done(20, 30)];
    assert_eq!(of(TWO, &[0; 5]), expected);
}

#[test]
fn a_slot_that_becomes_free_at_an_instant_is_taken_at_that_instant() {
    assert_eq!(
        of(&format!("{ONE}queue = 0\n"), &[0, 9, 10]),
        [done(0, 10), Fate::TurnedAway, done(10, 20)]
    );
}

#[test]
fn whom_the_queue_has_no_room_for_is_turned_away() {
    let expected =
        [done(0, 10), done(0, 10), done(10, 20), done(10, 20), Fate::TurnedAway, done(20, 30)];
    assert_eq!(of(&format!("{TWO}queue = 2\n"), &[0, 0, 0, 0, 0, 15]), expected);
    let by_default = of(ONE, &[0; 600]);
    assert_eq!(by_default.iter().filter(|&&fate| fate == Fate::TurnedAway).count(), 600 - 512);
}

#[test]
fn with_fewer_slots_what_runs_is_done_and_nothing_starts_until_there_are_few() {
    // Both end at 10 ms; then one slot works until 25 ms, when the other is back.
    let text = format!("{TWO}[[brown-out]]\nat = \"5ms\"\nfor = \"20ms\"\nslots = 1\n");
    let expected = [done(0, 10), done(0, 10), done(10, 20), done(20, 30), done(25, 35)];
    assert_eq!(of(&text, &[0; 5]), expected);
}

#[test]
fn a_full_stop_holds_the_queue_until_it_is_over() {
    let text = format!("{ONE}[[brown-out]]\nat = \"5ms\"\nfor = \"45ms\"\nslots = 0\n");
    assert_eq!(of(&text, &[0, 0, 20]), [done(0, 10), done(50, 60), done(60, 70)]);
    // One that lasts to the end and beyond.
    let text = format!("{ONE}[[brown-out]]\nat = \"5ms\"\nfor = \"1h\"\nslots = 0\n");
    assert_eq!(of(&text, &[0, 0, 20]), [done(0, 10), Fate::Inside, Fate::Inside]);
}

#[test]
fn what_begins_within_a_slow_down_takes_longer_to_its_end() {
    let text = format!("{ONE}[[brown-out]]\nat = \"5ms\"\nfor = \"20ms\"\nslow-down = 3\n");
    assert_eq!(of(&text, &[0, 0, 0]), [done(0, 10), done(10, 40), done(40, 50)]);
}

#[test]
fn what_is_there_when_a_crash_begins_is_lost_and_what_comes_later_is_not() {
    let crash = "[[brown-out]]\nat = \"5ms\"\nfor = \"20ms\"\nloses = true\n";
    // The slot of the first is taken again at 6 ms; what was due at 10 ms does not end that.
    assert_eq!(
        of(&format!("{ONE}{crash}"), &[0, 1, 2, 6]),
        [lost(5), lost(0), lost(0), done(6, 16)]
    );
    // At that very instant: what is done is done, what starts then is lost, what comes then is not.
    let crash = "[[brown-out]]\nat = \"10ms\"\nfor = \"20ms\"\nloses = true\nslots = 0\n";
    assert_eq!(of(&format!("{ONE}{crash}"), &[0, 1, 10]), [done(0, 10), lost(0), done(30, 40)]);
}

#[test]
fn the_lost_are_told_in_the_order_in_which_they_began_then_as_they_were_queued() {
    let text = "slots = 2\nservice-time = \"10ms\"\n\
                [[brown-out]]\nat = \"15ms\"\nfor = \"1ms\"\nloses = true\n";
    let mut backend = Backend::new(&read(text).unwrap(), run(100), Seed(1));
    let offer =
        |backend: &mut Backend, ms: i64, ticket| backend.offer(Instant(ms * MS), job(ticket));
    let Entry::Started(first) = offer(&mut backend, 0, 0) else { panic!("a slot is free") };
    offer(&mut backend, 5, 1);
    backend.finish(first.until, first.running).unwrap();
    // Takes the place of the first, but began after the second.
    for ticket in 2..5 {
        assert_eq!(matches!(offer(&mut backend, 12, ticket), Entry::Queued), ticket > 2);
    }
    let lost = backend.change(Instant(15 * MS));
    let lost: Vec<_> =
        lost.iter().map(|(job, busy)| (job.ticket, busy.nanos() / 1_000_000)).collect();
    assert_eq!(lost, [(1, 10), (2, 3), (3, 0), (4, 0)]);
    assert_eq!(jobs(&backend), 0);
}

#[test]
fn work_that_nobody_waits_for_is_done_or_skipped_when_its_turn_comes() {
    // The second has its answer wanted until 5 ms.
    let waits = |at: Instant, job: Job| job.ticket != 1 || at < Instant(5 * MS);
    let served = waiting(ONE, &[0, 0, 0], &waits);
    assert_eq!(served, [done(0, 10), done(10, 20), done(20, 30)]);
    let skipped = waiting(&format!("{ONE}abandoned = \"skip\"\n"), &[0, 0, 0], &waits);
    assert_eq!(skipped, [done(0, 10), Fate::Skipped, done(10, 20)]);
}

#[test]
fn a_rejection_takes_a_slot_for_its_cost_and_queues_as_others_do() {
    let text = format!("{ONE}service = \"exponential\"\nreject-cost = \"2ms\"\n");
    let reject = |ticket| (Instant(0), Job { work: Work::Reject, ..job(ticket) });
    let found = fates(&read(&text).unwrap(), run(100), &[reject(0), reject(1)], &|_, _| true);
    assert_eq!(found, [done(0, 2), done(2, 4)]);
    assert_eq!(read(&text).unwrap().reject_cost(), Span::from_nanos(2_000_000));
}

#[test]
fn changes_are_told_once_an_instant_and_within_the_run() {
    let brown_out = |at: &str, lasts: &str| {
        format!("[[brown-out]]\nat = \"{at}\"\nfor = \"{lasts}\"\nslots = 0\n")
    };
    let changes = |text: &str| {
        let spec = read(&format!("{ONE}{text}")).unwrap();
        let changes = Backend::new(&spec, run(100), Seed(1)).changes();
        let disturbed = spec.disturbed(run(100)).map(|w| (w.start.0 / MS, w.end.0 / MS));
        (changes.into_iter().map(|at| at.0 / MS).collect::<Vec<_>>(), disturbed)
    };
    assert_eq!(changes(""), (vec![], None));
    let two = brown_out("20ms", "5ms") + &brown_out("0s", "10ms");
    assert_eq!(changes(&two), (vec![0, 10, 20, 25], Some((0, 25))));
    let adjacent = brown_out("0s", "10ms") + &brown_out("10ms", "5ms");
    assert_eq!(changes(&adjacent), (vec![0, 10, 15], Some((0, 15))));
    // One that ends with the run or after it, and one that never begins.
    assert_eq!(changes(&brown_out("20ms", "80ms")), (vec![20], Some((20, 100))));
    let long = brown_out("20ms", "70ms") + &brown_out("90ms", "1h");
    assert_eq!(changes(&long), (vec![20, 90], Some((20, 100))));
    assert_eq!(changes(&brown_out("100ms", "1s")), (vec![], None));
}

#[test]
fn one_brown_out_may_follow_upon_another() {
    let text = format!(
        "{ONE}[[brown-out]]\nat = \"5ms\"\nfor = \"10ms\"\nslots = 0\n\
         [[brown-out]]\nat = \"15ms\"\nfor = \"30ms\"\nslow-down = 2\n"
    );
    assert_eq!(of(&text, &[6, 6, 6]), [done(15, 35), done(35, 55), done(55, 65)]);
}

#[test]
fn large_numbers_cost_nothing_and_overflow_nothing() {
    let text = format!(
        "slots = {0}\nqueue = {0}\nservice-time = \"15000w\"\nreject-cost = \"15000w\"\n\
         [[brown-out]]\nat = \"0s\"\nfor = \"15000w\"\nslow-down = 1000000\n",
        1_u64 << 32
    );
    for service in ["constant", "exponential"] {
        let spec = read(&format!("service = \"{service}\"\n{text}")).unwrap();
        let run = Window { start: Instant(0), end: Window::LAST };
        let mut backend = Backend::new(&spec, run, Seed(1));
        assert_eq!(backend.changes(), [run.start]);
        assert!(backend.change(run.start).is_empty());
        for work in [Work::Serve, Work::Reject] {
            let Entry::Started(started) = backend.offer(run.start, Job { work, ..job(0) }) else {
                panic!("a slot is free")
            };
            assert_eq!(started.until, run.start + Span::MAX);
        }
        assert_eq!(jobs(&backend), 2);
    }
    assert!(size_of::<Job>() <= 40);
}

/// The mean time from offer to answer of jobs that come as a Poisson process, in service times.
fn mean_time_in_system(service: &str, load: f64) -> f64 {
    const JOBS: u64 = 200_000;
    let text =
        format!("slots = 1\nqueue = 4294967296\nservice-time = \"1ms\"\nservice = \"{service}\"\n");
    let gaps = Seed(7).draws("arrivals");
    let mut at = 0.0;
    let offers = (0..JOBS).map(|ticket| {
        at += exponential(&mut gaps.stream(ticket)) * MS as f64 / load;
        (Instant(at as i64), job(ticket))
    });
    let offers: Vec<_> = offers.collect();
    let run = Window { start: Instant(0), end: Instant(i64::MAX) };
    let fates = fates(&read(&text).unwrap(), run, &offers, &|_, _| true);
    let spans = offers.iter().zip(fates).map(|(offer, fate)| match fate {
        Fate::Done(_, to) => (to - offer.0).nanos() as f64,
        other => panic!("{other:?}"),
    });
    spans.sum::<f64>() / JOBS as f64 / MS as f64
}

#[test]
fn one_slot_is_as_busy_as_the_formulas_of_queueing_theory_say() {
    // M/M/1: 1 / (1 - 0.5) = 2. M/D/1 (Pollaczek and Khinchine): 1 + 0.5 / (2 (1 - 0.5)) = 1.5.
    for (service, expected) in [("exponential", 2.0), ("constant", 1.5)] {
        let found = mean_time_in_system(service, 0.5);
        assert!((found / expected - 1.0).abs() < 0.03, "{service}: {found}");
    }
}
