//! Random evaluations of any plan: experiments, settings, kernels and policies are the plan's;
//! every number is random.

use mias_lab::choice::Choice;
use mias_lab::evaluate::plan::{self, Experiment, Plan, Setting};
use mias_lab::evaluate::requests;
use mias_lab::evaluate::results::{AloneResult, Evaluation, GroupResult, PlanNote, SCHEMA_VERSION, StudyResult};
use mias_lab::evaluate::summary;
use mias_lab::experiment::gpu_runner::End;
use mias_lab::experiment::levels::Levels;
use mias_lab::experiment::policies::Policies;
use mias_workloads::kernels::KernelType;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Maximum number of groups of a study of one size and class.
const GROUPS: usize = 2;

/// Stream of numbers in [0, 1) from a seed: SplitMix64 (Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        ((self.next() * end as f64) as usize).min(end - 1)
    }

    /// Returns `None` in one case of eight.
    fn maybe(&mut self, most: f64) -> Option<f64> {
        let value = most * self.next();
        (self.below(8) > 0).then_some(value)
    }

    fn whole(&mut self, most: u64) -> u64 {
        (most as f64 * self.next()) as u64
    }

    fn many(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| 0.05 + self.next()).collect()
    }

    fn slots(&mut self) -> Value {
        const NAMES: [&str; 9] = [
            "issued",
            "idle_or_control",
            "memory_raw",
            "shared_raw",
            "constant_raw",
            "compute_raw",
            "memory_pipeline",
            "both_pipelines",
            "compute_pipeline",
        ];
        let parts = NAMES.map(|name| (name, self.next().powi(3)));
        let sum: f64 = parts.iter().map(|(_, part)| part).sum();
        parts.into_iter().map(|(name, part)| (name.to_owned(), json!(part / sum))).collect::<serde_json::Map<_, _>>().into()
    }

    fn objectives(&mut self) -> Value {
        json!({ "s": self.maybe(1.0), "stp": self.maybe(1.0) })
    }

    fn memory(&mut self, kernels: usize) -> Value {
        let kernel = |n: &mut Self| json!({ "l1_miss_rate": n.maybe(1.0), "fails_per_access": n.maybe(3.0), "accesses_per_kilocycle": n.maybe(900.0) });
        let kernels: Vec<Value> = (0..kernels).map(|_| kernel(self)).collect();
        json!({
            "l1_miss_rate": self.maybe(1.0), "fails_per_access": self.maybe(5.0), "lsu_stall_share": self.maybe(1.0),
            "alu_utilization": self.maybe(1.0), "kernels": kernels,
        })
    }

    fn series(&mut self, kernels: usize) -> Value {
        let mut stretches = || (0..kernels).map(|_| (0..12).map(|_| self.whole(4_000)).collect()).collect::<Vec<Vec<u64>>>();
        json!({ "every_cycles": 1_000, "l1_accesses": stretches(), "warp_insts": stretches() })
    }

    fn energy(&mut self) -> Value {
        json!({
            "average_watts": 50.0 + 50.0 * self.next(), "leakage_share": 0.4 * self.next(), "clock_share": 0.2,
            "without_leakage_joules": 0.1 + self.next(), "energy_delay_watts": self.maybe(90.0),
            "energy_delay_without_leakage_watts": self.maybe(90.0),
        })
    }

    fn metrics(&mut self) -> Value {
        json!({ "speedup": self.maybe(2.0), "stp": 0.1 + 2.0 * self.next(), "antt": self.maybe(10.0), "fairness": self.maybe(1.0) })
    }

    /// Creates the results of an isolated kernel.
    fn alone(&mut self, experiment: &Experiment, name: &str) -> AloneResult {
        let curve: Vec<(u64, f64)> = (1..60).map(|at| (2_500 * at, 4000.0 * self.next())).collect();
        let scalability: Vec<(u32, f64)> = (1..=8).map(|tbs| (tbs, 0.1 + 900.0 * self.next())).collect();
        let bound_by = ["under", "L2->SM", "scheduler", "DRAM"][self.below(4)];
        read(json!({
            "name": name, "trace_hash": "", "run": "0", "max_tbs": 8, "ipc": 1.0 + 900.0 * self.next(), "cycles": 100_000,
            "issue_slots": self.slots(), "energy_joules": self.maybe(2.0), "energy": self.energy(), "curve": curve,
            "scalability": if experiment.scalability { scalability } else { Vec::new() },
            "memory": experiment.memory.then(|| self.memory(1)), "series": self.series(1),
            "asks": { "compute_per_memory": self.maybe(50.0), "requests_per_memory": self.maybe(32.0) },
            "off_sm": {
                "dram_utilization": self.maybe(1.0), "l2_miss_rate": self.maybe(1.0), "l2_accesses_per_kiloinst": self.maybe(2_000.0),
                "demand_over_supply": self.maybe(100.0),
            },
            "used": {
                "scheduler": self.next(), "l1": self.maybe(1.1), "requests": self.maybe(1.1), "replies": self.maybe(1.1),
                "l2": self.maybe(1.1), "dram": self.maybe(1.1), "occupancy": [0.9, 0.2, 1.0, 0.5], "bound_by": bound_by, "level": "moderate",
            },
            "oversubscription": { "native_tbs": 8, "bound": 8, "most_extra": 8, "decisions": [1, 2, 3], "counts": counts(8 + self.whole(9)) },
        }))
    }

    fn policy(&mut self, name: &str, kernels: usize, in_window: bool) -> Value {
        let done = |n: &mut Self| (!in_window).then(|| 0.5 + n.next());
        let correlations = |n: &mut Self| json!({ "s": 2.0 * n.next() - 1.0, "stp": n.maybe(1.0) });
        let pairs = |n: &mut Self| json!({ "s": n.whole(9), "stp": n.whole(9) });
        let ranking = json!({
            "scores": [], "kendall": correlations(self), "spearman": correlations(self), "concordant": pairs(self), "discordant": pairs(self),
        });
        let intensive: Vec<bool> = (0..kernels).map(|_| self.below(2) == 0).collect();
        let search = json!({ "memory_intensive": intensive, "windows": 3, "done": true, "estimated_progress": self.many(kernels) });
        let states =
            json!({ "active": self.whole(1_000_000), "stalled": self.whole(99_999), "gated": self.whole(99_999), "waking": 0, "wakes": 0 });
        let mut all = json!({
            "policy": name, "run": "0", "derived": name == "left-over", "config": vec![1; kernels], "placement": [],
            "ipc": self.many(kernels), "normalized_ipc": self.many(kernels), "too_late": self.below(9) == 0, "regret": self.objectives(),
            "end_to_end_regret": self.objectives(), "transition_cycles": self.whole(9_999), "in_place": self.next(), "sms_short_of_it": 0,
            "profile_cycles": 20_000, "overhead": self.maybe(1.0), "decision_cycles": self.whole(9_999), "decision_cycles_in_run": null,
            "decision_cycle": null, "ranking": (self.below(3) > 0).then_some(ranking), "issue_slots": self.slots(),
            "energy_joules": self.maybe(2.0), "energy": self.energy(), "makespan_cycles": (!in_window).then(|| self.whole(9_999_999)),
            "makespan_speedup_sequential": done(self), "makespan_speedup_left_over": done(self), "makespan_speedup_left_over_reversed": null,
            "memory": self.memory(kernels), "series": self.series(kernels), "sm_states": states,
        });
        merge(&mut all, self.metrics());
        if name.starts_with("cd-search") || name.starts_with("fair-share") {
            merge(&mut all, json!({ "search": search }));
        }
        all
    }

    fn group(&mut self, experiment: &Experiment, members: &[usize], in_window: bool) -> GroupResult {
        let names: Vec<&str> = members.iter().map(|&member| experiment.kernels[member].0.as_str()).collect();
        let config = |tbs: usize| vec![tbs; members.len()];
        let oracle = |n: &mut Self| json!({ "config": config(1), "value": 2.0 * n.next() });
        let configuration = |n: &mut Self, tbs: usize| {
            let mut all = json!({
                "config": config(tbs), "run": "0", "ipc": n.many(members.len()), "issue_slots": n.slots(), "energy_joules": 0.1 + n.next(),
            });
            merge(&mut all, n.metrics());
            all
        };
        let configurations: Vec<Value> = (1..=2).filter(|_| experiment.configurations).map(|tbs| configuration(self, tbs)).collect();
        let policies: Vec<Value> = experiment.policies.iter().map(|policy| self.policy(policy.name(), members.len(), in_window)).collect();
        read(json!({
            "kernels": names, "class": class(experiment, members), "isolated_ipc": self.many(members.len()), "s_null": self.maybe(2.0),
            "sequential_cycles": null, "oracle": { "s": oracle(self), "stp": oracle(self) }, "configurations": configurations,
            "policies": policies,
        }))
    }

    fn study(&mut self, experiment: &Experiment, setting: &Setting) -> StudyResult {
        let options = &setting.options;
        let cycles = if let End::Cycles(cycles) = options.end { Some(cycles) } else { None };
        let mut members: Vec<&Vec<usize>> = Vec::new();
        for group in experiment.groups.iter().filter(|group| group.len() > 1) {
            let kind = |group: &Vec<usize>| (group.len(), class(experiment, group));
            if members.iter().filter(|other| kind(other) == kind(group)).count() < GROUPS {
                members.push(group);
            }
        }
        let groups: Vec<GroupResult> = match (options.queue, options.requests) {
            (None, None) => members.iter().map(|group| self.group(experiment, group, cycles.is_some())).collect(),
            _ => Vec::new(),
        };
        let queue = |n: &mut Self, policy: &str| {
            let mut spread = || json!({ "mean": 1e4 + 1e5 * n.next(), "p95": 2e5 + n.next(), "max": 3e5 + n.next() });
            let (latency, slowdown) = (spread(), spread());
            json!({
                "policy": policy, "run": "0", "kernels": experiment.kernels.iter().map(|kernel| &kernel.0).collect::<Vec<_>>(),
                "launches": 40, "makespan_cycles": 1_000_000 + n.whole(1_000_000), "sequential_cycles": 2_000_000, "stp": 0.1 + n.next(),
                "antt": 1.0 + n.next(), "latency": latency, "slowdown": slowdown, "urgent_latency_cycles": n.maybe(9_000.0),
                "energy_joules": n.maybe(0.1),
            })
        };
        let queue: Vec<Value> = options.queue.iter().flat_map(|_| &experiment.policies).map(|policy| queue(self, policy.name())).collect();
        let levels = (options.levels != Levels::None).then(|| options.levels.name());
        StudyResult {
            kernels: experiment.kernels.iter().map(|(name, _)| self.alone(experiment, name)).collect(),
            summary: summary::rows(&groups, setting.arrive > 0),
            groups,
            requests: self.requests(experiment, setting),
            ..read(json!({
                "experiment": experiment.name, "title": experiment.title, "setting": setting.labels, "gpu": setting.sharing.name,
                "gpu_hash": "", "cycles": cycles, "profile_cycles": options.profile_cycles, "transition": options.transition.name(),
                "latency": options.latency.name(), "ipc_unit": "thread", "relaunch": options.relaunch, "arrive": setting.arrive,
                "queue": queue, "levels": levels, "kernels": [], "groups": [], "summary": [],
            }))
        }
    }

    fn requests(&mut self, experiment: &Experiment, setting: &Setting) -> Vec<requests::RequestsResult> {
        let Some(asked) = setting.options.requests else { return Vec::new() };
        let mut rows = Vec::new();
        for (kernel, scheme) in experiment.groups.iter().flat_map(|group| asked.schemes().map(move |scheme| (group[0], scheme))) {
            for ns in asked.limits_ns() {
                let missed = self.next();
                rows.push(read(json!({
                    "kernel": experiment.kernels[kernel].0, "scheme": scheme.name(),
                    "limit_cycles": u64::from(ns) * u64::from(setting.gpu.clocks.core_khz) / 1_000_000, "requests": asked.count,
                    "violations": missed, "violations_half_width": 0.1, "violations_interval": [0.9 * missed, missed + 0.1 * (1.0 - missed)],
                    "late": self.next(), "first_cycles": self.maybe(900.0), "full_cycles": self.maybe(9_000.0), "overhead": self.maybe(1.0),
                    "drain_error": self.maybe(1.0), "drains_not_estimated": self.whole(9), "registers": self.maybe(1.0),
                    "registers_before": self.next(), "victims": [self.whole(90), self.whole(90), self.whole(90)],
                })));
            }
        }
        let all = requests::over_all(&rows);
        rows.into_iter().chain(all).collect()
    }
}

