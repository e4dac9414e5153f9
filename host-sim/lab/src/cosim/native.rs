//! Firmware in this process as a replay target, with an image's capacity for configurations. A
//! firmware with more capacity tries more of them, and may decide differently.

use crate::cosim::recording::Limits;
use mias_firmware::limits::{CONFIGS, KERNELS, LARGE_CONFIGS};
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::MAX_SMS;
use mias_registers::bus::Bus;

/// Firmware in this process, started or not.
#[derive(Debug)]
pub struct Native {
    firmware: SizedFirmware,
    started: bool,
}

#[derive(Debug)]
enum SizedFirmware {
    Small(Box<Firmware<AnyPolicy, CONFIGS>>),
    Large(Box<Firmware<AnyPolicy, LARGE_CONFIGS>>),
}

impl Native {
    /// Creates a firmware with capacity for `configs` configurations, or the nearest capacity of an
    /// image.
    pub fn with_room(configs: u32) -> Self {
        let small = configs <= CONFIGS as u32;
        let firmware =
            if small { SizedFirmware::Small(Box::new(Firmware::idle())) } else { SizedFirmware::Large(Box::new(Firmware::idle())) };
        Native { firmware, started: false }
    }

    /// Returns the limits of the firmware: every SM of the map.
    pub fn limits(&self) -> Limits {
        let configs = match self.firmware {
            SizedFirmware::Small(_) => CONFIGS,
            SizedFirmware::Large(_) => LARGE_CONFIGS,
        };
        Limits { sms: MAX_SMS as u32, kernels: KERNELS as u32, configs: configs as u32 }
    }

    /// Starts the firmware from the beginning. As an image does, it stays idle if it cannot start.
    pub fn start(&mut self, bus: &mut impl Bus) {
        let started = match &mut self.firmware {
            SizedFirmware::Small(firmware) => firmware.restart(bus, MAX_SMS as u16),
            SizedFirmware::Large(firmware) => firmware.restart(bus, MAX_SMS as u16),
        };
        self.started = started.is_ok();
    }

    /// Handles an interrupt.
    pub fn interrupt(&mut self, bus: &mut impl Bus) {
        let Ok(()) = match &mut self.firmware {
            _ if !self.started => Ok(()),
            SizedFirmware::Small(firmware) => firmware.on_interrupt(bus),
            SizedFirmware::Large(firmware) => firmware.on_interrupt(bus),
        };
    }
}
