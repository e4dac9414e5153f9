//! The driver's part of launch admission (sources.md D200 to D202).
//!
//! It converts the window of the queue to candidates, and the choice to a command. It also adds the
//! counts of an ended launch to the table of kernels.

use heapless::Vec;

use super::{Candidate, Identities, KernelScheduler, Kind, LaunchCounts, Mix, Traits, choose};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::gpu::GpuProperties;
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::Policy;
use mias_firmware::resources::TbShape;
use mias_firmware::scheduler::Scheduler;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::{KERNEL_SLOTS, feature, global, interrupt, queue, slot};

/// Slots of the map, one bit each.
const ALL_SLOTS: u32 = (1 << KERNEL_SLOTS) - 1;
/// Entries of the window, one bit each.
const ALL_ENTRIES: u32 = (1 << queue::ENTRIES) - 1;

/// Takes over the launch order, if the hardware supports it. Otherwise the block raises a fault,
/// and launches run in the order of arrival.
///
/// # Errors
/// The bus failed.
pub(super) fn start<B: TryBus>(bus: &mut B) -> Result<KernelScheduler, B::Error> {
    let on = read(bus, global::FEATURES)? & feature::QUEUE != 0;
    write(bus, global::QUEUE_MODE, 1)?;
    let patience = read(bus, global::STRAP_QUEUE_PATIENCE)?.min(queue::MOST_PASSED);
    let enabled = read(bus, global::INT_ENABLE)?;
    write(bus, global::INT_ENABLE, enabled | interrupt::QUEUE)?;
    Ok(KernelScheduler { on, patience, known: Identities::NONE })
}

impl KernelScheduler {
    /// Records the counts of a completed kernel, which is still in its slot.
    ///
    /// # Errors
    /// The bus failed.
    #[inline(never)]
    pub(crate) fn learn<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, slot: u8) -> Result<(), B::Error> {
        let identity = read(bus, slot::at(slot.into(), slot::IDENTITY))?;
        if !self.on || identity == 0 {
            return Ok(());
        }
        write(bus, global::KERNEL_SNAPSHOT, 1_u32.checked_shl(slot.into()).unwrap_or(0) & ALL_SLOTS)?;
        let of_slot = 4 * u32::from(slot);
        let mut count = |first: u32| read(bus, first + of_slot);
        let (reads, writes) = (count(global::KERNEL_DRAM_READS)?, count(global::KERNEL_DRAM_WRITES)?);
        let did = LaunchCounts { warp_insts: count(global::KERNEL_WARP_INSTS)?, dram_sectors: reads.saturating_add(writes) };
        if let Some(kind) = Kind::of(did, gpu) {
            self.known.learn(identity, kind);
        }
        Ok(())
    }

    /// Returns the kind of the kernel whose identity is in a register.
    fn kind<B: TryBus>(&self, bus: &mut B, register: u32) -> Result<Kind, B::Error> {
        let identity = read(bus, register)?;
        Ok(self.known.kind(identity).unwrap_or(Kind::UNKNOWN))
    }

    /// Reads the launch in an entry.
    fn candidate<B: TryBus>(&self, bus: &mut B, gpu: &GpuProperties, entry: u8) -> Result<Candidate, B::Error> {
        let at = |register| queue::at(entry.into(), register);
        let shape = TbShape {
            threads: read(bus, at(queue::TB_THREADS))?,
            thread_registers: read(bus, at(queue::THREAD_REGISTERS))?,
            shared_bytes: read(bus, at(queue::TB_SHARED_BYTES))?,
        };
        let kernel = Kernel::new(0, &shape, read(bus, at(queue::GRID_TBS))?, &gpu.limits);
        let kind = self.kind(bus, at(queue::IDENTITY))?;
        Ok(Candidate {
            entry,
            number: read(bus, at(queue::NUMBER))?,
            passed: read(bus, at(queue::PASSED))?,
            priority: read(bus, at(queue::PRIORITY))?,
            traits: Traits::of(kind, &kernel, gpu),
        })
    }
}

impl KernelScheduler {
    /// Admits launches while fewer than [`MAX_KERNELS`] run and hardware has a slot. `orphans`
    /// already have one, one bit each.
    pub(crate) fn admit_launches<P: Policy, B: TryBus, const C: usize>(
        &self,
        bus: &mut B,
        scheduler: &Scheduler<P, C>,
        orphans: u8,
    ) -> Result<(), B::Error> {
        if !self.on {
            return Ok(());
        }
        // A kernel in a slot that is not scheduled yet also counts.
        let taken = scheduler.kernels().len() as u32;
        let taken = taken.saturating_add(read(bus, global::LAUNCH_COUNT)?).saturating_add(orphans.count_ones());
        let mut crowd = None;
        for _ in taken..MAX_KERNELS as u32 {
            let entries = read(bus, global::QUEUE_ENTRIES)? & ALL_ENTRIES;
            if entries == 0 || read(bus, global::QUEUE_ROOM)? & ALL_SLOTS == 0 {
                break;
            }
            let running = match crowd {
                Some(crowd) => crowd,
                None => self.running(bus, scheduler)?,
            };
            let Some(next) = self.next_launch(bus, scheduler.gpu(), entries, &running)? else { break };
            write(bus, global::QUEUE_ADMIT, next.entry.into())?;
            crowd = Some(running.with(&next.traits));
        }
        Ok(())
    }

    /// Returns the launch to admit next among those in the given entries.
    fn next_launch<B: TryBus>(&self, bus: &mut B, gpu: &GpuProperties, entries: u32, running: &Mix) -> Result<Option<Candidate>, B::Error> {
        let mut candidates: Vec<Candidate, { queue::ENTRIES }> = Vec::new();
        for entry in (0..queue::ENTRIES as u8).filter(|entry| entries >> entry & 1 != 0) {
            let candidate = self.candidate(bus, gpu, entry)?;
            // The list has one place per entry.
            let _ = candidates.push(candidate);
        }
        Ok(choose(&candidates, running, self.patience))
    }

    /// Returns the mix of the running kernels.
    fn running<P: Policy, B: TryBus, const C: usize>(&self, bus: &mut B, scheduler: &Scheduler<P, C>) -> Result<Mix, B::Error> {
        let mut crowd = Mix::default();
        for kernel in scheduler.kernels() {
            let kind = self.kind(bus, slot::at(kernel.slot.into(), slot::IDENTITY))?;
            crowd = crowd.with(&Traits::of(kind, kernel, scheduler.gpu()));
        }
        Ok(crowd)
    }
}
