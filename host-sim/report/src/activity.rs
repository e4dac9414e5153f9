//! Names and slots shared by the drawings of a run's activity.

use mias_hw_model::register_block::ActivityEvent;
use mias_lab::experiment::workload::Workload;
use mias_registers::{KERNEL_SLOTS, interrupt};

/// Assignment of workloads to slots, as kernels come and go.
pub(super) struct Kernels {
    /// Streams of the workloads, in kernel order; `None` once launched.
    waiting: Vec<Option<u32>>,
    slots: [Option<usize>; KERNEL_SLOTS],
}

impl Kernels {
    pub(super) fn new(workloads: &[Workload]) -> Self {
        Kernels { waiting: workloads.iter().map(|workload| Some(workload.stream)).collect(), slots: [None; KERNEL_SLOTS] }
    }

    /// Returns the workload in a slot, as its index in kernel order.
    pub(super) fn in_slot(&self, slot: u8) -> Option<usize> {
        self.slots.get(usize::from(slot)).copied().flatten()
    }

    /// Processes an event. Launches on one stream are in kernel order.
    pub(super) fn follow(&mut self, event: ActivityEvent) {
        match event {
            ActivityEvent::Launched { slot, stream } => {
                let kernel = self.waiting.iter().position(|waiting| *waiting == Some(stream));
                if let Some(kernel) = kernel {
                    self.waiting[kernel] = None;
                }
                self.slots[usize::from(slot)] = kernel;
            }
            ActivityEvent::Released(slot) => self.slots[usize::from(slot)] = None,
            _ => {}
        }
    }
}

/// Returns the names of the interrupt events in a mask.
pub(super) fn interrupt_names(events: u32) -> impl Iterator<Item = &'static str> {
    let all = [
        (interrupt::LAUNCH, "launch"),
        (interrupt::DRAINED, "drained"),
        (interrupt::COMPLETED, "completed"),
        (interrupt::PARTITION, "partition"),
        (interrupt::PROFILE_DONE, "profile done"),
        (interrupt::TIMER, "timer"),
        (interrupt::FAULT, "fault"),
        (interrupt::PREEMPT_DONE, "preempt done"),
        (interrupt::MEMORY, "counters due"),
        (interrupt::PREEMPT, "room requested"),
        (interrupt::OVERSUBSCRIPTION, "interval ended"),
        (interrupt::QUEUE, "launch in the queue"),
    ];
    all.into_iter().filter(move |(bit, _)| events & bit != 0).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every event of the register block has a name of its own.
    #[test]
    fn every_event_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = interrupt_names(interrupt::ALL).collect();
        assert_eq!(names.len(), interrupt::ALL.count_ones() as usize);
    }
}
