//! Studies: an experiment in one setting with its runs, and the distinct runs of a plan.

use super::findings::Runs;
use super::plan::{Experiment, Named, Order, Plan, Setting};
use super::record::{Identity, canonical, is_first_alone};
use crate::experiment::compare::{Alone, Ran, configurations, control_of};
use crate::experiment::gpu_runner::{End, GpuRunner, Options, RunError};
use crate::experiment::levels::Levels;
use crate::experiment::mechanisms::quotas;
use crate::experiment::policy::{Control, IpcUnit, Policy};
use crate::experiment::recorded::label;
use crate::experiment::request::Request;
use crate::experiment::simulated::SimulatedGpu;
use crate::experiment::workload::{Workload, check_copies, place_for};
use mias_hw_model::config::{GpuConfig, InFlightLimit};
use mias_warp_trace::KernelTrace;
use mias_workloads::kernels::KernelType;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Planned run.
#[derive(Clone, Debug)]
pub struct Job {
    /// Identity of the run.
    pub identity: Identity,
    /// Index of the job's study, which has the GPU.
    pub study: usize,
    /// Workloads, placed in memory and on streams.
    pub workloads: Vec<Workload>,
    /// Policy or configuration of the run.
    pub control: Control,
    /// Options of the run.
    pub options: Options,
    /// GPU of the run.
    pub gpu: Arc<GpuConfig>,
}

/// Source of the result of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Key of the run.
    pub key: String,
    /// Whether the result is that of the provably equal isolated run of the first kernel.
    pub derived: bool,
}

/// Group of kernels with its runs.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Names in launch order.
    pub names: Vec<String>,
    /// Types of its kernels, M first: `MC`; `other` if a kernel has no type.
    pub class: String,
    /// Maximum number of TBs per SM of each kernel.
    pub max_tbs: Vec<u32>,
    /// All maximal configurations; empty if the experiment has no oracle.
    pub sweep: Vec<Vec<u32>>,
    /// Keys of the isolated runs of each kernel.
    pub alone: Vec<String>,
    /// All other runs, by control.
    pub runs: BTreeMap<Control, Origin>,
    /// Placed workloads, kept for runs that depend on results of others.
    workloads: Vec<Workload>,
}

/// Experiment in one setting.
#[derive(Clone, Debug)]
pub struct Study<'p> {
    /// Experiment of the study.
    pub experiment: &'p Experiment,
    /// Setting of the study.
    pub setting: &'p Setting,
    /// Groups in the order of the plan.
    pub groups: Vec<GroupPlan>,
}

/// Plan with its runs.
#[derive(Clone, Debug)]
pub struct Studies<'p> {
    /// Studies in the order of the plan.
    pub all: Vec<Study<'p>>,
    /// Every run once, by key.
    pub jobs: BTreeMap<String, Job>,
}

/// Policy that depends on isolated runs ([`Policy::waits_for_alone`]) in a group: indices of the
/// study and of the group, and the policy.
pub type Place = (usize, usize, Policy);

/// Dependencies of a run that waits for isolated runs, as far as they are known before these.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitingRun {
    policy: Policy,
    /// Key of a run that stands for any possible one: one that places the last kernel, one with the
    /// least quotas.
    stands_for: String,
    /// Keys of the isolated runs that determine the run, and the unit of IPC.
    alone: Vec<String>,
    ipc: IpcUnit,
}

/// Returns every kernel that the plan names, by word.
pub fn words(plan: &Plan) -> Vec<(String, Request)> {
    let mut words: BTreeMap<String, Request> = BTreeMap::new();
    for (word, request) in plan.experiments.iter().flat_map(|experiment| &experiment.kernels) {
        words.entry(word.clone()).or_insert_with(|| request.clone());
    }
    words.into_iter().collect()
}

impl<'p> Studies<'p> {
    /// Collects the runs of `plan`, except those that depend on isolated runs, which
    /// [`Studies::add_waiting`] adds. [`Policy::Sequential`] has no run. `traces` are those of
    /// [`words`].
    ///
    /// # Errors
    /// [`RunError::Workload`] for kernels that do not fit a GPU.
    pub fn of(plan: &'p Plan, traces: &BTreeMap<String, Workload>) -> Result<Self, RunError> {
        let mut studies = Studies { all: Vec::new(), jobs: BTreeMap::new() };
        for experiment in &plan.experiments {
            for setting in &experiment.settings {
                let runner = SimulatedGpu::new(setting.gpu.clone());
                if setting.options.warm_l2 {
                    let kernels = experiment.kernels.iter().filter_map(|(word, _)| traces.get(word));
                    check_copies(kernels).map_err(|why| RunError::Workload(format!("{}: warm-l2: {why}", experiment.name)))?;
                }
                let groups = experiment.groups.iter().map(|group| studies.group(experiment, setting, &runner, group, traces));
                let groups = groups.collect::<Result<_, _>>()?;
                studies.all.push(Study { experiment, setting, groups });
            }
        }
        Ok(studies)
    }

