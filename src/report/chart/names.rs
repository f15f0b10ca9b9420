//! Names where room is short: what tells them apart stays.

use std::collections::BTreeSet;

use super::text;

/// Names as they are drawn.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// As they were given, each in as much room as there is.
    pub shown: Vec<String>,
    /// What all of them begin their parts with, and was left out.
    pub common: Vec<String>,
}

/// Names of `size` that are to fit so much room. If some do not, all leave out what they have in common, and what is
/// still too long is cut in the middle; where that makes different names the same, each begins with its number.
pub fn fitting(names: &[&str], size: f64, room: f64) -> Names {
    let whole = |names: &[String]| names.iter().all(|name| text::width(name, size) <= room);
    let given: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    if whole(&given) {
        return Names { shown: given, common: Vec::new() };
    }
    let (shorter, common) = without_common(names).unwrap_or((given, Vec::new()));
    let mut shown: Vec<String> =
        shorter.iter().map(|name| text::fit_middle(name, size, room)).collect();
    if different(&shown) < different(names) {
        shown = (1..)
            .zip(&shorter)
            .map(|(number, name)| {
                let number = format!("{number}: ");
                let rest = room - text::width(&number, size);
                format!("{number}{}", text::fit_middle(name, size, rest))
            })
            .collect();
    }
    Names { shown, common }
}

/// The names without the first words that each of their parts has in all of them, and those words; `None` where there
/// are none, or names have not as many parts as one another. Parts are set off by commas, as a matrix makes them.
fn without_common(names: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
    let split: Vec<Vec<Vec<&str>>> = names
        .iter()
        .map(|name| name.split(", ").map(|part| part.split_whitespace().collect()).collect())
        .collect();
    let (first, others) = split.split_first()?;
    if different(names) < 2 || others.iter().any(|other| other.len() != first.len()) {
        return None;
    }
    let (mut kept, mut common) = (vec![Vec::new(); names.len()], Vec::new());
    for (part, words) in first.iter().enumerate() {
        let is_common =
            |nth: &usize| split.iter().all(|name| name[part].get(*nth) == words.get(*nth));
        let most = split.iter().map(|name| name[part].len()).max().unwrap_or(0);
        let least = split.iter().map(|name| name[part].len()).min().unwrap_or(0);
        let shared = (0..most).take_while(is_common).count();
        // A part that differs keeps at least one word of each name.
        let left_out = if shared == most { most } else { shared.min(least.saturating_sub(1)) };
        if left_out > 0 {
            common.push(words[..left_out].join(" "));
        }
        for (kept, name) in kept.iter_mut().zip(&split) {
            let rest = name[part][left_out..].join(" ");
            kept.extend((!rest.is_empty()).then_some(rest));
        }
    }
    let kept: Vec<String> = kept.into_iter().map(|parts| parts.join(", ")).collect();
    let tells_apart = different(&kept) == different(names);
    (tells_apart && !common.is_empty()).then_some((kept, common))
}

/// How many of them are different.
fn different<T: AsRef<str>>(names: &[T]) -> usize {
    names.iter().map(AsRef::as_ref).collect::<BTreeSet<&str>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: [&str; 3] = [
        "atomicity script, round-trip 5ms, limit.per 60s",
        "atomicity check-then-increment, round-trip 5ms, limit.per 60s",
        "atomicity check-then-increment, round-trip 50ms, limit.per 60s",
    ];

    #[test]
    fn names_that_fit_are_left_as_they_are() {
        assert_eq!(
            fitting(&MATRIX, 13.0, 1000.0),
            Names { shown: MATRIX.map(str::to_owned).to_vec(), common: vec![] }
        );
    }

    #[test]
    fn what_all_names_share_goes_first() {
        let names = fitting(&MATRIX, 13.0, 250.0);
        assert_eq!(
            names.shown,
            ["script, 5ms", "check-then-increment, 5ms", "check-then-increment, 50ms"]
        );
        assert_eq!(names.common, ["atomicity", "round-trip", "limit.per 60s"]);
    }

    #[test]
    fn names_that_are_still_too_long_are_cut_in_the_middle_and_told_apart() {
        let names = fitting(&MATRIX, 13.0, 120.0);
        assert_eq!(names.shown[0], "script, 5ms");
        assert!(names.shown[1].ends_with(" 5ms") && names.shown[2].ends_with(" 50ms"), "{names:?}");
        // Those that differ in the middle only, and not in their first words.
        let long = [
            "a name that differs right here one in its middle alone",
            "a name that differs right here two in its middle alone",
        ];
        let names = fitting(&long, 13.0, 150.0);
        assert!(names.shown.iter().all(|name| text::width(name, 13.0) <= 150.0), "{names:?}");
        assert_ne!(names.shown[0], names.shown[1]);
        // Other numbers of parts.
        let odd = ["aaa bbb, ccc", "aaa bbb ccc ddd eee fff ggg"];
        assert_eq!(fitting(&odd, 13.0, 100.0).common, Vec::<String>::new());
        let same = ["one long name of two cases"; 2];
        let names = fitting(&same, 13.0, 100.0);
        assert_eq!(names.shown[0], names.shown[1]);
        let numbered = fitting(&["abc2def ghi", "abc3def ghi"], 13.0, 60.0);
        assert_ne!(numbered.shown[0], numbered.shown[1], "{numbered:?}");
    }
}
