//! Access logs of Caddy: JSON with the request as an object of its own, stamped when it was done.

use super::json::{count_with, open};
use super::naming::Naming;
use super::{Format, Stamps};
use crate::log::number::Unit;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "caddy",
    summary: "Access logs of Caddy, as JSON.",
    example: r#"{"level":"info","ts":1431857103.25,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.7","remote_port":"41342","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"/a?b=c","headers":{"User-Agent":["curl/8.5"],"X-Api-Key":["k1"]}},"user_id":"","duration":0.25,"size":512,"status":200}"#,
    expected: "a line is an object with `ts` and `request`",
    stamps: Stamps::EndIfTimed,
    fits: |lines, _| {
        count_with(lines, &[&["ts"], &["request"], &["uri", "remote_ip", "remote_addr"]])
    },
    open: |layout| open(layout, &NAMING),
};

const NAMING: Naming = Naming {
    time: &["ts", "time", "timestamp"],
    end: &[],
    duration: &[("duration", Unit::Seconds)],
    fields: &[
        ("address", &["request.client_ip", "request.remote_ip", "request.remote_addr"]),
        ("user", &["user_id"]),
        ("method", &["request.method"]),
        ("target", &["request.uri"]),
        ("status", &["status"]),
        ("forwarded", &["request.headers.X-Forwarded-For", "request.headers.Forwarded"]),
        ("host", &["request.host"]),
        ("agent", &["request.headers.User-Agent"]),
        ("referer", &["request.headers.Referer"]),
        ("bytes", &["size"]),
    ],
    request: &[],
    required: &["request.uri", "request.remote_ip", "request.remote_addr"],
    header: |name| format!("request.headers.{name}"),
};
