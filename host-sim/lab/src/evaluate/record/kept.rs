//! Results of a run in their stored form.

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

/// Results of a run in their stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Kept {
    /// Number of core cycles that the counts cover.
    pub cycles: u64,
    /// Estimate of a run that ended before its window; `None` if all was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Statistics by kernel, in launch order.
    pub launches: Vec<LaunchStats>,
    /// Number of SM cycles over all SMs.
    pub sm_cycles: u64,
    /// Number of SM cycles in which the L1 refused a look-up.
    pub lsu_stall_cycles: u64,
    /// MSHR entries in use, summed over SM cycles.
    pub outstanding_cycles: u64,
    /// Quotas at the end; empty if the policy sets none.
    pub placement: Vec<Placement>,
    /// Number of cycles in which SMs were changing to new quotas.
    pub transition_cycles: u64,
    /// Whether the run ended before the chosen quotas were placed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
    /// Fraction of the run spent in `placement`.
    pub in_place: InPlace,
    /// Number of cycles in which the firmware profiled.
    pub profile_cycles: u64,
    /// Time of decisions; `None` if they took none.
    pub decision_time: Option<DecisionTime>,
    /// Last decision, if the policy measures.
    pub decision: Option<Decision>,
    /// Issue slots (scheduler-cycles) of all SMs by class, in the order of [`IssueClass::ALL`].
    #[serde(alias = "schedulers", with = "without_held")]
    #[schemars(with = "Vec<u64>")]
    pub issue_slots: IssueSlots,
    /// Energy in nanojoules; `None` if the GPU has no coefficients.
    pub energy_nj: Option<u64>,
    /// Part of the energy from SM leakage; `None` under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leakage_nj: Option<u64>,
    /// Part of the energy from SM clocks; `None` under the same condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_nj: Option<u64>,
    /// Instructions over time, for isolated kernels in a window.
    pub samples: Vec<Sample>,
    /// Placement times of each kernel, with preemption or priorities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub room: Vec<PlacementTimes>,
    /// Preempted TBs, in the order of the commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<Preemption>,
    /// Outcomes of placement requests, by scheme and limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested: Vec<Requested>,
    /// Launches of a queue with their times, in order of arrival.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<QueuedLaunch>,
    /// SM cycles by power state; `None` if every SM was active throughout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_states: Option<SmStateCycles>,
    /// Results of the last search for SMs; `None` if the policy does not search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchFound>,
    /// Statistics of extra TBs, launches in order; empty if the GPU takes none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oversubscription: Vec<OversubscriptionStats>,
}

/// Serialized form of issue slots: without the last class if it is empty, for compatibility with
/// runs stored before it existed.
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
    /// Converts the outcome of a finished run.
    pub fn of(outcome: &Outcome) -> Self {
        // Exhaustive: every result of a run is either stored, or left out here on purpose.
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
            oversubscription,
            sm_oversubscription: _,
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
            oversubscription,
        }
    }

    /// Converts to the form of experiments.
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
            oversubscription: self.oversubscription.clone(),
            ..Outcome::default()
        }
    }

    /// Derives a run of `kernels` kernels in which only the first ever has TBs, `tbs` on each of
    /// `sms` SMs, from its isolated run.
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
