//! Targets of a replay.

use crate::choices;
use crate::cosim::recording::Recording;
use crate::cosim::{Core, CosimError, Image, Native, Parts, Processor, Replay};
use std::path::Path;

choices! {
    /// Where the firmware runs.
    pub enum Target {
        /// In this process
        Native = "native",
        /// Its image on a Cortex-M4F, in QEMU
        M4 = "m4",
        /// Its image on a Cortex-M0, in QEMU
        M0 = "m0",
        /// Its image on a 32-bit RISC-V core, in QEMU
        Riscv = "riscv",
    }
}

impl Target {
    /// Returns the processor; `None` for this process.
    pub fn core(self) -> Option<Core> {
        match self {
            Target::Native => None,
            Target::M4 => Some(Core::CortexM4),
            Target::M0 => Some(Core::CortexM0),
            Target::Riscv => Some(Core::RiscV),
        }
    }
}

/// Target that is ready for its first run.
#[derive(Debug)]
pub struct Ready {
    target: Target,
    firmware: Firmware,
}

#[derive(Debug)]
enum Firmware {
    Native(Native),
    Image(Box<Processor>),
}

impl Ready {
    /// Prepares a target for a recording; `image` is the path of an image that is not in its
    /// default location.
    ///
    /// # Errors
    /// [`CosimError`]: an image that does not exist or boot, and limits that the recording exceeds.
    pub fn new(target: Target, image: Option<&Path>, recording: &Recording) -> Result<Self, CosimError> {
        let (asked, parts) = (recording.asks_for(), Parts::asked_in(recording));
        let firmware = match target.core() {
            None => {
                let native = Native::with_room(asked.configs);
                if let Some(short) = native.limits().short_of(asked) {
                    let message = format!("the firmware in this process is built for {}, the recording asks for", short.had());
                    return Err(CosimError(format!("{message} {}: replay it on its own image, with --on and --image", short.asked)));
                }
                Firmware::Native(native)
            }
            Some(core) => {
                let image = match image {
                    Some(file) => Image { core, file: file.to_owned() },
                    None => Image::built_for(core, parts)?,
                };
                let processor = Processor::boot(&image)?;
                processor.can_do("the recording asks for", asked, parts)?;
                Firmware::Image(Box::new(processor))
            }
        };
        Ok(Ready { target, firmware })
    }

    pub(super) fn target(&self) -> Target {
        self.target
    }

    pub(super) fn start(&mut self, bus: &mut Replay<'_>) -> Result<(), CosimError> {
        match &mut self.firmware {
            Firmware::Native(native) => {
                native.start(bus);
                Ok(())
            }
            Firmware::Image(processor) => processor.start(bus, Replay::parted),
        }
    }

    pub(super) fn interrupt(&mut self, bus: &mut Replay<'_>) -> Result<(), CosimError> {
        match &mut self.firmware {
            Firmware::Native(native) => {
                native.interrupt(bus);
                Ok(())
            }
            Firmware::Image(processor) => processor.interrupt(bus, Replay::parted),
        }
    }
}
