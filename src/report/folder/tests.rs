//! Tests of the folder of results on a real file system.

use super::*;

fn record(version: &str) -> Map<String, Json> {
    let Json::Object(map) = json!({ "ratesim": version, "scenario": "x" }) else { unreachable!() };
    map
}

fn results(out: &Path, name: &str, files: &[(&str, &str)]) -> Result<(), Error> {
    let mut folder = Folder::create(out, name)?;
    for (name, text) in files {
        folder.write(name, text.as_bytes())?;
    }
    folder.commit(record("1"))
}

/// All files under a folder with their texts, one a line.
fn listing(root: &Path) -> Vec<String> {
    fn visit(folder: &Path, root: &Path, lines: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let shown = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_dir() {
                lines.push(format!("{shown}/"));
                visit(&path, root, lines);
            } else if shown.ends_with(RECORD) {
                lines.push(shown);
            } else {
                lines.push(format!("{shown}: {}", fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut lines = Vec::new();
    visit(root, root, &mut lines);
    lines.sort();
    lines
}

fn read(path: PathBuf) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn files_appear_with_a_record_that_lists_them() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("output");
    results(&out, "worked/bucket", &[("summary.csv", "s"), ("charts/a.svg", "a")]).unwrap();
    let expected = [
        "worked/",
        "worked/bucket/",
        "worked/bucket/charts/",
        "worked/bucket/charts/a.svg: a",
        "worked/bucket/run.json",
        "worked/bucket/summary.csv: s",
    ];
    assert_eq!(listing(&out), expected);
    assert_eq!(
        read(out.join("worked/bucket/run.json")),
        json!({
            "ratesim": "1",
            "scenario": "x",
            "files": ["charts/a.svg", "run.json", "summary.csv"],
        })
    );
    assert_eq!(listing(place.path()).len(), 1 + expected.len());
}

#[test]
fn own_files_are_replaced_or_removed_and_foreign_ones_kept() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    results(out, "x", &[("summary.csv", "old"), ("charts/a.svg", "a"), ("charts/c.svg", "c")])
        .unwrap();
    fs::write(out.join("x/notes.txt"), "mine").unwrap();
    fs::write(out.join("x/charts/mine.svg"), "mine").unwrap();
    results(out, "x", &[("summary.csv", "new")]).unwrap();
    let expected =
        ["x/", "x/charts/", "x/charts/mine.svg: mine", "x/notes.txt: mine", "x/run.json"];
    assert_eq!(listing(out), [&expected[..], &["x/summary.csv: new"]].concat());
}

#[test]
fn scenarios_inside_anothers_folder_survive_it() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    results(out, "x/charts", &[("summary.csv", "inner")]).unwrap();
    results(out, "x", &[("charts/a.svg", "a"), ("summary.csv", "outer")]).unwrap();
    results(out, "x", &[("summary.csv", "again")]).unwrap();
    let expected = [
        "x/",
        "x/charts/",
        "x/charts/run.json",
        "x/charts/summary.csv: inner",
        "x/run.json",
        "x/summary.csv: again",
    ];
    assert_eq!(listing(out), expected);
}

#[test]
fn a_file_that_ratesim_did_not_write_is_never_written_over() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    fs::create_dir_all(out.join("x/run.json")).unwrap();
    fs::write(out.join("x/summary.csv"), "mine").unwrap();
    fs::write(out.join("x/charts"), "mine").unwrap();
    let before = fs::read_dir(out.join("x")).unwrap().count();
    for file in ["summary.csv", "charts/a.svg"] {
        let error = results(out, "x", &[(file, "s")]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let shown = error.render(false);
        let culprit = file.split('/').next().unwrap();
        assert!(shown.contains(culprit) && shown.contains("--out"), "{shown}");
    }
    let error = results(out, "x", &[("keys.csv", "k")]).unwrap_err().render(false);
    assert!(error.contains("run.json` is a folder"), "{error}");
    assert_eq!(fs::read_to_string(out.join("x/summary.csv")).unwrap(), "mine");
    assert_eq!(fs::read_dir(out.join("x")).unwrap().count(), before);
    assert_eq!(fs::read_dir(out).unwrap().count(), 1);
}

#[test]
fn a_record_of_somebody_else_owns_nothing() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    fs::create_dir(out.join("x")).unwrap();
    fs::write(out.join("x/run.json"), "{\"files\": [\"summary.csv\"]}").unwrap();
    let error = results(out, "x", &[]).unwrap_err().render(false);
    assert!(error.contains("run.json` is there and was not written by ratesim"), "{error}");
}

