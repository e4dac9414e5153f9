//! Progress watchdog: ends a run without progress, with a report of the causes, instead of hanging.

use super::Gpu;

/// Cycles without a warp instruction, a TB or a reply after which a run counts as stuck, while work
/// is left. Assumption: two orders of magnitude above the longest latency in a saturated memory
/// system.
const PATIENCE_CYCLES: u64 = 2_000_000;

/// Cycles between two checks.
const LOOK_EVERY: u64 = 65_536;

/// Report of a stuck run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no progress since cycle {since} (now {now}): {why}\n{}", .waiting.join("\n"))]
pub struct Stuck {
    /// Last cycle with progress.
    pub since: u64,
    /// Cycle of the report.
    pub now: u64,
    /// Cause in one sentence.
    pub why: String,
    /// Waiting kernels, SMs and queues, one line each.
    pub waiting: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Watchdog {
    /// Cycle of the next check; a run does not skip past it.
    pub(super) next_look: u64,
    progress: u64,
    since: u64,
}

impl Gpu {
    /// Checks for progress periodically; reports if there has been none for too long.
    pub(super) fn watch(&mut self) -> Option<Stuck> {
        if self.now < self.watchdog.next_look {
            return None;
        }
        self.watchdog.next_look = self.now + LOOK_EVERY;
        let progress = self.progress();
        // Waiting for an arrival or a launch latency is not a hang, however long.
        if progress != self.watchdog.progress || self.next_launch_event().is_some() {
            self.watchdog.progress = progress;
            self.watchdog.since = self.now;
            return None;
        }
        (self.now - self.watchdog.since >= PATIENCE_CYCLES).then(|| self.stuck("work is left, but nothing moves".into()))
    }

    /// Number that grows with the progress of any kernel.
    fn progress(&self) -> u64 {
        let kernels = self.sms.iter().flat_map(|sm| (0..crate::sm::KERNEL_SLOTS).map(|slot| sm.kernel_counters(slot)));
        kernels.map(|k| k.warp_insts + k.tbs_issued + k.tbs_completed + k.l1_accesses + k.texture_accesses + k.load_requests).sum()
    }

    pub(super) fn stuck(&self, why: String) -> Stuck {
        let mut waiting = Vec::new();
        for (slot, state) in self.slots.iter().enumerate() {
            if let Some(state) = state {
                waiting.push(format!(
                    "kernel `{}` (slot {slot}): {} TBs running, {} to issue, may issue from cycle {}",
                    self.queue.launches[state.launch].trace().info().name,
                    state.running,
                    state.unissued(),
                    state.ready
                ));
                let quotas: Vec<u32> = (0..self.sms.len()).map(|sm| self.registers.quota(sm, slot)).collect();
                waiting.push(format!("  its quotas by SM: {quotas:?}"));
            }
        }
        for (id, sm) in self.sms.iter().enumerate() {
            sm.describe(&mut waiting, id);
            waiting.extend(self.states.describe(id).map(|state| format!("SM {id}: {state}")));
            if sm.is_empty() && !sm.memory_idle() {
                waiting.push(format!("SM {id}: no TB, but memory accesses in flight"));
            }
        }
        let since = self.watchdog.since;
        Stuck { since, now: self.now, why, waiting }
    }
}
