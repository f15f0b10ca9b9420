//! Columns under two-line headers, aligned by hand: numbers to the right with one place behind them
//! for the mark of the worst, neighbouring columns joined under one header.

use std::collections::BTreeSet;

use anstyle::{AnsiColor, Style};

use super::words::{shorten, width};

/// Stands behind the worst value of a column where there is no colour.
pub const MARK: &str = "*";

/// Between two columns, the place of the mark included.
const GAP: usize = 2;

/// Of what should be seen first.
pub const WORST: Style = AnsiColor::Red.on_default().bold();
const HEADER: Style = Style::new().bold();
/// Of what is there for orientation only.
pub const FAINT: Style = Style::new().dimmed();

/// Text in a style, if there are styles at all.
pub fn paint(text: &str, style: Style, styled: bool) -> String {
    if styled && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// A text in bold, if there are styles at all.
pub fn bold(text: &str, styled: bool) -> String {
    paint(text, HEADER, styled)
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// As shown.
    pub text: String,
    /// Whether it is the worst of its column.
    pub worst: bool,
}

/// A column of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The upper header, which neighbours with the same one share.
    pub group: &'static str,
    /// The lower header.
    pub head: &'static str,
    /// One value a row.
    pub cells: Vec<Cell>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(&cell.text)).max().unwrap_or(0);
        cells.max(width(self.head))
    }
}

/// A table: names at the left, columns of numbers at the right, and headings between the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The header above the names.
    pub head: &'static str,
    /// One name a row.
    pub names: Vec<String>,
    /// The columns of numbers.
    pub columns: Vec<Column>,
    /// Lines that stand above a row (by its position), such as the name of a case.
    pub headings: Vec<(usize, Vec<String>)>,
}

/// Neighbouring columns under one header.
struct Group {
    label: &'static str,
    /// Positions of its columns.
    columns: std::ops::Range<usize>,
}

impl Grid {
    /// The columns that the whole table takes, marks included.
    pub fn width(&self) -> usize {
        let numbers: usize = self.widths().iter().map(|width| GAP + width).sum();
        let last_mark = self.columns.last().is_some_and(|c| c.cells.iter().any(|cell| cell.worst));
        self.names_width() + numbers + usize::from(last_mark)
    }

    /// Shortens the names to at most so many columns.
    pub fn shorten_names(&mut self, most: usize) {
        for name in &mut self.names {
            *name = shorten(name, most);
        }
    }

    /// From how many columns on, at least `least`, names that differ still do when they are shortened.
    pub fn distinct_from(&self, least: usize) -> usize {
        let different = |most: usize| {
            let names: BTreeSet<&String> = self.names.iter().collect();
            names.iter().map(|name| shorten(name, most)).collect::<BTreeSet<_>>().len()
                == names.len()
        };
        let all = self.names_width();
        // For a mark in its middle no name is cut that almost fits.
        let enough = (least..all).find(|&most| different(most));
        enough.filter(|most| most + 2 < all).unwrap_or(all.max(least))
    }

    /// The columns that the names take.
    pub fn names_width(&self) -> usize {
        let names = self.names.iter().map(|name| width(name)).max().unwrap_or(0);
        names.max(width(self.head))
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if group.label == column.group => group.columns.end = index + 1,
                _ => groups.push(Group { label: column.group, columns: index..index + 1 }),
            }
        }
        groups
    }

    /// The widths of the columns; the first of a group whose header is wide takes the rest.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(Column::width).collect();
        for group in self.groups() {
            let inner = group_width(&widths, &group);
            widths[group.columns.start] += width(group.label).saturating_sub(inner);
        }
        widths
    }

    /// The lines of the table. Without styles the worst values have a [`MARK`].
    pub fn lines(&self, styled: bool) -> Vec<String> {
        let names_width = self.names_width();
        let widths = self.widths();
        let groups = self.groups();
        let mut upper = " ".repeat(names_width);
        let mut rule = "-".repeat(names_width);
        for group in &groups {
            let width = group_width(&widths, group);
            upper.push_str(&format!("{:GAP$}{}", "", right(group.label, width)));
            rule.push_str(&format!("{:GAP$}{}", "", "-".repeat(width)));
        }
        let mut lower = left(self.head, names_width);
        for (column, &width) in self.columns.iter().zip(&widths) {
            lower.push_str(&format!("{:GAP$}{}", "", right(column.head, width)));
        }
        let mut lines = Vec::new();
        if groups.iter().any(|group| !group.label.is_empty()) {
            lines.push(bold(upper.trim_end(), styled));
        }
        lines.push(bold(lower.trim_end(), styled));
        lines.push(paint(&rule, FAINT, styled));
        for (index, name) in self.names.iter().enumerate() {
            let above = self.headings.iter().filter(|(row, _)| *row == index);
            lines.extend(above.flat_map(|(_, heading)| heading.clone()));
            lines.push(self.line(index, &left(name, names_width), &widths, styled));
        }
        lines
    }

    fn line(&self, row: usize, name: &str, widths: &[usize], styled: bool) -> String {
        let mut line = name.to_owned();
        let mut behind = String::new();
        for (column, &width) in self.columns.iter().zip(widths) {
            let cell = &column.cells[row];
            line.push_str(&format!("{behind:GAP$}"));
            let padding = width - self::width(&cell.text);
            line.push_str(&" ".repeat(padding));
            let style = if cell.worst { WORST } else { Style::new() };
            line.push_str(&paint(&cell.text, style, styled && cell.worst));
            behind = if cell.worst && !styled { MARK.to_owned() } else { String::new() };
        }
        line.push_str(&behind);
        line.trim_end().to_owned()
    }
}

fn group_width(widths: &[usize], group: &Group) -> usize {
    let inner = &widths[group.columns.clone()];
    inner.iter().sum::<usize>() + GAP * (inner.len() - 1)
}

fn left(text: &str, most: usize) -> String {
    format!("{text}{}", " ".repeat(most.saturating_sub(width(text))))
}

fn right(text: &str, most: usize) -> String {
    format!("{}{text}", " ".repeat(most.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let cell = |text: &str, worst| Cell { text: text.to_owned(), worst };
        let column = |group, head, cells| Column { group, head, cells };
        Grid {
            head: "name",
            names: vec!["桁".to_owned(), "longer".to_owned()],
            columns: vec![
                column("numbers", "a", vec![cell("1", false), cell("22", true)]),
                column("numbers", "b", vec![cell("333", true), cell("4", false)]),
                column("", "c", vec![cell("5", false), cell("6", true)]),
            ],
            headings: vec![(1, vec![String::new(), "the second".to_owned()])],
        }
    }

    #[test]
    fn numbers_stand_to_the_right_and_headers_join() {
        insta::assert_snapshot!(grid().lines(false).join("\n"));
    }

    #[test]
    fn the_width_is_that_of_the_widest_line() {
        let widest = grid().lines(false).iter().map(|line| width(line)).max();
        assert_eq!(widest, Some(grid().width()));
    }
}
