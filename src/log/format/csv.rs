//! Tables with commas between their fields, or semicolons, or what is given as `delimiter`.

use super::table::{self, Dialect};
use super::{Format, Stamps};

/// The entry of the registry.
pub const FORMAT: Format = Format {
    name: "csv",
    summary: "A table with a heading and one request a row, as CSV; `columns` says which is what, \
              where it cannot be told.",
    example: "time,ip,path,duration_ms\n2015-05-17T10:05:03Z,192.0.2.7,/a,12",
    expected: table::EXPECTED,
    stamps: Stamps::EndIfTimed,
    fits: |lines, layout| table::fits(lines, DIALECT, layout),
    open: |layout| table::open(layout, DIALECT),
};

const DIALECT: Dialect = Dialect { delimiters: b",;", quoted: true };
