//! Standard logs of CloudFront: lines of the extended format of W3C with tabs, texts written as in URLs,
//! seconds, and stamps of the moment at which the answer was complete.

use super::naming::Naming;
use super::w3c::{self, Dialect};
use super::{Format, Layout, Stamps};
use crate::log::number::Unit;

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "cloudfront",
    summary: "Standard logs of Amazon CloudFront.",
    example: "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent) \
              cs-uri-query x-host-header time-taken x-forwarded-for\n2015-05-17\t10:05:03\t192.0.2.7\t\
              GET\t/a\t200\tMozilla/5.0%20(X11)\tb=c\texample.com\t0.012\t203.0.113.9",
    expected: "a line stands below `#Fields: date time …`, has tabs between its fields and as many as \
               that names",
    stamps: Stamps::EndIfTimed,
    fits,
    open: |layout| w3c::open(layout, &NAMING, Dialect { encoded: true }),
};

/// What only CloudFront names so. Others write lines with tabs, too.
const OWN: [&[u8]; 2] = [b"x-edge-", b"x-host-header"];

fn fits(lines: &[&[u8]], layout: &Layout) -> usize {
    let is_own = |line: &&[u8]| {
        line.starts_with(b"#Fields:")
            && OWN.iter().any(|name| memchr::memmem::find(line, name).is_some())
    };
    if lines.iter().any(is_own) { w3c::fits(lines, layout) } else { 0 }
}

const NAMING: Naming = Naming {
    time: &["time"],
    end: &[],
    duration: &[("time-taken", Unit::Seconds)],
    fields: &[
        ("address", &["c-ip"]),
        ("user", &["cs-username"]),
        ("method", &["cs-method"]),
        ("target", &["cs-uri-stem"]),
        ("status", &["sc-status"]),
        ("forwarded", &["x-forwarded-for"]),
        ("host", &["x-host-header", "cs(host)"]),
        ("agent", &["cs(user-agent)"]),
        ("referer", &["cs(referer)"]),
        ("bytes", &["sc-bytes"]),
    ],
    request: &[],
    required: &[],
    header: |name| format!("cs({name})"),
};
