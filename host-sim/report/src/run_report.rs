//! Report of `run`: all measurements of one policy's run, as a table or as JSON.

use super::energy::{self, EnergyRow, LaunchEnergy};
use super::provenance::Provenance;
use super::{SCHEMA_VERSION, comparison_table, explanation, latency_rows, memory_issue, oversubscription, queue_rows, search_rows, ways};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::{LaunchStats, Preemption, SmStateCycles, ThrownAway};
use mias_hw_model::sm::{IssueClass, IssueSlots, MemoryChoices, MemoryLimits};
use mias_lab::bandwidth;
use mias_lab::experiment::faults;
use mias_lab::experiment::gpu_runner::{Decision, DecisionTime, Options, Outcome, Placement, SearchFound};
use mias_lab::experiment::placement_latency::Latency;
use mias_lab::experiment::policy::Policy;
use mias_lab::experiment::precision::Estimate;
use mias_lab::experiment::queue::QueuedLaunch;
use mias_lab::experiment::rate::{estimated_ipc, ipc};
use mias_lab::experiment::workload::Workload;
use mias_lab::table::{self, config, estimate, grouped, ranges};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Subject of a report: GPU, kernels, policy and options.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// GPU of the run.
    pub gpu: &'a GpuConfig,
    /// Kernels, in order.
    pub workloads: &'a [Workload],
    /// Policy of the run.
    pub policy: Policy,
    /// Options in effect.
    pub options: Options,
    /// Time of each kernel alone from its first TB to its end, if a deadline depends on it.
    pub takes: &'a [Option<u64>],
    /// Wall-clock time, if requested; without it equal runs give equal bytes.
    pub seconds: Option<Seconds>,
}

/// Wall-clock time in seconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seconds {
    /// Seconds from the start of the process to the first simulated cycle: reading the trace, or
    /// executing the kernels.
    pub load: f64,
    /// Seconds of the rest, up to the report: the timing model, and concurrent reading or
    /// execution.
    pub simulate: f64,
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    provenance: Provenance,
    gpu: &'a str,
    policy: &'a str,
    total_cycles: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<&'a Estimate>,
    config: Option<&'a [u32]>,
    placement: &'a [Placement],
    transition_cycles: u64,
    in_place: f64,
    sms_short_of_it: u32,
    profile_cycles: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_latency: Option<DecisionLatency>,
    launches: Vec<LaunchRow<'a>>,
    issue_slots: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l1_ways: Option<ways::Ways<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l2_ways: Option<ways::Ways<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_choices: Option<MemoryChoices>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    memory_limits: &'a [MemoryLimits],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    oversubscription: Vec<oversubscription::Row<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sm_oversubscription: Vec<oversubscription::SmRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sm_states: Option<SmStateCycles>,
    energy: Option<EnergyRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<&'static str>,
    decision: Option<&'a Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a SearchFound>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    preemptions: &'a [Preemption],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    queue: &'a [QueuedLaunch],
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<Seconds>,
}

/// Time of all decisions of the run.
#[derive(Serialize)]
struct DecisionLatency {
    decisions: u32,
    instructions: u64,
    cycles: u64,
    microseconds: f64,
    placement_instructions: u64,
    placement_cycles: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_limits: Option<Looks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oversubscription: Option<Looks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptions: Option<Looks>,
}

/// Time of the firmware's limits of memory instructions, of its control of extra TBs, or of its
/// choices of victims.
#[derive(Serialize)]
struct Looks {
    looks: u32,
    instructions: u64,
    cycles: u64,
}

/// Launch in a report. Fields that the reference numbers also have are named like their columns.
#[derive(Serialize)]
struct LaunchRow<'a> {
    kernel: &'a str,
    start_cycle: Option<u64>,
    end_cycle: Option<u64>,
    cycles: Option<u64>,
    ipc: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipc_half_width: Option<f64>,
    thread_insts: u64,
    warp_insts: u64,
    tbs_issued: u64,
    tbs_completed: u64,
    l1_accesses: u64,
    l1_misses: u64,
    l1_reservation_fails: u64,
    #[serde(flatten)]
    texture: Option<TextureRow>,
    l2_accesses: u64,
    l2_misses: u64,
    l2_reservation_fails: u64,
    dram_reads: u64,
    dram_writes: u64,
    dram_row_hits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dram_wait_cycles: Option<u64>,
    energy: Option<LaunchEnergy>,
    bandwidth_utilization: Option<f64>,
    l2_bandwidth_utilization: Option<f64>,
    issue_slots: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thrown_away: Option<ThrownAway>,
}

