//! Start of the firmware: checks the register block, and reads the GPU description and the
//! straps.

use core::convert::Infallible;
use core::fmt::{self, Debug, Display, Formatter};

use super::{ENABLED, Extension, Firmware, POLL_CYCLES, set_timer};
use crate::gpu::{GpuProperties, Settings};
use crate::policy::{Policy, Strapped};
use crate::scheduler::Scheduler;
use mias_registers::bus::{TryBus, can_fail, read, write};
use mias_registers::{ID_VALUE, MAX_SMS, MAX_WINDOW, PhaseCode, VERSION_VALUE, fault, feature, global, mode};

/// Reason why the firmware did not start. `E` is the error of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StartError<E = Infallible> {
    /// The register block's ID or version is unknown to this firmware.
    WrongMap {
        /// Value of the ID register.
        id: u32,
        /// Value of the version register.
        version: u32,
    },
    /// The policy strap holds an unknown code.
    UnknownPolicy(u32),
    /// The bus failed.
    Bus(E),
}

impl<E: Display> Display for StartError<E> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongMap { id, version } => {
                write!(
                    formatter,
                    "unknown register block: ID {id:#x}, version {version:#x}; this firmware knows {ID_VALUE:#x}, {VERSION_VALUE:#x}"
                )
            }
            Self::UnknownPolicy(code) => write!(formatter, "the policy strap holds the unknown code {code}"),
            Self::Bus(error) => error.fmt(formatter),
        }
    }
}

impl<E: Debug + Display> core::error::Error for StartError<E> {}

impl<E> From<E> for StartError<E> {
    fn from(error: E) -> Self {
        Self::Bus(error)
    }
}

impl<P: Strapped, E: Extension, const C: usize> Firmware<P, E, C> {
    /// Creates a firmware that has not started, for a static: no kernel, no SM, no work.
    ///
    /// [`Firmware::restart`] starts it in place.
    #[must_use]
    pub const fn idle() -> Self {
        Self { scheduler: Scheduler::idle(P::IDLE), orphans: 0, alive: false, extension: E::IDLE }
    }

    /// Creates and starts the firmware with the policy and the parameters of the straps.
    ///
    /// # Errors
    /// [`StartError`]. A wrong block is also raised as [`fault::WRONG_MAP`].
    pub fn from_straps<B: TryBus>(bus: &mut B) -> Result<Self, StartError<B::Error>> {
        let mut firmware = Self::idle();
        firmware.restart(bus, MAX_SMS as u16)?;
        Ok(firmware)
    }

    /// Starts in place and drops the previous state: for a static, and after a reset.
    ///
    /// Kernels that are already in their slots are scheduled at the next interrupt, in the order of
    /// the slots. They keep their quotas until then. The first `sms` SMs are scheduled. A larger
    /// GPU raises [`fault::GPU_TOO_LARGE`], and its other SMs stay idle. Start the firmware
    /// over a bus that can fail if it is to continue over one.
    ///
    /// # Errors
    /// [`StartError`]. A wrong block is also raised as [`fault::WRONG_MAP`].
    // Out of line, so that its data is off the stack when the firmware runs.
    #[inline(never)]
    pub fn restart<B: TryBus>(&mut self, bus: &mut B, sms: u16) -> Result<(), StartError<B::Error>> {
        if can_fail::<B::Error>() {
            self.alive = false;
        }
        let gpu = check_map(bus)?;
        let settings = Settings::read(bus)?;
        if !self.scheduler.policy_mut().read(bus, &gpu, &settings)? {
            write(bus, global::FAULT_SET, fault::WRONG_MAP)?;
            return Err(StartError::UnknownPolicy(read(bus, global::STRAP_POLICY)?));
        }
        self.set_up(bus, gpu, settings, sms)?;
        if can_fail::<B::Error>() {
            self.alive = true;
        }
        Ok(())
    }
}

impl<P: Policy, E: Extension, const C: usize> Firmware<P, E, C> {
    /// Starts a custom policy. `policy` receives the GPU that the register block describes.
    ///
    /// # Errors
    /// [`StartError::WrongMap`], also raised as [`fault::WRONG_MAP`], and [`StartError::Bus`].
    pub fn start<B: TryBus>(
        bus: &mut B,
        settings: Settings,
        policy: impl FnOnce(&GpuProperties) -> P,
    ) -> Result<Self, StartError<B::Error>> {
        let gpu = check_map(bus)?;
        let policy = policy(&gpu);
        let settings = Settings { profile_window: settings.profile_window.clamp(1, MAX_WINDOW), ..settings };
        set_up_registers(bus, &E::IDLE, &settings, MAX_SMS as u16)?;
        let mut firmware = Self { scheduler: Scheduler::new(policy, gpu, settings), orphans: 0, alive: true, extension: E::IDLE };
        firmware.start_searching(bus)?;
        firmware.take_over(bus)?;
        Ok(firmware)
    }

    fn set_up<B: TryBus>(&mut self, bus: &mut B, mut gpu: GpuProperties, settings: Settings, sms: u16) -> Result<(), B::Error> {
        gpu.sm_count = gpu.sm_count.min(sms);
        set_up_registers(bus, &self.extension, &settings, sms)?;
        self.scheduler.restart(gpu, settings);
        self.start_searching(bus)?;
        self.take_over(bus)
    }

    /// Takes over the block after a reset of the microcontroller alone: kernels run in its slots,
    /// and windows on its SMs. For the kernels it requests an interrupt at once. The scheduler did
    /// not request the windows, so it ignores them, and they end when it disarms.
    #[inline(never)]
    fn take_over<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        if read(bus, global::PHASE)? != PhaseCode::Idle as u32 {
            write(bus, global::PHASE, PhaseCode::Idle as u32)?;
        }
        self.extension.start(bus, self.scheduler.settings())?;
        self.find_orphans(bus)?;
        // Launches that wait in the window may not raise another event.
        set_timer(bus, if self.orphans == 0 && !self.extension.schedules_launches() { POLL_CYCLES.into() } else { 0 })
    }
}

fn set_up_registers<B: TryBus, E: Extension>(bus: &mut B, extension: &E, settings: &Settings, sms: u16) -> Result<(), B::Error> {
    let ideal = settings.ideal_transition && read(bus, global::FEATURES)? & feature::IDEAL_TRANSITION != 0;
    write(bus, global::MODE, if ideal { mode::IDEAL } else { mode::DRAIN })?;
    write(bus, global::PROFILE_WINDOW, settings.profile_window)?;
    if read(bus, global::SM_COUNT)? > u32::from(sms) {
        write(bus, global::FAULT_SET, fault::GPU_TOO_LARGE)?;
    }
    let beside = extension.set_up(bus, settings)?;
    write(bus, global::INT_ENABLE, ENABLED | beside)
}

/// Checks that the firmware knows this register block, and returns the GPU description.
fn check_map<B: TryBus>(bus: &mut B) -> Result<GpuProperties, StartError<B::Error>> {
    let (id, version) = (read(bus, global::ID)?, read(bus, global::VERSION)?);
    // The lower half of the version counts additions, and the firmware uses the last one.
    if id == ID_VALUE && version >> 16 == VERSION_VALUE >> 16 && version >= VERSION_VALUE {
        Ok(GpuProperties::read(bus)?)
    } else {
        write(bus, global::FAULT_SET, fault::WRONG_MAP)?;
        Err(StartError::WrongMap { id, version })
    }
}
