//! How often every case is run, each time under another seed, and which case the others are held
//! against.

use super::case::Case;
use crate::error::{Place, Problem, Problems};
use crate::params::Params;

/// The repetitions of a scenario as written.
pub(super) struct Replication {
    /// How many runs of each case there are, at least one.
    pub replicas: u32,
    baseline: Option<String>,
    place: Place,
}

/// A scenario has at most so many replicas.
const MOST: u64 = 1000;

/// Reads them.
pub(super) fn read(params: &mut Params) -> Replication {
    let replicas = params.within(1..=MOST).or(
        "replicas",
        1_u32,
        "How many times each case is run, each time under another seed, the first under `seed` itself. \
         With more than one, tables show means with their 95 % intervals, and `comparison.csv` is \
         written. All cases and algorithms of a replica share its random numbers.",
    );
    let baseline = params.optional(
        "baseline",
        "The case that the others are compared with, replica by replica; by default the first.",
    );
    Replication { replicas, baseline, place: params.place_of("baseline") }
}

impl Replication {
    /// The position of the baseline among the cases; the first where it names none, or none that is
    /// there.
    pub fn baseline(&self, cases: &[Case], all_known: bool, problems: &Problems) -> usize {
        let Some(name) = &self.baseline else { return 0 };
        let known = || cases.iter().map(|case| case.name.as_str());
        if let Some(found) = known().position(|known| known == name && !known.is_empty()) {
            return found;
        }
        if cases.iter().all(|case| case.name.is_empty()) {
            let message = format!("there is no case `{name}`, as there are no cases");
            let help = "add [[case]] or [matrix], or leave `baseline` out";
            problems.add(Problem::at(&self.place, message).help(help));
        } else if all_known {
            problems.add(Problem::unknown(&self.place, "case", name, known()));
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Changes, Scenario};
    use std::path::Path;

    fn read(text: &str, replicas: Option<u32>) -> Result<(u32, usize), String> {
        let text = format!(
            "name = \"t\"\nduration = \"1s\"\nlimit = \"1/1s\"\n{text}\n\
             [[traffic]]\nkind = \"burst\"\n"
        );
        let changes = Changes { replicas, ..Changes::default() };
        let scenario = Scenario::parse(Path::new("t.toml"), text, &changes);
        scenario
            .map(|scenario| (scenario.replicas, scenario.baseline))
            .map_err(|error| error.render(false))
    }

    const CASES: &str = "case = [{ name = \"a\" }, { name = \"b\" }]";

    #[test]
    fn one_replica_and_the_first_case_are_the_defaults_and_the_command_line_has_the_last_word() {
        assert_eq!(read(CASES, None), Ok((1, 0)));
        assert_eq!(read(&format!("{CASES}\nreplicas = 20\nbaseline = \"b\""), None), Ok((20, 1)));
        assert_eq!(read("replicas = 20", Some(3)), Ok((3, 0)));
    }

    #[test]
    fn what_is_no_number_of_replicas_and_no_case_is_refused_at_its_place() {
        for (text, message, place) in [
            ("replicas = 0", "`replicas`: 0 is out of range", "t.toml:4:12"),
            ("replicas = 1001", "`replicas`: 1001 is out of range", "t.toml:4:12"),
            ("baseline = \"a\"", "there is no case `a`, as there are no cases", "t.toml:4:12"),
            (
                "baseline = \"c\"\ncase = [{ name = \"a\" }, { name = \"b\" }]",
                "unknown case `c`",
                "t.toml:4:12",
            ),
            (
                "case = { name = \"a\", set = { replicas = 3 } }",
                "a case cannot change `replicas`",
                "t.toml:4:30",
            ),
        ] {
            let shown = read(text, None).unwrap_err();
            assert!(shown.contains(message) && shown.contains(place), "{text}:\n{shown}");
            assert_eq!(shown.matches("error").count(), 1, "{text}:\n{shown}");
        }
    }
}
