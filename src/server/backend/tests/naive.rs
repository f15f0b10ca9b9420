//! A second backend, which looks at everything at every nanosecond.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// A brown-out: from when to when, and what it does.
#[derive(Debug, Clone)]
struct Less {
    from: i64,
    to: i64,
    slots: u64,
    slow_down: u64,
    loses: bool,
}

#[derive(Debug, Clone)]
struct Setting {
    slots: u64,
    service: i64,
    exponential: bool,
    reject: i64,
    queue: u64,
    skip: bool,
    less: Vec<Less>,
}

/// An offer: when, what for, and from when on nobody waits.
type Offer = (i64, Work, i64);

const END: i64 = 80;

impl Setting {
    fn spec(&self) -> BackendSpec {
        let mut text = format!(
            "slots = {}\nservice-time = \"{}ns\"\nservice = \"{}\"\nreject-cost = \"{}ns\"\n\
             queue = {}\nabandoned = \"{}\"\n",
            self.slots,
            self.service,
            if self.exponential { "exponential" } else { "constant" },
            self.reject,
            self.queue,
            if self.skip { "skip" } else { "serve" },
        );
        for less in &self.less {
            text += &format!(
                "[[brown-out]]\nat = \"{}ns\"\nfor = \"{}ns\"\nslots = {}\nslow-down = {}\nloses = {}\n",
                less.from,
                less.to - less.from,
                less.slots,
                less.slow_down,
                less.loses,
            );
        }
        read(&text).unwrap()
    }

    fn less(&self, at: i64) -> Option<&Less> {
        self.less.iter().find(|less| less.from <= at && at < less.to)
    }

    fn time(&self, ticket: usize, work: Work, at: i64) -> i64 {
        let time = match work {
            Work::Reject => self.reject,
            Work::Serve if self.exponential => {
                let mut stream = Seed(1).draws("service").part(ticket as u64, 1);
                (exponential(&mut stream) * self.service as f64).round() as i64
            }
            Work::Serve => self.service,
        };
        time * self.less(at).map_or(1, |less| less.slow_down) as i64
    }

    fn fates(&self, offers: &[Offer]) -> Vec<Fate> {
        let mut fates = vec![Fate::Inside; offers.len()];
        // In service: ticket, from, until.
        let mut running: Vec<(usize, i64, i64)> = Vec::new();
        let mut queue: Vec<usize> = Vec::new();
        for at in 0..END {
            // What changes at an instant does so after what is done at it.
            for settled in [at - 1, at] {
                let less = self.less(settled);
                if settled == at
                    && let Some(less) = less.filter(|less| less.loses && less.from == at)
                {
                    for (ticket, from, _) in running.drain(..) {
                        fates[ticket] = Fate::Lost(Span::from_nanos((less.from - from) as u64));
                    }
                    queue.drain(..).for_each(|ticket| fates[ticket] = Fate::Lost(Span::ZERO));
                }
                let slots = less.map_or(self.slots, |less| less.slots) as usize;
                let arriving = (0..offers.len()).filter(|&i| settled == at && offers[i].0 == at);
                for arrival in [None].into_iter().chain(arriving.map(Some)) {
                    if let Some(ticket) = arrival {
                        if running.len() >= slots && queue.len() as u64 >= self.queue {
                            fates[ticket] = Fate::TurnedAway;
                            continue;
                        }
                        queue.push(ticket);
                    }
                    loop {
                        let ended = running.iter().position(|&(_, _, until)| until == at);
                        if let Some(index) = ended {
                            let (ticket, from, until) = running.remove(index);
                            fates[ticket] = Fate::Done(Instant(from), Instant(until));
                        } else if running.len() < slots && !queue.is_empty() {
                            let ticket = queue.remove(0);
                            let (_, work, leaves) = offers[ticket];
                            if self.skip && at >= leaves && arrival != Some(ticket) {
                                fates[ticket] = Fate::Skipped;
                            } else {
                                let until = at + self.time(ticket, work, settled);
                                running.push((ticket, at, until));
                            }
                        } else {
                            break;
                        }
                    }
                }
            }
        }
        fates
    }
}

fn settings() -> impl Strategy<Value = Setting> {
    let less = (0..12_i64, 1..25_i64, 0..4_u64, 1..4_u64, any::<bool>());
    let less = prop::collection::vec(less, 0..4);
    let base = (1..4_u64, 1..9_i64, any::<bool>(), 1..4_i64, 0..6_u64, any::<bool>());
    (base, less).prop_map(|((slots, service, exponential, reject, queue, skip), less)| {
        let mut end = 0;
        let less = less.into_iter().map(|(gap, lasts, left, slow_down, loses)| {
            let from = end + gap;
            end = from + lasts;
            let left = left.min(slots);
            let loses = loses || left == slots && slow_down == 1;
            Less { from, to: end, slots: left, slow_down, loses }
        });
        let less = less.filter(|less| less.from < END).collect();
        Setting { slots, service, exponential, reject, queue, skip, less }
    })
}

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let work = select(vec![Work::Serve, Work::Serve, Work::Reject]);
    prop::collection::vec((0..END, work, 0..12_i64), 0..60).prop_map(|mut offers| {
        offers.sort_by_key(|offer| offer.0);
        offers.into_iter().map(|(at, work, patience)| (at, work, at + patience)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_backend_does_what_one_does_that_looks_at_everything(
        setting in settings(),
        offers in offers(),
    ) {
        let jobs = offers.iter().zip(0..).map(|(&(at, work, _), ticket)| {
            (Instant(at), Job { work, ..job(ticket) })
        });
        let jobs: Vec<_> = jobs.collect();
        let run = Window { start: Instant(0), end: Instant(END) };
        let waits = |at: Instant, job: Job| at.0 < offers[job.ticket as usize].2;
        prop_assert_eq!(fates(&setting.spec(), run, &jobs, &waits), setting.fates(&offers));
    }
}
