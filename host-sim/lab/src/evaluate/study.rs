//! Studies: an experiment in one setting, with all that it runs. Which runs a plan comes down to, each once.

use super::findings::Runs;
use super::plan::{Experiment, Order, Plan, Setting};
use super::record::{Identity, canonical, is_first_alone};
use crate::experiment::compare::control_of;
use crate::experiment::machine::{End, Machine, Options, RunError};
use crate::experiment::policy::{Control, IpcUnit, Policy};
use crate::experiment::recorded::label;
use crate::experiment::request::Request;
use crate::experiment::simulated::SimulatedGpu;
use crate::experiment::workload::{Workload, check_copies, place_for};
use mias_hw_model::config::InFlightLimit;
use mias_workloads::kernels::KernelType;
use std::collections::{BTreeMap, BTreeSet};

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

/// A group: the place of its study in the plan, and its own there.
pub type Place = (usize, usize);

/// What a run of [`Policy::Null`] depends on, as far as it is known before any kernel has run alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NullRun {
    /// Key of the run that places the last kernel, which stands for whichever it turns out to be.
    last: String,
    /// Keys of the runs alone, and the unit of IPC, which say which kernel it is.
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
    /// What `plan` runs, but for [`Policy::Null`], which [`Studies::add_null`] adds; [`Policy::Sequential`] runs nothing. `traces` are those
    /// of [`words`].
    ///
    /// # Errors
    /// [`RunError::Workload`] for kernels that do not fit a machine.
    pub fn of(plan: &'p Plan, traces: &BTreeMap<String, Workload>) -> Result<Self, RunError> {
        let mut studies = Studies { all: Vec::new(), jobs: BTreeMap::new() };
        for experiment in &plan.experiments {
            for setting in &experiment.settings {
                let machine = SimulatedGpu::new(setting.gpu.clone());
                if setting.options.warm_l2 {
                    let kernels = experiment.kernels.iter().filter_map(|(word, _)| traces.get(word));
                    check_copies(kernels).map_err(|why| RunError::Workload(format!("{}: warm-l2: {why}", experiment.name)))?;
                }
                let groups = experiment.groups.iter().map(|group| studies.group(experiment, setting, &machine, group, traces));
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
        machine: &SimulatedGpu,
        group: &[usize],
        traces: &BTreeMap<String, Workload>,
    ) -> Result<GroupPlan, RunError> {
        let mut kernels: Vec<usize> = group.to_vec();
        if setting.order == Order::Reversed {
            kernels.reverse();
        }
        let arrivals = arrivals(kernels.len(), setting.arrive);
        let workloads = workloads(experiment, setting, &kernels, &arrivals, traces);
        let members: Vec<&Workload> = workloads.iter().collect();
        let sweep = if experiment.configurations && members.len() > 1 { machine.configurations(&members)? } else { Vec::new() };
        let mut plan = GroupPlan {
            names: workloads.iter().map(|workload| workload.name.clone()).collect(),
            class: class(kernels.iter().map(|&kernel| &experiment.kernels[kernel].1)),
            max_tbs: members.iter().map(|workload| machine.max_tbs(workload)).collect::<Result<_, _>>()?,
            sweep,
            alone: Vec::new(),
            runs: BTreeMap::new(),
            workloads,
        };
        let study = self.all.len();
        let alone = Control::Policy(Policy::LeftOver);
        for (&kernel, &arrival) in kernels.iter().zip(&arrivals) {
            // In a window it arrives when it does beside the others, so that both runs count over the same cycles.
            let arrival = if setting.options.end == End::Done { 0 } else { arrival };
            let workload = self::workloads(experiment, setting, &[kernel], &[arrival], traces);
            plan.alone.push(self.job(study, setting, workload, alone.clone()));
        }
        let policies = experiment.policies.iter().filter(|policy| policy.decides()).map(|&policy| Control::Policy(policy));
        for control in plan.sweep.clone().into_iter().map(Control::Fixed).chain(policies) {
            self.run(study, setting, &mut plan, control);
        }
        Ok(plan)
    }

    /// Adds a run of a group.
    fn run(&mut self, study: usize, setting: &Setting, plan: &mut GroupPlan, control: Control) {
        // Where it lies elsewhere than alone, it may meet other rows of DRAM; between its launches others have the SMs.
        let undisturbed = plan.workloads.first().is_some_and(|first| first.sector_offset == 0 && first.then.is_empty());
        let derived = undisturbed && is_first_alone(&control, &plan.max_tbs, &plan.arrivals(), setting.options);
        let key = if derived { plan.alone[0].clone() } else { self.job(study, setting, plan.workloads.clone(), control.clone()) };
        plan.runs.insert(control, Origin { key, derived });
    }

    fn job(&mut self, study: usize, setting: &Setting, workloads: Vec<Workload>, control: Control) -> String {
        let (identity, options) = identity(setting, &workloads, &control);
        let key = identity.key();
        self.jobs.entry(key.clone()).or_insert(Job { identity, study, workloads, control, options });
        key
    }

    /// How many runs [`Studies::add_null`] adds at most: one for all groups that place the same whatever turns out to be fastest.
    pub fn most_null(&self) -> usize {
        self.nulls().keys().filter(|null| !self.jobs.contains_key(&null.last)).count()
    }

    /// The groups with a run of [`Policy::Null`], by what it depends on: those of one entry have one run.
    pub fn nulls(&self) -> BTreeMap<NullRun, Vec<Place>> {
        let mut different: BTreeMap<NullRun, Vec<Place>> = BTreeMap::new();
        for (place, study) in self.all.iter().enumerate().filter(|(_, study)| study.experiment.policies.contains(&Policy::Null)) {
            for (at, group) in study.groups.iter().enumerate() {
                let last = group.max_tbs.len().saturating_sub(1);
                let config = group.max_tbs.iter().enumerate().map(|(kernel, &tbs)| if kernel == last { tbs } else { 0 }).collect();
                let (run, _) = identity(study.setting, &group.workloads, &Control::Fixed(config));
                let null = NullRun { last: run.key(), alone: group.alone.clone(), ipc: study.setting.options.ipc };
                different.entry(null).or_default().push((place, at));
            }
        }
        different
    }

    /// Keys of the runs alone that say which kernel [`Policy::Null`] places, in these groups or in all.
    pub fn alone_for_nulls(&self, groups: Option<&BTreeSet<Place>>) -> BTreeSet<String> {
        let wanted = |place: &Place| groups.is_none_or(|groups| groups.contains(place));
        let nulls = self.nulls().into_iter().filter(|(_, places)| places.iter().any(wanted));
        nulls.flat_map(|(null, _)| null.alone).collect()
    }

    /// How many runs of [`Policy::Null`] these groups have of which `runs` do not say what they are.
    pub fn unknown_nulls(&self, groups: &BTreeSet<Place>, runs: &Runs) -> usize {
        let of_groups = self.nulls().into_iter().filter(|(_, places)| places.iter().any(|place| groups.contains(place)));
        of_groups.filter(|(null, _)| !null.alone.iter().all(|key| runs.has(key))).count()
    }

    /// Adds the runs of [`Policy::Null`], which places what is fastest alone: `fastest` gives its configuration for a group.
    pub fn add_null(&mut self, fastest: &dyn Fn(&Study<'_>, &GroupPlan) -> Option<Vec<u32>>) {
        self.add_nulls_of(&self.nulls().into_values().flatten().collect(), fastest);
    }

    /// The same for these groups only.
    pub fn add_nulls_of(&mut self, groups: &BTreeSet<Place>, fastest: &dyn Fn(&Study<'_>, &GroupPlan) -> Option<Vec<u32>>) {
        for &(study, group) in groups {
            let setting = self.all[study].setting;
            if let Some(config) = fastest(&self.all[study], &self.all[study].groups[group]) {
                let mut plan = self.all[study].groups[group].clone();
                self.run(study, setting, &mut plan, control_of(Policy::Null, &config));
                self.all[study].groups[group] = plan;
            }
        }
    }
}

impl Study<'_> {
    /// Core cycles of its windows; none where runs have an open end.
    pub fn cycles(&self) -> Option<u64> {
        if let End::Cycles(cycles) = self.setting.options.end { Some(cycles) } else { None }
    }
}

/// What a run is, and its options.
fn identity(setting: &Setting, workloads: &[Workload], control: &Control) -> (Identity, Options) {
    let arrivals: Vec<u64> = workloads.iter().map(|workload| workload.arrival_cycle).collect();
    let mut options = canonical(control, &arrivals, setting.options);
    // The firmware's limits of memory instructions take time whatever the policy.
    if setting.gpu.sm.memory_issue.as_ref().is_some_and(|memory| memory.in_flight == InFlightLimit::Firmware) {
        options.latency = setting.options.latency;
    }
    (Identity::new(&setting.machine, &setting.gpu, workloads, control, options), options)
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
