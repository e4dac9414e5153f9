//! Layout of items side by side with names under them: in as many rows as necessary, names
//! horizontal if they fit, else slanted.

use super::drawing::{Anchor, Drawing, Point};
use super::measure::{DESCENT, LINE, elided, width};

/// Slope of names that do not fit side by side.
const SLANT_DEGREES: f64 = 60.0;

/// Space for a slanted name, in user units: longer ones are cut.
const LONGEST: f64 = 170.0;

/// Minimum width of a slot with a slanted name, so that lines of text do not overlap.
const LEAST_SLOT: f64 = 18.5;

/// Space between two names, in user units.
const GAP: f64 = 5.0;

/// Extra space before a separated item, in slots.
const APART: f64 = 0.4;

/// Slot: lines of its name, and whether it is separated from the one before it.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) names: Vec<String>,
    pub(super) apart: bool,
}

/// Layout of rows and slots.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Left and right end of the plotting area.
    pub(super) left: f64,
    right: f64,
    /// Width of a slot.
    pub(super) slot: f64,
    /// Number of slots per row.
    per_row: usize,
    slots: Vec<Slot>,
    level: bool,
}

impl Rows {
    /// Lays out slots in a drawing of this width, of which `left` is taken by values of an axis. A
    /// slot is at least `least` wide if possible.
    pub(super) fn new(slots: Vec<Slot>, drawing: f64, left: f64, least: f64) -> Self {
        let right = drawing - 6.0;
        let count = slots.len().max(1);
        let least = least.max(LEAST_SLOT);
        let mut rows = Rows { left, right, slot: 0.0, per_row: count, slots, level: true };
        // A slanted name may extend beside the axis values, which then need more width and leave
        // less for slots. A few iterations suffice.
        for _ in 0..6 {
            let capacity = (((rows.right - rows.left) / least - APART).floor() as usize).max(1);
            rows.per_row = count.div_ceil(count.div_ceil(capacity));
            rows.slot = (rows.right - rows.left) / rows.weight();
            rows.level = rows.slots.iter().flat_map(|slot| &slot.names).all(|name| width(name) + GAP <= rows.slot);
            let begins = |(at, slot): (usize, &Slot)| {
                let place = rows.left + rows.slot * ((at % rows.per_row) as f64 + 0.5);
                place + 4.0 - rows.length(slot) * SLANT_DEGREES.to_radians().cos() - 12.0
            };
            let first = rows.slots.iter().enumerate().map(begins).fold(0.0, f64::min);
            if rows.level || first >= 0.0 {
                break;
            }
            rows.left -= first;
        }
        rows
    }

    /// Returns the number of slots that a row must fit, including separations.
    fn weight(&self) -> f64 {
        let apart = |row: &[Slot]| row.iter().filter(|slot| slot.apart).count() as f64;
        self.slots.chunks(self.per_row).map(|row| row.len() as f64 + APART * apart(row)).fold(1.0, f64::max).max(self.per_row as f64)
    }

    fn joined(slot: &Slot) -> String {
        elided(&slot.names.join(" "), LONGEST)
    }

    fn length(&self, slot: &Slot) -> f64 {
        width(&Rows::joined(slot))
    }

    /// Returns the number of rows.
    pub(super) fn count(&self) -> usize {
        self.slots.len().div_ceil(self.per_row).max(1)
    }

    /// Returns the items of a row by index, each with the left end of its slot, and whether it is
    /// separated.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64, bool)> {
        let mut x = self.left;
        let first = row * self.per_row;
        self.slots.iter().enumerate().skip(first).take(self.per_row).map(move |(at, slot)| {
            // The first item has no separation.
            x += if slot.apart && at > first { APART * self.slot } else { 0.0 };
            let here = (at, x, slot.apart);
            x += self.slot;
            here
        })
    }

    /// Returns the right end of a row's items.
    pub(super) fn end(&self, row: usize) -> f64 {
        self.row(row).last().map_or(self.right, |(_, x, _)| x + self.slot)
    }

    /// Returns the position of a line that separates an item from the one before it.
    pub(super) fn parting(&self, x: f64) -> f64 {
        x - 0.5 * APART * self.slot
    }

    /// Returns the height of the names under the plotting area of a row.
    pub(super) fn names_height(&self) -> f64 {
        if self.level {
            let lines = self.slots.iter().map(|slot| slot.names.len()).max().unwrap_or_default();
            return LINE * lines as f64 + DESCENT + 4.0;
        }
        let longest = self.slots.iter().map(|slot| self.length(slot)).fold(0.0, f64::max);
        longest * SLANT_DEGREES.to_radians().sin() + LINE + 6.0
    }

    /// Draws the names of a row under the line `bottom`.
    pub(super) fn names(&self, drawing: &mut Drawing, row: usize, bottom: f64) {
        let placed: Vec<(usize, f64, bool)> = self.row(row).collect();
        for (at, x, _) in placed {
            let (slot, middle) = (&self.slots[at], x + self.slot / 2.0);
            if self.level {
                for (line, name) in slot.names.iter().enumerate() {
                    let place: Point = (middle, bottom + LINE * (line as f64 + 1.0));
                    drawing.text(place, Anchor::Middle, if line == 0 { "name" } else { "tick" }, name);
                }
            } else {
                drawing.rising((middle + 4.0, bottom + 13.0), Anchor::End, SLANT_DEGREES, "name", &Rows::joined(slot));
            }
        }
    }
}

/// Returns the lines of all names.
pub(super) fn slots<'n>(names: impl Iterator<Item = (&'n [String], bool)>) -> Vec<Slot> {
    names.map(|(names, apart)| Slot { names: names.iter().filter(|name| !name.is_empty()).cloned().collect(), apart }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<Slot> {
        names.iter().map(|name| Slot { names: vec![(*name).to_owned()], apart: false }).collect()
    }

    #[test]
    fn names_slant_where_they_would_meet() {
        let room = width("warped-slicer") + GAP;
        let slanted = |slot: f64| !Rows::new(named(&["smk", "warped-slicer"]), 2.0 * slot + 6.0 + 60.0, 60.0, 0.0).level;
        assert!(!slanted(room + 0.1) && slanted(room - 0.1));
    }

    #[test]
    fn rows_have_as_many_as_there_is_room_for() {
        let names = vec!["a"; 13];
        // 300 units for slots of at least 60: 4 in a row, so 4 rows of 4, 4, 4 and 1.
        let rows = Rows::new(named(&names), 366.0 - 3.0, 57.0, 60.0);
        assert_eq!((rows.count(), rows.per_row), (4, 4));
        let placed: Vec<usize> = (0..4).flat_map(|row| rows.row(row).map(|(at, _, _)| at)).collect();
        assert_eq!(placed, (0..13).collect::<Vec<_>>());
        assert_eq!(Rows::new(Vec::new(), 300.0, 60.0, 60.0).count(), 1);
    }
}
