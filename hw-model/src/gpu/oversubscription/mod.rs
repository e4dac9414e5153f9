//! Extra TBs on the whole chip: plans of kernels, allowances and statistics (Lin et al. 2018;
//! sources.md D160, D165 and D181). The part of an SM is in `sm/oversubscription`.

mod controller;
mod firmware;
mod utilization;

pub(super) use firmware::peaks_for_firmware;
pub use utilization::{Share, Traffic, Utilization};

use super::Gpu;
use crate::config::ContextsInL1;
use crate::sm::{ContextNote, KERNEL_SLOTS, OversubscriptionCounts, OversubscriptionPlans, Resources, Unswitchable};
use controller::Controller;
use firmware::Intervals;
use serde::{Deserialize, Serialize};

/// Extra TBs of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OversubscriptionStats {
    /// Number of the kernel's TBs that fit on an SM.
    pub native_tbs: u32,
    /// Maximum number of extra TBs that an SM can store.
    pub bound: u32,
    /// Number of extra TBs that an SM may have, at the end.
    pub most_extra: u32,
    /// Number of controller decisions: low utilization, medium, and saturation; none if the number
    /// of extra TBs is fixed.
    pub decisions: [u32; 3],
    /// Counts of the extra TBs on all SMs.
    pub counts: OversubscriptionCounts,
}

/// Log of context moves on SMs, for timelines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextLog {
    /// Notes by SM, in order.
    pub sms: Vec<Vec<ContextNote>>,
    /// Number of notes that exceeded the capacity.
    pub left_out: u64,
}

/// State of a kernel slot.
#[derive(Clone, Debug)]
struct Kernel {
    plans: OversubscriptionPlans,
    native: u32,
    most_extra: u32,
    controller: Option<Controller>,
    /// Intervals, if the firmware controls the kernel.
    intervals: Option<Intervals>,
}

impl Kernel {
    fn stats(&self, counts: OversubscriptionCounts, of_firmware: [u32; 3]) -> OversubscriptionStats {
        OversubscriptionStats {
            native_tbs: self.native,
            bound: self.plans.bound(),
            most_extra: self.most_extra,
            decisions: self.controller.as_ref().map_or(of_firmware, |controller| controller.decisions),
            counts,
        }
    }

    /// Cycle of the next decision, or of the end of an interval.
    fn next(&self) -> Option<u64> {
        let look = self.controller.as_ref().map(|controller| controller.next);
        look.or_else(|| self.intervals.as_ref().map(|intervals| intervals.next))
    }
}

/// Extra TBs of the whole chip.
#[derive(Clone, Debug, Default)]
pub(super) struct Oversubscription {
    kernels: [Option<Kernel>; KERNEL_SLOTS],
    /// Number of interval requests when intervals were last restarted.
    asked: u32,
}

impl Oversubscription {
    /// Cycle of the next controller decision, or of the end of an interval; `u64::MAX` if there is
    /// none.
    pub(super) fn next(&self) -> u64 {
        self.kernels.iter().flatten().filter_map(Kernel::next).min().unwrap_or(u64::MAX)
    }
}

impl OversubscriptionStats {
    /// Adds the statistics of another launch of the same kernel or sequence.
    pub(super) fn add(&mut self, other: &OversubscriptionStats) {
        let counts = self.counts;
        let decisions = self.decisions;
        *self = *other;
        self.counts.add(&counts);
        self.decisions.iter_mut().zip(decisions).for_each(|(mine, before)| *mine += before);
    }
}

impl Gpu {
    /// Starts recording context moves on SMs, up to `most` notes in total.
    pub fn record_context_moves(&mut self, most: usize) {
        let each = most / self.sms.len().max(1);
        self.sms.iter_mut().for_each(|sm| sm.record_context_moves(each));
    }

    /// Takes the notes so far; none if nothing is recorded, or the GPU has no oversubscription.
    pub fn take_context_log(&mut self) -> ContextLog {
        let mut log = ContextLog::default();
        for sm in self.sms.iter_mut() {
            let (notes, left_out) = sm.take_context_notes();
            log.sms.push(notes);
            log.left_out += left_out;
        }
        log
    }

