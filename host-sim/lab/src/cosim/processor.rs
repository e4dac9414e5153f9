//! Firmware image in QEMU, served over its serial port ([`mias_registers::remote`]).

use super::line::SerialLine;
use super::{CosimError, Image, Parts};
use crate::cosim::recording::Limits;
use mias_firmware::limits::LARGE_SMS;
use mias_registers::VERSION_VALUE;
use mias_registers::bus::Bus;
use mias_registers::remote::{MAX_WORDS, RESET, Request, WAKE};

/// Running image. It requests register accesses, which a bus serves.
#[derive(Debug)]
pub struct Processor {
    image: Image,
    line: SerialLine,
    limits: Limits,
    /// Parts that the image includes.
    parts: Parts,
    /// Whether the image has just booted, and starts by itself.
    fresh: bool,
}

impl Processor {
    /// Boots an image and reads its description.
    ///
    /// # Errors
    /// [`CosimError`]: no QEMU, no such image, or an image with another register map.
    pub fn boot(image: &Image) -> Result<Self, CosimError> {
        let none = Limits { sms: 0, kernels: 0, configs: 0 };
        let mut processor =
            Processor { image: image.clone(), line: SerialLine::open(image)?, limits: none, parts: Parts::default(), fresh: true };
        let file = image.file.display();
        let Request::Hello { version, sms, kernels, configs, features } = processor.request()? else {
            return Err(CosimError(format!("{file} does not begin with a greeting: it is not a remote image")));
        };
        if version != VERSION_VALUE {
            let message = format!("{file} has register map {version:#x}, this program {VERSION_VALUE:#x}");
            return Err(CosimError(message + ": rebuild it with `cargo xtask image`"));
        }
        processor.limits = Limits { sms, kernels, configs };
        processor.parts = Parts::built(features);
        Ok(processor)
    }

    /// Returns the limits that the image was built with.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Checks that the image has the limits and parts that `asker` requests.
    ///
    /// # Errors
    /// [`CosimError`] with the missing part and the command to build an image with it.
    pub fn can_do(&self, asker: &str, asked: Limits, parts: Parts) -> Result<(), CosimError> {
        let file = self.image.file.display();
        let build = |features: &str| self.image.core.build(features);
        if let Some(short) = self.limits.short_of(asked) {
            let features = ["sms-132", parts.features()].into_iter().filter(|feature| !feature.is_empty()).collect::<Vec<_>>().join(",");
            let build = build(&features);
            let largest = format!("`{build}` builds the largest image, for {LARGE_SMS} SMs");
            return Err(CosimError(format!("{file} is built for {}, {asker} {}: {largest}", short.had(), short.asked)));
        }
        if let Some((what, why)) = self.parts.lacking(parts) {
            let message = format!("{file} is built without {what}, and {why}");
            return Err(CosimError(format!("{message}: `{}` builds an image that can", build(parts.features()))));
        }
        Ok(())
    }

    /// Starts the firmware from its beginning and serves it until it sleeps, or until `enough`.
    ///
    /// # Errors
    /// [`CosimError`] if the image or QEMU fails.
    pub fn start<B: Bus>(&mut self, bus: &mut B, enough: fn(&B) -> bool) -> Result<(), CosimError> {
        if !std::mem::take(&mut self.fresh) {
            self.line.send(&[RESET])?;
        }
        self.serve(bus, enough)
    }

    /// Raises the interrupt line and serves the image until it sleeps again, or until `enough`.
    ///
    /// # Errors
    /// As [`Processor::start`].
    pub fn interrupt<B: Bus>(&mut self, bus: &mut B, enough: fn(&B) -> bool) -> Result<(), CosimError> {
        self.line.send(&[WAKE])?;
        self.serve(bus, enough)
    }

    fn serve<B: Bus>(&mut self, bus: &mut B, enough: fn(&B) -> bool) -> Result<(), CosimError> {
        while !enough(bus) {
            match self.request()? {
                Request::Read(offset) => self.line.send(&bus.read32(offset).to_le_bytes())?,
                Request::Write { offset, value } => bus.write32(offset, value),
                Request::Sleep => break,
                Request::Hello { .. } => return Err(CosimError("the image has restarted unexpectedly".into())),
            }
        }
        Ok(())
    }

    fn request(&mut self) -> Result<Request, CosimError> {
        let first = self.line.receive()?;
        let unknown = || CosimError(format!("the image sends {first:#04x}, which begins no request: it is not a remote image"));
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
