//! How large a run may become, known before it starts.

use serde::Serialize;

use super::spread::Spread;
use crate::error::{Problem, Problems};
use crate::params::Value;
use crate::scenario::{Case, LimitSpec};
use crate::traffic::Traffic;
use crate::world;

/// Upper bounds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Requests.
    pub requests: u64,
    /// Attempts of one algorithm, where clients react to answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// Events of one algorithm: each request arrives, and may leave a queue. In a closed loop each attempt
    /// may, is worked on, answered and waited for besides, and each request may be left.
    pub events: u64,
    /// Bytes that one algorithm and its judging may need at once.
    pub memory_bytes: u64,
}

/// Bytes of an entry of a log, of the judge's trailing window, of an event in the queue, and of what
/// is counted by key and by client, its name included.
const STAMP: u64 = 16;
const ACCEPTANCE: u64 = 16;
const EVENT: u64 = 64;
const SUBJECT: u64 = 768;

/// Bytes of what a closed loop keeps of a client besides, and of a job of the backend.
const CLIENT: u64 = 256;
const JOB: u64 = 128;

/// Bytes of a key's state at one more place, of a call of the store, and of a charge to tell it of.
const STATE: u64 = 192;
const CALL: u64 = 512;
const CHARGE: u64 = 32;

/// Bytes of a stored request, and of a recorded one whose time is drawn anew.
const STORED: u64 = 24;
const DRAWN: u64 = 32;

/// Whether any algorithm of a case has an option.
fn has_option(case: &Case, option: &str) -> bool {
    case.algorithms.iter().any(|algorithm| match &algorithm.value {
        Value::Table(table) => table.get(option).is_some(),
        _ => false,
    })
}

impl Estimate {
    /// Bytes that a replica may need for what its algorithms share, if it stores so many requests.
    pub(super) fn shared_bytes(traffic: &Traffic, stored: u64) -> u64 {
        let clients = (traffic.clients.len() as u64).saturating_mul(SUBJECT);
        let read = traffic.inputs.iter().map(|input| input.used).fold(0, u64::saturating_add);
        clients
            .saturating_add(stored.saturating_mul(STORED))
            .saturating_add(read.saturating_mul(DRAWN))
    }

    /// The bounds of one algorithm's run over the traffic of a case.
    pub fn of(case: &Case, traffic: &Traffic) -> Estimate {
        let requests = traffic.bound();
        let attempts = case.is_closed_loop().then(|| {
            let most = case.clients.most_attempts().map_or(u64::MAX, u64::from);
            requests.saturating_mul(most).min(case.max_attempts)
        });
        let decisions = attempts.unwrap_or(requests);
        let clients = traffic.clients.len() as u64;
        let endpoints = traffic.endpoints.len().max(1) as u64;
        // A key is made of a client and an endpoint at most, and no key was never asked for.
        let keys = clients.saturating_mul(endpoints).min(requests);
        let spread = case.fleet.as_ref().map_or(Spread::NONE, Spread::of);
        let calls = spread.under_way(case, traffic.window.span(), requests, decisions);
        // Where members of a log's set may be alike, it has one for each unit of cost.
        let costs = traffic.sources.iter().any(|source| source.has_costs());
        let by_unit = costs && has_option(case, "member");
        // What is let through is told others, and where denials are written, all is.
        let notes = has_option(case, "count-rejected") || has_option(case, "backwards");
        let windows = |spec: &LimitSpec| {
            let shortest = spec.promises().map(|limit| limit.per.nanos()).min();
            shortest.map_or(0, |per| traffic.window.span().nanos() / per.max(1) + 2)
        };
        let by_limit = case.limits.iter().map(|spec| {
            let most = spec.promises().map(|limit| limit.requests.max(limit.burst)).max();
            let all = keys.saturating_mul(most.unwrap_or(0));
            let apart = all.saturating_mul(spread.apart);
            let once = if by_unit { apart } else { apart.min(decisions) };
            let by_key = if by_unit { most } else { most.min(Some(decisions)) };
            let drafts = calls.saturating_mul(by_key.filter(|_| spread.drafts).unwrap_or(0));
            let remembered = once.saturating_mul(spread.copies).saturating_add(drafts);
            let state = SUBJECT.saturating_add(spread.places.saturating_mul(STATE));
            let states = keys.saturating_mul(state);
            let passed = if notes { u64::MAX } else { all.saturating_mul(windows(spec)) };
            let told =
                if spread.tells { passed.saturating_mul(spread.places).min(decisions) } else { 0 };
            remembered
                .saturating_mul(STAMP + ACCEPTANCE + EVENT)
                .saturating_add(states)
                .saturating_add(told.saturating_mul(CHARGE))
        });
        let by_limit = by_limit.fold(clients.saturating_mul(SUBJECT), u64::saturating_add);
        let beside = match attempts {
            // A bit for each decision, and one for that of the reference.
            None if spread.asks => requests.saturating_mul(world::REQUEST_BYTES as u64),
            None => requests.div_ceil(4),
            Some(attempts) => {
                let jobs = case.backend.as_ref().map_or(0, |backend| backend.most_jobs());
                requests
                    .saturating_mul(world::REQUEST_BYTES as u64)
                    .saturating_add(clients.saturating_mul(CLIENT))
                    .saturating_add(jobs.min(attempts).saturating_mul(JOB))
            }
        };
        let memory_bytes =
            by_limit.saturating_add(beside).saturating_add(calls.saturating_mul(CALL));
        let events = attempts.map_or(0, |attempts| attempts.saturating_mul(5));
        let events = events
            .saturating_add(requests.saturating_mul(2))
            .saturating_add(spread.events(case, traffic.window.span(), decisions));
        Estimate { requests, attempts, events, memory_bytes }
    }

