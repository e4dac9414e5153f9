//! Register block with random events: launches, TBs that start and end, kernels that drain and
//! complete, windows and timers that end. Only events that hardware can produce occur: quotas hold
//! except while SMs drain, and completed kernels do not run.

use super::counts::{self, Kind};
use crate::cosim::Native;
use crate::cosim::recording::{Recorder, Run};
use mias_hw_model::gpu::MOST_INTERRUPTS_PER_CYCLE;
use mias_hw_model::register_block::{GpuDescription, KernelDescriptor, RawCounters, RegisterBlock};
use mias_registers::KERNEL_SLOTS;
use mias_workloads::random::Random;

/// Longest time between two steps without a deadline, in cycles (assumption: of the order of the
/// windows).
const LONGEST_WAIT: u64 = 20_000;

/// Simulated hardware, the firmware that serves it, and the record of its accesses.
#[derive(Debug)]
pub(super) struct Device<'a> {
    registers: RegisterBlock,
    firmware: &'a mut Native,
    run: Run,
    random: Random,
    now: u64,
    /// Counts of the SMs since reset.
    counted: Vec<RawCounters>,
    /// Kind of most windows of this run.
    kind: Kind,
    /// Maximum number of concurrent kernels.
    kernels: usize,
    /// Slots whose kernel has no TB left to issue, as a bit set.
    drained: u32,
}

impl<'a> Device<'a> {
    /// Creates a device after reset, with the firmware started. Some start late enough that the
    /// cycle counter's high word is in use.
    pub(super) fn new(gpu: GpuDescription, mut random: Random, kernels: u32, firmware: &'a mut Native) -> Self {
        let now = [0, (1 << 32) - 10_000, 1 << 40][(random.bits() % 3) as usize];
        let mut registers = RegisterBlock::new(gpu.clone());
        registers.set_now(now);
        let counted = vec![RawCounters::default(); gpu.sm_count as usize];
        let kind = Kind::pick(&mut random);
        let mut device =
            Device { registers, firmware, run: Run::new(gpu), random, now, counted, kind, kernels: kernels as usize, drained: 0 };
        device.recorded(|firmware, bus| firmware.start(bus));
        device
    }

    /// Produces one event, which the firmware handles.
    pub(super) fn step(&mut self) {
        match self.below(16) {
            0..3 => self.launch(),
            3..8 => self.settle(),
            8 => self.drift(),
            9 => self.drain(),
            10 => self.complete(),
            _ => self.wait(),
        }
        self.serve();
    }

    /// Completes the running kernels; a kernel that never had a TB on an SM cannot complete.
    pub(super) fn finish(mut self) -> Run {
        for _ in 0..2 * KERNEL_SLOTS {
            self.complete();
            self.serve();
            self.wait();
            self.serve();
        }
        self.run
    }

    fn below(&mut self, count: u64) -> u64 {
        self.random.bits() % count.max(1)
    }

    fn sms(&self) -> std::ops::Range<usize> {
        0..self.counted.len()
    }

    /// Returns the number of kernels that have not left.
    fn present(&self) -> usize {
        let slots = 0..self.registers.gpu().slot_count as usize;
        slots.filter(|&slot| self.registers.kernel(slot).is_some()).count()
    }

    /// Returns a slot whose kernel may have TBs on an SM.
    fn any_running(&mut self) -> Option<usize> {
        let slots = 0..self.registers.gpu().slot_count as usize;
        let placed = |slot: usize| self.sms().any(|sm| self.registers.quota(sm, slot) > 0);
        let running: Vec<usize> = slots.filter(|&slot| placed(slot)).collect();
        let pick = self.below(running.len() as u64) as usize;
        running.get(pick).copied()
    }