#[test]
fn a_record_cannot_reach_out_of_its_folder() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    fs::write(out.join("precious"), "mine").unwrap();
    fs::create_dir(out.join("x")).unwrap();
    let text = "{\"ratesim\": \"1\", \"files\": [\"../precious\", \"/etc/hosts\", \"a/../b\"]}";
    fs::write(out.join("x/run.json"), text).unwrap();
    results(out, "x", &[]).unwrap();
    assert_eq!(listing(out), ["precious: mine", "x/", "x/run.json"]);
    for name in ["../y", "/y", "", "a\\b", "."] {
        assert!(Folder::create(out, name).is_err(), "{name}");
    }
}

#[test]
fn a_folder_that_is_dropped_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    let mut folder = Folder::create(&out.join("output"), "worked/x").unwrap();
    folder.write("summary.csv", b"s").unwrap();
    let mut draft = folder.draft("decisions.csv").unwrap();
    draft.write_all(b"half a li").unwrap();
    assert_ne!(fs::read_dir(out).unwrap().count(), 0);
    drop(draft);
    drop(folder);
    assert_eq!(fs::read_dir(out).unwrap().count(), 0);
}

#[test]
fn a_file_that_was_not_finished_is_not_put_in_place() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = Folder::create(place.path(), "x").unwrap();
    folder.draft("decisions.csv").unwrap().write_all(b"half a li").unwrap();
    folder.write("summary.csv", b"s").unwrap();
    folder.commit(record("1")).unwrap();
    assert_eq!(listing(place.path()), ["x/", "x/run.json", "x/summary.csv: s"]);
}

#[test]
fn a_commit_that_fails_half_way_restores_what_was_there() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    results(out, "x", &[("clients.csv", "old"), ("keys.csv", "old"), ("limits.csv", "old")])
        .unwrap();
    let before = listing(out);
    let old_record = read(out.join("x/run.json"));
    let mut folder = Folder::create(out, "x").unwrap();
    for name in ["clients.csv", "keys.csv", "charts/d.svg", "timeline.csv"] {
        folder.write(name, b"new").unwrap();
    }
    fs::remove_file(folder.temporary.path().join("new/timeline.csv")).unwrap();
    let error = folder.commit(record("2")).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.render(false).contains("timeline.csv"), "{error}");
    assert_eq!(listing(out), before);
    assert_eq!(read(out.join("x/run.json")), old_record);
}

#[test]
fn a_first_commit_that_fails_leaves_no_folder() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = Folder::create(place.path(), "worked/x").unwrap();
    folder.write("clients.csv", b"new").unwrap();
    fs::remove_file(folder.temporary.path().join("new/clients.csv")).unwrap();
    assert!(folder.commit(record("1")).is_err());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_run_after_a_kill_between_two_renames_takes_over() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    results(out, "x", &[("clients.csv", "old"), ("limits.csv", "old")]).unwrap();
    let mut folder = Folder::create(out, "x").unwrap();
    folder.write("clients.csv", b"new").unwrap();
    folder.write("keys.csv", b"new").unwrap();
    folder.files.insert(RECORD.to_owned());
    folder.owned = read_owned(&folder.target);
    let all = folder.files.union(&folder.owned).cloned().collect();
    folder.stage_record("unfinished", &record("2"), &all, true).unwrap();
    // No final record was staged, so that the last rename of all is the one that fails, and
    // without an undo everything stays as a kill before it would leave it.
    folder.put_in_place(&all, &mut Moves::default()).unwrap_err();
    assert_eq!(read(out.join("x/run.json"))["unfinished"], json!(true));
    let old = folder.temporary.path().join("old");
    assert_eq!(listing(&old), ["clients.csv: old", "limits.csv: old", "run.json"]);
    drop(folder);
    results(out, "x", &[("keys.csv", "newer")]).unwrap();
    assert_eq!(listing(out), ["x/", "x/keys.csv: newer", "x/run.json"]);
}

