//! What is wrong in a table is reported at its place, all of it at once.

use super::traffic_or_problems;

#[test]
fn every_mistake_has_its_place_and_says_what_would_be_right() {
    // In two halves, as no more than twenty problems are shown at once.
    let first = r#"
[[traffic]]
kind = "steady"
rate = "5/s"
from = "2m"
until = "1m"
clients = 0

[[traffic]]
kind = "burst"
requests = 5
clients = 300
address = "203.0.113.0/24"
cost = 0

[[traffic]]
kind = "poisson"
rate = "5"
endpoint = "/x"
endpoints = { "/a" = 0, "/b" = 0 }
tier = "pro"
tiers = { free = -1 }

[[traffic]]
kind = "on-off"
rate = "5/s"
on = "0s"
off = "1s"
exponent = 2.0
client = ""
cost = { kind = "uniform", min = 5, max = 4 }

[[traffic]]
kind = "wave"
rate = "5/s"
amplitude = 1.5
period = "0s"
cost = { kind = "lognormal", median = 4 }
share = "zipf"
exponent = -1
"#;
    let second = r#"
[[traffic]]
kind = "ramp"
start-rate = "1/999999937ns"
end-rate = "4294967291/999999929ns"
until = "3000d"
endpoints = { a = 1 }
costs = { a = { kind = "log-normal", median = 4, sigma = 1, mode = 3 } }
over = "5s"

[[traffic]]
kind = "on-off"
rate = "5/s"
on = "1us"
off = "1us"
lengths = "exponential"
endpoint = "/x"
costs = { "/z" = 3 }

[[traffic]]
kind = "burst"
"#;
    let shown = [first, second].map(|tables| traffic_or_problems("1h", tables).err().unwrap());
    insta::assert_snapshot!(shown.join("\n\n"));
}