    fn group(
        &mut self,
        experiment: &Experiment,
        setting: &Setting,
        runner: &SimulatedGpu,
        group: &[usize],
        traces: &BTreeMap<String, Workload>,
    ) -> Result<GroupPlan, RunError> {
        let mut kernels: Vec<usize> = group.to_vec();
        if setting.order == Order::Reversed {
            kernels.reverse();
        }
        let arrivals = arrivals(kernels.len(), setting.arrive);
        let mut workloads = workloads(experiment, setting, &kernels, &arrivals, traces);
        if let ([_, ..], Some(last)) = (&kernels[1..], workloads.last_mut()) {
            (last.priority, last.latency_limit) = (setting.priority, setting.limit_cycles);
        }
        let members: Vec<&Workload> = workloads.iter().collect();
        let sweep = if experiment.configurations { configurations(runner, &members, setting.options)? } else { Vec::new() };
        let mut plan = GroupPlan {
            names: workloads.iter().map(|workload| workload.name.clone()).collect(),
            class: class(kernels.iter().map(|&kernel| &experiment.kernels[kernel].1)),
            max_tbs: members.iter().map(|workload| runner.max_tbs(workload)).collect::<Result<_, _>>()?,
            sweep,
            alone: Vec::new(),
            runs: BTreeMap::new(),
            workloads,
        };
        let study = self.all.len();
        let alone = Ran { control: Control::Policy(Policy::LeftOver), fields: Vec::new() };
        for (&kernel, &arrival) in kernels.iter().zip(&arrivals) {
            // In a window it arrives as in the shared run, so that both runs count over the same
            // cycles.
            let arrival = if setting.options.end == End::Done { 0 } else { arrival };
            let mut workload = self::workloads(experiment, setting, &[kernel], &[arrival], traces);
            let at = plan.alone.len();
            workload.iter_mut().zip(plan.workloads.get(at)).for_each(|(alone, beside)| alone.latency_limit = beside.latency_limit.min(1));
            plan.alone.push(self.job(study, setting, workload, &alone)?);
        }
        // An isolated kernel with every number of TBs except the maximum, which is its isolated run
        // above.
        let scale = if experiment.scalability && kernels.len() == 1 { plan.max_tbs[0] } else { 1 };
        for config in plan.sweep.clone().into_iter().chain((1..scale).map(|tbs| vec![tbs])) {
            self.run(study, setting, &mut plan, Control::Fixed(config.clone()), &Ran::of_config(config))?;
        }
        let runs = |policy: &&Policy| **policy != Policy::Sequential && !policy.waits_for_alone();
        for &policy in experiment.policies.iter().filter(runs) {
            let ran = Alone { isolated: Vec::new(), max_tbs: &[], options: setting.options }.ran(policy);
            self.run(study, setting, &mut plan, control_of(policy, &[]), &ran)?;
        }
        Ok(plan)
    }

    /// Adds a run of a group, under the control by which its outcome is found.
    fn run(&mut self, study: usize, setting: &Setting, plan: &mut GroupPlan, control: Control, ran: &Ran) -> Result<(), RunError> {
        // At other addresses than alone it may use other DRAM rows. Between its launches others
        // have the SMs. Fields for shared runs do not apply alone.
        let undisturbed = plan.workloads.first().is_some_and(|first| first.sector_offset == 0 && first.then.is_empty());
        // A kernel with priority, or one that runs once, changes the allocation of SMs.
        let undisturbed = undisturbed && !plan.workloads.iter().any(Workload::is_urgent);
        let same_gpu = ran.fields.is_empty() && setting.sharing.gpu == setting.gpu && setting.options.levels == Levels::None;
        let derived = undisturbed && same_gpu && is_first_alone(&ran.control, &plan.max_tbs, &plan.arrivals(), setting.options);
        let key = if derived { plan.alone[0].clone() } else { self.job(study, setting, plan.workloads.clone(), ran)? };
        plan.runs.insert(control, Origin { key, derived });
        Ok(())
    }

