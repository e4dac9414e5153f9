//! Presets: a policy that places TBs, and what holds kernels back where they share SMs, under the names that papers give the two together
//! (Dai et al. 2018, section 4; sources.md D128).
//!
//! A preset is fields of the machine's file under a policy of the firmware, and runs as that policy on that machine. Kernels alone run on the
//! machine as it is, so that normalised IPCs have one base. One more is one line more in [`PRESETS`].

use super::machine::Outcome;
use super::policy::Policy;
use crate::gpus::fields::{Field, changed};
use mias_hw_model::config::GpuConfig;

/// A policy, and fields of the machine that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name that users type.
    pub name: &'static str,
    /// What places TBs.
    pub places: Policy,
    /// Fields of the machine's file, as TOML.
    fields: &'static str,
    /// Whether kernels have quotas of warp instructions, from their runs alone.
    pub quotas: bool,
    /// Its colour in charts, as in HTML.
    pub colour: &'static str,
    /// What it is, in a line without a full stop.
    pub help: &'static str,
}

/// The order in which kernels issue off-chip memory instructions, how many they may have in flight, and who owns which part of the L1.
const NOTHING: &str = "";
const RBMI: &str = "sm.memory_issue.order = 'round-robin'";
const QBMI: &str = "sm.memory_issue.order = 'quota'";
const DMIL: &str = "sm.memory_issue.in_flight = 'dynamic'";
const BOTH: &str = "sm.memory_issue = { order = 'quota', in_flight = 'dynamic' }";

const GLOBAL: &str = "sm.memory_issue.in_flight = 'dynamic-global'";
const WAYS: &str = "l1.partition.by = 'ucp'";
const SHARES: &str = "l1.miss_resources.by = 'equal'";

const fn preset(name: &'static str, places: Policy, fields: &'static str, colour: &'static str, help: &'static str) -> Preset {
    Preset { name, places, fields, quotas: false, colour, help }
}

