//! Timeline of a run as a Chrome trace (the JSON that Perfetto and chrome://tracing read). It has
//! TBs of each kernel per SM as counters, the scheduler's phases and interrupts, and kernels from
//! launch to release. It also has context switches, and power over time. Format: "Trace Event
//! Format", Google, 2016.

mod oversubscription;

pub use oversubscription::MOST_CONTEXT_NOTES;

use super::activity::{self, Kernels};
use super::power;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::register_block::ActivityEvent;
use mias_lab::experiment::gpu_runner::Outcome;
use mias_lab::experiment::workload::Workload;
use mias_registers::{PhaseCode, global};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Process numbers of the groups of tracks. Preemptions, power and contexts are present only if TBs
/// were preempted, the GPU has energy coefficients, or contexts were switched.
const SCHEDULER: u32 = 0;
const SMS: u32 = 1;
const KERNELS: u32 = 2;
const PREEMPTIONS: u32 = 3;
const POWER: u32 = 4;
const OVERSUBSCRIPTION: u32 = 5;

/// Threads of the scheduler's group.
const PHASES: u32 = 0;
const INTERRUPTS: u32 = 1;

/// Formats the trace, one event per line. Time is in microseconds of the core clock; `args` has the
/// exact cycle.
pub fn render(outcome: &Outcome, workloads: &[Workload], gpu: &GpuConfig) -> String {
    let mut timeline = Timeline { core_khz: gpu.clocks.core_khz, events: Vec::new() };
    timeline.names(workloads);
    timeline.phases(outcome);
    timeline.kernels(outcome, workloads);
    timeline.residents(outcome, workloads);
    timeline.preemptions(outcome, workloads);
    timeline.oversubscription(outcome, workloads);
    timeline.power(outcome, workloads, gpu);
    let lines: Vec<String> = timeline.events.iter().map(Value::to_string).collect();
    let mut about = json!({ "gpu": gpu.name, "core_khz": gpu.clocks.core_khz, "cycles": outcome.cycles });
    if outcome.context_log.left_out > 0 {
        about["context_notes_left_out"] = outcome.context_log.left_out.into();
    }
    format!("{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"))
}

struct Timeline {
    core_khz: u32,
    events: Vec<Value>,
}

impl Timeline {
    fn microseconds(&self, cycles: u64) -> f64 {
        cycles as f64 * 1000.0 / f64::from(self.core_khz)
    }

    fn names(&mut self, workloads: &[Workload]) {
        let named = |kind: &str, pid: u32, tid: u32, name: &str| json!({ "ph": "M", "name": kind, "pid": pid, "tid": tid, "args": { "name": name } });
        for (pid, name) in [(SCHEDULER, "scheduler"), (SMS, "TBs per SM"), (KERNELS, "kernels")] {
            self.events.push(named("process_name", pid, 0, name));
        }
        self.events.push(named("thread_name", SCHEDULER, PHASES, "phase"));
        self.events.push(named("thread_name", SCHEDULER, INTERRUPTS, "interrupts"));
        for (tid, workload) in (0..).zip(workloads) {
            self.events.push(named("thread_name", KERNELS, tid, &workload.name));
        }
    }