#[test]
fn a_file_where_a_folder_must_be_is_named() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("output"), "a file").unwrap();
    let error = Folder::create(&place.path().join("output"), "x").unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.render(false).contains("output` is a file"), "{error}");
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_temporary_folder_is_in_the_target_or_as_near_as_can_be() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("output");
    let parent = |folder: &Folder| folder.temporary.path().parent().unwrap().to_owned();
    assert_eq!(parent(&Folder::create(&out, "worked/x").unwrap()), place.path());
    fs::create_dir_all(out.join("worked")).unwrap();
    assert_eq!(parent(&Folder::create(&out, "worked/x").unwrap()), out.join("worked"));
    fs::create_dir_all(out.join("worked/x")).unwrap();
    assert_eq!(parent(&Folder::create(&out, "worked/x").unwrap()), out.join("worked/x"));
}

#[test]
fn everything_in_the_way_is_known_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    results(out, "x", &[("keys.csv", "old"), ("limits.csv", "old")]).unwrap();
    fs::write(out.join("x/summary.csv"), "mine").unwrap();
    fs::write(out.join("x/charts"), "mine").unwrap();
    let check = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        match Folder::check(out, "x", &names) {
            Ok(()) => Vec::new(),
            Err(Error::Input(found)) => found.into_iter().map(|problem| problem.message).collect(),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(check(&["keys.csv", "clients.csv"]), [""; 0]);
    let shown = |name: &str| out.join("x").join(name).display().to_string();
    let charts = format!("`{}` is a file, where a folder must be", shown("charts"));
    let summary = format!("`{}` is there and was not written by ratesim", shown("summary.csv"));
    assert_eq!(
        check(&["summary.csv", "keys.csv", "charts/a.svg", "charts/a.png"]),
        [charts, summary]
    );
    // What would be removed, too.
    fs::remove_file(out.join("x/limits.csv")).unwrap();
    fs::create_dir(out.join("x/limits.csv")).unwrap();
    let limits = format!("`{}` is a folder, where a file must be", shown("limits.csv"));
    assert_eq!(check(&["keys.csv"]), [limits]);
}

#[test]
fn first_runs_at_once_replace_each_other() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    let mut folders = [1, 2, 3].map(|_| Folder::create(out, "x").unwrap());
    folders[0].write("keys.csv", b"0").unwrap();
    folders[1].write("keys.csv", b"1").unwrap();
    folders[2].write("limits.csv", b"2").unwrap();
    let [first, second, third] = folders;
    first.commit(record("1")).unwrap();
    second.commit(record("1")).unwrap();
    assert_eq!(listing(&out.join("x")), ["keys.csv: 1", "run.json"]);
    third.commit(record("1")).unwrap();
    assert_eq!(listing(&out.join("x")), ["limits.csv: 2", "run.json"]);
    assert_eq!(names(out), ["x"]);
}