    fn job(&mut self, study: usize, setting: &Setting, workloads: Vec<Workload>, ran: &Ran) -> Result<String, RunError> {
        let (identity, options, gpu) = identity(setting, &workloads, ran)?;
        let key = identity.key();
        let job = || Job { identity, study, workloads, control: ran.control.clone(), options, gpu: gpu.into() };
        self.jobs.entry(key.clone()).or_insert_with(job);
        Ok(key)
    }

    /// Returns the maximum number of runs that [`Studies::add_waiting`] adds: one for all groups
    /// whose dependent run is the same in any case.
    pub fn most_waiting(&self) -> usize {
        self.waiting().keys().filter(|run| !self.jobs.contains_key(&run.stands_for)).count()
    }

    /// Returns the policies of runs that depend on isolated runs, as text.
    pub fn names_of_waiting(&self) -> String {
        let names: BTreeSet<String> = self.waiting().keys().map(|run| format!("`{}`", run.policy.name())).collect();
        names.into_iter().collect::<Vec<_>>().join(" and ")
    }

    /// Returns the groups with a dependent run, by its dependencies: the groups of one entry share
    /// a run.
    pub fn waiting(&self) -> BTreeMap<WaitingRun, Vec<Place>> {
        let mut different: BTreeMap<WaitingRun, Vec<Place>> = BTreeMap::new();
        for (place, study) in self.all.iter().enumerate() {
            let (setting, policies) = (study.setting, &study.experiment.policies);
            for &policy in policies.iter().filter(|policy| policy.waits_for_alone()) {
                for (at, group) in study.groups.iter().enumerate() {
                    let Ok((run, ..)) = identity(setting, &group.workloads, &stand_in(policy, group)) else { continue };
                    let waiting = WaitingRun { policy, stands_for: run.key(), alone: group.alone.clone(), ipc: setting.options.ipc };
                    different.entry(waiting).or_default().push((place, at, policy));
                }
            }
        }
        different
    }

    /// Returns the keys of the isolated runs that determine these runs, or all dependent ones.
    pub fn alone_for_waiting(&self, places: Option<&BTreeSet<Place>>) -> BTreeSet<String> {
        let wanted = |place: &Place| places.is_none_or(|places| places.contains(place));
        let waiting = self.waiting().into_iter().filter(|(_, places)| places.iter().any(wanted));
        waiting.flat_map(|(run, _)| run.alone).collect()
    }

    /// Returns the number of these runs that `runs` do not determine.
    pub fn unknown_waiting(&self, wanted: &BTreeSet<Place>, runs: &Runs) -> usize {
        let wanted = self.waiting().into_iter().filter(|(_, places)| places.iter().any(|place| wanted.contains(place)));
        wanted.filter(|(run, _)| !run.alone.iter().all(|key| runs.has(key))).count()
    }

    /// Adds the runs that depend on isolated runs. `known` returns the run of a policy in a group,
    /// and the control for its outcome.
    ///
    /// # Errors
    /// [`RunError::Workload`] for an invalid GPU.
    pub fn add_waiting(&mut self, known: Known<'_>) -> Result<(), RunError> {
        self.add_waiting_of(&self.waiting().into_values().flatten().collect(), known)
    }

    /// Adds the dependent runs in `places` only.
    ///
    /// # Errors
    /// As [`Studies::add_waiting`].
    pub fn add_waiting_of(&mut self, places: &BTreeSet<Place>, known: Known<'_>) -> Result<(), RunError> {
        for &(study, group, policy) in places {
            let setting = self.all[study].setting;
            if let Some((control, ran)) = known(&self.all[study], &self.all[study].groups[group], policy) {
                let mut plan = self.all[study].groups[group].clone();
                self.run(study, setting, &mut plan, control, &ran)?;
                self.all[study].groups[group] = plan;
            }
        }
        Ok(())
    }
}

/// Function that returns the run of a policy in a group, and the control for its outcome; `None`
/// while isolated runs are missing.
pub type Known<'k> = &'k dyn Fn(&Study<'_>, &GroupPlan, Policy) -> Option<(Control, Ran)>;

/// Returns a run that stands for any run of the policy before isolated runs are known.
fn stand_in(policy: Policy, group: &GroupPlan) -> Ran {
    let last = group.max_tbs.len().saturating_sub(1);
    match policy.composed() {
        Some(composed) => {
            let fields = composed.fields().into_iter().chain([quotas(vec![1; group.max_tbs.len()])]).collect();
            Ran { control: Control::Policy(policy.base()), fields }
        }
        None => Ran::of_config(group.max_tbs.iter().enumerate().map(|(kernel, &tbs)| if kernel == last { tbs } else { 0 }).collect()),
    }
}

impl Study<'_> {
    /// Returns the core cycles of the study's windows; `None` for runs with an open end.
    pub fn cycles(&self) -> Option<u64> {
        if let End::Cycles(cycles) = self.setting.options.end { Some(cycles) } else { None }
    }
}

