//! Bounds from measured entries: the next larger one, or the steepest slopes beyond all of them.

use super::Situation;
use serde::Deserialize;
use std::collections::BTreeMap;

impl Situation {
    fn dimensions(self) -> [u64; 4] {
        [self.sms, self.kernels, self.scored, self.generated].map(u64::from)
    }

    /// Returns whether both situations take the same steps, in any number.
    fn is_like(self, other: Situation) -> bool {
        (self.late, self.generated == 0) == (other.late, other.generated == 0)
    }
}

/// Group in the file: situations with the same SMs and kernels are on one line.
#[derive(Deserialize)]
pub(super) struct Group {
    /// Columns `scored`, `generated`, and the counted ones.
    columns: Vec<String>,
    rows: Vec<Rows>,
}

#[derive(Deserialize)]
struct Rows {
    late: bool,
    sms: u32,
    kernels: u32,
    counts: Vec<Vec<u32>>,
}

impl TryFrom<Group> for Vec<Entry> {
    type Error = String;

    fn try_from(Group { columns, rows }: Group) -> Result<Self, String> {
        let entry = |&Rows { late, sms, kernels, .. }: &Rows, row: &[u32]| match row {
            &[scored, generated, ref counts @ ..] if row.len() == columns.len() => {
                let instructions = columns.iter().skip(2).cloned().zip(counts.iter().copied().map(u64::from)).collect();
                Ok(Entry { situation: Situation { late, sms, kernels, scored, generated }, instructions })
            }
            _ => Err(format!("{row:?}: a number for each of {columns:?}")),
        };
        rows.iter().flat_map(|rows| rows.counts.iter().map(|row| entry(rows, row))).collect()
    }
}

/// Measured situation: instructions from the interrupt to the commit, by policy.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    situation: Situation,
    instructions: BTreeMap<String, u64>,
}

impl Entry {
    /// Creates an entry from a measurement.
    #[cfg(test)]
    pub(super) fn new(situation: Situation, counts: &[(&str, u64)]) -> Self {
        let instructions = counts.iter().map(|(column, count)| ((*column).to_owned(), *count)).collect();
        Entry { situation, instructions }
    }

    /// Returns the situation of the entry.
    pub(super) fn situation(&self) -> Situation {
        self.situation
    }

    /// Returns the total number of configurations, if a second round follows.
    pub(super) fn generated(&self) -> u32 {
        self.situation.generated
    }

    /// Returns whether a column is counted in the entry.
    pub(super) fn counts(&self, column: &str) -> bool {
        self.instructions.contains_key(column)
    }

    /// Returns the instructions of a column.
    pub(super) fn count(&self, column: &str) -> u64 {
        self.instructions.get(column).copied().unwrap_or(0)
    }

    fn dimensions(&self) -> [u64; 4] {
        self.situation.dimensions()
    }

    /// Returns whether the entry is at least as large as another in every dimension.
    #[cfg(test)]
    pub(super) fn covers(&self, other: &Entry) -> bool {
        covers(self.dimensions(), other.dimensions())
    }
}

/// Returns an upper bound of a column's instructions in a situation.
pub(super) fn bound(entries: &[Entry], situation: Situation, column: &str) -> u64 {
    let entries: Vec<&Entry> = entries.iter().filter(|entry| entry.situation().is_like(situation)).collect();
    let asked = situation.dimensions();
    // The maximum over smaller situations covers measured noise of code placement.
    let bound = |dimensions: [u64; 4]| {
        let smaller = entries.iter().filter(|entry| covers(dimensions, entry.dimensions()));
        smaller.map(|entry| entry.count(column)).max().unwrap_or(0)
    };
    let larger = entries.iter().filter(|entry| covers(entry.dimensions(), asked)).map(|entry| bound(entry.dimensions()));
    larger.min().unwrap_or_else(|| {
        let most: [u64; 4] = std::array::from_fn(|at| entries.iter().map(|entry| entry.dimensions()[at]).max().unwrap_or(0));
        let beyond = (0..4).map(|at| asked[at].saturating_sub(most[at]).saturating_mul(slope(&entries, at)));
        beyond.fold(bound(most), u64::saturating_add)
    })
}

/// Returns whether no dimension of `small` exceeds that of `large`.
fn covers(large: [u64; 4], small: [u64; 4]) -> bool {
    large.iter().zip(&small).all(|(large, small)| large >= small)
}

/// Returns the instructions per unit of one dimension, rounded up: the maximum over any two entries
/// that differ only there, in any column.
fn slope(entries: &[&Entry], dimension: usize) -> u64 {
    let between = |less: &Entry, more: &Entry| {
        let (from, to) = (less.dimensions(), more.dimensions());
        let others = (0..4).all(|at| at == dimension || from[at] == to[at]);
        let apart = to[dimension].checked_sub(from[dimension]).filter(|apart| others && *apart > 0)?;
        let rise = |(column, count): (&String, &u64)| count.saturating_sub(less.count(column));
        more.instructions.iter().map(rise).max().map(|rise| rise.div_ceil(apart))
    };
    entries.iter().flat_map(|less| entries.iter().filter_map(|more| between(less, more))).max().unwrap_or(0)
}
