//! Access logs of Amazon's application load balancers. `request_creation_time` is when a request came; where
//! a line has none, that is its time, when the answer was made, less the three processing times.

use super::elb::{self, Columns};
use super::{Format, Stamps};

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "alb",
    summary: "Access logs of Amazon's application load balancers.",
    example: r#"http 2015-05-17T10:05:03.500000Z app/my-balancer/50dc6c495c0c9188 192.0.2.7:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 34 366 "GET http://example.com:80/a?b=c HTTP/1.1" "curl/8.5" - - arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/t/1 "Root=1-5555" "-" "-" 0 2015-05-17T10:05:03.364000Z "forward" "-" "-""#,
    expected: "a line starts with a protocol, a time, the name of the balancer and the address of the client",
    stamps: Stamps::Start,
    fits: |lines, _| elb::fits(lines, &COLUMNS),
    open: |layout| elb::open(layout, &COLUMNS),
};

const COLUMNS: Columns = Columns {
    names: &[
        "type",
        "time",
        "elb",
        "client",
        "target",
        "request_processing_time",
        "target_processing_time",
        "response_processing_time",
        "elb_status_code",
        "target_status_code",
        "received_bytes",
        "sent_bytes",
        "request",
        "user_agent",
        "ssl_cipher",
        "ssl_protocol",
        "target_group_arn",
        "trace_id",
        "domain_name",
        "chosen_cert_arn",
        "matched_rule_priority",
        "request_creation_time",
        "actions_executed",
        "redirect_url",
        "error_reason",
    ],
    time: 1,
    creation: Some(21),
    time_is_end: true,
};
