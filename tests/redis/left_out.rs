//! What `ratesim verify` cannot compare: told with the reason, and how to compare it all the same.

use crate::Test;
use crate::support::{database, file, prints, refused};

pub fn tests() -> Vec<Test> {
    vec![
        crate::test!(Server, left_out::what_no_script_decides_is_told_and_left_out),
        crate::test!(Server, left_out::what_is_left_out_for_one_reason_stands_in_one_line),
        crate::test!(Server, left_out::what_happens_to_the_store_is_left_out_as_told),
        crate::test!(Nothing, left_out::a_scenario_that_no_script_decides_is_refused),
    ]
}

pub fn what_no_script_decides_is_told_and_left_out() {
    let (_folder, path) = file(
        "name = \"t\"\nduration = \"9s\"\nlimit = \"5/1s\"\n\
         [[algorithm]]\nkind = \"gcra\"\n\
         [[algorithm]]\nkind = \"gcra\"\nname = \"counting\"\ncount-rejected = true\n\
         [[algorithm]]\nkind = \"fixed-window\"\nanchor = \"first-request\"\n\
         [[algorithm]]\nkind = \"token-bucket\"\ntick = \"1500ns\"\n\
         [[traffic]]\nkind = \"steady\"\nrate = \"9/s\"\n",
    );
    let shown = prints(0, &["verify", path.to_str().unwrap(), "--redis", &database(7)]);
    for line in [
        "- not compared, since `count-rejected = true` has no script: counting\n",
        "- not compared, since `anchor = \"first-request\"` has no script: fixed-window\n",
        "- not compared, since `tick = \"1.5us\"` is not in whole microseconds:\n  token-bucket\n",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(shown.ends_with("all 81 decisions are the same, waits included\n"), "{shown}");
}

pub fn what_is_left_out_for_one_reason_stands_in_one_line() {
    let mut text = "name = \"t\"\nduration = \"2s\"\nlimit = \"5/1s\"\n\
                    nodes = { count = 2 }\nstore = {}\n\
                    traffic = { kind = \"steady\", rate = \"9/s\" }\n\
                    [[algorithm]]\nkind = \"gcra\"\n\
                    [[algorithm]]\nkind = \"gcra\"\nname = \"counting\"\ncount-rejected = true\n\
                    [[case]]\nname = \"one\"\n[[case]]\nname = \"two\"\n"
        .to_owned();
    let (_folder, path) = file(&text);
    let url = database(13);
    let shown = prints(0, &["verify", path.to_str().unwrap(), "--redis", &url]);
    let line = "\n\n- not compared, since `count-rejected = true` has no script: counting\nall 36";
    assert!(shown.contains(line), "{shown}");
    for number in 1..=10 {
        text += &format!("[[case]]\nname = \"race {number}\"\n");
        text += "set.store.atomicity = \"check-then-increment\"\n";
    }
    let (_folder, path) = file(&text);
    let shown = prints(0, &["verify", path.to_str().unwrap(), "--redis", &url]);
    let flowing = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = "- not compared, since `count-rejected = true` has no script: counting (one); \
                 counting (two) - not compared, since with `store.atomicity` other than \"script\" no \
                 one script decides: race 1; race 2; race 3; race 4; race 5; race 6; race 7; race 8; \
                 and 2 more, which `--json` names all 36";
    assert!(flowing.contains(lines), "{flowing}");
}

pub fn what_happens_to_the_store_is_left_out_as_told() {
    let text = "name = \"t\"\nduration = \"9s\"\nlimit = \"5/1s\"\n\
                algorithm = { kind = \"gcra\" }\ntraffic = { kind = \"steady\", rate = \"9/s\" }\n\
                [nodes]\ncount = 2\n\
                [[store.outage]]\nat = \"2s\"\nfor = \"1s\"\n\
                [[store.fail-over]]\nat = \"5s\"\nlag = \"1s\"\n";
    let (_folder, path) = file(text);
    let url = database(14);
    let verify = ["verify", path.to_str().unwrap(), "--redis", &url];
    let shown = refused(&verify);
    let reason =
        "with `store.outage` and `store.fail-over` the store does not decide all attempts\n";
    let hint = "  to compare without: --set 'store.outage=[]' --set 'store.fail-over=[]'\n";
    assert!(shown.ends_with(&format!("{reason}{hint}")), "{shown}");
    let without = ["--set", "store.outage=[]", "--set", "store.fail-over=[]"];
    let shown = prints(0, &[&verify[..], &without].concat());
    assert!(shown.ends_with("all 81 decisions are the same, waits included\n"), "{shown}");
    // A case that reaches into what would be gone, beside one that is compared.
    let cases = "[[case]]\nname = \"a\"\nset.\"store.outage.0.for\" = \"2s\"\n\
                 [[case]]\nname = \"b\"\nset.store = { outage = [], fail-over = [] }\n";
    let (_folder, path) = file(&format!("{text}{cases}"));
    let shown = prints(0, &["verify", path.to_str().unwrap(), "--redis", &url]);
    let flowing = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "does not decide all attempts: a to compare without, take it and what cases change of it \
                out of a copy of the scenario all 81 decisions";
    assert!(flowing.contains(said), "{flowing}");
}

pub fn a_scenario_that_no_script_decides_is_refused() {
    let (_folder, path) = file(
        "name = \"t\"\nduration = \"9s\"\nlimit = \"5/1s\"\n\
         algorithm = { kind = \"gcra\", backwards = \"strict\" }\n\
         traffic = { kind = \"steady\", rate = \"9/s\" }\n",
    );
    let shown = refused(&["verify", path.to_str().unwrap(), "--redis", "redis://127.0.0.1:1"]);
    assert!(shown.contains("no script decides anything in `t`"), "{shown}");
    assert!(shown.contains("`backwards = \"strict\"` has no script"), "{shown}");
}
