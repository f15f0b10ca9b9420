//! Access logs of nginx with `escape=json`, the keys being named after its variables. Its stamps are of
//! the moment at which a request was done; `msec` and `$time_iso8601` say so as `$time_local` does.

use super::json::{count_with, open};
use super::naming::Naming;
use super::{Format, Stamps};
use crate::log::number::Unit;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "nginx-json",
    summary: "Access logs of nginx as JSON, the keys named as its variables.",
    example: r#"{"time_iso8601":"2015-05-17T10:05:03+00:00","remote_addr":"192.0.2.7","remote_user":"","request":"GET /a?b=c HTTP/1.1","status":"200","body_bytes_sent":"512","request_time":"0.012"}"#,
    expected: "a line is an object with `msec`, `time_iso8601` or `time_local`",
    stamps: Stamps::EndIfTimed,
    fits: |lines, _| {
        let time = &["msec", "time_iso8601", "time_local", "request_time"][..];
        count_with(lines, &[&["remote_addr", "http_x_forwarded_for", "realip_remote_addr"], time])
    },
    open: |layout| open(layout, &NAMING),
};

const NAMING: Naming = Naming {
    time: &["msec", "time_iso8601", "time_local", "time", "timestamp", "@timestamp", "ts"],
    end: &[],
    duration: &[("request_time", Unit::Seconds)],
    fields: &[
        ("address", &["remote_addr", "realip_remote_addr"]),
        ("user", &["remote_user"]),
        ("method", &["request_method", "method"]),
        ("target", &["request_uri", "uri", "document_uri"]),
        ("status", &["status"]),
        ("forwarded", &["http_x_forwarded_for", "proxy_add_x_forwarded_for", "http_forwarded"]),
        ("host", &["host", "http_host", "server_name"]),
        ("agent", &["http_user_agent"]),
        ("referer", &["http_referer"]),
        ("bytes", &["body_bytes_sent", "bytes_sent"]),
    ],
    request: &["request"],
    required: &[],
    header: |name| format!("http_{}", name.replace('-', "_")),
};