/// Returns a run's identity, options and GPU.
fn identity(setting: &Setting, workloads: &[Workload], ran: &Ran) -> Result<(Identity, Options, GpuConfig), RunError> {
    let arrivals: Vec<u64> = workloads.iter().map(|workload| workload.arrival_cycle).collect();
    let mut options = canonical(&ran.control, &arrivals, setting.options);
    if workloads.iter().any(Workload::is_urgent) {
        // A kernel that runs once frees capacity, and one with priority takes it; both need the
        // transition.
        let (transition, latency) = (setting.options.transition, setting.options.latency);
        options = match workloads {
            [_] => Options { precision: None, ..options },
            _ => Options { transition, latency, precision: None, ..options },
        };
    }
    // A kernel alone competes with no other, so fields for shared runs do not apply.
    let runner = match workloads {
        [_] => Named { name: setting.gpu_name.clone(), gpu: setting.gpu.clone() },
        _ => setting.sharing.with(&ran.fields).map_err(RunError::Workload)?,
    };
    // The firmware's limits of memory instructions and its control of extra TBs take time under any
    // policy.
    let sm = &runner.gpu.sm;
    let limits = sm.memory_issue.as_ref().is_some_and(|memory| memory.in_flight == InFlightLimit::Firmware);
    if limits || sm.oversubscription.is_some_and(|oversubscription| oversubscription.is_controlled_by_firmware()) {
        options.latency = setting.options.latency;
    }
    Ok((Identity::new(&runner.name, &runner.gpu, workloads, &ran.control, options), options, runner.gpu))
}

/// Returns the arrivals of a group's kernels: all at 0, except the last of several at `last`.
fn arrivals(kernels: usize, last: u64) -> Vec<u64> {
    (0..kernels).map(|at| if at > 0 && at + 1 == kernels { last } else { 0 }).collect()
}

/// Returns the kernels of an experiment as launched together, on separate streams, with buffers one
/// after the other.
fn workloads(
    experiment: &Experiment,
    setting: &Setting,
    kernels: &[usize],
    arrivals: &[u64],
    traces: &BTreeMap<String, Workload>,
) -> Vec<Workload> {
    let named = |at: usize| experiment.kernels[kernels[at]].0.as_str();
    let workload = |at: usize| {
        let traced = traces.get(named(at))?;
        // By name, not by word: two files may each describe a kernel of one name.
        let number = (0..=at).filter(|&before| traces.get(named(before)).is_some_and(|before| before.name == traced.name)).count();
        let name = label(&traced.name, number);
        Some(Workload { name, stream: at as u32, arrival_cycle: arrivals[at], ..traced.clone() })
    };
    let mut workloads: Vec<Workload> = (0..kernels.len()).filter_map(workload).collect();
    place_for(&mut workloads, &setting.options);
    workloads
}

fn class<'a>(kernels: impl Iterator<Item = &'a Request>) -> String {
    let letter = |request: &Request| {
        Some(match request.kernel_type()? {
            KernelType::Memory => 'M',
            KernelType::Compute => 'C',
        })
    };
    let Some(mut letters) = kernels.map(letter).collect::<Option<Vec<char>>>() else { return "other".into() };
    letters.sort_unstable_by(|a, b| b.cmp(a));
    letters.into_iter().collect()
}

impl GroupPlan {
    /// Returns the fingerprint of a kernel's trace.
    pub fn hash(&self, kernel: usize) -> &str {
        self.workloads.get(kernel).map_or("", |workload| &workload.hash)
    }

    /// Returns the trace that a kernel executes: all of it, or its first TBs if the trace is read
    /// during the run.
    ///
    /// # Panics
    /// If there is no such kernel.
    pub fn trace(&self, kernel: usize) -> &KernelTrace {
        &self.workloads[kernel].trace
    }

    /// Returns the core cycle at which each kernel arrives.
    pub fn arrivals(&self) -> Vec<u64> {
        self.workloads.iter().map(|workload| workload.arrival_cycle).collect()
    }
}

impl Job {
    /// Returns the expected number of cycles; `None` for an open end.
    pub fn expected_cycles(&self) -> Option<u64> {
        if let End::Cycles(cycles) = self.options.end { Some(cycles) } else { None }
    }
}
