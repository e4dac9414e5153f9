//! JSON document of `compare`. Missing values are `null`.

use super::provenance::Provenance;
use super::{SCHEMA_VERSION, search_rows};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::SmStateCycles;
use mias_lab::evaluate::half_widths;
use mias_lab::evaluate::results::MetricValues;
use mias_lab::experiment::comparison::{Best, Comparison, Isolated, KernelResult, PerObjective, PolicyResult, SweepPoint};
use mias_lab::experiment::faults;
use mias_lab::experiment::gpu_runner::{Decision, End, Options, Placement, SearchFound};
use mias_lab::experiment::placement_latency::Latency;
use mias_lab::experiment::workload::Workload;
use mias_lab::metrics::Metrics;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    provenance: Provenance,
    gpu: &'a str,
    cycles: Option<u64>,
    kernels: Vec<Kernel<'a>>,
    results: Vec<PolicyRow<'a>>,
    s_null: Option<f64>,
    oracle: Objectives<Option<OracleRow<'a>>>,
    sweep: Vec<SweepRow<'a>>,
    missing: MissingRow<'a>,
}

/// Missing parts of an interrupted comparison; empty otherwise.
#[derive(Serialize)]
struct MissingRow<'a> {
    policies: Vec<&'static str>,
    configs: &'a [Vec<u32>],
}

#[derive(Serialize)]
struct Kernel<'a> {
    name: &'a str,
    isolated_ipc: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    isolated_ipc_half_width: Option<f64>,
    max_tbs: u32,
}

#[derive(Serialize)]
struct Objectives<T> {
    s: T,
    stp: T,
}

#[derive(Serialize)]
struct PolicyRow<'a> {
    policy: &'static str,
    config: Option<&'a [u32]>,
    speedup: Option<f64>,
    stp: Option<f64>,
    antt: Option<f64>,
    fairness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    half_widths: Option<half_widths::HalfWidths>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_cycles: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    too_late: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    too_late_config: Option<&'a [u32]>,
    regret: Objectives<Option<f64>>,
    end_to_end_regret: Objectives<Option<f64>>,
    transition_cycles: u64,
    in_place: Option<f64>,
    sms_short_of_it: Option<u32>,
    profile_cycles: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    placement_cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_cycles: Option<u64>,
    makespan_cycles: Option<u64>,
    kernels: Vec<KernelRow>,
    placement: &'a [Placement],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<&'static str>,
    decision: Option<&'a Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a SearchFound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sm_states: Option<SmStateCycles>,
    #[serde(flatten)]
    power: Option<search_rows::Power>,
}

#[derive(Serialize)]
struct KernelRow {
    ipc: f64,
    normalized_ipc: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thrown_away: Option<f64>,
}

#[derive(Serialize)]
struct OracleRow<'a> {
    config: &'a [u32],
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    half_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rivals: Option<usize>,
}

#[derive(Serialize)]
struct SweepRow<'a> {
    config: &'a [u32],
    speedup: Option<f64>,
    stp: Option<f64>,
    antt: Option<f64>,
    fairness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    half_widths: Option<MetricValues>,
}

/// Formats the document, with a final newline.
///
/// # Errors
/// None in practice: serialization cannot fail for these types.
pub fn render(comparison: &Comparison, gpu: &GpuConfig, workloads: &[Workload], options: Options) -> serde_json::Result<String> {
    let kernels = workloads.iter().zip(&comparison.isolated);
    let document = Document {
        schema_version: SCHEMA_VERSION,
        provenance: Provenance::new(gpu, workloads, options),
        gpu: &gpu.name,
        cycles: match options.end {
            End::Cycles(cycles) => Some(cycles),
            End::Done => None,
        },
        kernels: kernels.map(|(w, alone)| kernel(w, alone)).collect(),
        results: comparison.results.iter().map(|result| policy_row(result, search_rows::watts(&comparison.results, result, gpu))).collect(),
        s_null: comparison.s_null,
        oracle: Objectives { s: oracle_row(&comparison.oracle.s), stp: oracle_row(&comparison.oracle.stp) },
        sweep: comparison.sweep.iter().map(sweep_row).collect(),
        missing: MissingRow {
            policies: comparison.missing.policies.iter().map(|policy| policy.name()).collect(),
            configs: &comparison.missing.configs,
        },
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn kernel<'a>(workload: &'a Workload, alone: &Isolated) -> Kernel<'a> {
    let Isolated { ipc: isolated_ipc, half_width, max_tbs } = *alone;
    Kernel { name: &workload.name, isolated_ipc, isolated_ipc_half_width: (half_width > 0.0).then_some(half_width), max_tbs }
}

fn policy_row(result: &PolicyResult, power: Option<search_rows::Power>) -> PolicyRow<'_> {
    let objectives = |regret: PerObjective<Option<f64>>| Objectives { s: regret.s, stp: regret.stp };
    PolicyRow {
        policy: result.policy.name(),
        config: result.config.as_deref(),
        speedup: result.metrics.speedup,
        stp: result.metrics.stp,
        antt: result.metrics.antt,
        fairness: result.metrics.fairness,
        half_widths: result.half_widths.as_ref().map(half_widths::HalfWidths::of),
        simulated_cycles: result.simulated_cycles,
        too_late: result.too_late,
        too_late_config: result.late_config.as_deref(),
        regret: objectives(result.decision_regret),
        end_to_end_regret: objectives(result.end_to_end_regret),
        transition_cycles: result.transition_cycles,
        in_place: result.in_place.map(|in_place| in_place.share),
        sms_short_of_it: result.in_place.map(|in_place| in_place.sms_short_of_it),
        profile_cycles: result.profile_cycles,
        placement_cycles: result.placement_cycles,
        decision_cycles: result.decision_cycles,
        makespan_cycles: result.makespan_cycles,
        kernels: result.kernels.iter().map(kernel_row).collect(),
        placement: &result.placement,
        faults: faults::named(result.faults).map(|fault| fault.name).collect(),
        decision: result.decision.as_ref(),
        search: result.search.as_ref(),
        sm_states: result.sm_states,
        power,
    }
}

fn kernel_row(kernel: &KernelResult) -> KernelRow {
    let KernelResult { ipc, normalized_ipc, latency, thrown_away } = *kernel;
    KernelRow { ipc, normalized_ipc, latency, thrown_away }
}

fn oracle_row(best: &Option<Best>) -> Option<OracleRow<'_>> {
    best.as_ref().map(|best| OracleRow {
        config: &best.config,
        value: best.value,
        half_width: (best.half_width > 0.0).then_some(best.half_width),
        rivals: (best.rivals > 0).then_some(best.rivals),
    })
}

fn sweep_row(point: &SweepPoint) -> SweepRow<'_> {
    let Metrics { speedup, stp, antt, fairness } = point.metrics;
    let values = |Metrics { speedup, stp, antt, fairness }: Metrics| MetricValues { speedup, stp, antt, fairness };
    SweepRow { config: &point.config, speedup, stp, antt, fairness, half_widths: point.half_widths.map(values) }
}