/// All of them, in the order of reports. Colours are those of Tol's light and pale schemes (SRON/EPS/TN/09-002), and between them.
pub static PRESETS: [Preset; 23] = [
    preset("ws", Policy::WarpedSlicer, NOTHING, "#BBBBBB", "Warped-Slicer, by the name that Dai et al. 2018 give it"),
    preset("ws-l1d", Policy::WarpedSlicer, WAYS, "#8888DD", "Warped-Slicer, ways of the L1 by utility (UCP): WS-L1D Partition"),
    preset(
        "ws-miss",
        Policy::WarpedSlicer,
        SHARES,
        "#CC9955",
        "Warped-Slicer, equal shares of the L1's MSHRs, miss queue and lines on their way",
    ),
    preset("ws-rbmi", Policy::WarpedSlicer, RBMI, "#77AADD", "Warped-Slicer, kernels in turn at the memory pipeline (RBMI)"),
    preset("ws-qbmi", Policy::WarpedSlicer, QBMI, "#EE8866", "Warped-Slicer, quotas of memory instructions (QBMI)"),
    preset("ws-dmil", Policy::WarpedSlicer, DMIL, "#44BB99", "Warped-Slicer, limits of memory instructions in flight (DMIL)"),
    preset("ws-global-dmil", Policy::WarpedSlicer, GLOBAL, "#225588", "Warped-Slicer, limits that one SM finds for all (global DMIL)"),
    preset("ws-qbmi-dmil", Policy::WarpedSlicer, BOTH, "#AAAA00", "Warped-Slicer with both, QBMI and DMIL"),
    preset("smk-p", Policy::Smk, NOTHING, "#DDDDDD", "SMK-P, by its own name: TBs by dominant resource fairness"),
    Preset {
        quotas: true,
        ..preset("smk-p-w", Policy::Smk, NOTHING, "#FFAABB", "SMK-P, and quotas of warp instructions from the kernels alone: SMK-(P+W)")
    },
    preset("smk-p-qbmi", Policy::Smk, QBMI, "#EEDD88", "SMK-P, quotas of memory instructions (QBMI)"),
    preset("smk-p-dmil", Policy::Smk, DMIL, "#99DDFF", "SMK-P, limits of memory instructions in flight (DMIL)"),
    preset("mias-ipc-qbmi", Policy::MiasIpc, QBMI, "#225555", "MIAS by IPC, quotas of memory instructions (QBMI)"),
    preset("mias-ipc-dmil", Policy::MiasIpc, DMIL, "#222255", "MIAS by IPC, limits of memory instructions in flight (DMIL)"),
    preset("mias-ipc-qbmi-dmil", Policy::MiasIpc, BOTH, "#225522", "MIAS by IPC with both, QBMI and DMIL"),
    preset("mias-ipc-l1d", Policy::MiasIpc, WAYS, "#884411", "MIAS by IPC, ways of the L1 by utility (UCP)"),
    preset(
        "mias-ipc-miss",
        Policy::MiasIpc,
        SHARES,
        "#335577",
        "MIAS by IPC, equal shares of the L1's MSHRs, miss queue and lines on their way",
    ),
    preset("mias-ipc-rbmi", Policy::MiasIpc, RBMI, "#557722", "MIAS by IPC, kernels in turn at the memory pipeline (RBMI)"),
    preset("mias-ipc-global-dmil", Policy::MiasIpc, GLOBAL, "#7755AA", "MIAS by IPC, limits that one SM finds for all (global DMIL)"),
    Preset {
        quotas: true,
        ..preset("mias-ipc-w", Policy::MiasIpc, NOTHING, "#AA4455", "MIAS by IPC, and quotas of warp instructions from the kernels alone")
    },
    preset("mias-ipm-ipc-qbmi", Policy::MiasIpmIpc, QBMI, "#666633", "MIAS by IPM*IPC, quotas of memory instructions (QBMI)"),
    preset("mias-ipm-ipc-dmil", Policy::MiasIpmIpc, DMIL, "#663366", "MIAS by IPM*IPC, limits of memory instructions in flight (DMIL)"),
    preset("mias-ipm-ipc-qbmi-dmil", Policy::MiasIpmIpc, BOTH, "#555555", "MIAS by IPM*IPC with both, QBMI and DMIL"),
];

/// Core cycles in which a kernel alone issues its quota (assumption: Wang et al. 2016 do not say; sources.md D128).
const QUOTA_EPOCH_CYCLES: u128 = 10_000;

impl Preset {
    /// Its fields, without quotas.
    pub fn fields(&self) -> Vec<Field> {
        // A test reads all of them.
        Field::of_text(self.fields).unwrap_or_default()
    }

    /// Dotted names of the fields that it sets.
    pub fn sets(&self) -> Vec<String> {
        let quotas = self.quotas.then(|| quotas(Vec::new()));
        self.fields().iter().chain(&quotas).map(Field::name).collect()
    }

    /// Its fields for kernels that have these runs alone.
    pub fn fields_of(&self, alone: &[&Outcome]) -> Vec<Field> {
        let quotas = self.quotas.then(|| quotas(alone.iter().map(|outcome| quota(outcome)).collect()));
        self.fields().into_iter().chain(quotas).collect()
    }

    /// The machine with its fields, without quotas.
    ///
    /// # Errors
    /// A message that names the machine: its own fields and these exclude each other.
    pub fn on(&self, gpu: &GpuConfig) -> Result<GpuConfig, String> {
        let gpu = changed(gpu, &self.fields())?;
        gpu.check().map_err(|error| format!("machine `{}`: {error}", gpu.name))?;
        Ok(gpu)
    }
}

/// The field that holds quotas of warp instructions, by kernel.
pub fn quotas(quotas: Vec<u32>) -> Field {
    let path = ["sm", "memory_issue", "warp_quota"].map(str::to_owned).to_vec();
    Field { path, value: toml::Value::Array(quotas.into_iter().map(|quota| i64::from(quota).into()).collect()) }
}

