//! Traffic that once came to different numbers.

use std::path::Path;

use ratesim::run::Engine;

#[test]
fn who_joins_a_queue_later_may_leave_before_those_who_wait_since_the_batch_before() {
    // A batch ends with twelve at one reading of a clock of whole seconds, all of whom still wait then.
    let text = "name = \"t\"\nduration = \"2110s\"\n\
                [limit]\nrequests = 10\nper = \"1s\"\nburst = 100\n\
                [[traffic]]\nkind = \"steady\"\nrate = \"1/s\"\nclients = 1\n\
                [[traffic]]\nkind = \"burst\"\nat = \"2036.9s\"\nrequests = 11\nclients = 1\n\
                [[algorithm]]\nkind = \"leaky-bucket\"\ntick = \"1s\"\n";
    let prepared = crate::ready(Path::new("t.toml"), text.to_owned()).unwrap();
    let [bulk, events] =
        [Engine::Fastest, Engine::Events].map(|engine| crate::rows(&prepared, engine, 1));
    assert!(prepared.is_bulk());
    assert_eq!(events[0].tally.limits[0].over_limit, 0);
    crate::assert_same(&bulk, &events, text);
}