    /// How many runs at a time fit into the memory that one may take, each with so many bytes beside.
    pub(super) fn fitting(&self, case: &Case, beside: u64) -> usize {
        let memory = case.max_memory_mib.saturating_mul(1 << 20);
        let fit = memory / self.memory_bytes.saturating_add(beside).max(1);
        usize::try_from(fit).unwrap_or(usize::MAX)
    }

    /// Reports a problem if the run is larger than the scenario allows.
    pub fn check(&self, case: &Case, problems: &Problems) {
        if self.requests > case.max_requests {
            let (requests, are) =
                if self.requests == 1 { ("request", "is") } else { ("requests", "are") };
            let message = format!(
                "up to {} {requests} {are} more than `max-requests` = {}",
                self.requests, case.max_requests
            );
            let help = "lower a rate, shorten `duration`, or raise `max-requests`";
            problems.add(Problem::at(&case.place, message).help(help));
        }
        let most = case.max_memory_mib.saturating_mul(1 << 20);
        if self.memory_bytes > most {
            let message = format!(
                "up to {} MiB of memory an algorithm are more than `max-memory-mib` = {}",
                self.memory_bytes.div_ceil(1 << 20),
                case.max_memory_mib
            );
            let attempts = match self.attempts {
                None => "",
                Some(_) => ", `attempts` of clients, `max-attempts`",
            };
            let backend =
                case.backend.as_ref().map_or("", |_| ", `slots` or `queue` of the backend");
            let help = format!(
                "lower the rate, the number of clients, the limit{attempts}{backend}, or raise \
                 `max-memory-mib`"
            );
            problems.add(Problem::at(&case.place, message).help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::run::{Options, Prepared, Silent, prepare, simulate};
    use crate::scenario::{Changes, Scenario};
    use proptest::prelude::*;
    use std::path::Path;

    fn scenario(text: &str) -> Result<Prepared, String> {
        let text = format!("name = \"t\"\n{text}");
        let scenario = Scenario::parse(Path::new("t.toml"), text, &Changes::default());
        let prepared = scenario.and_then(|scenario| prepare(scenario, &[]));
        prepared.map_err(|error| error.render(false))
    }

    fn traffic() -> impl Strategy<Value = String> {
        let kind = prop_oneof![
            (0..400_u64, 0..20_u64).prop_map(|(n, over)| format!(
                "kind = \"burst\"\nrequests = {n}\nover = \"{over}s\""
            )),
            (0..40_u64).prop_map(|n| format!("kind = \"steady\"\nrate = \"{n}/s\"")),
            (0..40_u64).prop_map(|n| format!("kind = \"poisson\"\nrate = \"{n}/s\"")),
            (0..40_u64).prop_map(|n| format!("kind = \"wave\"\nrate = \"{n}/s\"\nperiod = \"7s\"")),
            (1..40_u64, 0..40_u64).prop_map(|(one, other)| format!(
                "kind = \"ramp\"\nstart-rate = \"{one}/s\"\nend-rate = \"{other}/s\""
            )),
            (1..40_u64, 1..9_u64).prop_map(|(n, on)| format!(
                "kind = \"on-off\"\nrate = \"{n}/s\"\non = \"{on}s\"\noff = \"2s\""
            )),
        ];
        let share = prop_oneof![Just("even"), Just("zipf")];
        (kind, 1..9_u64, share).prop_map(|(kind, clients, share)| {
            format!(
                "[[traffic]]\n{kind}\nclients = {clients}\nshare = \"{share}\"\n\
                 endpoints = {{ \"/a\" = 3, \"/b\" = 1 }}\n"
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_run_is_larger_than_its_bounds(
            sources in prop::collection::vec(traffic(), 1..4),
            clients in prop::sample::select(vec![
                "",
                "[clients]\nrtt = \"1s\"\nretries = \"immediate\"\n",
                "[clients]\ntimeout = \"1s\"\nretries = \"fixed\"\ndelay = \"300ms\"\nattempts = 3\n\
                 [backend]\nslots = 2\nservice-time = \"400ms\"\nqueue = 5\n",
            ]),
            fleet in prop::sample::select(vec![
                "",
                "[nodes]\ncount = 3\n",
                "[nodes]\ncount = 3\n[store]\nround-trip = \"200ms\"\natomicity = \"read-modify-write\"\n",
                "[nodes]\ncount = 2\nplacement = \"synced\"\nsync-every = \"500ms\"\n\
                 [store]\n[[store.fail-over]]\nat = \"5s\"\nlag = \"2s\"\n",
            ]),
            (requests, burst) in (0..60_u64, 0..90_u64),
            seed in 0..1000_u64,
        ) {
            let limits = format!(
                "duration = \"15s\"\nseed = {seed}\n\
                 [[limit]]\nrequests = {requests}\nper = \"5s\"\nburst = {burst}\n\
                 key = [\"client\", \"endpoint\"]\n[[limit]]\nrequests = 100\nper = \"1s\"\n"
            );
            let prepared = scenario(&(limits + clients + fleet + &sources.concat())).unwrap();
            let findings = simulate(&prepared, Options::default(), &Silent::default()).unwrap();
            let bounds = findings.estimates[0];
            for row in &findings.comparison.rows {
                let tally = &row.tally;
                prop_assert!(tally.books.requests <= bounds.requests);
                prop_assert!(tally.books.attempts <= bounds.attempts.unwrap_or(bounds.requests));
                let events = tally.books.attempts + tally.queue_waits.count() + tally.books.pending;
                prop_assert!(events <= bounds.events);
                prop_assert!(tally.kept.bytes_max <= bounds.memory_bytes);
            }
        }
    }

    /// Of 1,000 requests for one client under 5 per 1 s.
    fn bounds(clients: &str) -> super::Estimate {
        scenario(&format!("{TRAFFIC}{clients}")).unwrap().cases[0].estimate
    }

    #[test]
    fn a_closed_loop_makes_as_many_attempts_as_its_clients_do_or_as_are_allowed() {
        let open = bounds("");
        assert_eq!((open.attempts, open.events), (None, 2_000));
        let once = bounds("[clients]\ntimeout = \"1s\"\n");
        assert_eq!((once.attempts, once.events), (Some(1_000), 7_000));
        let thrice = bounds("[clients]\nretries = \"immediate\"\nattempts = 3\n");
        assert_eq!((thrice.attempts, thrice.events), (Some(3_000), 17_000));
        let for_ever = bounds("[clients]\nretries = \"immediate\"\n");
        assert_eq!(for_ever.attempts, Some(1_000_000_000));
        let text = format!("max-attempts = 2500\n{TRAFFIC}[clients]\nprofile = \"naive-loop\"\n");
        assert_eq!(scenario(&text).unwrap().cases[0].estimate.attempts, Some(2_500));
        // Each request under way takes more than a hundred bytes, and so does each job of the 100 in the
        // queue and the 8 in service.
        assert!(once.memory_bytes >= open.memory_bytes + 100_000);
        let served = bounds(
            "[clients]\ntimeout = \"1s\"\n[backend]\nslots = 8\nservice-time = \"1ms\"\nqueue = 100\n",
        );
        assert_eq!(served.memory_bytes - once.memory_bytes, 108 * super::JOB);
    }

    #[test]
    fn a_call_that_outlives_its_client_takes_room_beside_the_next() {
        let of = |timeout: &str| {
            bounds(&format!(
                "[clients]\nretries = \"immediate\"\ntimeout = \"{timeout}\"\n[store]\ntimeout = \"9s\"\n"
            ))
        };
        // 1,000 requests: 90 more calls within the 9 s of one, or 9.
        let calls = (of("100ms").memory_bytes - of("1s").memory_bytes) / super::CALL;
        assert_eq!(calls, 81_000);
    }

    #[test]
    fn what_a_closed_loop_may_remember_is_bounded_by_its_attempts() {
        // Each attempt may be let through, and be remembered: 1,000 requests twice.
        let text = |most: u32| {
            format!(
                "max-memory-mib = {most}\nduration = \"10s\"\nlimit = \"1000000/1s\"\n\
                 [clients]\nretries = \"immediate\"\nattempts = 200\n\
                 [[traffic]]\nkind = \"burst\"\nrequests = 1000\n"
            )
        };
        // 200,000 times 96 bytes.
        assert!(scenario(&text(19)).is_ok());
        let shown = scenario(&text(18)).err().unwrap();
        assert!(shown.contains("up to 19 MiB of memory an algorithm"), "{shown}");
        assert!(shown.contains("`attempts` of clients, `max-attempts`, or raise"), "{shown}");
    }

    const TRAFFIC: &str = "duration = \"10s\"\nlimit = \"5/1s\"\n\
                           [[traffic]]\nkind = \"burst\"\nrequests = 1000\n";

    #[test]
    fn a_run_larger_than_allowed_is_refused_before_it_starts() {
        assert!(scenario(&format!("max-requests = 1000\n{TRAFFIC}")).is_ok());
        let shown = scenario(&format!("max-requests = 999\n{TRAFFIC}")).err().unwrap();
        assert!(
            shown.contains("up to 1000 requests are more than `max-requests` = 999"),
            "{shown}"
        );
        let shown = scenario(&format!("max-memory-mib = 0\n{TRAFFIC}")).err().unwrap();
        assert!(shown.contains("are more than `max-memory-mib` = 0"), "{shown}");
    }

    #[test]
    fn bounds_beyond_all_numbers_are_refused_too() {
        let most = u64::MAX / 2;
        let text = format!(
            "duration = \"10s\"\nlimit = \"4294967296/1s\"\n\
             [[traffic]]\nkind = \"burst\"\nrequests = {most}\n\
             [[traffic]]\nkind = \"burst\"\nrequests = {most}\nclients = 1000\n\
             [[traffic]]\nkind = \"poisson\"\nrate = \"4294967296/1ns\"\nclients = 1000\n"
        );
        let shown = scenario(&text).err().unwrap();
        assert!(shown.contains("up to 18446744073709551615 requests"), "{shown}");
        assert!(shown.contains("of memory an algorithm"), "{shown}");
    }
}
