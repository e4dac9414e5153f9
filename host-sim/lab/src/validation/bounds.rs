//! Bounds on the deviation of our numbers from the reference. Tests enforce them; the report states
//! which are met.

use super::suite::{Corun, Launch, Micro, Suite, mean_error_percent};
use crate::validation::reference::COLUMNS;

/// Maximum mean error of cycles over all launches.
pub const MEAN_CYCLES_PERCENT: f64 = 5.0;
/// Maximum error of both ends of a co-run.
pub const CORUN_PERCENT: f64 = 8.0;
/// Maximum difference in total cycles of a micro-benchmark. The beginning or end of a run may
/// differ by a cycle, and does for two (an atomic, a barrier). The cycles per instruction are
/// exactly the reference's.
const MICRO_CYCLES: u64 = 1;

/// Returns the bound of a column, in percent of the reference; `None` for informative ones. A
/// reference of 0 must be matched exactly.
pub fn column_bound_percent(column: &str) -> Option<f64> {
    match column {
        "thread_insts" | "warp_insts" => Some(0.0),
        "cycles" => Some(15.0),
        "l1_accesses" | "l2_accesses" => Some(2.0),
        "l1_misses" | "l2_misses" | "dram_reads" => Some(10.0),
        _ => None,
    }
}

/// Returns the error in percent of the reference; infinite if only the reference is 0.
pub(super) fn error_percent(ours: f64, reference: f64) -> f64 {
    if ours == reference { 0.0 } else { 100.0 * (ours - reference) / reference }
}

fn outside(ours: u64, reference: u64, percent: f64) -> bool {
    error_percent(ours as f64, reference as f64).abs() > percent
}

impl Launch {
    /// Returns the violations, a sentence each.
    pub fn violations(&self) -> Vec<String> {
        let columns = COLUMNS.iter().zip(self.ours.into_iter().zip(self.reference));
        let bad = columns.filter_map(|((name, _), (ours, reference))| {
            let reference = reference?;
            let bound = if reference == 0 { Some(0.0) } else { column_bound_percent(name) }?;
            let text = || format!("{} launch {}: {name} {ours}, reference {reference}, bound {bound} %", self.trace, self.number);
            outside(ours, reference, bound).then(text)
        });
        bad.collect()
    }
}

impl Micro {
    /// Returns whether cycles per instruction are the reference's, and totals within one cycle of
    /// it.
    pub fn is_within_bounds(&self) -> bool {
        let added = |[short, long]: [u64; 2]| long.checked_sub(short);
        let near = self.ours.iter().zip(&self.reference).all(|(ours, reference)| ours.abs_diff(*reference) <= MICRO_CYCLES);
        near && added(self.ours).is_some() && added(self.ours) == added(self.reference)
    }
}

impl Corun {
    /// Returns whether both ends are within bounds.
    pub fn is_within_bounds(&self) -> bool {
        self.ours.iter().zip(&self.reference).all(|(&ours, &reference)| !outside(ours, reference, CORUN_PERCENT))
    }
}

impl Suite {
    /// Returns all violations, a sentence each.
    pub fn violations(&self) -> Vec<String> {
        let mut bad: Vec<String> = self.launches.iter().flat_map(Launch::violations).collect();
        let mean = mean_error_percent(&self.launches);
        if mean > MEAN_CYCLES_PERCENT {
            bad.push(format!("mean error of cycles {mean:.1} %, bound {MEAN_CYCLES_PERCENT} %"));
        }
        for micro in self.micro.iter().filter(|micro| !micro.is_within_bounds()) {
            let (ours, reference) = (micro.ours_per_instruction(), micro.reference_per_instruction());
            bad.push(format!("{}: {ours} cycles per instruction, reference {reference}", micro.name));
        }
        for corun in self.corun.iter().filter(|corun| !corun.is_within_bounds()) {
            bad.push(format!("{}: ends {:?}, reference {:?}, bound {CORUN_PERCENT} %", corun.name, corun.ours, corun.reference));
        }
        bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(cycles: (u64, u64), dram_writes: (u64, u64)) -> Launch {
        let (mut ours, mut reference) = ([100; COLUMNS.len()], [100; COLUMNS.len()]);
        (ours[0], reference[0]) = cycles;
        (ours[COLUMNS.len() - 1], reference[COLUMNS.len() - 1]) = dram_writes;
        Launch { trace: "t".into(), number: 1, kernel: "k".into(), ours, reference: reference.map(Some) }
    }

    #[test]
    fn bounds_are_held_from_both_sides() {
        assert!(launch((115, 100), (7, 9)).violations().is_empty());
        assert_eq!(launch((116, 100), (7, 9)).violations(), ["t launch 1: cycles 116, reference 100, bound 15 %"]);
        assert_eq!(launch((84, 100), (7, 9)).violations().len(), 1);
        assert_eq!(launch((100, 100), (1, 0)).violations(), ["t launch 1: dram_writes 1, reference 0, bound 0 %"]);
        let micro = |ours| Micro { name: "m".into(), ours, reference: [100, 350] };
        // One cycle of difference at both ends; then one more for an instruction in 200; then two
        // cycles.
        assert!(micro([101, 351]).is_within_bounds() && micro([99, 349]).is_within_bounds());
        assert!(!micro([100, 351]).is_within_bounds() && !micro([102, 352]).is_within_bounds());
        let corun = |ours| Corun { name: "c".into(), ours: [100, ours], reference: [100, 100] };
        assert!(corun(108).is_within_bounds() && !corun(109).is_within_bounds() && !corun(91).is_within_bounds());
    }
}
