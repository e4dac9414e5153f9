//! Warnings of the trace reader: counts of unknown opcodes.

use std::collections::BTreeMap;

/// Warnings of one or more reads, with their counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    unknown_opcodes: BTreeMap<String, u64>,
}

impl Warnings {
    /// Creates an empty set of warnings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the executed warp instructions per unknown opcode; they are timed as integer
    /// instructions.
    pub fn unknown_opcodes(&self) -> &BTreeMap<String, u64> {
        &self.unknown_opcodes
    }

    /// Returns whether there are no warnings.
    pub fn is_empty(&self) -> bool {
        self.unknown_opcodes.is_empty()
    }

    /// Adds `executed` instructions of an unknown opcode.
    pub(crate) fn unknown_opcode(&mut self, opcode: &str, executed: u64) {
        let count = self.unknown_opcodes.entry(opcode.to_owned()).or_default();
        *count = count.saturating_add(executed);
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Warnings) {
        other.unknown_opcodes.iter().for_each(|(opcode, &executed)| self.unknown_opcode(opcode, executed));
    }
}

impl std::fmt::Display for Warnings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, (opcode, count)) in self.unknown_opcodes.iter().enumerate() {
            let separator = if at == 0 { "unknown opcodes timed as integer: " } else { ", " };
            write!(f, "{separator}{opcode} ({count} executed)")?;
        }
        Ok(())
    }
}
