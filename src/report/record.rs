//! `run.json`: all that is needed to repeat a run and to see whether a repetition had the same
//! inputs. It has no time of day and no folder of this machine, so that the same run writes the same
//! bytes everywhere.

use serde_json::{Map, Value as Json, json};

use crate::metrics::Comparison;
use crate::traffic::Input;

/// What a run was made from, beside what a [`Comparison`] tells.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The scenario file as the user named it; its folder is not recorded. `None` where there is no
    /// file.
    pub file: Option<String>,
    /// One a case, in the order of [`Comparison::cases`].
    pub cases: Vec<CaseRun>,
}

/// What one case was made from.
#[derive(Debug, Clone)]
pub struct CaseRun {
    /// All settings as resolved, defaults included.
    pub settings: Json,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// How large its runs might have become.
    pub bounds: Json,
}

/// The record of a run. The list of files is added by the folder that holds them.
pub fn record(comparison: &Comparison, info: &RunInfo) -> Map<String, Json> {
    let cases = comparison.cases.iter().enumerate().map(|(index, case)| {
        let run = info.cases.get(index);
        let inputs = run.map_or(&[][..], |run| &run.inputs);
        let settings = run.map_or(Json::Null, |run| without_folders(&run.settings, inputs));
        let mut algorithms: Vec<&str> = Vec::new();
        let mut seeds: Vec<u64> = Vec::new();
        for row in comparison.rows.iter().filter(|row| row.case == index) {
            if !algorithms.contains(&row.algorithm.as_str()) {
                algorithms.push(&row.algorithm);
            }
            // All algorithms of a replica share its seed.
            if seeds.is_empty() {
                seeds.push(row.seed);
                seeds.extend(row.repeats.iter().map(|repeat| repeat.seed));
            }
        }
        json!({
            "name": case.name,
            "start": case.window.start.to_string(),
            "end": case.window.end.to_string(),
            "seeds": seeds,
            "limits": case.limits.iter().map(|(name, words)| json!({
                "name": name,
                "words": words,
            })).collect::<Vec<_>>(),
            "algorithms": algorithms,
            "notes": case.notes,
            "inputs": inputs.iter().map(input).collect::<Vec<_>>(),
            "bounds": run.map(|run| &run.bounds),
            "settings": settings,
        })
    });
    let cases: Vec<Json> = cases.collect();
    let mut record = Map::new();
    record.insert("ratesim".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    record.insert("scenario".to_owned(), json!(comparison.scenario));
    record.insert("about".to_owned(), json!(comparison.about));
    record.insert("file".to_owned(), json!(info.file.as_deref().map(file_name)));
    if comparison.replicas() > 1 {
        record.insert("replicas".to_owned(), json!(comparison.replicas()));
        let baseline = comparison.cases.get(comparison.baseline).map(|case| &case.name);
        record.insert("baseline".to_owned(), json!(baseline.filter(|name| !name.is_empty())));
    }
    record.insert("cases".to_owned(), Json::Array(cases));
    record
}

fn input(input: &Input) -> Json {
    let mut record = json!(input);
    record["path"] = json!(without_folder(&input.path));
    record
}

/// A path as it was given, but of an absolute one the last part alone: its folders are of one
/// machine, and the digest tells which file it was.
fn without_folder(path: &str) -> &str {
    let drive = path.as_bytes().get(1) == Some(&b':');
    let absolute = drive || path.starts_with(['/', '\\']);
    if absolute { file_name(path) } else { path }
}

/// The last part of a path written with either kind of slash.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Settings with the paths of inputs as they are recorded.
fn without_folders(settings: &Json, inputs: &[Input]) -> Json {
    match settings {
        Json::String(text) if inputs.iter().any(|input| input.path == *text) => {
            json!(without_folder(text))
        }
        Json::Array(items) => items.iter().map(|item| without_folders(item, inputs)).collect(),
        Json::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), without_folders(value, inputs)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::cases;
    use super::*;
    use crate::traffic::Skipped;

    fn input_of(path: &str) -> Input {
        Input {
            path: path.to_owned(),
            format: Some("combined".to_owned()),
            compression: None,
            bytes: 123,
            xxh128: "9f86d081".to_owned(),
            lines: 10,
            used: 8,
            skipped: vec![Skipped {
                reason: "no time".to_owned(),
                lines: 2,
                first: 3,
                example: "garbage".to_owned(),
            }],
            unusable: None,
            notes: vec!["times are whole seconds".to_owned()],
        }
    }

    fn info() -> RunInfo {
        let case = |path: &str| CaseRun {
            settings: json!({
                "name": "boundary",
                "seed": 1,
                "traffic": [{ "kind": "access-log", "path": path, "spread": "none" }],
            }),
            bounds: json!({ "requests_max": 3 }),
            inputs: vec![input_of(path)],
        };
        RunInfo {
            file: Some("/home/someone/scenarios/boundary.toml".to_owned()),
            cases: vec![case("logs/access.log"), case("/var/log/access.log")],
        }
    }

    #[test]
    fn all_that_a_repetition_needs_and_no_folder_of_this_machine() {
        let text = format!("{:#}", Json::Object(record(&cases(), &info())));
        assert!(!text.contains("/home") && !text.contains("/var"), "{text}");
        let version = format!("\"ratesim\": \"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&version), "{text}");
        insta::assert_snapshot!(text.replace(&version, "\"ratesim\": \"[version]\""));
    }

    #[test]
    fn paths_of_windows_lose_their_folders_too() {
        assert_eq!(without_folder("\\\\host\\logs\\a.log"), "a.log");
        assert_eq!(without_folder("C:/logs/a.log"), "a.log");
        assert_eq!(without_folder("logs/a.log"), "logs/a.log");
        assert_eq!(file_name("C:\\x\\boundary.toml"), "boundary.toml");
    }
}