#[test]
fn what_killed_runs_left_is_removed_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    results(out, "x", &[("keys.csv", "old")]).unwrap();
    let left = |folder: &Path, parts: &[&str]| {
        fs::create_dir_all(folder.join("new")).unwrap();
        for part in parts {
            fs::create_dir_all(folder.join(part).parent().unwrap()).unwrap();
            fs::write(folder.join(part), "").unwrap();
        }
    };
    let x = out.join("x");
    left(&x.join(".ratesim-1-gone"), &["lock", "new/keys.csv", "old/run.json"]);
    left(&out.join(".ratesim-1-gone"), &["lock", "new/keys.csv"]);
    for folder in [&x, out] {
        left(&folder.join(".ratesim-1-no-lock"), &[]);
        left(&folder.join(".ratesim-1-other-things"), &["lock", "mine"]);
        left(&folder.join(".ratesim-mine"), &["lock"]);
        left(&folder.join("ratesim-1-mine"), &["lock"]);
    }
    // Old files of another scenario, whose next run knows what to do with them.
    left(&out.join(".ratesim-1-old-files"), &["lock", "old/keys.csv"]);
    let alive = Folder::create(out, "x").unwrap();
    let name = alive.temporary.path().file_name().unwrap().to_str().unwrap().to_owned();
    results(out, "x", &[("keys.csv", "new")]).unwrap();
    let kept = [".ratesim-1-no-lock", ".ratesim-1-other-things", ".ratesim-mine"];
    let sorted = |more: &[&str]| {
        let all = kept.iter().chain(&["ratesim-1-mine"]).chain(more);
        let mut all: Vec<String> = all.map(|&name| name.to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(names(&x), sorted(&[&name, "keys.csv", "run.json"]));
    assert_eq!(names(out), sorted(&[".ratesim-1-old-files", "x"]));
}

#[test]
fn a_forged_list_owns_only_what_ratesim_can_write() {
    let place = tempfile::tempdir().unwrap();
    let x = place.path().join("x");
    fs::create_dir_all(x.join("charts/in")).unwrap();
    let others = ["notes.txt", "charts/a.txt", "charts/A.svg", "charts/in/a.svg", "a.svg"];
    for name in others.iter().chain(&["charts/a.svg"]) {
        fs::write(x.join(name), "mine").unwrap();
    }
    let files: Vec<&str> = others.iter().copied().chain(["charts/a.svg", "charts/..svg"]).collect();
    fs::write(x.join(RECORD), json!({ "ratesim": "1", "files": files }).to_string()).unwrap();
    results(place.path(), "x", &[]).unwrap();
    assert!(others.iter().all(|name| x.join(name).is_file()));
    assert!(!x.join("charts/a.svg").exists());
    let mut folder = Folder::create(place.path(), "x").unwrap();
    assert!(others.iter().all(|name| folder.write(name, b"").is_err()));
}

#[cfg(unix)]
#[test]
fn no_symbolic_link_in_the_target_is_followed() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let out = place.path();
    results(out, "x", &[("charts/a.svg", "a"), ("keys.csv", "k")]).unwrap();
    fs::rename(out.join("x/charts"), out.join("elsewhere")).unwrap();
    symlink(out.join("elsewhere"), out.join("x/charts")).unwrap();
    for files in [&[("charts/a.svg", "new")][..], &[]] {
        let error = results(out, "x", files).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let shown = error.render(false);
        assert!(shown.contains("charts` is a symbolic link, where a folder must be"), "{shown}");
    }
    assert_eq!(fs::read_to_string(out.join("elsewhere/a.svg")).unwrap(), "a");
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_that_leads_nowhere_is_named() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    symlink("missing", path("dangling")).unwrap();
    symlink("loop", path("loop")).unwrap();
    for name in ["dangling", "loop"] {
        for error in [
            Folder::check(&path(name), "worked/x", &[]).unwrap_err(),
            Folder::create(&path(name), "worked/x").unwrap_err(),
            Folder::create(place.path(), name).unwrap_err(),
        ] {
            assert_eq!(error.exit_code(), 2);
            let shown = error.render(false);
            assert!(
                shown.contains(&format!("{name}` is a symbolic link that leads nowhere")),
                "{shown}"
            );
        }
    }
}
