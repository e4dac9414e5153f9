//! The firmware image as a microcontroller of the GPU model.
//!
//! Beside it runs the same firmware natively, on a record of the image's accesses. As long as both make the same, its account of
//! the last decision is the image's, which has no other way to tell. Where they part, the account ends.

use super::processor::Processor;
use super::{CosimError, Image, Parting, Parts, Replay};
use crate::cosim::recording::{Access, Limits, Recorder};
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_policies::extras::WatchesPreemption;

/// An image in QEMU.
#[derive(Debug)]
pub struct RemoteFirmware {
    processor: Processor,
    twin: Twin,
    /// Accesses of the last start or interrupt.
    record: Vec<Access>,
    failed: Option<CosimError>,
}

/// The firmware in this process that follows the image.
#[derive(Debug)]
enum Twin {
    /// It does the same.
    Follows(Box<Firmware>),
    /// It did not at this cycle.
    Parted(u64, Parting),
}

impl RemoteFirmware {
    /// Starts an image, which starts the policy that the straps in `registers` ask for.
    ///
    /// # Errors
    /// [`CosimError`]: no QEMU, no such image, or one that was built for a smaller machine or another register map, or without what
    /// the straps ask for.
    pub fn start(image: &Image, registers: &mut RegisterBlock) -> Result<Self, CosimError> {
        let mut processor = Processor::boot(image)?;
        let asked = Limits { sms: registers.gpu().sm_count, kernels: 0, configs: 0 };
        processor.can_do("the machine has", asked, Parts::asked_by(&registers.gpu().straps))?;
        let mut record = Vec::new();
        processor.start(&mut Recorder { bus: &mut *registers, list: Some(&mut record) }, |_| false)?;
        let mut twin = Box::new(Firmware::idle());
        let mut replay = Replay::new(&record);
        // The register block is this program's own: no start fails.
        let _ = twin.restart(&mut replay, processor.limits().sms as u16);
        let twin = replay.end().map_or(Twin::Follows(twin), |parting| Twin::Parted(registers.now(), parting));
        Ok(RemoteFirmware { processor, twin, record, failed: None })
    }

    /// Wakes the image and serves it until it sleeps; `observer` is told what the firmware that follows it sees. Once it has failed,
    /// nothing more happens.
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

    /// What the image is built for.
    pub fn limits(&self) -> Limits {
        self.processor.limits()
    }

    /// The accesses of the last start or interrupt.
    pub fn record(&self) -> &[Access] {
        &self.record
    }

    /// The native twin, for its account of the last decision; none once the two have parted.
    pub fn twin(&self) -> Option<&Firmware> {
        match &self.twin {
            Twin::Follows(twin) => Some(twin),
            Twin::Parted(..) => None,
        }
    }

    /// At which cycle and how image and twin parted, if they did.
    pub fn parted(&self) -> Option<(u64, Parting)> {
        match self.twin {
            Twin::Follows(_) => None,
            Twin::Parted(cycle, parting) => Some((cycle, parting)),
        }
    }

    /// What went wrong, once.
    pub fn take_failure(&mut self) -> Option<CosimError> {
        self.failed.take()
    }
}