fn counts(most_tbs: u64) -> Value {
    let mut counts = serde_json::to_value(mias_hw_model::gpu::OversubscriptionStats::default().counts).expect("numbers");
    merge(&mut counts, json!({ "most_tbs": most_tbs }));
    counts
}

fn merge(all: &mut Value, other: Value) {
    if let (Value::Object(all), Value::Object(other)) = (all, other) {
        all.extend(other);
    }
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// Returns the types of the kernels, M first.
fn class(experiment: &Experiment, members: &[usize]) -> String {
    let letter = |&member: &usize| match experiment.kernels[member].1.kernel_type()? {
        KernelType::Memory => Some('M'),
        KernelType::Compute => Some('C'),
    };
    let Some(mut letters) = members.iter().map(letter).collect::<Option<Vec<char>>>() else { return "other".into() };
    letters.sort_unstable_by(|a, b| b.cmp(a));
    letters.into_iter().collect()
}

/// Creates an evaluation of a plan.
pub(crate) fn of_plan(plan: &Plan, seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let settings = plan.experiments.iter().flat_map(|experiment| experiment.settings.iter().map(move |setting| (experiment, setting)));
    let studies = settings.map(|(experiment, setting)| numbers.study(experiment, setting)).collect();
    let plan = PlanNote { name: plan.name.clone(), description: plan.description.clone(), hash: "h".into(), report: plan.report.clone() };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

/// Creates an evaluation of the quick form of a built-in plan, or of a file.
pub(crate) fn of_quick(name: &str, seed: u64) -> Evaluation {
    of_plan(&plan::load_quick(name, &Policies::default()).expect("a plan"), seed)
}