/// Warp instructions that a kernel alone issues on an SM in an epoch, to the nearest whole number, at least 1: equal parts of their quotas are
/// equal slowdowns.
fn quota(alone: &Outcome) -> u32 {
    let insts = alone.launches.first().map_or(0, |launch| u128::from(launch.warp_insts));
    let sm_cycles = u128::from(alone.sms.cycles).max(1);
    let rounded = (insts * QUOTA_EPOCH_CYCLES + sm_cycles / 2) / sm_cycles;
    u32::try_from(rounded).unwrap_or(u32::MAX).clamp(1, u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::super::machine::SmTotals;
    use super::*;
    use mias_hw_model::config::{InFlightLimit, MemoryOrder, MissDivision, Partition};
    use mias_hw_model::gpu::LaunchStats;

    /// Each sets what its name says, and nothing else; they are in the order of their rank in reports.
    #[test]
    fn names_say_what_is_set() {
        let gpu = crate::gpus::load("dai18-lines").unwrap();
        for preset in PRESETS {
            let on = preset.on(&gpu).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            let issue = on.sm.memory_issue.clone().unwrap_or_default();
            let has = |word: &str| preset.name.split('-').any(|part| part == word);
            let order = match (has("qbmi"), has("rbmi")) {
                (true, _) => MemoryOrder::Quota,
                (_, true) => MemoryOrder::RoundRobin,
                _ => MemoryOrder::Scheduler,
            };
            assert_eq!(issue.order, order, "{}", preset.name);
            let in_flight = match (has("dmil"), has("global")) {
                (false, _) => InFlightLimit::None,
                (true, false) => InFlightLimit::Dynamic,
                (true, true) => InFlightLimit::DynamicGlobal,
            };
            assert_eq!(issue.in_flight, in_flight, "{}", preset.name);
            assert_eq!(preset.quotas, has("w"), "{}", preset.name);
            assert_eq!(on.l1.partition.as_ref().is_some_and(|ways| ways.by == Partition::Ucp), has("l1d"), "{}", preset.name);
            assert_eq!(
                on.l1.miss_resources.as_ref().is_some_and(|shares| shares.by == MissDivision::Equal),
                has("miss"),
                "{}",
                preset.name
            );
            let mut without = on;
            (without.sm.memory_issue, without.l1.partition, without.l1.miss_resources) = (None, None, None);
            assert_eq!(without, gpu, "{}", preset.name);
            let places = preset.places.name();
            let begins = [("ws", "warped-slicer"), ("smk-p", "smk"), (places, places)];
            assert!(begins.iter().any(|(begin, of)| preset.name.starts_with(begin) && *of == places), "{} {places}", preset.name);
        }
    }

    /// 16 SMs for 300,000 cycles: 4,800,000 SM cycles. 0.5 instructions per SM and cycle are 5,000 in 10,000 cycles.
    #[test]
    fn quotas_are_what_a_kernel_issues_alone() {
        let alone = |warp_insts, cycles| Outcome {
            launches: vec![LaunchStats { warp_insts, ..LaunchStats::default() }],
            sms: SmTotals { cycles, ..SmTotals::default() },
            ..Outcome::default()
        };
        assert_eq!(quota(&alone(2_400_000, 4_800_000)), 5_000);
        assert_eq!(quota(&alone(1, 15_000)), 1, "0.67 rounds up");
        assert_eq!(quota(&alone(0, 4_800_000)), 1, "a kernel that did nothing may begin");
        assert_eq!(quota(&alone(u64::MAX, 1)), u32::MAX - 1, "what the machine's file may say at most");
        let (half, whole) = (alone(2_400_000, 4_800_000), alone(4_800_000, 4_800_000));
        let smk = PRESETS.iter().find(|preset| preset.quotas).unwrap();
        let gpu = crate::gpus::load("dai18-lines").unwrap();
        let on = changed(&gpu, &smk.fields_of(&[&half, &whole])).unwrap();
        assert_eq!(on.sm.memory_issue.unwrap().warp_quota, [5_000, 10_000]);
    }
}
