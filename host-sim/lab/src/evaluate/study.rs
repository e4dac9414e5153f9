//! Studies: an experiment in one setting, with all that it runs. Which runs a plan comes down to, each once.

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

/// A run to be.
#[derive(Clone, Debug)]
pub struct Job {
    /// What it is.
    pub identity: Identity,
    /// Its place among the settings of the plan: where its machine is.
    pub study: usize,
    /// What runs, placed in memory and on streams.
    pub workloads: Vec<Workload>,
    /// What decides.
    pub control: Control,
    /// How.
    pub options: Options,
    /// The machine.
    pub gpu: Arc<GpuConfig>,
}

/// Where the result of a control comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Key of the run.
    pub key: String,
    /// It is the first kernel's run alone, which provably is the same.
    pub derived: bool,
}

/// Kernels that run together, and their runs.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Names in launch order.
    pub names: Vec<String>,
    /// C and M of its kernels, memory first: `MC`; `other` where a kernel has no type.
    pub class: String,
    /// Most TBs per SM of each kernel.
    pub max_tbs: Vec<u32>,
    /// All maximal configurations; none if the experiment has no oracle.
    pub sweep: Vec<Vec<u32>>,
    /// Keys of the runs of each kernel alone.
    pub alone: Vec<String>,
    /// All other runs, by control.
    pub runs: BTreeMap<Control, Origin>,
    /// What places the kernels; kept for runs that depend on others' results.
    workloads: Vec<Workload>,
}

/// An experiment in one setting.
#[derive(Clone, Debug)]
pub struct Study<'p> {
    /// The experiment.
    pub experiment: &'p Experiment,
    /// The setting.
    pub setting: &'p Setting,
    /// In the order of the plan.
    pub groups: Vec<GroupPlan>,
}

/// A plan with its runs.
#[derive(Clone, Debug)]
pub struct Studies<'p> {
    /// In the order of the plan.
    pub all: Vec<Study<'p>>,
    /// Every run once, by key.
    pub jobs: BTreeMap<String, Job>,
}

/// A policy that waits for kernels' runs alone ([`Policy::waits_for_alone`]), in a group: the place of its study in the plan, and that of the
/// group there.
pub type Place = (usize, usize, Policy);

/// What such a run depends on, as far as it is known before any kernel has run alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitingRun {
    policy: Policy,
    /// Key of a run that stands for whatever it turns out to be: one that places the last kernel, one with the least quotas.
    stands_for: String,
    /// Keys of the runs alone, and the unit of IPC, which say what it is.
    alone: Vec<String>,
    ipc: IpcUnit,
}

/// Every kernel that the plan names, by word.
pub fn words(plan: &Plan) -> Vec<(String, Request)> {
    let mut words: BTreeMap<String, Request> = BTreeMap::new();
    for (word, request) in plan.experiments.iter().flat_map(|experiment| &experiment.kernels) {
        words.entry(word.clone()).or_insert_with(|| request.clone());
    }
    words.into_iter().collect()
}

