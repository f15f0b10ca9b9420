//! Access logs of Envoy and Istio as JSON: `start_time` is when a request came.

use super::json::{count_with, open};
use super::naming::Naming;
use super::{Format, Stamps};
use crate::log::number::Unit;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "envoy",
    summary: "Access logs of Envoy and Istio, as JSON.",
    example: r#"{"start_time":"2015-05-17T10:05:03.250Z","method":"GET","path":"/a?b=c","protocol":"HTTP/2","response_code":200,"response_flags":"-","bytes_sent":512,"duration":12,"x_forwarded_for":"192.0.2.7","user_agent":"curl/8.5","authority":"example.com","downstream_remote_address":"10.0.0.1:41342"}"#,
    expected: "a line is an object with `start_time`",
    stamps: Stamps::Start,
    fits: |lines, _| count_with(lines, &[&["start_time"], &["response_code", "response_flags"]]),
    open: |layout| open(layout, &NAMING),
};

const NAMING: Naming = Naming {
    time: &["start_time"],
    end: &[],
    duration: &[("duration", Unit::Milliseconds)],
    fields: &[
        (
            "address",
            &["downstream_remote_address", "downstream_direct_remote_address", "x_forwarded_for"],
        ),
        ("user", &["user", "requested_user"]),
        ("method", &["method"]),
        ("target", &["path", "x_envoy_original_path"]),
        ("status", &["response_code"]),
        ("forwarded", &["x_forwarded_for"]),
        ("host", &["authority", "requested_server_name"]),
        ("agent", &["user_agent"]),
        ("referer", &["referer"]),
        ("bytes", &["bytes_sent"]),
    ],
    request: &[],
    required: &[],
    header: |name| name.replace('-', "_"),
};