/// Traffic of the texture caches, if there are any.
#[derive(Serialize)]
struct TextureRow {
    texture_accesses: u64,
    texture_misses: u64,
    texture_reservation_fails: u64,
}

/// Formats the JSON document, with a final newline.
///
/// # Errors
/// None in practice: serialization cannot fail for these types.
pub fn json(subject: Subject<'_>, outcome: &Outcome) -> serde_json::Result<String> {
    let launches = subject.workloads.iter().zip(&outcome.launches).enumerate();
    let document = Document {
        schema_version: SCHEMA_VERSION,
        provenance: Provenance::new(subject.gpu, subject.workloads, subject.options),
        gpu: &subject.gpu.name,
        policy: subject.policy.name(),
        total_cycles: outcome.cycles,
        estimate: outcome.estimate.as_ref(),
        config: outcome.config(),
        placement: if outcome.config().is_some() { &[] } else { &outcome.placement },
        transition_cycles: outcome.transition_cycles,
        in_place: outcome.in_place.share,
        sms_short_of_it: outcome.in_place.sms_short_of_it,
        profile_cycles: outcome.profile_cycles,
        decision_latency: outcome.decision_time.map(|time| {
            let DecisionTime { decisions, instructions, cycles, placement_instructions, placement_cycles, .. } = time;
            let microseconds = microseconds(subject.gpu, cycles);
            let looks = |looks, instructions, cycles| (looks > 0).then_some(Looks { looks, instructions, cycles });
            DecisionLatency {
                decisions,
                instructions,
                cycles,
                microseconds,
                placement_instructions,
                placement_cycles,
                memory_limits: looks(time.memory_limits, time.memory_limit_instructions, time.memory_limit_cycles),
                oversubscription: looks(time.context_looks, time.context_instructions, time.context_cycles),
                preemptions: looks(time.preemptions, time.preemption_instructions, time.preemption_cycles),
            }
        }),
        launches: launches
            .map(|(at, (w, _))| LaunchRow {
                energy: outcome.energy.as_ref().and_then(|report| energy::launch_row(report, at)),
                ..launch_row(subject, outcome, at, &w.name)
            })
            .collect(),
        issue_slots: by_class(&outcome.sms.issue_slots).collect(),
        l1_ways: outcome.l1_ways.as_ref().map(ways::row),
        l2_ways: outcome.l2_ways.as_ref().map(ways::row),
        memory_choices: outcome.memory_choices,
        memory_limits: &outcome.memory_limits,
        oversubscription: oversubscription::rows(subject.gpu, subject.workloads, &outcome.oversubscription),
        sm_oversubscription: oversubscription::sm_rows(&outcome.sm_oversubscription),
        sm_states: outcome.sm_states,
        energy: outcome.energy.as_ref().map(|report| energy::row(report, subject.gpu, outcome.cycles)),
        faults: faults::named(outcome.faults).map(|fault| fault.name).collect(),
        decision: outcome.decision.as_ref(),
        search: outcome.search.as_ref(),
        preemptions: &outcome.preemptions,
        queue: &outcome.queued,
        seconds: subject.seconds,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Returns issue slots with the names of their classes.
fn by_class(slots: &IssueSlots) -> impl Iterator<Item = (&'static str, u64)> {
    IssueClass::of(slots).map(|class| (class.name(), slots[class as usize]))
}

/// Converts core cycles to microseconds.
fn microseconds(gpu: &GpuConfig, cycles: u64) -> f64 {
    cycles as f64 * 1000.0 / f64::from(gpu.clocks.core_khz)
}

/// Returns the placement latency of a kernel; `None` without preemption and priorities.
fn latency(subject: Subject<'_>, outcome: &Outcome, at: usize) -> Option<Latency> {
    outcome.room.get(at).map(|room| room.judged(subject.takes.get(at).copied().flatten()))
}

/// Returns the half-width of a kernel's IPC; `None` if the run was simulated in full.
fn ipc_half_width(outcome: &Outcome, at: usize, options: Options) -> Option<f64> {
    outcome.estimate.as_ref().map(|_| estimated_ipc(outcome, at, options).half_width)
}

fn launch_row<'a>(subject: Subject<'_>, outcome: &Outcome, at: usize, kernel: &'a str) -> LaunchRow<'a> {
    let launch = &outcome.launches[at];
    let cycles = launch.cycles(outcome.cycles);
    LaunchRow {
        kernel,
        start_cycle: launch.start_cycle,
        end_cycle: launch.end_cycle,
        cycles: launch.end_cycle.map(|end| launch.cycles(end)),
        ipc: ipc(outcome, at, subject.options),
        ipc_half_width: ipc_half_width(outcome, at, subject.options),
        thread_insts: launch.thread_insts,
        warp_insts: launch.warp_insts,
        tbs_issued: launch.tbs_issued,
        tbs_completed: launch.tbs_completed,
        l1_accesses: launch.l1.accesses,
        l1_misses: launch.l1.misses,
        l1_reservation_fails: launch.l1.reservation_fails,
        texture: subject.gpu.sm.texture_cache.map(|_| TextureRow {
            texture_accesses: launch.texture.accesses,
            texture_misses: launch.texture.misses,
            texture_reservation_fails: launch.texture.reservation_fails,
        }),
        l2_accesses: launch.l2.accesses,
        l2_misses: launch.l2.misses,
        l2_reservation_fails: launch.l2.reservation_fails,
        dram_reads: launch.dram_reads,
        dram_writes: launch.dram_writes,
        dram_row_hits: launch.dram_row_hits,
        dram_wait_cycles: launch.dram_wait_cycles,
        energy: None,
        bandwidth_utilization: bandwidth::dram(subject.gpu, launch, cycles),
        l2_bandwidth_utilization: bandwidth::l2(subject.gpu, launch, cycles),
        issue_slots: by_class(&launch.issue_slots).collect(),
        latency: latency(subject, outcome, at),
        thrown_away: Some(launch.thrown_away).filter(|thrown_away| thrown_away.warp_insts > 0),
    }
}

/// Formats the text report. `explain` adds the policy's decision.
pub fn text(subject: Subject<'_>, outcome: &Outcome, explain: bool) -> String {
    let mut text = comparison_table::heading(subject.workloads, subject.gpu, subject.options);
    let open = subject.options.open_sms.map_or_else(String::new, |sms| format!(", TBs on the first {sms} SMs only"));
    let cap = subject.options.tbs_per_sm.map_or_else(String::new, |cap| format!(", TBs of a kernel per SM capped at {cap}"));
    let simulated = match &outcome.estimate {
        None => format!("{} cycles simulated", grouped(outcome.cycles)),
        Some(Estimate { simulated_cycles, steady_from_cycle, .. }) => format!(
            "{} cycles, {} of them simulated; the rest extrapolated from cycle {}, \u{b1} half of a 95 % interval",
            grouped(outcome.cycles),
            grouped(*simulated_cycles),
            grouped(*steady_from_cycle)
        ),
    };
    text += &format!("policy {}, {simulated}{open}{cap}\n\n", subject.policy.name());
    text += &launches(subject, outcome);
    text += &queue_rows::text(outcome, &columns(subject));
    for place in &outcome.placement {
        text += &format!("\nconfiguration {} on SMs {}", config(Some(&place.config)), ranges(&place.sms));
    }
    let (transition, profile) = (grouped(outcome.transition_cycles), grouped(outcome.profile_cycles));
    let decision = outcome.decision_time.filter(|time| time.decisions > 0).map_or_else(String::new, |time| {
        let (instructions, cycles) = (grouped(time.instructions), grouped(time.cycles));
        format!(", decision {cycles} cycles ({instructions} instructions, {:.1} us)", microseconds(subject.gpu, time.cycles))
    });
    let placement = outcome.decision_time.filter(|time| time.placement_cycles > 0).map_or_else(String::new, |time| {
        format!("placement {} cycles ({} instructions), ", grouped(time.placement_cycles), grouped(time.placement_instructions))
    });
    let in_place = table::percent(Some(outcome.in_place.share));
    text += &format!("\n{placement}transition {transition} cycles, profile {profile} cycles{decision}, in place {in_place}\n");
    if let Some(time) = outcome.decision_time.filter(|time| time.memory_limits > 0) {
        let (looks, cycles) = (grouped(time.memory_limits.into()), grouped(time.memory_limit_cycles));
        let instructions = grouped(time.memory_limit_instructions);
        text += &format!("updates of memory-instruction limits by the firmware: {looks}, {cycles} cycles ({instructions} instructions)\n");
    }
    if let Some(time) = outcome.decision_time.filter(|time| time.context_looks > 0) {
        let (looks, cycles) = (grouped(time.context_looks.into()), grouped(time.context_cycles));
        let instructions = grouped(time.context_instructions);
        text += &format!("updates of extra TBs by the firmware: {looks}, {cycles} cycles ({instructions} instructions)\n");
    }
    if let Some(time) = outcome.decision_time.filter(|time| time.preemptions > 0) {
        let (looks, cycles) = (grouped(time.preemptions.into()), grouped(time.preemption_cycles));
        let instructions = grouped(time.preemption_instructions);
        let who =
            if subject.gpu.sm.preemption.is_some_and(|preemption| preemption.selector.is_some()) { "hardware" } else { "the firmware" };
        let times = if time.preemptions == 1 { "once".to_owned() } else { format!("{looks} times") };
        text += &format!("{who} chose victims {times}: {cycles} cycles ({instructions} instructions)\n");
    }
    let choosing = outcome.decision_time.map_or(0, |time| time.preemption_cycles);
    text += &comparison_table::beside_quotas(subject.workloads, subject.options);
    text += &latency_rows::unserved(subject.workloads, &outcome.room, subject.options.transition, choosing);
    let kernels = columns(subject);
    let kernels: Vec<&str> = kernels.iter().map(AsRef::as_ref).collect();
    text += &latency_rows::preemptions(&outcome.preemptions, &kernels);
    text += &memory_issue::text(outcome, &kernels);
    text += &oversubscription::text(subject.gpu, subject.workloads, &outcome.oversubscription, &outcome.sm_oversubscription);
    if let Some(SmStateCycles { active, stalled, gated, waking, wakes }) = outcome.sm_states {
        let all = (active + stalled + gated + waking).max(1) as f64;
        let [active, stalled, gated, waking] = [active, stalled, gated, waking].map(|cycles| table::percent(Some(cycles as f64 / all)));
        text += &format!("SM cycles: active {active}, stalled {stalled}, gated {gated}, waking {waking} ({wakes} times)\n");
    }
    if outcome.in_place.sms_short_of_it > 0 {
        let sms = outcome.in_place.sms_short_of_it;
        text += &format!("{sms} SMs did not reach the configuration: earlier TBs still run on them\n");
    }
    if let Some(found) = &outcome.search {
        text += &search_rows::line(found, &kernels, &outcome.placement);
    }
    text += &explanation::undecided(
        subject.policy,
        outcome.profile_cycles,
        outcome.decision.is_some() || outcome.search.as_ref().is_some_and(|search| search.done),
        !outcome.placement.is_empty() && !outcome.unsettled,
        !outcome.queued.is_empty(),
    );
    let slots: u64 = outcome.sms.issue_slots.iter().sum();
    if slots > 0 {
        let mut table = table::new(&["issue slots", "share"]);
        for class in IssueClass::of(&outcome.sms.issue_slots) {
            let cycles = outcome.sms.issue_slots[class as usize];
            table.add_row([class.heading().to_owned(), table::percent(Some(cycles as f64 / slots as f64))]);
        }
        text += &format!("\n{}", table::text(&table));
    }
    if let Some(report) = &outcome.energy {
        text += &format!("\n{}", energy::text(report, &kernels, subject.gpu, outcome.cycles));
    }
    if explain {
        text += &match (&outcome.decision, &outcome.parted) {
            (Some(decision), _) => explanation::text(&[(subject.policy.name(), decision)]),
            (None, Some(parted)) => format!("\n{}: the image's decision is unknown: {parted}.\n", subject.policy.name()),
            (None, None) => format!("\n{}: {}.\n", subject.policy.name(), explanation::why_none(subject.policy, subject.workloads.len())),
        };
    }
    if explain {
        text += &latency_rows::choices(&outcome.victims);
    }
    if let Some(Seconds { load, simulate }) = subject.seconds {
        text += &format!("\nload {load:.3} s, simulate {simulate:.3} s\n");
    }
    text
}

/// Returns the headings of the kernels' columns.
fn columns(subject: Subject<'_>) -> Vec<Cow<'_, str>> {
    mias_lab::kernel_name::columns(subject.workloads.iter().map(|w| w.name.as_str()))
}

/// Formats one column per kernel, one row per quantity.
fn launches(subject: Subject<'_>, outcome: &Outcome) -> String {
    let kernels = columns(subject);
    let headings: Vec<&str> = std::iter::once("kernel").chain(kernels.iter().map(AsRef::as_ref)).collect();
    let mut table = table::new(&headings);
    let mut row = |name: &str, value: &dyn Fn(usize, &LaunchStats) -> String| {
        let cells = outcome.launches.iter().enumerate().map(|(at, launch)| value(at, launch));
        table.add_row(std::iter::once(name.to_owned()).chain(cells));
    };
    row("IPC", &|at, _| estimate(Some(ipc(outcome, at, subject.options)), ipc_half_width(outcome, at, subject.options), 2));
    let cycle = |cycle: Option<u64>| cycle.map_or_else(|| table::DASH.to_owned(), grouped);
    row("start cycle", &|_, l| cycle(l.start_cycle));
    row("end cycle", &|_, l| cycle(l.end_cycle));
    type Count = (&'static str, fn(&LaunchStats) -> u64);
    let counts: [Count; 12] = [
        ("warp instructions", |l| l.warp_insts),
        ("thread instructions", |l| l.thread_insts),
        ("TBs issued", |l| l.tbs_issued),
        ("TBs completed", |l| l.tbs_completed),
        ("L1 accesses", |l| l.l1.accesses),
        ("L1 misses", |l| l.l1.misses),
        ("L1 reservation fails", |l| l.l1.reservation_fails),
        ("L2 accesses", |l| l.l2.accesses),
        ("L2 misses", |l| l.l2.misses),
        ("L2 reservation fails", |l| l.l2.reservation_fails),
        ("DRAM reads (32 B)", |l| l.dram_reads),
        ("DRAM writes (32 B)", |l| l.dram_writes),
    ];
    for (name, count) in counts {
        row(name, &|_, l| grouped(count(l)));
    }
    if outcome.launches.iter().any(|launch| launch.dram_wait_cycles.is_some()) {
        row("DRAM queue wait (cycles)", &|_, l| l.dram_wait_cycles.map_or_else(|| table::DASH.to_owned(), grouped));
    }
    if !outcome.room.is_empty() {
        let of = |at: usize| latency(subject, outcome, at);
        for (name, value) in latency_rows::ROWS {
            row(name, &|at, _| of(at).map_or_else(|| table::DASH.to_owned(), |latency| value(&latency)));
        }
    }
    row("DRAM bandwidth", &|_, l| table::percent(bandwidth::dram(subject.gpu, l, l.cycles(outcome.cycles))));
    row("L2 bandwidth", &|_, l| table::percent(bandwidth::l2(subject.gpu, l, l.cycles(outcome.cycles))));
    table::text(&table)
}