    fn slice(&mut self, pid: u32, tid: u32, name: &str, from: u64, to: u64) {
        let (ts, dur) = (self.microseconds(from), self.microseconds(to.saturating_sub(from)));
        let args = json!({ "cycle": from, "cycles": to.saturating_sub(from) });
        self.events.push(json!({ "ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args }));
    }

    fn phases(&mut self, outcome: &Outcome) {
        let mut current: Option<(u64, PhaseCode)> = None;
        for activity in &outcome.activity {
            match activity.event {
                ActivityEvent::Write { offset: global::PHASE, value } => {
                    if let Some((since, phase)) = current {
                        self.slice(SCHEDULER, PHASES, phase.name(), since, activity.cycle);
                    }
                    current = PhaseCode::from_code(value).map(|phase| (activity.cycle, phase));
                }
                ActivityEvent::Raised(events) => {
                    let ts = self.microseconds(activity.cycle);
                    for name in activity::interrupt_names(events) {
                        let args = json!({ "cycle": activity.cycle });
                        let event =
                            json!({ "ph": "i", "s": "t", "name": name, "pid": SCHEDULER, "tid": INTERRUPTS, "ts": ts, "args": args });
                        self.events.push(event);
                    }
                }
                _ => {}
            }
        }
        if let Some((since, phase)) = current {
            self.slice(SCHEDULER, PHASES, phase.name(), since, outcome.cycles);
        }
    }

    fn kernels(&mut self, outcome: &Outcome, workloads: &[Workload]) {
        let mut kernels = Kernels::new(workloads);
        let mut since: BTreeMap<usize, u64> = BTreeMap::new();
        for activity in &outcome.activity {
            let leaving = match activity.event {
                ActivityEvent::Released(slot) => kernels.in_slot(slot),
                _ => None,
            };
            kernels.follow(activity.event);
            if let ActivityEvent::Launched { slot, .. } = activity.event
                && let Some(kernel) = kernels.in_slot(slot)
            {
                since.insert(kernel, activity.cycle);
            }
            if let Some(kernel) = leaving
                && let Some(from) = since.remove(&kernel)
            {
                self.slice(KERNELS, kernel as u32, &workloads[kernel].name, from, activity.cycle);
            }
        }
        for (kernel, from) in since {
            self.slice(KERNELS, kernel as u32, &workloads[kernel].name, from, outcome.cycles);
        }
    }

    /// Adds each preempted TB on the track of its SM, from the command until its place was free.
    /// Several on an SM overlap, so each is an event of its own.
    fn preemptions(&mut self, outcome: &Outcome, workloads: &[Workload]) {
        if outcome.preemptions.is_empty() {
            return;
        }
        let name = json!({ "name": "preemptions by SM" });
        self.events.push(json!({ "ph": "M", "name": "process_name", "pid": PREEMPTIONS, "tid": 0, "args": name }));
        for (id, tb) in outcome.preemptions.iter().enumerate() {
            let kernel = workloads.get(tb.launch).map_or("", |workload| workload.name.as_str());
            let technique = serde_json::to_value(tb.technique).unwrap_or_default();
            let title = format!("{} {kernel} TB {}", technique.as_str().unwrap_or_default(), tb.tb);
            let until = if tb.refused { tb.commanded_cycle } else { tb.left_cycle.unwrap_or(outcome.cycles) };
            let args = json!({
                "kernel": kernel,
                "tb": tb.tb,
                "technique": technique,
                "cycle": tb.commanded_cycle,
                "estimated_cycles": tb.estimate(),
                "cycles": tb.left_cycle.map(|left| left.saturating_sub(tb.commanded_cycle)),
                "warp_insts": tb.warp_insts,
                "refused": tb.refused,
            });
            for (phase, cycle) in [("b", tb.commanded_cycle), ("e", until)] {
                let ts = self.microseconds(cycle);
                let mut event =
                    json!({ "ph": phase, "cat": "preemption", "id": id, "name": title, "pid": PREEMPTIONS, "tid": tb.sm, "ts": ts });
                if phase == "b" {
                    event["args"] = args.clone();
                }
                self.events.push(event);
            }
        }
    }

    /// Adds the mean power between energy samples: of the whole chip, and by part. A counter holds
    /// until its next value.
    fn power(&mut self, outcome: &Outcome, workloads: &[Workload], gpu: &GpuConfig) {
        let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
        for (at, stretch) in power::over_time(outcome, &names, gpu).into_iter().enumerate() {
            if at == 0 {
                let name = json!({ "name": "power" });
                self.events.push(json!({ "ph": "M", "name": "process_name", "pid": POWER, "tid": 0, "args": name }));
            }
            let ts = self.microseconds(stretch.from_cycle);
            self.events.push(json!({ "ph": "C", "name": "power, W", "pid": POWER, "ts": ts, "args": { "chip": stretch.watts } }));
            self.events.push(json!({ "ph": "C", "name": "parts of it, W", "pid": POWER, "ts": ts, "args": stretch.parts }));
        }
    }

    /// Adds one counter per SM, written when a cycle has changed it.
    fn residents(&mut self, outcome: &Outcome, workloads: &[Workload]) {
        let mut kernels = Kernels::new(workloads);
        let mut tbs: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
        let mut changed: BTreeMap<u16, u64> = BTreeMap::new();
        let mut cycle = 0;
        for activity in &outcome.activity {
            if activity.cycle != cycle {
                self.counters(&mut changed, &tbs, workloads);
                cycle = activity.cycle;
            }
            kernels.follow(activity.event);
            if let ActivityEvent::Resident { sm, slot, tbs: now } = activity.event
                && let Some(kernel) = kernels.in_slot(slot)
            {
                tbs.entry(sm).or_insert_with(|| vec![0; workloads.len()])[kernel] = now;
                changed.insert(sm, cycle);
            }
        }
        self.counters(&mut changed, &tbs, workloads);
    }

    fn counters(&mut self, changed: &mut BTreeMap<u16, u64>, tbs: &BTreeMap<u16, Vec<u8>>, workloads: &[Workload]) {
        for (sm, cycle) in std::mem::take(changed) {
            let series = workloads.iter().zip(&tbs[&sm]).map(|(workload, &tbs)| (workload.name.clone(), Value::from(tbs)));
            let args: serde_json::Map<String, Value> = series.collect();
            let ts = self.microseconds(cycle);
            self.events.push(json!({ "ph": "C", "name": format!("SM {sm:03}"), "pid": SMS, "ts": ts, "args": args }));
        }
    }
}
