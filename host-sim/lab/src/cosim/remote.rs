//! Firmware image as the microcontroller of the GPU model.
//!
//! The same firmware runs natively on a record of the image's accesses. As long as both make the
//! same accesses, its report of the last decision applies to the image, which cannot report it
//! otherwise. After a difference there is no report.

use super::processor::Processor;
use super::{CosimError, Image, Parting, Parts, Replay};
use crate::cosim::recording::{Access, Limits, Recorder};
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_policies::extras::WatchesPreemption;

/// Firmware image in QEMU with its native twin.
#[derive(Debug)]
pub struct RemoteFirmware {
    processor: Processor,
    twin: Twin,
    /// Accesses of the last start or interrupt.
    record: Vec<Access>,
    failed: Option<CosimError>,
}

/// Firmware in this process that follows the image.
#[derive(Debug)]
enum Twin {
    /// Firmware with the same accesses so far.
    Follows(Box<Firmware>),
    /// Cycle and access of the first difference.
    Parted(u64, Parting),
}

impl RemoteFirmware {
    /// Starts an image, which starts the policy that the straps in `registers` select.
    ///
    /// # Errors
    /// [`CosimError`]: no QEMU, no such image, or one built for a smaller machine or another
    /// register map, or without a requested part.
    pub fn start(image: &Image, registers: &mut RegisterBlock) -> Result<Self, CosimError> {
        let mut processor = Processor::boot(image)?;
        let asked = Limits { sms: registers.gpu().sm_count, kernels: 0, configs: 0 };
        processor.can_do("the GPU has", asked, Parts::asked_by(&registers.gpu().straps))?;
        let mut record = Vec::new();
        processor.start(&mut Recorder { bus: &mut *registers, list: Some(&mut record) }, |_| false)?;
        let mut twin = Box::new(Firmware::idle());
        let mut replay = Replay::new(&record);
        // The register block belongs to this program, so no start fails.
        let _ = twin.restart(&mut replay, processor.limits().sms as u16);
        let twin = replay.end().map_or(Twin::Follows(twin), |parting| Twin::Parted(registers.now(), parting));
        Ok(RemoteFirmware { processor, twin, record, failed: None })
    }

    /// Wakes the image and serves it until it sleeps; `observer` receives the preemption events of
    /// the native twin. After a failure it does nothing.
    pub fn on_interrupt(&mut self, registers: &mut RegisterBlock, observer: &mut impl WatchesPreemption) {
        self.record.clear();
        if self.failed.is_some() {
            return;
        }
        let mut bus = Recorder { bus: &mut *registers, list: Some(&mut self.record) };
        if let Err(error) = self.processor.interrupt(&mut bus, |_| false) {
            self.failed = Some(error);
            return;
        }
        if let Twin::Follows(twin) = &mut self.twin {
            let mut replay = Replay::new(&self.record);
            let Ok(()) = twin.on_interrupt_watched(&mut replay, observer);
            if let Some(parting) = replay.end() {
                self.twin = Twin::Parted(registers.now(), parting);
            }
        }
    }

    /// Returns the limits that the image was built with.
    pub fn limits(&self) -> Limits {
        self.processor.limits()
    }

    /// Returns the accesses of the last start or interrupt.
    pub fn record(&self) -> &[Access] {
        &self.record
    }

    /// Returns the native twin, for its report of the last decision; `None` once the two differ.
    pub fn twin(&self) -> Option<&Firmware> {
        match &self.twin {
            Twin::Follows(twin) => Some(twin),
            Twin::Parted(..) => None,
        }
    }

    /// Returns the cycle and the access of the first difference between image and twin, if any.
    pub fn parted(&self) -> Option<(u64, Parting)> {
        match self.twin {
            Twin::Follows(_) => None,
            Twin::Parted(cycle, parting) => Some((cycle, parting)),
        }
    }

    /// Takes the failure, if any.
    pub fn take_failure(&mut self) -> Option<CosimError> {
        self.failed.take()
    }
}
