//! `store.csv`: what nodes and the store that they share did over time. Of several replicas it has the first, 0,
//! alone.

use super::csv::{Sheet, since_start};
use crate::metrics::{Comparison, Metric, Value};

/// The file: one row a case, algorithm, replica and bin of those in which several nodes decide, or share a store;
/// empty cells where no node uses one.
pub fn sheet(comparison: &Comparison) -> Vec<u8> {
    const NONE: &[Metric] = &[];
    const COLUMNS: &[&str] = &[
        "case",
        "algorithm",
        "replica",
        "t_s",
        "calls",
        "failed_calls",
        "unlimited",
        "store_rejections",
        "fallback_decisions",
        "keys_alive",
        "stuck_keys",
    ];
    let mut sheet = Sheet::new(COLUMNS, NONE);
    for row in &comparison.rows {
        let Some(fleet) = &row.tally.fleet else { continue };
        let timeline = &row.tally.timeline;
        for (bin, index) in timeline.bins.iter().zip(0_u128..) {
            sheet.start(comparison, row, 0);
            sheet.value(since_start(timeline, index));
            for count in
                [bin.calls, bin.failed_calls, bin.unlimited, bin.turned_down, bin.fell_back]
            {
                sheet.number(count);
            }
            for count in [bin.keys_in_store, bin.stuck_keys] {
                sheet.value(fleet.keys.map(|_| Value::Count(count)));
            }
            sheet.end();
        }
    }
    sheet.bytes()
}

#[cfg(test)]
mod tests {
    use super::super::fleet_samples::outage;
    use super::*;

    /// Around the beginning of the outage; and under local placement.
    #[test]
    fn what_happened_in_each_bin_with_empty_cells_where_no_store_is_used() {
        let mut outage = outage();
        outage.rows.truncate(3);
        for row in &mut outage.rows {
            row.tally.timeline.bins.drain(..118);
            row.tally.timeline.bins.truncate(4);
        }
        outage.rows[1].tally.fleet.as_mut().unwrap().keys = None;
        outage.rows[2].tally.fleet = None;
        insta::assert_snapshot!(String::from_utf8(sheet(&outage)).unwrap());
    }
}
