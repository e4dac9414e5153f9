//! A firmware image in QEMU, served over its serial port ([`mias_registers::remote`]).

use super::line::SerialLine;
use super::{CosimError, Image, Parts};
use crate::cosim::recording::Limits;
use mias_firmware::limits::LARGE_SMS;
use mias_registers::VERSION_VALUE;
use mias_registers::bus::Bus;
use mias_registers::remote::{MAX_WORDS, RESET, Request, WAKE};

/// An image that runs. It asks for registers, and somebody's bus answers.
#[derive(Debug)]
pub struct Processor {
    image: Image,
    line: SerialLine,
    limits: Limits,
    /// What it does if it is asked to.
    parts: Parts,
    /// It has just booted, and starts by itself.
    fresh: bool,
}

impl Processor {
    /// Boots an image and hears what it is.
    ///
    /// # Errors
    /// [`CosimError`]: no QEMU, no such image, or one that knows another register map.
    pub fn boot(image: &Image) -> Result<Self, CosimError> {
        let none = Limits { sms: 0, kernels: 0, configs: 0 };
        let mut processor =
            Processor { image: image.clone(), line: SerialLine::open(image)?, limits: none, parts: Parts::default(), fresh: true };
        let file = image.file.display();
        let Request::Hello { version, sms, kernels, configs, features } = processor.request()? else {
            return Err(CosimError(format!("{file} does not begin with a greeting: it is no remote image")));
        };
        if version != VERSION_VALUE {
            let message = format!("{file} has register map {version:#x}, this program {VERSION_VALUE:#x}");
            return Err(CosimError(message + ": build it again with `cargo xtask image`"));
        }
        processor.limits = Limits { sms, kernels, configs };
        processor.parts = Parts::built(features);
        Ok(processor)
    }

    /// What the image is built for.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sees to it that the image holds what `asker` asks for, and has the parts that are needed.
    ///
    /// # Errors
    /// [`CosimError`] with what it lacks and how to build an image that has it.
    pub fn can_do(&self, asker: &str, asked: Limits, parts: Parts) -> Result<(), CosimError> {
        let file = self.image.file.display();
        let build = |features: &str| self.image.core.build(features);
        if let Some(short) = self.limits.short_of(asked) {
            let features = ["sms-132", parts.features()].into_iter().filter(|feature| !feature.is_empty()).collect::<Vec<_>>().join(",");
            let build = build(&features);
            let largest = format!("`{build}` builds the largest image there is, for {LARGE_SMS} SMs");
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
    /// [`CosimError`] if the image or QEMU does not go on.
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
                Request::Hello { .. } => return Err(CosimError("the image has started again by itself".into())),
            }
        }
        Ok(())
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
