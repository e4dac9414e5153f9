//! What the thesis says of its seven kernels (Nasef 2023, section 4.1.2, figure 4.1 and section 4.2.1), each statement with a
//! rule that decides whether ours do the same. The thesis gives words and a chart without numbers: every threshold is an
//! assumption.

use super::Character;
use mias_hw_model::sm::IssueClass;
use mias_workloads::kernels::{self, KernelType};
use serde::Serialize;

/// Part of the stall slots that is "most of" them.
const MOST: f64 = 0.5;
/// Part of all issue slots that is "a considerable amount", "quite a bit".
const CONSIDERABLE: f64 = 0.1;
/// Cinst/Minst that parts "very little" from "a considerable amount of computations per data item".
const COMPUTATIONS: f64 = 10.0;
/// Part of the bytes fetched that coalesced accesses use.
const COALESCED: f64 = 0.9;
/// Part of the issue slots used that is a "high IPC".
const HIGH_IPC: f64 = 0.5;

/// Whether ours do as the thesis says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// In every statement.
    Yes,
    /// In some.
    Partly,
    /// In none.
    No,
}

impl Agreement {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Yes => "yes",
            Agreement::Partly => "partly",
            Agreement::No => "no",
        }
    }

    /// Of statements that hold or do not.
    pub fn of(statements: &[Statement]) -> Self {
        match (statements.iter().all(|s| s.holds), statements.iter().any(|s| s.holds)) {
            (true, _) => Agreement::Yes,
            (_, true) => Agreement::Partly,
            _ => Agreement::No,
        }
    }
}

/// A statement of the thesis, and whether it holds here.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What the thesis says.
    pub says: &'static str,
    /// The rule.
    pub rule: String,
    /// The number that the rule looks at.
    pub measured: String,
    /// Whether it holds.
    pub holds: bool,
}

/// The type that the thesis gives a kernel; none for kernels that it does not have.
pub fn kernel_type(kernel: Option<&str>) -> Option<KernelType> {
    kernels::find(kernel?).ok()?.kernel_type()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A share that is to be at least (or below) a bound.
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

/// The statements about a kernel of the seven; none about others.
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
            // Cycles in which both pipelines are full may be counted as either's: the statement holds if it does for one of the readings.
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
