//! What is read of a folder of `mias evaluate`: of every mix, what SMK-P's run counted of each kernel, and what every configuration gave (docs/results-format.md).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::util::read_results;

/// Kernels together on a machine.
pub(super) struct Mix {
    pub(super) name: String,
    /// The machine with all that differs from its file.
    pub(super) gpu: String,
    kernels: Vec<String>,
    /// Compute- or memory-intensive, a letter each, as results have it.
    pub(super) class: String,
    /// Per kernel: thread instructions per cycle alone.
    pub(super) alone: Vec<f64>,
    /// Per kernel: what an SM holds of it alone.
    pub(super) most_tbs: Vec<f64>,
    /// Per kernel: what SMK-P's run counted.
    pub(super) counts: Vec<Counts>,
    /// All configurations, and which of them is SMK-P's.
    pub(super) choices: Vec<Choice>,
    pub(super) smk: usize,
}

/// A configuration throughout.
pub(super) struct Choice {
    /// Per kernel: TBs on each SM.
    pub(super) tbs: Vec<f64>,
    /// Per kernel: thread instructions per cycle.
    pub(super) ipc: Vec<f64>,
    pub(super) stp: f64,
}

/// What the firmware's counters say of a kernel, of which everything is a rate or a share.
pub(super) struct Counts(pub(super) Vec<f64>);

impl Mix {
    pub(super) fn shares_kernel(&self, other: &Mix) -> bool {
        self.kernels.iter().any(|kernel| other.kernels.contains(kernel))
    }

    /// The same kernels on the same machine.
    pub(super) fn is(&self, other: &Mix) -> bool {
        self.has_same_kernels(other) && self.gpu == other.gpu
    }

    /// The same kernels, on whatever machine.
    pub(super) fn has_same_kernels(&self, other: &Mix) -> bool {
        self.kernels == other.kernels
    }

    /// The best configuration by STP.
    pub(super) fn best(&self) -> usize {
        super::largest(0..self.choices.len(), |choice| self.choices[choice].stp)
    }
}

impl Choice {
    pub(super) fn label(&self) -> String {
        self.tbs.iter().map(f64::to_string).collect::<Vec<_>>().join("-")
    }
}

/// The mixes of some folders.
///
/// # Errors
/// A folder without results, or whose results have no configurations or no run of SMK-P.
pub(super) fn read(folders: &[PathBuf]) -> Result<Vec<Mix>> {
    let mut mixes = Vec::new();
    for folder in folders {
        let results: Results = read_results(folder, "PLAN")?;
        for study in &results.studies {
            for group in &study.groups {
                match mix(folder, study, group)? {
                    Some(mix) => mixes.push(mix),
                    None => eprintln!("left out: {} on {}, where SMK-P has no configuration", group.kernels.join(" + "), study.gpu),
                }
            }
        }
    }
    Ok(mixes)
}

/// None where SMK-P has no configuration: SMs of each kernel's own.
fn mix(folder: &Path, study: &Study, group: &Group) -> Result<Option<Mix>> {
    let name = group.kernels.join(" + ");
    let lacks = |what: &str| format!("{name} on {}: no {what} in the results of {}", study.gpu, folder.display());
    let smk = group.policies.iter().find(|policy| policy.policy == "smk").with_context(|| lacks("run of `smk`"))?;
    let Some(tbs) = &smk.config else { return Ok(None) };
    let at = group.configurations.iter().position(|configuration| configuration.config == *tbs);
    let at = at.with_context(|| lacks("static run of SMK-P's configuration (the plan needs `configurations`)"))?;
    let path = folder.join("runs").join(format!("{}.json", smk.run));
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let run: Run = serde_json::from_str(&text).with_context(|| format!("{} is not a run of `mias evaluate`", path.display()))?;
    if run.outcome.launches.len() != group.kernels.len() {
        bail!("{name}: {} has launches that are no kernels of the mix", path.display());
    }
    let most_tbs = group.kernels.iter().map(|kernel| {
        let alone = study.kernels.iter().find(|alone| alone.name == *kernel).with_context(|| lacks(kernel))?;
        Ok(f64::from(alone.max_tbs))
    });
    Ok(Some(Mix {
        most_tbs: most_tbs.collect::<Result<_>>()?,
        counts: run.outcome.launches.iter().map(|launch| launch.counts(run.outcome.sm_cycles)).collect(),
        choices: group.configurations.iter().map(Configuration::choice).collect(),
        kernels: group.kernels.clone(),
        class: group.class.clone(),
        alone: group.isolated_ipc.clone(),
        smk: at,
        gpu: study.gpu.clone(),
        name,
    }))
}

#[derive(Deserialize)]
struct Results {
    studies: Vec<Study>,
}

#[derive(Deserialize)]
struct Study {
    gpu: String,
    kernels: Vec<Alone>,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Alone {
    name: String,
    max_tbs: u32,
}

#[derive(Deserialize)]
struct Group {
    kernels: Vec<String>,
    class: String,
    isolated_ipc: Vec<f64>,
    configurations: Vec<Configuration>,
    policies: Vec<Policy>,
}

#[derive(Deserialize)]
struct Configuration {
    config: Vec<u32>,
    stp: f64,
    ipc: Vec<f64>,
}

impl Configuration {
    fn choice(&self) -> Choice {
        Choice { tbs: self.config.iter().map(|tbs| f64::from(*tbs)).collect(), ipc: self.ipc.clone(), stp: self.stp }
    }
}

#[derive(Deserialize)]
struct Policy {
    policy: String,
    run: String,
    config: Option<Vec<u32>>,
}

#[derive(Deserialize)]
struct Run {
    outcome: Outcome,
}

#[derive(Deserialize)]
struct Outcome {
    launches: Vec<Launch>,
    sm_cycles: u64,
}

#[derive(Deserialize)]
struct Launch {
    warp_insts: u64,
    l1: Cache,
    l2: Cache,
    dram_reads: u64,
    dram_writes: u64,
    issue_slots: Vec<u64>,
}

#[derive(Deserialize)]
struct Cache {
    accesses: u64,
    hits: u64,
    reservation_fails: u64,
}

impl Launch {
    /// Rates per SM and cycle, hits per access, and what share of slots went to what.
    fn counts(&self, sm_cycles: u64) -> Counts {
        let per = |count: u64, of: u64| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        let slots = self.issue_slots.iter().sum();
        let mut counts = vec![
            per(self.warp_insts, sm_cycles),
            per(self.l1.accesses, self.warp_insts),
            per(self.l1.hits, self.l1.accesses),
            per(self.l1.reservation_fails, self.l1.accesses),
            per(self.l2.accesses, sm_cycles),
            per(self.l2.hits, self.l2.accesses),
            per(self.dram_reads + self.dram_writes, sm_cycles),
        ];
        counts.extend(self.issue_slots.iter().map(|count| per(*count, slots)));
        Counts(counts)
    }
}
