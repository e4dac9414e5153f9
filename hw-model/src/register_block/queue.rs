//! Window of the launch queue ([`mias_registers::queue`]; sources.md D200).
//!
//! The model owns the queue. It shows due launches with [`RegisterBlock::enter_queue`] while the
//! window has a free entry. It reports free slots that are not available yet with
//! [`RegisterBlock::set_occupied_slots`]. It performs the launches in
//! [`RegisterBlock::take_admitted`]. While the hardware manages the queue, the model does not use
//! the window.

use mias_registers::{KERNEL_SLOTS, fault, feature, global, interrupt, queue};

use super::RegisterBlock;
use super::description::KernelDescriptor;

/// Launch in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    kernel: KernelDescriptor,
    number: u32,
    passed: u32,
    /// Model's index of the launch.
    launch: usize,
}

/// Launch that was admitted to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Model's index of the launch.
    pub launch: usize,
    /// Slot that the launch received.
    pub slot: usize,
}

/// State of the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QueueBlock {
    /// True if the firmware manages the queue.
    managed: bool,
    entries: [Option<Entry>; queue::ENTRIES],
    /// Number of launches that have entered the window.
    entered: u32,
    /// Mask of free slots that are not available yet.
    occupied: u8,
    /// True if the firmware requested a slot when none was available.
    wanting: bool,
    /// Admitted launches that the model has not taken yet.
    admitted: Vec<Admitted>,
}

impl QueueBlock {
    fn entries(&self) -> u32 {
        self.entries.iter().enumerate().fold(0, |bits, (at, entry)| bits | u32::from(entry.is_some()) << at)
    }

    /// Register value of an entry; none if it does not exist.
    pub(super) fn read(&self, entry: usize, register: u32) -> Option<u32> {
        let known = queue::REGISTERS.iter().any(|known| known.offset == register);
        let entry = self.entries.get(entry).filter(|_| known)?;
        let Some(Entry { kernel, number, passed, .. }) = *entry else { return Some(0) };
        Some(match register {
            queue::IDENTITY => kernel.identity,
            queue::GRID_TBS => kernel.grid_tbs,
            queue::TB_THREADS => kernel.tb_threads,
            queue::THREAD_REGISTERS => kernel.thread_registers,
            queue::TB_SHARED_BYTES => kernel.tb_shared_bytes,
            queue::PRIORITY => kernel.priority,
            queue::STREAM => kernel.stream,
            queue::LATENCY_LIMIT => kernel.latency_limit,
            queue::NUMBER => number,
            _ => passed,
        })
    }
}

impl RegisterBlock {
    /// True if the firmware selects the next launch.
    #[must_use]
    pub fn queue_is_managed(&self) -> bool {
        self.queue.managed
    }

    /// Number of launches in the window.
    #[must_use]
    pub fn queue_len(&self) -> usize {
        self.queue.entries.iter().flatten().count()
    }

    /// Adds a launch to the window; false if the window is full. The firmware is notified if it
    /// manages the queue.
    pub fn enter_queue(&mut self, kernel: KernelDescriptor, launch: usize) -> bool {
        let number = self.queue.entered;
        let Some(free) = self.queue.entries.iter_mut().find(|entry| entry.is_none()) else { return false };
        *free = Some(Entry { kernel, number, passed: 0, launch });
        self.queue.entered = number.wrapping_add(1);
        if self.queue.managed {
            self.raise(interrupt::QUEUE);
        }
        true
    }

    /// Sets the mask of free slots that are not available yet, since the previous kernel has
    /// requests in flight there.
    pub fn set_occupied_slots(&mut self, slots: u8) {
        self.queue.occupied = slots;
        if self.queue.wanting && self.queue_room() != 0 {
            self.queue.wanting = false;
            self.raise(interrupt::QUEUE);
        }
    }

    /// Mask of slots that a launch could take.
    pub(super) fn queue_room(&self) -> u32 {
        let free = self.slots.iter().enumerate().take(KERNEL_SLOTS).filter(|(_, slot)| slot.kernel.is_none());
        free.fold(0, |bits, (slot, _)| bits | 1 << slot) & !u32::from(self.queue.occupied)
    }

    /// Admits the oldest launch of the window if a slot is available. Used when hardware manages
    /// the queue after the firmware has.
    pub(crate) fn admit_oldest(&mut self) {
        let waiting = self.queue.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.as_ref()?)));
        let newest = self.queue.entered;
        let oldest = waiting.max_by_key(|(_, entry)| newest.wrapping_sub(entry.number)).map(|(at, _)| at);
        if let Some(oldest) = oldest.filter(|_| self.queue_room() != 0) {
            self.admit(oldest);
        }
    }

    /// Takes the launches admitted since the last call, in order.
    pub fn take_admitted(&mut self) -> Vec<Admitted> {
        std::mem::take(&mut self.queue.admitted)
    }

    fn admit(&mut self, entry: usize) {
        let room = self.queue_room();
        if room == 0 {
            self.queue.wanting = true;
            return;
        }
        let Some(Entry { kernel, number, launch, .. }) = self.queue.entries.get_mut(entry).and_then(Option::take) else { return };
        for other in self.queue.entries.iter_mut().flatten().filter(|other| (number.wrapping_sub(other.number) as i32) > 0) {
            other.passed = (other.passed + 1).min(queue::MOST_PASSED);
        }
        let slot = room.trailing_zeros() as usize;
        self.launch_into(slot, kernel);
        self.queue.admitted.push(Admitted { launch, slot });
    }

    /// Global register value of the queue; none for an offset outside these registers.
    pub(super) fn read_queue_global(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            global::QUEUE_MODE => u32::from(self.queue.managed),
            global::QUEUE_ENTRIES => self.queue.entries(),
            global::QUEUE_ROOM => self.queue_room(),
            global::STRAP_QUEUE_PATIENCE => self.gpu.straps.queue_patience,
            global::STRAP_MEMORY_MODE => self.gpu.straps.memory_mode,
            global::STRAP_DRAM_ORDER => self.gpu.straps.dram_order,
            global::STRAP_DRAM_CAP => self.gpu.straps.dram_cap,
            _ => return None,
        })
    }

    /// Writes a global register of the queue; none for an offset outside these registers.
    pub(super) fn write_queue_global(&mut self, offset: u32, value: u32) -> Option<()> {
        if !matches!(offset, global::QUEUE_MODE | global::QUEUE_ADMIT) {
            return None;
        }
        if self.gpu.features & feature::QUEUE == 0 {
            self.raise_fault(fault::UNSUPPORTED);
        } else if offset == global::QUEUE_MODE {
            self.queue.managed = self.in_range(value, 0, 1) != 0;
        } else {
            let entry = value as usize;
            match self.queue.entries.get(entry) {
                Some(Some(_)) => self.admit(entry),
                _ => self.raise_fault(fault::VALUE_RANGE),
            }
        }
        Some(())
    }
}
