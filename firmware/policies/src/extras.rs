//! Mechanisms for any policy: preemption, launch admission, control of extra TBs, limits on memory
//! instructions.
//!
//! They form an [`Extension`] of the driver. Features select the parts of an image.

use mias_firmware::driver::{Attends, Extension, Observer};
#[cfg(feature = "preempt")]
use mias_firmware::driver::{Precedence, Waiting};
#[cfg(feature = "levels")]
use mias_firmware::gpu::GpuProperties;
use mias_firmware::gpu::Settings;
#[cfg(feature = "preempt")]
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::Policy;
use mias_firmware::scheduler::Scheduler;
use mias_registers::bus::{TryBus, read, write};
#[cfg(feature = "oversubscription")]
use mias_registers::option;
use mias_registers::{global, interrupt, memory_active};

use crate::memory_limit::MemoryLimit;

/// Observer that also receives preemption choices.
pub trait WatchesPreemption: Observer {
    /// Receives the choice before space is freed on an SM: victims, their techniques and
    /// candidates. No command has been written yet.
    #[cfg(feature = "preempt")]
    fn preemption(&mut self, selection: &crate::preempt::Selection<'_>) {
        let _ = selection;
    }
}

impl WatchesPreemption for () {}

impl WatchesPreemption for mias_firmware::crash_record::CrashRecord {}

#[cfg(all(feature = "defmt", target_os = "none"))]
impl WatchesPreemption for mias_firmware::log::Log {}

impl<P: embedded_hal::digital::OutputPin> WatchesPreemption for mias_firmware::driver::Strobe<P> {}

impl WatchesPreemption for mias_firmware::driver::Progress {
    #[cfg(feature = "preempt")]
    fn preemption(&mut self, _: &crate::preempt::Selection<'_>) {
        self.0 = true;
    }
}

impl<O: WatchesPreemption> WatchesPreemption for &mut O {
    #[cfg(feature = "preempt")]
    fn preemption(&mut self, selection: &crate::preempt::Selection<'_>) {
        (**self).preemption(selection);
    }
}

impl<A: WatchesPreemption, B: WatchesPreemption> WatchesPreemption for (A, B) {
    #[cfg(feature = "preempt")]
    fn preemption(&mut self, selection: &crate::preempt::Selection<'_>) {
        self.0.preemption(selection);
        self.1.preemption(selection);
    }
}

/// All mechanisms that the features select.
#[derive(Clone, Debug)]
pub struct Extras {
    /// Choice of victims and techniques.
    #[cfg(feature = "preempt")]
    preemption: crate::preempt::Preemption,
    /// Choice of the next launch of the queue.
    #[cfg(feature = "levels")]
    kernel_scheduler: crate::levels::KernelScheduler,
}

impl Extras {
    /// Returns the preemption mechanism.
    #[cfg(feature = "preempt")]
    #[must_use]
    pub const fn preemption(&self) -> &crate::preempt::Preemption {
        &self.preemption
    }

    /// Returns the launch scheduler, with its table of kernels.
    #[cfg(feature = "levels")]
    #[must_use]
    pub const fn kernel_scheduler(&self) -> &crate::levels::KernelScheduler {
        &self.kernel_scheduler
    }
}

impl Extension for Extras {
    const IDLE: Self = Self {
        #[cfg(feature = "preempt")]
        preemption: crate::preempt::Preemption::NONE,
        #[cfg(feature = "levels")]
        kernel_scheduler: crate::levels::KernelScheduler::OFF,
    };

    const INTERRUPTS: u32 = interrupt::MEMORY
        | if cfg!(feature = "preempt") { interrupt::PREEMPT } else { 0 }
        | if cfg!(feature = "oversubscription") { interrupt::OVERSUBSCRIPTION } else { 0 }
        | if cfg!(feature = "levels") { interrupt::QUEUE } else { 0 };

