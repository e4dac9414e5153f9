//! First access of a target that differs from the recording.

use crate::cosim::Parting;

/// Position and accesses of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Run, from 1.
    pub run: usize,
    /// Interrupt of the run, from 1; 0 is the firmware's start.
    pub interrupt: usize,
    /// Core cycle of the interrupt.
    pub cycle: u64,
    /// Recorded access and the one made.
    pub parting: Parting,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { run, interrupt, cycle, parting } = self;
        match interrupt {
            0 => write!(f, "run {run}, start")?,
            _ => write!(f, "run {run}, interrupt {interrupt}")?,
        }
        write!(f, " at cycle {cycle}, access {}: {}", parting.access, parting.told("it", "the recording"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::recording::Access;
    use mias_registers::{global, sm};

    #[test]
    fn a_difference_names_place_register_and_values() {
        let write = |offset, value| Some(Access::Write { offset, value });
        let parting = Parting { access: 12, recorded: write(global::QUOTA_ALL, 3), made: write(global::QUOTA_ALL, 16) };
        let difference = Difference { run: 2, interrupt: 7, cycle: 9200, parting };
        assert_eq!(
            difference.to_string(),
            "run 2, interrupt 7 at cycle 9200, access 12: it writes 16 (0x10) to QUOTA_ALL[0], the recording writes 3 to QUOTA_ALL[0]"
        );
        let recorded = Some(Access::Read { offset: sm::at(4, sm::SATURATED), value: 1 });
        let early = Difference { interrupt: 0, parting: Parting { access: 3, recorded, made: None }, ..difference };
        assert_eq!(
            early.to_string(),
            "run 2, start at cycle 9200, access 3: it ends without a further access, the recording reads SM 4 SATURATED"
        );
    }
}
