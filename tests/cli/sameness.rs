//! Same scenario, same bytes: run again, with other threads, in another order.

use crate::support::{BOUNDARY, Bench, VARIED, assert_same};

/// Every algorithm under an option of its own, in an order of choice.
fn with_algorithms(order: &[usize]) -> String {
    const ALL: [&str; 6] = [
        "kind = \"fixed-window\"\nanchor = \"first-request\"",
        "kind = \"sliding-window-log\"\nedge = \"closed\"",
        "kind = \"sliding-window-counter\"\nround = \"none\"",
        "kind = \"token-bucket\"\nrefill = \"interval\"",
        "kind = \"leaky-bucket\"\nfirst = \"immediate\"",
        "kind = \"gcra\"\ntick = \"1ms\"",
    ];
    let tables = order.iter().map(|&index| format!("\n[[algorithm]]\n{}\n", ALL[index]));
    VARIED.to_owned() + &tables.collect::<String>()
}

#[test]
fn the_number_of_threads_changes_no_byte_of_any_file() {
    let bench = Bench::with("varied.toml", VARIED);
    let one = bench.prints(&["run", "varied.toml", "--threads", "1", "--out", "one"]);
    let two = bench.prints(&["run", "varied.toml", "--threads", "2", "--out", "two"]);
    let many = bench.prints(&["run", "varied.toml", "--threads", "64", "--out", "many"]);
    assert_eq!(one.replace("wrote one/", "wrote two/"), two);
    assert_eq!(one.replace("wrote one/", "wrote many/"), many);
    let files = bench.files_of("one");
    assert!(files.keys().any(|name| name.ends_with(".png")), "charts are compared, too");
    assert_same(&files, &bench.files_of("two"));
    assert_same(&files, &bench.files_of("many"));
}

#[test]
fn the_same_run_twice_gives_the_same_bytes_in_the_same_place() {
    let bench = Bench::with("varied.toml", VARIED);
    bench.prints(&["run", "varied.toml", "--quiet", "--decisions"]);
    let first = bench.files();
    bench.prints(&["run", "varied.toml", "--quiet", "--decisions"]);
    assert_same(&first, &bench.files());
}

#[test]
fn decisions_do_not_depend_on_threads() {
    let bench = Bench::with("varied.toml", VARIED);
    for (threads, out) in [("1", "one"), ("2", "two")] {
        let arguments = ["run", "varied.toml", "--no-charts", "--quiet", "--decisions"];
        bench.prints(&[&arguments[..], &["--threads", threads, "--out", out]].concat());
    }
    assert_same(&bench.files_of("one"), &bench.files_of("two"));
}

#[test]
fn the_order_of_algorithms_changes_no_byte_of_any_file() {
    let files = |order: &[usize]| {
        let bench = Bench::with("varied.toml", with_algorithms(order));
        bench.prints(&["run", "varied.toml", "--quiet", "--decisions"]);
        bench.files_of("output")
    };
    assert_same(&files(&[0, 1, 2, 3, 4, 5]), &files(&[4, 2, 5, 0, 3, 1]));
}

#[test]
fn an_algorithm_alone_shows_what_it_shows_among_others() {
    let bench = Bench::with("varied.toml", VARIED);
    bench.prints(&["run", "varied.toml", "--no-charts", "--quiet"]);
    let all = bench.sheet("output/varied/summary.csv");
    for algorithm in ratesim::algorithm::ALGORITHMS {
        let only = ["run", "varied.toml", "--no-charts", "--quiet", "--only", algorithm.name];
        bench.prints(&only);
        let alone = bench.sheet("output/varied/summary.csv");
        let expected: Vec<_> =
            all.rows_with(&[("algorithm", algorithm.name)]).into_iter().cloned().collect();
        assert_eq!(alone.rows, expected);
    }
}

#[test]
fn a_byte_order_mark_and_other_line_ends_change_nothing() {
    let plain = Bench::with("boundary.toml", BOUNDARY);
    let marked =
        Bench::with("boundary.toml", format!("\u{feff}{}", BOUNDARY.replace('\n', "\r\n")));
    let arguments = ["run", "boundary.toml", "--no-charts"];
    assert_eq!(plain.prints(&arguments), marked.prints(&arguments));
    assert_same(&plain.files_of("output"), &marked.files_of("output"));
}
