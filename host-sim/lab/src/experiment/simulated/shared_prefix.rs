//! Runs that differ only in policy and precision, as one simulation for as long as the policies act
//! alike.
//!
//! The variants of MIAS place the same configurations at the same time and differ in their
//! evaluation of the counters. Two that choose the same configuration in the same cycle stay equal
//! to the end. So every run's firmware is called at every interrupt. The leader uses the
//! simulation's register block, the others a copy each with their own straps.
//!
//! As long as all blocks are equal afterwards, the GPU cannot distinguish them. When they differ,
//! the runs are split by their block. Each part continues from the last copy of the GPU, taken
//! while all agreed. A run that is known well enough leaves the group, which continues.
//!
//! Every run's outcome equals that of a separate simulation in every number
//! (`tests/shared_simulation.rs` and `tests/precision.rs` of the suites).

use super::{Running, SimulatedGpu, known};
use crate::experiment::controller::Controller;
use crate::experiment::gpu_runner::{Outcome, Run, RunError};
use crate::experiment::precision::{Precision, Stop};
use mias_hw_model::gpu::{Gpu, Microcontroller, RunEnd};
use mias_hw_model::register_block::{RegisterBlock, Straps};
use rayon::Scope;

/// Cycles between two copies of the GPU while runs share it. At a split, fewer cycles than this are
/// simulated twice. A copy takes about as long as a few hundred cycles.
const COPY_EVERY_CYCLES: u64 = 16_384;

/// One of the runs in a group.
struct Member {
    /// Index among the runs.
    index: usize,
    controller: Controller,
    straps: Straps,
    /// Requested precision, if it may end before its window.
    precision: Option<Precision>,
}

/// Group of runs that share a simulation.
struct Pack {
    gpu: Gpu,
    /// Stopping rules of the members: one for each precision among them.
    stops: Vec<Stop>,
    /// Members of the group; the first leads.
    members: Vec<Member>,
}

impl Pack {
    /// Creates a group on `gpu`, whose register block becomes that of the first member. Of `stops`,
    /// those that a member uses stay.
    fn new(mut gpu: Gpu, stops: Vec<Stop>, members: Vec<Member>) -> Option<Pack> {
        let leader = members.first()?.straps.clone();
        *gpu.registers_mut() = gpu.registers().clone().with_straps(leader);
        let stops = stops.into_iter().filter(|stop| members.iter().any(|member| member.precision == Some(stop.precision()))).collect();
        Some(Pack { gpu, stops, members })
    }
}

/// State common to the parts of a simulation.
pub(super) struct Shared<'a> {
    /// Cycle at which the runs end.
    pub(super) limit: u64,
    /// Receiver of the cycles simulated, over all runs.
    pub(super) progress: &'a (dyn Fn(u64) + Sync),
    /// Receiver of each run's outcome, as soon as it is known.
    pub(super) done: &'a (dyn Fn(usize, Result<Outcome, RunError>) + Sync),
}

/// Firmware of all members, called in turn.
struct Lockstep<'a> {
    members: &'a mut [Member],
    /// Indices of members by resulting block, once the blocks differ.
    parts: Vec<(RegisterBlock, Vec<usize>)>,
}

impl Microcontroller for Lockstep<'_> {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        let Some((leader, others)) = self.members.split_first_mut() else { return };
        if !self.parts.is_empty() {
            // The group split earlier in this stretch, which is simulated again.
            return leader.controller.on_interrupt(registers);
        }
        let before = registers.clone();
        leader.controller.on_interrupt(registers);
        let mut parts = vec![(registers.clone(), vec![0])];
        for (at, member) in others.iter_mut().enumerate() {
            let mut own = before.clone().with_straps(member.straps.clone());
            member.controller.on_interrupt(&mut own);
            let own = own.with_straps(leader.straps.clone());
            match parts.iter_mut().find(|(left, _)| *left == own) {
                Some((_, places)) => places.push(at + 1),
                None => parts.push((own, vec![at + 1])),
            }
        }
        if parts.len() > 1 {
            self.parts = parts;
        }
    }
}

impl SimulatedGpu {
    /// Returns whether runs may share a simulation on this machine. An image in QEMU cannot be
    /// copied. Recording of the register block and time series belong to one run.
    pub(super) fn shares(&self) -> bool {
        self.image.is_none() && !self.record && !self.record_firmware && self.samples.is_none()
    }

