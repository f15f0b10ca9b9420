//! Access logs of Traefik as JSON. `StartUTC` is when a request came; without it that is made of `time`,
//! when the line was written, and the duration in nanoseconds.

use super::json::{count_with, open};
use super::naming::Naming;
use super::{Format, Stamps};
use crate::log::number::Unit;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "traefik",
    summary: "Access logs of Traefik, as JSON.",
    example: r#"{"ClientAddr":"192.0.2.7:41342","ClientHost":"192.0.2.7","ClientUsername":"-","DownstreamContentSize":512,"DownstreamStatus":200,"Duration":12000000,"RequestHost":"example.com","RequestMethod":"GET","RequestPath":"/a?b=c","StartUTC":"2015-05-17T10:05:03.25Z","time":"2015-05-17T10:05:03Z","request_User-Agent":"curl/8.5"}"#,
    expected: "a line is an object with `StartUTC`, or with `time` and `Duration`",
    stamps: Stamps::Start,
    fits: |lines, _| {
        count_with(
            lines,
            &[
                &["StartUTC", "StartLocal", "Duration"],
                &["RequestMethod", "ClientHost", "DownstreamStatus"],
            ],
        )
    },
    open: |layout| open(layout, &NAMING),
};

const NAMING: Naming = Naming {
    time: &["StartUTC", "StartLocal"],
    end: &["time"],
    duration: &[("Duration", Unit::Nanoseconds)],
    fields: &[
        ("address", &["ClientHost", "ClientAddr"]),
        ("user", &["ClientUsername"]),
        ("method", &["RequestMethod"]),
        ("target", &["RequestPath"]),
        ("status", &["DownstreamStatus", "OriginStatus"]),
        ("forwarded", &["request_X-Forwarded-For", "request_Forwarded"]),
        ("host", &["RequestHost", "RequestAddr"]),
        ("agent", &["request_User-Agent"]),
        ("referer", &["request_Referer"]),
        ("bytes", &["DownstreamContentSize"]),
    ],
    request: &[],
    required: &["ClientHost", "ClientAddr", "RequestMethod", "RequestPath", "DownstreamStatus"],
    header: |name| format!("request_{name}"),
};