impl<'p> Studies<'p> {
    /// What `plan` runs, but for what waits for kernels alone, which [`Studies::add_waiting`] adds; [`Policy::Sequential`] runs nothing. `traces` are those
    /// of [`words`].
    ///
    /// # Errors
    /// [`RunError::Workload`] for kernels that do not fit a machine.
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
            // In a window it arrives when it does beside the others, so that both runs count over the same cycles.
            let arrival = if setting.options.end == End::Done { 0 } else { arrival };
            let mut workload = self::workloads(experiment, setting, &[kernel], &[arrival], traces);
            let at = plan.alone.len();
            workload.iter_mut().zip(plan.workloads.get(at)).for_each(|(alone, beside)| alone.latency_limit = beside.latency_limit.min(1));
            plan.alone.push(self.job(study, setting, workload, &alone)?);
        }
        // A kernel alone with every number of TBs but the most, which is its run above.
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

    /// Adds a run of a group, by what its outcome is known.
    fn run(&mut self, study: usize, setting: &Setting, plan: &mut GroupPlan, control: Control, ran: &Ran) -> Result<(), RunError> {
        // Where it lies elsewhere than alone, it may meet other rows of DRAM; between its launches others have the SMs; and what is only where
        // kernels share the machine is not there alone.
        let undisturbed = plan.workloads.first().is_some_and(|first| first.sector_offset == 0 && first.then.is_empty());
        // One before others, or one that runs once, changes who has the SMs.
        let undisturbed = undisturbed && !plan.workloads.iter().any(Workload::is_urgent);
        let same_machine = ran.fields.is_empty() && setting.sharing.gpu == setting.gpu && setting.options.levels == Levels::None;
        let derived = undisturbed && same_machine && is_first_alone(&ran.control, &plan.max_tbs, &plan.arrivals(), setting.options);
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

    /// How many runs [`Studies::add_waiting`] adds at most: one for all groups that run the same whatever the kernels alone turn out to do.
    pub fn most_waiting(&self) -> usize {
        self.waiting().keys().filter(|run| !self.jobs.contains_key(&run.stands_for)).count()
    }

    /// The policies of such runs, as they are said.
    pub fn names_of_waiting(&self) -> String {
        let names: BTreeSet<String> = self.waiting().keys().map(|run| format!("`{}`", run.policy.name())).collect();
        names.into_iter().collect::<Vec<_>>().join(" and ")
    }

    /// The groups with a run that waits for kernels alone, by what it depends on: those of one entry have one run.
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

    /// Keys of the runs alone that say what these runs are, or all that wait.
    pub fn alone_for_waiting(&self, places: Option<&BTreeSet<Place>>) -> BTreeSet<String> {
        let wanted = |place: &Place| places.is_none_or(|places| places.contains(place));
        let waiting = self.waiting().into_iter().filter(|(_, places)| places.iter().any(wanted));
        waiting.flat_map(|(run, _)| run.alone).collect()
    }

    /// How many runs there are of these of which `runs` do not say what they are.
    pub fn unknown_waiting(&self, wanted: &BTreeSet<Place>, runs: &Runs) -> usize {
        let wanted = self.waiting().into_iter().filter(|(_, places)| places.iter().any(|place| wanted.contains(place)));
        wanted.filter(|(run, _)| !run.alone.iter().all(|key| runs.has(key))).count()
    }

    /// Adds the runs that wait for kernels alone: `known` gives what runs for a policy in a group, and by what its outcome is known.
    ///
    /// # Errors
    /// [`RunError::Workload`] for a machine that cannot be.
    pub fn add_waiting(&mut self, known: Known<'_>) -> Result<(), RunError> {
        self.add_waiting_of(&self.waiting().into_values().flatten().collect(), known)
    }

    /// The same for these only.
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

/// What runs for a policy in a group, and by what its outcome is known; none while runs alone are missing.
pub type Known<'k> = &'k dyn Fn(&Study<'_>, &GroupPlan, Policy) -> Option<(Control, Ran)>;

/// A run that differs from every other as one of the policy does.
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
    /// Core cycles of its windows; none where runs have an open end.
    pub fn cycles(&self) -> Option<u64> {
        if let End::Cycles(cycles) = self.setting.options.end { Some(cycles) } else { None }
    }
}

/// What a run is, its options, and its machine.
fn identity(setting: &Setting, workloads: &[Workload], ran: &Ran) -> Result<(Identity, Options, GpuConfig), RunError> {
    let arrivals: Vec<u64> = workloads.iter().map(|workload| workload.arrival_cycle).collect();
    let mut options = canonical(&ran.control, &arrivals, setting.options);
    if workloads.iter().any(Workload::is_urgent) {
        // One that runs once leaves room to others, and one before others takes it; how is the transition's.
        let (transition, latency) = (setting.options.transition, setting.options.latency);
        options = match workloads {
            [_] => Options { precision: None, ..options },
            _ => Options { transition, latency, precision: None, ..options },
        };
    }
    // Alone nobody is held back for others' sake.
    let runner = match workloads {
        [_] => Named { name: setting.gpu_name.clone(), gpu: setting.gpu.clone() },
        _ => setting.sharing.with(&ran.fields).map_err(RunError::Workload)?,
    };
    // The firmware's limits of memory instructions and its control of extra TBs take time whatever the policy.
    let sm = &runner.gpu.sm;
    let limits = sm.memory_issue.as_ref().is_some_and(|memory| memory.in_flight == InFlightLimit::Firmware);
    if limits || sm.oversubscription.is_some_and(|contexts| contexts.is_controlled_by_firmware()) {
        options.latency = setting.options.latency;
    }
    Ok((Identity::new(&runner.name, &runner.gpu, workloads, &ran.control, options), options, runner.gpu))
}

/// When the kernels of a group arrive: all at 0, but the last of several at `last`.
fn arrivals(kernels: usize, last: u64) -> Vec<u64> {
    (0..kernels).map(|at| if at > 0 && at + 1 == kernels { last } else { 0 }).collect()
}

/// Kernels of an experiment as launched together: streams of their own, buffers one after the other.
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
    /// Fingerprint of a kernel's trace.
    pub fn hash(&self, kernel: usize) -> &str {
        self.workloads.get(kernel).map_or("", |workload| &workload.hash)
    }

    /// What a kernel executes: all of it, or its first TBs of a trace that is read as it runs.
    ///
    /// # Panics
    /// If there is no such kernel.
    pub fn trace(&self, kernel: usize) -> &KernelTrace {
        &self.workloads[kernel].trace
    }

    /// Core cycle at which each kernel arrives.
    pub fn arrivals(&self) -> Vec<u64> {
        self.workloads.iter().map(|workload| workload.arrival_cycle).collect()
    }
}

impl Job {
    /// Cycles that it is expected to take; none where only its end will tell.
    pub fn expected_cycles(&self) -> Option<u64> {
        if let End::Cycles(cycles) = self.options.end { Some(cycles) } else { None }
    }
}