    /// Simulates runs that differ in control only.
    pub(super) fn share(&self, runs: &[Run<'_>], shared: &Shared<'_>) {
        let mut packs: Vec<(RegisterBlock, Pack)> = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            let Running { mut gpu, controller, stop, .. } = match self.start(run) {
                Ok(running) => running,
                Err(error) => {
                    (shared.done)(index, Err(error));
                    continue;
                }
            };
            let straps = self.straps(run);
            let member = Member { index, controller, straps: straps.clone(), precision: stop.as_ref().map(Stop::precision) };
            let leader = packs.first().map_or(straps, |(_, pack)| pack.members[0].straps.clone());
            let block = gpu.registers_mut().clone().with_straps(leader);
            match packs.iter_mut().find(|(other, _)| *other == block) {
                Some((_, pack)) => {
                    if !pack.members.iter().any(|other| other.precision == member.precision) {
                        pack.stops.extend(stop);
                    }
                    pack.members.push(member);
                }
                None => packs.push((block, Pack { gpu, stops: stop.into_iter().collect(), members: vec![member] })),
            }
        }
        rayon::scope(|scope| {
            for (_, pack) in packs {
                scope.spawn(|scope| self.run_pack(scope, pack, shared));
            }
        });
    }

    /// Runs a group to its end or to a split; then each part is run as a group of its own.
    fn run_pack<'s>(&'s self, scope: &Scope<'s>, mut pack: Pack, shared: &'s Shared<'s>) {
        let going = self.threads.begin();
        while pack.members.len() > 1 && pack.gpu.cycle() < shared.limit {
            if self.cancel.requested() {
                return end(pack.members, shared, &RunError::Interrupted);
            }
            let Some(copies) = pack.members.iter().map(|member| member.controller.copy()).collect::<Option<Vec<_>>>() else { break };
            let (copy, before) = (pack.gpu.clone(), pack.gpu.cycle());
            pack.gpu.set_threads(going.share());
            let mut lockstep = Lockstep { members: &mut pack.members, parts: Vec::new() };
            let next = before.saturating_add(COPY_EVERY_CYCLES).min(Stop::next_look(before));
            let ended = pack.gpu.run(&mut lockstep, shared.limit.min(next));
            let parts = lockstep.parts;
            if parts.is_empty() {
                (shared.progress)((pack.gpu.cycle() - before) * pack.members.len() as u64);
                match ended {
                    RunEnd::CycleLimit => match self.without_known(pack, shared) {
                        Some(left) => {
                            pack = left;
                            continue;
                        }
                        None => return,
                    },
                    RunEnd::AllComplete => break,
                    RunEnd::Stuck(stuck) => return end(pack.members, shared, &RunError::Stuck(stuck.to_string())),
                    RunEnd::Failed(message) => return end(pack.members, shared, &RunError::Workload(message)),
                }
            }
            let mut members: Vec<Option<Member>> =
                pack.members.into_iter().zip(copies).map(|(member, controller)| Some(Member { controller, ..member })).collect();
            for (_, places) in parts {
                let members: Vec<Member> = places.iter().filter_map(|&place| members[place].take()).collect();
                // Stops have not seen the stretch that is simulated again.
                let Some(pack) = Pack::new(copy.clone(), pack.stops.clone(), members) else { continue };
                scope.spawn(|scope| self.run_pack(scope, pack, shared));
            }
            return;
        }
        drop(going);
        self.finish_pack(pack, shared);
    }

    /// Removes the members that are now known well enough, and reports their outcomes; `None` if
    /// all are.
    fn without_known(&self, pack: Pack, shared: &Shared<'_>) -> Option<Pack> {
        let Pack { mut gpu, mut stops, mut members } = pack;
        for at in (0..stops.len()).rev() {
            // All members have the same block, so the leader's controller suffices.
            let Some(known) = members.first().and_then(|leader| known::look(&mut stops[at], &mut gpu, &leader.controller)) else {
                continue;
            };
            let precision = stops.remove(at).precision();
            let rest = shared.limit - known.estimate.simulated_cycles;
            for Member { index, controller, .. } in members.extract_if(.., |member| member.precision == Some(precision)) {
                (shared.progress)(rest);
                (shared.done)(index, Ok(self.outcome_of(&mut gpu, controller, Some(known.clone()), shared.limit)));
            }
        }
        Pack::new(gpu, stops, members)
    }

    /// Runs a group of one to its end, and reports the outcomes of all members of a finished group.
    fn finish_pack(&self, pack: Pack, shared: &Shared<'_>) {
        let Pack { mut gpu, mut stops, mut members } = pack;
        if members.len() == 1
            && let Some(Member { index, controller, .. }) = members.pop()
        {
            let mut running = Running { gpu, controller, stop: stops.pop(), known: None };
            let outcome = self.run_on(&mut running, shared.limit, shared.progress).map(|()| self.outcome(running, shared.limit));
            return (shared.done)(index, outcome);
        }
        for Member { index, controller, .. } in members {
            (shared.done)(index, Ok(self.outcome_of(&mut gpu, controller, None, shared.limit)));
        }
    }
}

/// Ends all members with the same error.
fn end(members: Vec<Member>, shared: &Shared<'_>, error: &RunError) {
    for member in members {
        (shared.done)(member.index, Err(error.clone()));
    }
}
