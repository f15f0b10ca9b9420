//! x
use ratesim::*;
fn main() {
    for path in std::env::args().skip(1) {
        let r = scenario::Scenario::load(path.as_ref(), &Default::default())
            .and_then(|s| run::prepare(s, &[]))
            .and_then(|p| {
                let f = run::simulate(&p, Default::default(), &run::Silent::default())?;
                Ok((p, f))
            });
        match r {
            Err(e) => {
                println!("{e}");
            }
            Ok((p, f)) => {
                for row in &f.comparison.rows {
                    print!("{:24}", row.algorithm);
                    for m in metrics::METRICS {
                        if let Some(v) = (m.value)(&row.tally) {
                            print!(" {}={v}", m.name);
                        }
                    }
                    println!();
                }
                for j in run::judge(&p.scenario, &f.comparison) {
                    println!("{} {} {:?}", j.holds, j.expected, j.found);
                }
            }
        }
    }
}
