//! Tables with tabs between their fields.

use super::table::{self, Dialect};
use super::{Format, Stamps};

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "tsv",
    summary: "A table with a heading and one request a row, with tabs between the fields.",
    example: "time\tip\tpath\n2015-05-17T10:05:03Z\t192.0.2.7\t/a",
    expected: table::EXPECTED,
    stamps: Stamps::EndIfTimed,
    fits: |lines, layout| table::fits(lines, DIALECT, layout),
    open: |layout| table::open(layout, DIALECT),
};

const DIALECT: Dialect = Dialect { delimiters: b"\t", quoted: false };
