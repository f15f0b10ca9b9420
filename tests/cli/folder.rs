//! What a run writes, and what it leaves alone.

use std::fs;
use std::process::Stdio;

use crate::support::{BOUNDARY, Bench, Outcome, VARIED, assert_same};

const RUN: [&str; 4] = ["run", "boundary.toml", "--no-charts", "--quiet"];

#[test]
fn a_file_of_somebody_else_stays_as_it_is() {
    let bench = Bench::with("boundary.toml", BOUNDARY)
        .file("output/boundary/notes.txt", "mine")
        .file("output/boundary/charts/sketch.svg", "mine too");
    bench.prints(&RUN);
    bench.prints(&RUN);
    assert_eq!(bench.read("output/boundary/notes.txt"), "mine");
    assert_eq!(bench.read("output/boundary/charts/sketch.svg"), "mine too");
    assert!(bench.path("output/boundary/summary.csv").is_file());
}

#[test]
fn a_file_of_somebody_else_in_the_way_is_never_written_over() {
    let bench = Bench::with("boundary.toml", BOUNDARY).file("output/boundary/keys.csv", "mine");
    insta::assert_snapshot!(bench.refuses(&["run", "boundary.toml"]));
    assert_eq!(bench.read("output/boundary/keys.csv"), "mine");
}

#[test]
fn a_file_where_the_folder_must_be_is_named() {
    let bench = Bench::with("boundary.toml", BOUNDARY).file("out", "a file");
    insta::assert_snapshot!(bench.refuses(&["run", "boundary.toml", "--out", "out"]));
}

#[test]
fn a_refused_run_leaves_the_results_of_the_last_one() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    bench.prints(&RUN);
    let before = bench.files();
    bench.refuses(&["run", "boundary.toml", "--set", "limit.per=0s"]);
    assert_same(&before, &bench.files());
}

#[test]
fn no_temporary_folder_is_left() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    bench.prints(&["run", "boundary.toml", "--quiet"]);
    let names = fs::read_dir(bench.path("")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["boundary.toml", "output"]);
    assert_eq!(fs::read_dir(bench.path("output")).unwrap().count(), 1);
}

#[test]
fn a_name_with_a_slash_is_a_folder_in_a_folder() {
    let bench =
        Bench::with("it.toml", BOUNDARY.replace("\"boundary\"", "\"edges/minute/boundary\""));
    let printed = bench.prints(&["run", "it.toml", "--no-charts"]);
    assert!(printed.ends_with("wrote output/edges/minute/boundary/\n"), "{printed}");
    assert!(bench.path("output/edges/minute/boundary/run.json").is_file());
}

#[test]
fn no_name_leads_out_of_the_folder() {
    for name in ["../up", "/root", "a/../../b", "", "a//b", ".", "a b", "Big", "a\\\\b"] {
        let text = BOUNDARY.replace("\"boundary\"", &format!("\"{name}\""));
        let message = Bench::with("it.toml", text).refuses(&["run", "it.toml"]);
        assert!(message.contains("cannot name a folder"), "{name}: {message}");
        assert!(message.contains("it.toml:1:8"), "{name}: {message}");
    }
}

#[test]
fn no_name_leads_among_the_charts_of_another() {
    for name in ["charts", "boundary/charts", "boundary/charts/x"] {
        let text = BOUNDARY.replace("\"boundary\"", &format!("\"{name}\""));
        let message = Bench::with("it.toml", text).refuses(&["run", "it.toml"]);
        assert!(message.contains("has a part that is `charts`"), "{name}: {message}");
        assert!(message.contains("it.toml:1:8"), "{name}: {message}");
    }
    let text = BOUNDARY.replace("\"boundary\"", "\"charts-of/my-charts\"");
    Bench::with("it.toml", text).prints(&["run", "it.toml", "--no-charts", "--quiet"]);
}

#[test]
fn all_that_is_in_the_way_is_reported_before_anything_runs() {
    let second = BOUNDARY.replace("\"boundary\"", "\"second\"");
    let bench = Bench::with("boundary.toml", BOUNDARY)
        .file("second.toml", second)
        .file("output/boundary/charts/outcomes.svg", "mine")
        .file("output/second/decisions.csv", "mine")
        .file("output/second/summary.csv", "mine");
    let message = bench.refuses(&["run", "boundary.toml", "second.toml", "--decisions"]);
    for name in ["boundary/charts/outcomes.svg", "second/decisions.csv", "second/summary.csv"] {
        let expected = format!("`output/{name}` is there and was not written by ratesim");
        assert!(message.contains(&expected), "{message}");
    }
    let message = bench.refuses(&["run", "boundary.toml", "second.toml", "--no-charts"]);
    assert_eq!(message.matches("was not written by ratesim").count(), 1, "{message}");
}

/// Another file system than that of temporary files, where there is one.
#[cfg(target_os = "linux")]
#[test]
fn results_go_to_another_file_system() {
    use std::os::unix::fs::{MetadataExt, symlink};
    let device = |path: &std::path::Path| fs::metadata(path).unwrap().dev();
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else {
        return crate::support::skipped("there is no /dev/shm here");
    };
    if device(other.path()) == device(&bench.path("")) {
        return crate::support::skipped("/dev/shm is no other file system");
    }
    fs::create_dir(bench.path("output")).unwrap();
    symlink(other.path(), bench.path("output/boundary")).unwrap();
    bench.prints(&RUN);
    bench.prints(&RUN);
    assert!(other.path().join("run.json").is_file());
    assert_eq!(fs::read_dir(bench.path("output")).unwrap().count(), 1);
}

#[test]
fn runs_at_once_into_one_folder_all_succeed() {
    let bench = Bench::with("boundary.toml", BOUNDARY);
    let spawn = || bench.command(&RUN).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let children: Vec<_> = (0..6).map(|_| spawn().unwrap()).collect();
    for child in children {
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
    }
    let once = Bench::with("boundary.toml", BOUNDARY);
    once.prints(&RUN);
    assert_same(&once.files(), &bench.files());
}

#[test]
fn the_record_repeats_the_run() {
    let bench = Bench::with("varied.toml", VARIED);
    bench.prints(&["run", "varied.toml", "--no-charts", "--quiet", "--set", "limit.1.requests=40"]);
    let first = bench.files_of("output/varied");
    for (index, case) in bench.record("varied")["cases"].as_array().unwrap().iter().enumerate() {
        let settings = &case["settings"];
        // What was resolved reads back as a scenario that resolves to itself.
        let mut document = toml::Table::try_from(settings).unwrap();
        document.remove("case");
        document.remove("expect");
        let again = Bench::with("again.toml", toml::to_string(&document).unwrap());
        again.prints(&["run", "again.toml", "--no-charts", "--quiet"]);
        let sheet = again.sheet("output/varied/summary.csv");
        let name = case["name"].as_str().unwrap();
        let before = crate::support::Sheet::parse(&first["summary.csv"]);
        let accepted: Vec<String> = before
            .rows_with(&[("case", name)])
            .iter()
            .map(|row| format!("{} {}", row["algorithm"], row["accepted"]))
            .collect();
        assert_eq!(sheet.column("accepted"), accepted, "case {index}");
    }
}
