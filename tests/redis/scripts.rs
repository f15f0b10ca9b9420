//! What each script decides, writes and lets expire, by hand.

use ratesim::rate::Limit;
use ratesim::redis::{Answer, Decision, Invocation, KeyArgs, SCRIPTS, Session};
use ratesim::scenario::Combine;
use ratesim::time::Span;
use redis::{Value, cmd};

use crate::Test;
use crate::support::{session, url};

pub fn tests() -> Vec<Test> {
    vec![
        crate::test!(Server, scripts::a_denied_request_writes_nothing),
        crate::test!(Server, scripts::every_key_expires_when_it_stops_to_matter),
        crate::test!(Server, scripts::the_log_keeps_one_entry_a_request_and_one_that_left),
        crate::test!(Server, scripts::wrong_arguments_are_refused_and_write_nothing),
        crate::test!(Server, scripts::the_worked_example_of_each),
        crate::test!(Server, scripts::all_or_nothing_charges_no_limit_if_one_refuses),
    ]
}

/// Noon of 2026-01-01 in microseconds.
const NOON: i64 = 1_767_268_800_000_000;
const SECOND: i64 = 1_000_000;
/// Ten minutes, in which no test waits.
const SLACK: u64 = 600_000;

/// A session and a script in it.
struct Bench {
    session: Session,
    name: &'static str,
    sha: String,
}

fn benches() -> Vec<Bench> {
    let bench = |script: &'static ratesim::redis::Script| {
        let mut session = session(&url().unwrap());
        let sha = session.connection().load(script.text).unwrap();
        Bench { session, name: script.name, sha }
    };
    SCRIPTS.iter().map(bench).collect()
}

impl Bench {
    fn key(&self, number: usize) -> String {
        self.session.key(0, None, 0, number)
    }

    fn call(&mut self, now: i64, combine: Combine, asks: &[(usize, Limit, u32)]) -> Answer {
        let keys =
            asks.iter().map(|&(key, limit, cost)| KeyArgs { key: self.key(key), limit, cost });
        let call = Invocation { now, slack: SLACK, combine, keys: keys.collect() };
        let answer: Value = self.session.connection().ask(&call.command(&self.sha)).unwrap();
        Answer::read(&answer).unwrap()
    }

    /// Asks for a cost under one key.
    fn ask(&mut self, now: i64, limit: Limit, cost: u32) -> (Decision, Option<u64>) {
        let answer = self.call(now, Combine::AllOrNothing, &[(0, limit, cost)]);
        (answer.decision, answer.micros)
    }

    fn exists(&mut self, number: usize) -> bool {
        let key = self.key(number);
        self.session.connection().ask::<u64>(cmd("EXISTS").arg(key)).unwrap() == 1
    }

    fn end(mut self) {
        self.session.clear(false).unwrap();
    }
}

fn limit(requests: u64, seconds: u64) -> Limit {
    Limit::new(requests, Span::from_secs(seconds))
}

pub fn a_denied_request_writes_nothing() {
    for mut bench in benches() {
        let denied = bench.ask(NOON, limit(3, 10), 4);
        assert_eq!(denied, (Decision::Denied, None), "{}", bench.name);
        assert!(!bench.exists(0), "{}", bench.name);
        bench.end();
    }
}

pub fn every_key_expires_when_it_stops_to_matter() {
    for mut bench in benches() {
        // 3 s into a window of ten, two of four.
        bench.ask(NOON + 3 * SECOND, limit(4, 10), 2);
        let matters = match bench.name {
            "fixed-window" => 7_000,
            "sliding-window-log" => 10_000,
            "sliding-window-counter" => 17_000,
            // Two intervals of 2.5 s.
            _ => 5_000,
        };
        let key = bench.key(0);
        let left: u64 = bench.session.connection().ask(cmd("PTTL").arg(key)).unwrap();
        let most = matters + SLACK;
        assert!((most - SLACK / 2..=most).contains(&left), "{}: {left} of {most}", bench.name);
        bench.end();
    }
}

pub fn the_log_keeps_one_entry_a_request_and_one_that_left() {
    let mut bench = benches().into_iter().find(|b| b.name == "sliding-window-log").unwrap();
    for second in 0..100 {
        bench.ask(NOON + second * SECOND, limit(100, 10), 7);
    }
    let key = bench.key(0);
    // Ten in the window, and the newest of those that left.
    assert_eq!(bench.session.connection().ask::<u64>(cmd("ZCARD").arg(&key)).unwrap(), 11);
    // Ten of one microsecond are ten.
    for _ in 0..10 {
        bench.ask(NOON + 200 * SECOND, limit(100, 10), 1);
    }
    assert_eq!(bench.session.connection().ask::<u64>(cmd("ZCARD").arg(&key)).unwrap(), 11);
    bench.end();
}

