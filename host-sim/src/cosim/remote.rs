//! The firmware image as a microcontroller of the GPU model.
//!
//! Beside it runs the same firmware natively, on a record of the image's reads. As long as both make the same accesses, its
//! account of the last decision is the image's, which has no other way to tell. Where they part, the account ends.

use super::line::SerialLine;
use super::replay::{Access, Replay};
use super::{CosimError, Image};
use mias_firmware::Firmware;
use mias_firmware::bus::Bus;
use mias_firmware::regs::VERSION_VALUE;
use mias_firmware::remote::{MAX_WORDS, Request, WAKE};
use mias_hw_model::register_file::RegisterFile;

/// An image in QEMU.
#[derive(Debug)]
pub struct RemoteFirmware {
    line: SerialLine,
    /// The native twin, as long as it does the same.
    twin: Option<Box<Firmware>>,
    record: Vec<Access>,
    failed: Option<CosimError>,
}

impl RemoteFirmware {
    /// Starts an image, which starts the policy that the straps in `registers` ask for.
    ///
    /// # Errors
    /// [`CosimError`]: no QEMU, no such image, or one that was built for a smaller machine or another register map.
    pub fn start(image: &Image, registers: &mut RegisterFile) -> Result<Self, CosimError> {
        let line = SerialLine::open(image)?;
        let mut remote = RemoteFirmware { line, twin: None, record: Vec::new(), failed: None };
        let Request::Hello { version, sms, .. } = remote.request()? else {
            return Err(CosimError(format!("{} does not begin with a greeting: it is no remote image", image.file.display())));
        };
        if version != VERSION_VALUE {
            let message = format!("{} has register map {version:#x}, this program {VERSION_VALUE:#x}", image.file.display());
            return Err(CosimError(message + ": build it again with `cargo xtask image`"));
        }
        let asked = registers.machine().sm_count;
        if asked > sms {
            let message = format!("{} is built for {sms} SMs, the machine has {asked}", image.file.display());
            return Err(CosimError(message + ": build the image with --features sms-132"));
        }
        remote.serve(registers)?;
        let mut twin = Box::new(Firmware::idle());
        let mut replay = Replay::new(&remote.record);
        let started = twin.restart(&mut replay, sms as u16).is_ok();
        if replay.matched() && started {
            remote.twin = Some(twin);
        }
        Ok(remote)
    }

    /// Wakes the image and serves it until it sleeps. Once it has failed, nothing more happens.
    pub fn on_interrupt(&mut self, registers: &mut RegisterFile) {
        if self.failed.is_some() {
            return;
        }
        let served = self.line.send(&[WAKE]).and_then(|()| self.serve(registers));
        if let Err(error) = served {
            self.failed = Some(error);
            return;
        }
        if let Some(twin) = &mut self.twin {
            let mut replay = Replay::new(&self.record);
            twin.on_interrupt(&mut replay);
            if !replay.matched() {
                self.twin = None;
            }
        }
    }

    /// The native twin, for its account of the last decision; none once the two have parted.
    pub fn twin(&self) -> Option<&Firmware> {
        self.twin.as_deref()
    }

    /// What went wrong, once.
    pub fn take_failure(&mut self) -> Option<CosimError> {
        self.failed.take()
    }

    /// Serves requests until the image sleeps, and records them.
    fn serve(&mut self, registers: &mut RegisterFile) -> Result<(), CosimError> {
        self.record.clear();
        loop {
            match self.request()? {
                Request::Read(offset) => {
                    let value = registers.read32(offset);
                    self.record.push(Access::Read(offset, value));
                    self.line.send(&value.to_le_bytes())?;
                }
                Request::Write { offset, value } => {
                    self.record.push(Access::Write(offset, value));
                    registers.write32(offset, value);
                }
                Request::Sleep => return Ok(()),
                Request::Hello { .. } => return Err(CosimError("the image has started again by itself".into())),
            }
        }
    }

    fn request(&mut self) -> Result<Request, CosimError> {
        let first = self.line.receive()?;
        let unknown = || CosimError(format!("the image sends {first:#04x}, which begins no request: it is no remote image"));
        let count = Request::words(first).ok_or_else(unknown)?;
        let mut words = [0; MAX_WORDS];
        for word in words.iter_mut().take(count) {
            let mut bytes = [0; 4];
            for byte in &mut bytes {
                *byte = self.line.receive()?;
            }
            *word = u32::from_le_bytes(bytes);
        }
        Request::decode(first, words).ok_or_else(unknown)
    }
}
