//! Where the panels of a figure stand: one after another, or group by group.

use super::super::canvas::{Align, Canvas, WIDTH};
use super::super::palette::INK;
use super::super::text;
use super::{BODY, MARGIN};

/// The height of the name of a group.
const GROUP_HEAD: f64 = 26.0;

/// The rows and columns that panels stand in.
pub struct Grid<'a> {
    /// How many columns there are, at least one.
    pub columns: usize,
    /// The row and the column of each panel.
    pub places: Vec<(usize, usize)>,
    /// Of panels that stand in groups, in which row each group begins and what it is called.
    pub groups: Option<Vec<(usize, &'a str)>>,
    /// Whether a remark may take two lines.
    pub wraps: bool,
}

impl<'a> Grid<'a> {
    /// So many panels one after another, in two columns where there are several.
    pub fn flowing(panels: usize) -> Grid<'a> {
        let columns = if panels < 2 { 1 } else { 2 };
        let places = (0..panels).map(|index| (index / columns, index % columns)).collect();
        Grid { columns, places, groups: None, wraps: false }
    }

    /// Groups of panels below one another, each with its name and the columns of its panels: a panel that is not right
    /// of the one before begins a new row.
    pub fn grouped(columns: usize, all: &[(&'a str, Vec<usize>)]) -> Grid<'a> {
        let (mut places, mut groups) = (Vec::new(), Vec::new());
        let mut row = 0;
        for (name, panels) in all {
            groups.push((row, *name));
            let mut before: Option<usize> = None;
            for &column in panels {
                row += usize::from(before.is_some_and(|before| column <= before));
                places.push((row, column));
                before = Some(column);
            }
            row += 1;
        }
        Grid { columns, places, groups: Some(groups), wraps: true }
    }

    /// Where a row begins below the first, if each is so high.
    pub fn top(&self, row: usize, pitch: f64) -> f64 {
        let begun = self.groups.iter().flatten().filter(|(first, _)| *first <= row).count();
        row as f64 * pitch + begun as f64 * GROUP_HEAD
    }

    /// The height of all rows.
    pub fn height(&self, pitch: f64) -> f64 {
        let last = self.places.iter().map(|(row, _)| *row).max().unwrap_or(0);
        self.top(last, pitch) + pitch
    }

    /// Whether no panel stands left of one in its row.
    pub fn is_leftmost(&self, index: usize) -> bool {
        let (row, column) = self.places[index];
        self.places.iter().all(|(other, left)| *other != row || *left >= column)
    }

    /// Whether no panel stands below one in its column.
    pub fn is_lowest(&self, index: usize) -> bool {
        let (row, column) = self.places[index];
        self.places.iter().all(|(below, other)| *other != column || *below <= row)
    }

    /// The names of groups above their first rows.
    pub fn name_groups(&self, canvas: &mut Canvas<'_>, top: f64, pitch: f64) {
        for (row, name) in self.groups.iter().flatten() {
            let name = text::fit(name, BODY, WIDTH - 2.0 * MARGIN);
            let at = (MARGIN, top + self.top(*row, pitch) - 5.0);
            canvas.text(at, BODY, Align::Start, INK, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_one_after_another_stand_in_two_columns() {
        assert_eq!((Grid::flowing(1).columns, Grid::flowing(0).columns), (1, 1));
        let three = Grid::flowing(3);
        assert_eq!(three.places, [(0, 0), (0, 1), (1, 0)]);
        assert_eq!([0, 1, 2].map(|index| three.is_leftmost(index)), [true, false, true]);
        assert_eq!([0, 1, 2].map(|index| three.is_lowest(index)), [false, true, true]);
        assert_eq!((three.top(1, 100.0), three.height(100.0)), (100.0, 200.0));
    }

    #[test]
    fn each_group_begins_a_row_and_may_leave_columns_free() {
        let all = [("a", vec![0, 1]), ("b", vec![1]), ("c", vec![0, 1, 0])];
        let grid = Grid::grouped(2, &all);
        assert_eq!(grid.places, [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1), (3, 0)]);
        assert_eq!(grid.groups, Some(vec![(0, "a"), (1, "b"), (2, "c")]));
        let leftmost: Vec<usize> = (0..6).filter(|index| grid.is_leftmost(*index)).collect();
        assert_eq!(leftmost, [0, 2, 3, 5]);
        let lowest: Vec<usize> = (0..6).filter(|index| grid.is_lowest(*index)).collect();
        assert_eq!(lowest, [4, 5]);
        assert_eq!(grid.top(3, 100.0), 300.0 + 3.0 * GROUP_HEAD);
    }
}
