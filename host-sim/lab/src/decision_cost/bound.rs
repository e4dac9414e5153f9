//! A bound from measured entries: the next larger one, or beyond all of them the steepest slopes.

use super::Situation;
use serde::Deserialize;
use std::collections::BTreeMap;

impl Situation {
    fn dimensions(self) -> [u64; 4] {
        [self.sms, self.kernels, self.scored, self.generated].map(u64::from)
    }

    /// Whether the same steps are taken, however often.
    fn is_like(self, other: Situation) -> bool {
        (self.late, self.generated == 0) == (other.late, other.generated == 0)
    }
}

/// A group as the file has it: situations of as many SMs and kernels are on one line.
#[derive(Deserialize)]
pub(super) struct Group {
    /// `scored`, `generated`, and what is counted.
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

/// A measured situation: instructions from the interrupt to the commit, by policy.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    situation: Situation,
    instructions: BTreeMap<String, u64>,
}

impl Entry {
    /// What was measured.
    #[cfg(test)]
    pub(super) fn new(situation: Situation, counts: &[(&str, u64)]) -> Self {
        let instructions = counts.iter().map(|(column, count)| ((*column).to_owned(), *count)).collect();
        Entry { situation, instructions }
    }

    /// Its situation.
    pub(super) fn situation(&self) -> Situation {
        self.situation
    }

    /// Configurations that there are, where a second round follows.
    pub(super) fn generated(&self) -> u32 {
        self.situation.generated
    }

    /// Whether a column is counted in it.
    pub(super) fn counts(&self, column: &str) -> bool {
        self.instructions.contains_key(column)
    }

    /// Instructions of a column.
    pub(super) fn count(&self, column: &str) -> u64 {
        self.instructions.get(column).copied().unwrap_or(0)
    }

    fn dimensions(&self) -> [u64; 4] {
        self.situation.dimensions()
    }

    /// Whether it is no smaller than another in any dimension.
    #[cfg(test)]
    pub(super) fn covers(&self, other: &Entry) -> bool {
        covers(self.dimensions(), other.dimensions())
    }
}

/// Instructions of a column in a situation, at most.
pub(super) fn bound(entries: &[Entry], situation: Situation, column: &str) -> u64 {
    let entries: Vec<&Entry> = entries.iter().filter(|entry| entry.situation().is_like(situation)).collect();
    let asked = situation.dimensions();
    // No smaller situation has cost more, measured noise of code placement included.
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

/// Whether no dimension of `small` is above that of `large`.
fn covers(large: [u64; 4], small: [u64; 4]) -> bool {
    large.iter().zip(&small).all(|(large, small)| large >= small)
}

/// Instructions per unit of one dimension, rounded up: the most between any two entries that differ in nothing else, of any column.
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