    /// Plans the contexts of a launch that has taken the slot. Its TBs may issue from cycle `ready`
    /// on. `live` is the number of live registers per thread where its warps are switched, if
    /// known.
    pub(super) fn plan_oversubscription(&mut self, slot: usize, launch: usize, (demand, live): (&Resources, Option<u32>), ready: u64) {
        let (Some(oversubscription), Some(config)) = (&mut self.oversubscription, self.config.sm.oversubscription) else { return };
        let plans = OversubscriptionPlans::new(&self.config, &config, demand, live);
        let bound = plans.bound();
        let by_firmware = config.is_controlled_by_firmware();
        let by_hardware = config.is_controlled() && !by_firmware;
        let controller = by_hardware.then(|| Controller::new(config.interval(), bound, plans.needs_l1(), ready));
        let intervals = by_firmware.then(|| Intervals::new(self.registers.context_interval(), ready));
        let most_extra = if config.is_controlled() { 0 } else { config.extra.unwrap_or(bound) };
        let native = Resources::of_sm(&self.config.sm).count(demand);
        oversubscription.kernels[slot] = Some(Kernel { plans, native, most_extra, controller, intervals });
        if by_firmware {
            self.registers.context_kernel_placed(slot, bound, plans.needs_l1());
        }
        let in_l1 = config.in_l1 == ContextsInL1::Always;
        for sm in 0..self.sms.len() {
            self.sms[sm].plan_oversubscription(slot as u8, launch as u32, Some(plans), self.now);
            self.sms[sm].set_most_extra(slot as u8, most_extra, in_l1, self.now);
        }
        // Contexts of the slot's previous kernel are not switched any more.
        self.dispatcher.room_everywhere();
    }

    /// Applies controller decisions before a cycle.
    pub(super) fn decide_oversubscription(&mut self) {
        // An interval of the firmware has ended earlier.
        if self.oversubscription.as_ref().is_none_or(|oversubscription| oversubscription.next() > self.now) {
            return;
        }
        let traffic = self.traffic();
        let (Some(oversubscription), Some(config)) = (&mut self.oversubscription, self.config.sm.oversubscription) else { return };
        for (slot, kernel) in oversubscription.kernels.iter_mut().enumerate() {
            let Some(kernel) = kernel else { continue };
            let Some(controller) = kernel.controller.as_mut().filter(|controller| controller.next <= self.now) else { continue };
            let gpu = &self.config;
            let allowed = controller.look(traffic, |counted, cycles| Utilization::new(gpu, counted, cycles, config.sustained()));
            kernel.most_extra = allowed.extra;
            let in_l1 = allowed.in_l1 || config.in_l1 == ContextsInL1::Always;
            for sm in 0..self.sms.len() {
                self.sms[sm].set_most_extra(slot as u8, allowed.extra, in_l1, self.now);
                self.sms.wake(sm, self.now);
            }
        }
        self.dispatcher.room_everywhere();
    }

    /// True if `sm` may receive a TB of the kernel in `slot` beyond those that fit. Its quota,
    /// `most`, must allow as many as fit, and no other kernel may have a quota there.
    pub(super) fn may_take_extra(&self, sm: usize, slot: usize, most: u32) -> bool {
        let Some(kernel) = self.oversubscription.as_ref().and_then(|oversubscription| oversubscription.kernels[slot].as_ref()) else {
            return false;
        };
        let others = || self.dispatcher.order().iter().any(|&other| other != slot && self.registers.quota(sm, other) > 0);
        kernel.most_extra > 0 && most >= kernel.native && self.sms[sm].can_take_extra(slot as u8) && !others()
    }

    /// Counts of the SMs for the kernel in `slot`, before cycle `until`, when it leaves the slot or
    /// statistics are requested.
    pub(super) fn context_stats(&self, slot: usize, until: u64) -> Option<OversubscriptionStats> {
        let kernel = self.oversubscription.as_ref()?.kernels[slot].as_ref()?;
        let mut counts = OversubscriptionCounts::default();
        self.sms.iter().filter_map(|sm| sm.context_counts(slot, until)).for_each(|of_sm| counts.add(&of_sm));
        Some(kernel.stats(counts, self.registers.context_decisions(slot)))
    }

    /// Removes the kernel that has left `slot`.
    pub(super) fn forget_oversubscription(&mut self, slot: usize) {
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.kernels[slot] = None;
        }
    }

    /// Maximum number of extra TBs of a kernel with these launch parameters that an SM of this
    /// GPU can store; none without oversubscription.
    ///
    /// # Errors
    /// Reason why the kernel has no extra TBs.
    pub fn room_for_extra(
        config: &crate::config::GpuConfig,
        kernel: &mias_warp_trace::KernelInfo,
        live_registers: Option<u32>,
    ) -> Option<Result<u32, Unswitchable>> {
        let oversubscription = config.sm.oversubscription?;
        let plans = OversubscriptionPlans::new(config, &oversubscription, &Resources::of_tb(kernel, &config.sm), live_registers);
        // A fixed number applies from the start, when no controller has found the L1 idle.
        let in_l1 = plans.in_l1.filter(|_| oversubscription.is_controlled() || oversubscription.in_l1 == ContextsInL1::Always);
        Some(in_l1.map_or(plans.usual, Ok).map(|plan| plan.most_extra))
    }
}