    fn set_up<B: TryBus>(&self, bus: &mut B, settings: &Settings) -> Result<u32, B::Error> {
        let limit = MemoryLimit::of(settings.options);
        if limit.is_from_decision() {
            write(bus, global::MEMORY_ACTIVE, memory_active::FROM_DECISION)?;
        }
        if !limit.is_asked_for() {
            return Ok(0);
        }
        let interval = read(bus, global::STRAP_MEMORY_INTERVAL)?;
        write(bus, global::MEMORY_INTERVAL, interval)?;
        Ok(interrupt::MEMORY)
    }

    fn start<B: TryBus>(&mut self, bus: &mut B, settings: &Settings) -> Result<(), B::Error> {
        #[cfg(feature = "preempt")]
        self.preemption.start(bus)?;
        #[cfg(not(feature = "preempt"))]
        mias_firmware::driver::refuse_preemption(bus)?;
        #[cfg(feature = "oversubscription")]
        if settings.options & option::CONTROL_OVERSUBSCRIPTION != 0 {
            crate::oversubscription::start(bus)?;
        }
        #[cfg(feature = "levels")]
        {
            self.kernel_scheduler = crate::levels::start(crate::levels::Levels::of(settings.options), bus)?;
        }
        let _ = settings;
        Ok(())
    }

    #[cfg(feature = "levels")]
    fn schedules_launches(&self) -> bool {
        self.kernel_scheduler.on
    }

    #[cfg(feature = "levels")]
    #[inline(never)]
    fn admit_launches<P: Policy, B: TryBus, const C: usize>(
        &mut self,
        bus: &mut B,
        scheduler: &Scheduler<P, C>,
        orphans: u8,
    ) -> Result<(), B::Error> {
        self.kernel_scheduler.admit_launches(bus, scheduler, orphans)
    }

    #[cfg(feature = "preempt")]
    fn preempts(&self) -> bool {
        self.preemption.is_on()
    }

    #[cfg(feature = "preempt")]
    fn precedence<B: TryBus>(&mut self, bus: &mut B, waiting: Waiting, orphans: &mut u8) -> Result<Precedence, B::Error> {
        self.preemption.precedence(bus, waiting, orphans)
    }

    #[cfg(feature = "preempt")]
    fn holds(&self, slot: u32) -> bool {
        self.preemption.urgent_slots() >> slot & 1 != 0
    }

    #[cfg(feature = "preempt")]
    fn release_completed<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        if self.preemption.urgent_slots() == 0 { Ok(()) } else { self.preemption.release_completed(bus) }
    }

    #[cfg(feature = "levels")]
    fn completed<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, slot: u8) -> Result<(), B::Error> {
        if self.kernel_scheduler.on { self.kernel_scheduler.learn(bus, gpu, slot) } else { Ok(()) }
    }

    #[cfg(feature = "preempt")]
    fn vacate<B: TryBus>(&self, bus: &mut B, sm: u16, slot: u8, drains: bool) -> Result<(), B::Error> {
        self.preemption.vacate(bus, sm, slot, drains)
    }
}

impl<O: WatchesPreemption> Attends<O> for Extras {
    #[inline(always)]
    fn attend<P: Policy, B: TryBus, const C: usize>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        scheduler: &Scheduler<P, C>,
        (status, orphans): (u32, u8),
    ) -> Result<(), B::Error> {
        #[cfg(feature = "levels")]
        if status & interrupt::QUEUE != 0 {
            // An admitted launch raises LAUNCH.
            self.admit_launches(bus, scheduler, orphans)?;
        }
        #[cfg(feature = "preempt")]
        if status & interrupt::PREEMPT != 0 {
            self.preemption.serve(bus, observer, scheduler.gpu())?;
        }
        let limit = MemoryLimit::of(scheduler.settings().options);
        if status & interrupt::MEMORY != 0 && limit.is_asked_for() {
            limit.renew(bus, scheduler.gpu().sm_count)?;
        }
        #[cfg(feature = "oversubscription")]
        if status & interrupt::OVERSUBSCRIPTION != 0 {
            return crate::oversubscription::look(bus);
        }
        let _ = (observer, orphans);
        Ok(())
    }

    #[cfg(feature = "preempt")]
    fn admit<B: TryBus>(&mut self, bus: &mut B, observer: &mut O, kernel: &Kernel) -> Result<(), B::Error> {
        self.preemption.admit(bus, observer, kernel)
    }
}
