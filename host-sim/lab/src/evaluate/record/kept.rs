//! What a run gave, as it is kept.

use crate::experiment::gpu_runner::{Decision, DecisionTime, InPlace, Outcome, Placement, Sample, SearchFound, SmTotals};
use crate::experiment::placement_latency::PlacementTimes;
use crate::experiment::precision::{Estimate, HalfWidth};
use crate::experiment::queue::QueuedLaunch;
use crate::experiment::requests::Requested;
use mias_hw_model::energy::Femtojoules;
use mias_hw_model::gpu::{LaunchStats, OversubscriptionStats, Preemption, SmStateCycles};
#[cfg(doc)]
use mias_hw_model::sm::IssueClass;
use mias_hw_model::sm::IssueSlots;
use serde::{Deserialize, Serialize};

/// What a run gave, as kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Core cycles that the counts are of.
    pub cycles: u64,
    /// It ended before the window, and its counts are estimates; none if all was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Per kernel, in launch order.
    pub launches: Vec<LaunchStats>,
    /// SM cycles, all SMs.
    pub sm_cycles: u64,
    /// SM cycles in which the L1 refused a look-up.
    pub lsu_stall_cycles: u64,
    /// MSHR entries in use, summed over SM cycles.
    pub outstanding_cycles: u64,
    /// Quotas at the end; empty if the policy sets none.
    pub placement: Vec<Placement>,
    /// Cycles in which SMs were on their way to new quotas.
    pub transition_cycles: u64,
    /// The run ended before the firmware had placed what it was about to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
    /// How much of the run was spent in `placement`.
    pub in_place: InPlace,
    /// Cycles in which the firmware profiled.
    pub profile_cycles: u64,
    /// The time of decisions; none if they took none.
    pub decision_time: Option<DecisionTime>,
    /// The last decision, if the policy measures.
    pub decision: Option<Decision>,
    /// Issue slots (scheduler-cycles) of all SMs by class, in the order of [`IssueClass::ALL`].
    #[serde(alias = "schedulers", with = "without_held")]
    pub issue_slots: IssueSlots,
    /// Energy in nanojoules; none if the machine has no coefficients.
    pub energy_nj: Option<u64>,
    /// Of that, what SMs leak; under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leakage_nj: Option<u64>,
    /// Of that, what the clocks of SMs draw; under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_nj: Option<u64>,
    /// Instructions over time, of kernels alone in a window.
    pub samples: Vec<Sample>,
    /// When each kernel had its room, where somebody is preempted or before others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub room: Vec<PlacementTimes>,
    /// TBs that were made to leave, in the order of the commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<Preemption>,
    /// What became of requests for room, by scheme and limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested: Vec<Requested>,
    /// What became of the launches of a queue, in the order of their arrival.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<QueuedLaunch>,
    /// What SMs were, and for how long; none if every SM was active all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_states: Option<SmStateCycles>,
    /// What the last search for SMs found; none if the policy searches for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchFound>,
    /// TBs beyond those that fit, launches in order; empty where a machine takes none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<OversubscriptionStats>,
}

/// Issue slots as they are kept: without the class that is last where there is nothing in it, as runs were kept before there was one.
mod without_held {
    use mias_hw_model::sm::{IssueClass, IssueSlots};
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(slots: &IssueSlots, serializer: S) -> Result<S::Ok, S::Error> {
        slots[..IssueClass::of(slots).count()].serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IssueSlots, D::Error> {
        let kept = Vec::<u64>::deserialize(deserializer)?;
        let mut slots = IssueSlots::default();
        let classes = slots.len();
        if !(classes - 1..=classes).contains(&kept.len()) {
            return Err(D::Error::invalid_length(kept.len(), &"a number for each class of issue slots"));
        }
        slots[..kept.len()].copy_from_slice(&kept);
        Ok(slots)
    }
}

/// Femtojoules per nanojoule.
const FJ_PER_NJ: Femtojoules = 1_000_000;

impl Kept {
    /// Of a run that has ended.
    pub fn of(outcome: &Outcome) -> Self {
        // Exhaustive: what a run gives is kept, or left out here on purpose.
        let Outcome {
            cycles,
            estimate,
            launches,
            sms,
            placement,
            transition_cycles,
            unsettled,
            in_place,
            profile_cycles,
            decision_time,
            decision,
            activity: _,
            recording: _,
            parted: _,
            faults: _,
            l1_ways: _,
            memory_choices: _,
            memory_limits: _,
            l2_ways: _,
            contexts,
            sm_contexts: _,
            context_log: _,
            sm_states,
            search,
            energy,
            energy_samples: _,
            samples,
            room,
            preemptions,
            victims: _,
            requested,
            queued,
        } = outcome.clone();
        let nanojoules = |energy: Femtojoules| u64::try_from(energy / FJ_PER_NJ).unwrap_or(u64::MAX);
        Kept {
            cycles,
            estimate,
            launches,
            sm_cycles: sms.cycles,
            lsu_stall_cycles: sms.lsu_stall_cycles,
            outstanding_cycles: sms.outstanding_cycles,
            placement,
            transition_cycles,
            unsettled,
            in_place,
            profile_cycles,
            decision_time,
            decision,
            issue_slots: sms.issue_slots,
            energy_nj: energy.as_ref().map(|energy| nanojoules(energy.total())),
            leakage_nj: energy.as_ref().map(|energy| nanojoules(energy.standing.leakage)),
            clock_nj: energy.as_ref().map(|energy| nanojoules(energy.standing.clocks)),
            samples,
            room,
            preemptions,
            requested,
            queued,
            sm_states,
            search,
            contexts,
        }
    }

    /// As an experiment takes it.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            cycles: self.cycles,
            estimate: self.estimate.clone(),
            launches: self.launches.clone(),
            sms: SmTotals {
                cycles: self.sm_cycles,
                lsu_stall_cycles: self.lsu_stall_cycles,
                outstanding_cycles: self.outstanding_cycles,
                issue_slots: self.issue_slots,
            },
            placement: self.placement.clone(),
            transition_cycles: self.transition_cycles,
            unsettled: self.unsettled,
            in_place: self.in_place,
            profile_cycles: self.profile_cycles,
            decision_time: self.decision_time,
            decision: self.decision.clone(),
            samples: self.samples.clone(),
            room: self.room.clone(),
            preemptions: self.preemptions.clone(),
            requested: self.requested.clone(),
            queued: self.queued.clone(),
            sm_states: self.sm_states,
            search: self.search.clone(),
            contexts: self.contexts.clone(),
            ..Outcome::default()
        }
    }

    /// A run of `kernels` kernels in which only the first ever has TBs, `tbs` on each of `sms` SMs, from its run alone.
    pub fn with_idle_kernels(&self, kernels: usize, tbs: u32, sms: u32) -> Self {
        let mut same = Kept { samples: Vec::new(), ..self.clone() };
        same.estimate.iter_mut().for_each(|estimate| estimate.half_widths.resize(kernels, HalfWidth::default()));
        same.launches.resize(kernels, LaunchStats { start_cycle: Some(0), ..LaunchStats::default() });
        let mut config = vec![0; kernels];
        config[0] = tbs;
        same.placement = vec![Placement { sms: (0..sms).collect(), config }];
        same
    }
}