    /// Launches a kernel, if a slot is free. One in sixteen fits no SM.
    fn launch(&mut self) {
        if self.present() >= self.kernels || !self.registers.has_free_slot() {
            return;
        }
        let too_large = self.below(16) == 0;
        let most_tbs = if self.below(4) == 0 { 20 } else { 100_000 };
        let kernel = KernelDescriptor {
            grid_tbs: 1 + self.below(most_tbs) as u32,
            tb_threads: 32 * (1 + self.below(16)) as u32,
            thread_registers: 8 + self.below(56) as u32,
            tb_shared_bytes: if too_large { u32::MAX } else { (self.below(16) << 10) as u32 },
            priority: self.below(4) as u32,
            latency_limit: 0,
            identity: 0,
            stream: self.below(4) as u32,
        };
        if let Some(slot) = self.registers.post_launch(kernel) {
            self.drained &= !(1 << slot);
        }
    }

    /// Makes SMs match their quotas: all of them, or each with even chances.
    fn settle(&mut self) {
        let all = self.below(4) != 0;
        for sm in self.sms() {
            if all || self.below(2) == 0 {
                for slot in 0..self.registers.gpu().slot_count as usize {
                    let quota = self.registers.quota(sm, slot);
                    self.registers.set_resident(sm, slot, quota);
                }
            }
        }
    }

    /// Reduces the TBs of a kernel on an SM.
    fn drift(&mut self) {
        let Some(slot) = self.any_running() else { return };
        let sm = self.below(self.counted.len() as u64) as usize;
        let fewer = self.below(u64::from(self.registers.resident(sm, slot)) + 1) as u32;
        self.registers.set_resident(sm, slot, fewer);
    }

    /// Makes a kernel run out of TBs to issue; some are still to retire.
    fn drain(&mut self) {
        let Some(slot) = self.any_running() else { return };
        let unfinished = self.below(100) as u32;
        self.registers.set_unfinished(slot, unfinished);
        self.registers.post_drained(slot);
        self.drained |= 1 << slot;
    }

    /// Retires the last TB of a kernel.
    fn complete(&mut self) {
        let Some(slot) = self.any_running() else { return };
        self.sms().for_each(|sm| self.registers.set_resident(sm, slot, 0));
        self.registers.post_completed(slot);
    }

    /// Advances time to the next deadline, or by a random amount; TBs are issued and retire
    /// meanwhile.
    fn wait(&mut self) {
        let soon = self.now + 1 + self.below(LONGEST_WAIT);
        self.now = match self.registers.next_deadline() {
            Some(deadline) if self.below(4) != 0 => deadline.max(self.now + 1),
            Some(deadline) => deadline.clamp(self.now + 1, soon),
            None => soon,
        };
        let Some(slot) = self.any_running().filter(|slot| self.drained & 1 << slot == 0) else { return };
        let grid = self.registers.kernel(slot).map_or(1, |kernel| kernel.grid_tbs);
        let left = 1 + self.below(grid.into()) as u32;
        self.registers.set_unissued(slot, left);
        self.registers.set_unfinished(slot, left);
    }

    /// Performs the GPU model's work of one cycle on its register block.
    fn serve(&mut self) {
        for _ in 0..MOST_INTERRUPTS_PER_CYCLE {
            if self.registers.needs_tick(self.now) {
                self.tick();
            }
            if !self.registers.interrupt_pending() {
                break;
            }
            self.registers.set_now(self.now);
            self.recorded(|firmware, bus| firmware.interrupt(bus));
        }
        // Launches that the firmware rejected leave their slot and do not return.
        self.registers.take_rejected();
    }

    /// Ends and starts windows. An SM that ends one has counted for it.
    fn tick(&mut self) {
        let profiling: Vec<bool> = self.sms().map(|sm| self.registers.profiling(sm)).collect();
        let window = self.registers.gpu().straps.profile_window;
        let usual = if self.below(4) == 0 { Kind::pick(&mut self.random) } else { self.kind };
        let Device { registers, random, counted, now, .. } = self;
        registers.tick(*now, |sm| {
            if profiling[sm] {
                counted[sm] = counts::sum(&counted[sm], &usual.counts(window, random));
            }
            counted[sm]
        });
    }

    /// Runs the firmware, and records a step.
    fn recorded(&mut self, act: impl FnOnce(&mut Native, &mut Recorder<'_, RegisterBlock>)) {
        let mut bus = Recorder { bus: &mut self.registers, list: Some(self.run.accesses_mut()) };
        act(self.firmware, &mut bus);
        self.run.end_step(self.now);
    }
}
