//! Statements of the thesis about its seven kernels, each with a rule that tests it on ours (Nasef
//! 2023, section 4.1.2, figure 4.1 and section 4.2.1). The thesis gives words and a chart without
//! numbers: every threshold is an assumption.

use super::Character;
use mias_hw_model::sm::IssueClass;
use mias_workloads::kernels::{self, KernelType};
use serde::Serialize;

/// Fraction of the stall slots that counts as "most of" them.
const MOST: f64 = 0.5;
/// Fraction of all issue slots that counts as "a considerable amount", "quite a bit".
const CONSIDERABLE: f64 = 0.1;
/// Cinst/Minst between "very little" and "a considerable amount of computations per data item".
const COMPUTATIONS: f64 = 10.0;
/// Fraction of the bytes fetched that coalesced accesses use.
const COALESCED: f64 = 0.9;
/// Fraction of the issue slots used that counts as a "high IPC".
const HIGH_IPC: f64 = 0.5;

/// Agreement of our kernel with the thesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Every statement holds.
    Yes,
    /// Some statements hold.
    Partly,
    /// No statement holds.
    No,
}

impl Agreement {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Yes => "yes",
            Agreement::Partly => "partly",
            Agreement::No => "no",
        }
    }

    /// Summarizes statements.
    pub fn of(statements: &[Statement]) -> Self {
        match (statements.iter().all(|s| s.holds), statements.iter().any(|s| s.holds)) {
            (true, _) => Agreement::Yes,
            (_, true) => Agreement::Partly,
            _ => Agreement::No,
        }
    }
}

/// Statement of the thesis with its test.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Statement in the thesis' words.
    pub says: &'static str,
    /// Rule that tests it.
    pub rule: String,
    /// Measured number that the rule uses.
    pub measured: String,
    /// Whether the rule holds.
    pub holds: bool,
}

/// Returns the type that the thesis gives a kernel; `None` for other kernels.
pub fn kernel_type(kernel: Option<&str>) -> Option<KernelType> {
    kernels::find(kernel?).ok()?.kernel_type()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Creates a statement about a fraction that must be at least (or below) a bound.
fn share(says: &'static str, what: &str, value: f64, bound: f64, at_least: bool) -> Statement {
    let rule = format!("{what} {} {:.0} %", if at_least { "at least" } else { "below" }, 100.0 * bound);
    Statement { says, rule, measured: percent(value), holds: (value >= bound) == at_least }
}

fn coalesced(says: &'static str, character: &Character, is: bool) -> Statement {
    share(says, "used of the bytes fetched", character.profile.sector_use().unwrap_or(0.0), COALESCED, is)
}

fn computations(says: &'static str, character: &Character, many: bool) -> Statement {
    let value = character.profile.compute_per_memory().unwrap_or(0.0);
    let rule = format!("Cinst/Minst {} {COMPUTATIONS:.0}", if many { "at least" } else { "below" });
    Statement { says, rule, measured: format!("{value:.1}"), holds: (value >= COMPUTATIONS) == many }
}

/// Returns the statements about one of the seven kernels; none about others.
pub fn statements(character: &Character) -> Vec<Statement> {
    let slot = |class| character.alone.slot(class);
    let stalled = character.alone.stalled();
    let of_stalls = |part: f64| if stalled > 0.0 { part / stalled } else { 0.0 };
    let (raw, both) = (slot(IssueClass::MemoryRaw), slot(IssueClass::BothPipelines));
    let pipeline = slot(IssueClass::MemoryPipeline) + both;
    let memory = of_stalls(raw + pipeline);
    let memory_bound = |says| share(says, "memory RAW and memory pipeline of the stalls", memory, MOST, true);
    match character.kernel.unwrap_or_default() {
        "bfs" => vec![
            share("spends most of its time waiting for data from memory (RAW)", "memory RAW of all slots", raw, MOST, true),
            coalesced("does a lot of uncoalesced memory accesses", character, false),
        ],
        "fwt" => vec![
            memory_bound("is memory intensive"),
            computations("does very little computations per data item", character, false),
            coalesced("makes coalesced memory accesses", character, true),
        ],
        "blk" => vec![
            memory_bound("is memory intensive"),
            computations("performs a considerable amount of computations per data item", character, true),
            coalesced("makes coalesced memory accesses", character, true),
        ],
        "mm" => {
            // Cycles in which both pipelines are full may count for either: the statement holds if
            // it does for one of them.
            let compute = slot(IssueClass::ComputePipeline);
            let counted = [IssueClass::Issued, IssueClass::ComputePipeline, IssueClass::BothPipelines];
            let others = IssueClass::ALL.into_iter().filter(|class| !counted.contains(class)).map(slot).fold(0.0, f64::max);
            vec![
                share("has very reduced stalls by memory latency", "memory RAW of all slots", raw, CONSIDERABLE, false),
                Statement {
                    says: "loses a substantial amount of cycles to compute stalls",
                    rule: "compute pipeline, with both pipelines or without, is the largest stall".into(),
                    measured: format!("{}, both pipelines {}, the largest other {}", percent(compute), percent(both), percent(others)),
                    holds: compute + both > others,
                },
            ]
        }
        "nbdy" => vec![
            share("is mostly compute intensive", "memory RAW and memory pipeline of the stalls", memory, MOST, false),
            share("has quite a bit of RAW stalls caused by memory latencies", "memory RAW of all slots", raw, CONSIDERABLE, true),
        ],
        "bopt" => vec![
            share("has little memory induced stalls", "memory RAW and memory pipeline of all slots", raw + pipeline, CONSIDERABLE, false),
            share(
                "loses a considerable amount of cycles to synchronization (idle or control)",
                "idle or control of all slots",
                slot(IssueClass::IdleOrControl),
                CONSIDERABLE,
                true,
            ),
        ],
        "dxtc" => vec![
            share("achieves high IPC", "issued of all slots", slot(IssueClass::Issued), HIGH_IPC, true),
            share(
                "does not produce too much memory traffic",
                "DRAM bandwidth",
                character.alone.dram_utilization.unwrap_or(0.0),
                CONSIDERABLE,
                false,
            ),
        ],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_is_partly() {
        let statement = |holds| Statement { says: "", rule: String::new(), measured: String::new(), holds };
        let of = |holds: &[bool]| Agreement::of(&holds.iter().map(|&holds| statement(holds)).collect::<Vec<_>>());
        assert_eq!([of(&[true, true]), of(&[false, true]), of(&[false])], [Agreement::Yes, Agreement::Partly, Agreement::No]);
    }

    #[test]
    fn bounds_are_met_at_least_or_missed_below() {
        let holds = |value, at_least| share("", "", value, 0.5, at_least).holds;
        assert_eq!([holds(0.5, true), holds(0.49, true), holds(0.5, false), holds(0.49, false)], [true, false, false, true]);
    }
}
