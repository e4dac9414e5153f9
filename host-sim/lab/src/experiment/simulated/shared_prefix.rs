//! Runs that differ only in the policy and in how well they are to be known, as one simulation for as long as the policies act alike.
//!
//! The variants of MIAS place the same configurations at the same time and differ in what they make of the counters; two that choose the
//! same configuration in the same cycle go on alike to the end. So the firmware of every run is called at every interrupt, one of them
//! (the leader) on the register block of the simulation, the others each on a copy with their own straps. As long as all blocks are
//! equal afterwards, the GPU cannot tell which of them was the real one. When they are not, the runs are parted by the block that their
//! firmware left, and each part goes on from the last copy of the GPU, taken when all still agreed. A run that is known well enough leaves
//! the others, which go on.
//!
//! Every run's outcome is what it would have been alone, in every number (`tests/together.rs` and `tests/precision.rs` of the suites).

use super::{Running, SimulatedGpu, known};
use crate::experiment::controller::Controller;
use crate::experiment::gpu_runner::{Outcome, Run, RunError};
use crate::experiment::precision::{Precision, Stop};
use mias_hw_model::gpu::{Gpu, Microcontroller, RunEnd};
use mias_hw_model::register_block::{RegisterBlock, Straps};
use rayon::Scope;

/// Cycles between two copies of the GPU while runs share it. What is simulated twice when they part is less than that; a copy takes
/// about as long as a few hundred cycles.
const COPY_EVERY_CYCLES: u64 = 16_384;

/// One of the runs.
struct Member {
    /// Its place among the runs.
    index: usize,
    controller: Controller,
    straps: Straps,
    /// How well it is to be known, if it may end before its window.
    precision: Option<Precision>,
}

/// Runs that share a simulation.
struct Pack {
    gpu: Gpu,
    /// What ends members before their window: one for each precision among them.
    stops: Vec<Stop>,
    /// The first leads.
    members: Vec<Member>,
}

impl Pack {
    /// Members on `gpu`, whose register block becomes the first one's. Of `stops` those stay that a member has.
    fn new(mut gpu: Gpu, stops: Vec<Stop>, members: Vec<Member>) -> Option<Pack> {
        let leader = members.first()?.straps.clone();
        *gpu.registers_mut() = gpu.registers().clone().with_straps(leader);
        let stops = stops.into_iter().filter(|stop| members.iter().any(|member| member.precision == Some(stop.precision()))).collect();
        Some(Pack { gpu, stops, members })
    }
}

/// What the parts of a simulation have in common.
pub(super) struct Shared<'a> {
    /// When the runs end.
    pub(super) limit: u64,
    /// Told the cycles simulated, over all runs.
    pub(super) progress: &'a (dyn Fn(u64) + Sync),
    /// Told each run's outcome as soon as there is one.
    pub(super) done: &'a (dyn Fn(usize, Result<Outcome, RunError>) + Sync),
}

/// The firmware of all members, called in turn.
struct Lockstep<'a> {
    members: &'a mut [Member],
    /// Places of members by the block that they left, once that is more than one.
    parts: Vec<(RegisterBlock, Vec<usize>)>,
}

impl Microcontroller for Lockstep<'_> {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        let Some((leader, others)) = self.members.split_first_mut() else { return };
        if !self.parts.is_empty() {
            // Parted earlier in this stretch, which is run again.
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
    /// Whether runs may share a simulation on this machine: not if the firmware is an image in QEMU, of which there is no copy, nor if
    /// the register block is watched or time series are taken, which are of one run.
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

    /// Runs a pack to its end, or until it parts: then each part is run as a pack of its own.
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
                // Stops have seen nothing of the stretch that is run again.
                let Some(pack) = Pack::new(copy.clone(), pack.stops.clone(), members) else { continue };
                scope.spawn(|scope| self.run_pack(scope, pack, shared));
            }
            return;
        }
        drop(going);
        self.finish_pack(pack, shared);
    }

    /// The pack without the members that are known well enough now, which are given their outcomes; none if all are.
    fn without_known(&self, pack: Pack, shared: &Shared<'_>) -> Option<Pack> {
        let Pack { mut gpu, mut stops, mut members } = pack;
        for at in (0..stops.len()).rev() {
            // All have the same block, by the leader's eyes.
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

    /// Runs a pack of one to its end, and gives all members of a pack at its end their outcomes.
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

/// All members end with the same error.
fn end(members: Vec<Member>, shared: &Shared<'_>, error: &RunError) {
    for member in members {
        (shared.done)(member.index, Err(error.clone()));
    }
}
