//! Small tables of texts: names at the left, shortened where there is no room, everything else at the
//! right under headers of one line.

use super::grid::{FAINT, bold, paint};
use super::words::{shorten, width};

/// Rows of cells under headers; all have as many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// The headers; the first is that of the names.
    pub heads: Vec<String>,
    /// The rows; the first cell of each is its name.
    pub rows: Vec<Vec<String>>,
}

/// Between two columns.
const GAP: usize = 2;
/// Names are not shortened below this.
const SHORT_NAME: usize = 8;

impl Plain {
    /// Headers without rows.
    pub fn new<'a>(heads: impl IntoIterator<Item = &'a str>) -> Plain {
        Plain { heads: heads.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    /// The lines for a terminal of so many columns.
    pub fn lines(&self, most: usize, styled: bool) -> Vec<String> {
        let all = || std::iter::once(&self.heads).chain(&self.rows);
        let widest = |column: usize| all().map(|row| width(&row[column])).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..self.heads.len()).map(widest).collect();
        let others: usize = widths.iter().skip(1).map(|width| width + GAP).sum();
        if let Some(names) = widths.first_mut() {
            *names = (*names).min(most.saturating_sub(others).max(SHORT_NAME));
        }
        let line = |cells: &[String]| {
            let mut line = String::new();
            for (column, (cell, &room)) in cells.iter().zip(&widths).enumerate() {
                let cell = shorten(cell, room);
                let padding = " ".repeat(room - width(&cell));
                match column {
                    0 => line.push_str(&format!("{cell}{padding}")),
                    _ => line.push_str(&format!("{:GAP$}{padding}{cell}", "")),
                }
            }
            line.trim_end().to_owned()
        };
        let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        let mut lines = vec![bold(&line(&self.heads), styled), paint(&line(&rules), FAINT, styled)];
        lines.extend(self.rows.iter().map(|row| line(row)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_stand_at_the_left_and_give_way() {
        let mut table = Plain::new(["name", "n", "share"]);
        table.rows.push(["a-long-name-of-many-words", "1,000", "0.1%"].map(str::to_owned).into());
        table.rows.push(["b", "2", "99.9%"].map(str::to_owned).into());
        let expected = [
            "name                           n  share",
            "-------------------------  -----  -----",
            "a-long-name-of-many-words  1,000   0.1%",
            "b                              2  99.9%",
        ];
        assert_eq!(table.lines(80, false), expected);
        let expected = [
            "name           n  share",
            "---------  -----  -----",
            "a-lo…ords  1,000   0.1%",
            "b              2  99.9%",
        ];
        assert_eq!(table.lines(23, false), expected);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in prop::collection::vec(prop::array::uniform3("\\PC{0,12}"), 0..5),
            most in 40_usize..60,
        ) {
            let mut table = Plain::new(["name", "a", "b"]);
            table.rows = rows.into_iter().map(Vec::from).collect();
            for line in table.lines(most, false) {
                prop_assert!(width(&line) <= most, "{line:?}");
            }
        }
    }
}