pub fn wrong_arguments_are_refused_and_write_nothing() {
    for mut bench in benches() {
        for (arguments, said) in [
            ("1 0 all-or-nothing 5 1000000 5", "give NOW SLACK MODE"),
            ("1 0 all 5 1000000 5 1", "MODE must be"),
            ("1.5 0 all-or-nothing 5 1000000 5 1", "NOW and SLACK must be"),
            ("now 0 all-or-nothing 5 1000000 5 1", "NOW and SLACK must be"),
            ("1 -1 all-or-nothing 5 1000000 5 1", "NOW and SLACK must be"),
            ("1 0 all-or-nothing 5 0 5 1", "LIMIT, WINDOW, BURST and COST must be"),
            ("1 0 all-or-nothing 5 1000000 5 0", "LIMIT, WINDOW, BURST and COST must be"),
            ("1 0 all-or-nothing 9007199254740992 1000000 5 1", "below 2^53"),
        ] {
            let mut command = cmd("EVALSHA");
            command.arg(&bench.sha).arg(1).arg(bench.key(0));
            for argument in arguments.split(' ') {
                command.arg(argument);
            }
            let fault = bench.session.connection().ask::<Value>(&command).unwrap_err().to_string();
            assert!(fault.contains(said), "{}: {arguments}: {fault}", bench.name);
        }
        assert!(!bench.exists(0));
        bench.end();
    }
}

pub fn the_worked_example_of_each() {
    let admitted = (Decision::Admitted, Some(0));
    let denied = |micros| (Decision::Denied, Some(micros));
    for mut bench in benches() {
        let (one, burst) = (limit(2, 1), Limit { burst: 3, ..limit(2, 1) });
        match bench.name {
            // Two in a second that ends at 0.9 s from here.
            "fixed-window" => {
                let at = NOON + SECOND / 10;
                assert_eq!([bench.ask(at, one, 1), bench.ask(at, one, 1)], [admitted; 2]);
                assert_eq!(bench.ask(at, one, 1), denied(900_000));
                assert_eq!(bench.ask(at + 900_000, one, 2), admitted);
            }
            "sliding-window-log" => {
                assert_eq!(bench.ask(NOON, one, 1), admitted);
                assert_eq!(bench.ask(NOON + 1, one, 1), admitted);
                assert_eq!(bench.ask(NOON + 2, one, 1), denied(999_998));
                assert_eq!(bench.ask(NOON + 2, one, 2), denied(999_999));
                // One that comes late counts as the newest: both of that time leave together.
                assert_eq!(bench.ask(NOON + SECOND + 1, one, 1), admitted);
                assert_eq!(bench.ask(NOON + 5, one, 1), admitted);
                assert_eq!(bench.ask(NOON + 5, one, 1), denied(1_999_996));
            }
            // The share of 2 is below 2 from 1 us after the edge, below 1 from 0.5 s and 1 us.
            "sliding-window-counter" => {
                assert_eq!(bench.ask(NOON, one, 2), admitted);
                assert_eq!(bench.ask(NOON, one, 1), denied(SECOND as u64 + 1));
                assert_eq!(bench.ask(NOON, one, 2), denied(1_500_001));
                assert_eq!(bench.ask(NOON + SECOND + 1, one, 1), admitted);
            }
            "token-bucket" | "gcra" => {
                assert_eq!(bench.ask(NOON, burst, 3), admitted);
                assert_eq!(bench.ask(NOON, burst, 1), denied(500_000));
                assert_eq!(bench.ask(NOON, burst, 3), denied(1_500_000));
                // An older time waits longer, and earns nothing.
                assert_eq!(bench.ask(NOON - SECOND, burst, 1), denied(1_500_000));
                assert_eq!(bench.ask(NOON + 500_000, burst, 1), admitted);
            }
            "leaky-bucket" => {
                let queued = |micros| (Decision::Queued, Some(micros));
                assert_eq!(bench.ask(NOON, burst, 2), queued(1_000_000));
                assert_eq!(bench.ask(NOON, burst, 1), queued(1_500_000));
                assert_eq!(bench.ask(NOON, burst, 1), denied(500_000));
                assert_eq!(bench.ask(NOON + 500_000, burst, 1), queued(1_500_000));
            }
            other => panic!("{other} has no example"),
        }
        bench.end();
    }
}

pub fn all_or_nothing_charges_no_limit_if_one_refuses() {
    let refused = |answer: Answer| (answer.decision, answer.refused);
    for mut bench in benches() {
        let passes = match bench.name {
            "leaky-bucket" => Decision::Queued,
            _ => Decision::Admitted,
        };
        let both = [(0, limit(2, 60), 1), (1, limit(1, 60), 1)];
        let mut ask = |combine| refused(bench.call(NOON, combine, &both));
        assert_eq!(ask(Combine::AllOrNothing), (passes, vec![]));
        // The second limit has nothing left; the first keeps its other one ...
        assert_eq!(ask(Combine::AllOrNothing), (Decision::Denied, vec![1]));
        // ... which is charged here, though the second refuses.
        assert_eq!(ask(Combine::Sequential), (Decision::Denied, vec![1]));
        // The first refuses, and the second is not asked, or is.
        assert_eq!(ask(Combine::Sequential), (Decision::Denied, vec![0]));
        assert_eq!(ask(Combine::Independent), (Decision::Denied, vec![0, 1]));
        bench.end();
    }
}
