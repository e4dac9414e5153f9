//! Bus failure at every access in turn, under every policy. The firmware ends in the crash record,
//! with the register, and does not access the block again.

use embedded_hal_mock::eh1::delay::NoopDelay;
use mias_firmware::crash_record::{BUS_FAILED, CrashRecord, MAGIC};
use mias_firmware::driver::{Observer, StartError};
use mias_firmware::service::{await_block, serve};
use mias_firmware_images::rehearsal::{ACTS, Rehearsal};
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::bus::{Bus, Error, ErrorType, Failed, TryBus};
use mias_registers::{PhaseCode, PolicyCode, global, option, sm};

/// SMs of the firmware, polls of the block and cycles of the watchdog: any values work.
const SMS: u16 = 32;
const TRIES: u32 = 3;
const PERIOD: u32 = 1_000_000;

/// An access: the register, and the written value.
type Access = (u32, Option<u32>);

/// The rehearsal's block with other straps. It records all accesses.
struct Block {
    script: Rehearsal,
    policy: PolicyCode,
    options: u32,
    accesses: Vec<Access>,
}

impl Block {
    fn new(policy: PolicyCode, options: u32) -> Self {
        Self { script: Rehearsal::new(), policy, options, accesses: Vec::new() }
    }
}

impl Bus for Block {
    fn read32(&mut self, offset: u32) -> u32 {
        self.accesses.push((offset, None));
        match offset {
            global::STRAP_POLICY => self.policy as u32,
            global::STRAP_OPTIONS => self.options,
            _ => self.script.read32(offset),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.accesses.push((offset, Some(value)));
        self.script.write32(offset, value);
    }
}

/// Cause that the bus reports.
const CAUSE: u8 = 7;

/// A bus that fails at one access, counted from 0. A write that fails has no effect.
struct Failing {
    block: Block,
    fails_at: usize,
}

impl Failing {
    fn fail(&self, register: u32) -> Result<(), Failed<u8>> {
        if self.block.accesses.len() == self.fails_at { Err(Failed::new(register, CAUSE)) } else { Ok(()) }
    }
}

impl ErrorType for Failing {
    type Error = Failed<u8>;
}

impl TryBus for Failing {
    fn try_read32(&mut self, offset: u32) -> Result<u32, Self::Error> {
        let outcome = self.fail(offset);
        let value = self.block.read32(offset);
        outcome.map(|()| value)
    }

    fn try_write32(&mut self, offset: u32, value: u32) -> Result<(), Self::Error> {
        if let Err(error) = self.fail(offset) {
            self.block.accesses.push((offset, Some(value)));
            return Err(error);
        }
        self.block.write32(offset, value);
        Ok(())
    }
}

type Outcome = Result<(), StartError<Failed<u8>>>;

fn start(firmware: &mut Firmware<AnyPolicy, 64>, bus: &mut Failing) -> Outcome {
    await_block(bus, &mut NoopDelay::new(), 1, TRIES)?;
    firmware.restart(bus, SMS)
}

/// Runs a board's whole program, from reset to the end of the script.
fn program(firmware: &mut Firmware<AnyPolicy, 64>, bus: &mut Failing, crash_record: &mut CrashRecord) -> Outcome {
    start(firmware, bus).inspect_err(|error| {
        if let StartError::Bus(error) = error {
            crash_record.bus_failed(error.register());
        }
    })?;
    for _ in 0..ACTS {
        bus.block.script.play();
        serve(firmware, bus, crash_record, PERIOD)?;
    }
    Ok(())
}

/// Runs the program over a bus that cannot fail.
fn unbroken(policy: PolicyCode, options: u32) -> Vec<Access> {
    let mut block = Block::new(policy, options);
    assert_eq!(await_block(&mut block, &mut NoopDelay::new(), 1, TRIES), Ok(true));
    let mut firmware = Firmware::<AnyPolicy, 64>::idle();
    firmware.restart(&mut block, SMS).expect("the block is known");
    for _ in 0..ACTS {
        block.script.play();
        let Ok(()) = serve(&mut firmware, &mut block, &mut (), PERIOD);
    }
    assert_eq!(firmware.scheduler().phase().code(), PhaseCode::Idle, "{policy:?}: every kernel has completed");
    block.accesses
}

/// Returns every policy, also with all counters read.
fn situations() -> impl Iterator<Item = (PolicyCode, u32)> {
    PolicyCode::ALL.into_iter().flat_map(|policy| [0, option::READ_ALL_COUNTERS].map(|options| (policy, options)))
}

#[test]
fn a_bus_that_fails_at_any_access_ends_in_the_crash_record_and_nothing_is_committed_afterwards() {
    let (mut commits, mut counters) = (0, 0);
    for (policy, options) in situations() {
        let expected = unbroken(policy, options);
        for (at, &(register, written)) in expected.iter().enumerate() {
            let mut bus = Failing { block: Block::new(policy, options), fails_at: at };
            let (mut firmware, mut crash_record) = (Firmware::idle(), CrashRecord::default());
            let error = program(&mut firmware, &mut bus, &mut crash_record).expect_err("an access failed");
            assert_eq!(error, StartError::Bus(Failed::new(register, CAUSE)), "{policy:?}, access {at}");
            assert_eq!(
                (crash_record.magic, crash_record.cause, crash_record.address),
                (MAGIC, BUS_FAILED, register),
                "{policy:?}, access {at}"
            );
            // Up to the failure all accesses are as without it. Afterwards there is none, for any
            // call.
            assert_eq!(bus.block.accesses, expected[..=at], "{policy:?}, access {at}");
            bus.block.script.play();
            let stopped = Failed { register: global::INT_STATUS, cause: None };
            assert_eq!(firmware.on_interrupt(&mut bus), Err(stopped));
            assert_eq!(serve(&mut firmware, &mut bus, &mut (), PERIOD), Err(stopped));
            assert_eq!(bus.block.accesses.len(), at + 1, "{policy:?}: an access after the failure at {at}");
            commits += usize::from((register, written) == (global::COMMIT, Some(1)));
            counters += usize::from(register >= sm::BASE);
        }
    }
    // Failures can lose work: each policy commits more than once, and most read counters.
    assert!(commits > 2 * PolicyCode::ALL.len() && counters > 100, "{commits} {counters}");
}

#[test]
fn a_bus_that_could_fail_and_does_not_is_used_like_one_that_cannot() {
    for (policy, options) in situations() {
        let mut bus = Failing { block: Block::new(policy, options), fails_at: usize::MAX };
        let mut crash_record = CrashRecord::EMPTY;
        assert_eq!(program(&mut Firmware::idle(), &mut bus, &mut crash_record), Ok(()));
        assert_eq!(bus.block.accesses, unbroken(policy, options), "{policy:?}");
        assert_ne!(crash_record.magic, MAGIC);
    }
}

#[test]
fn a_firmware_that_is_started_again_goes_on() {
    let mut bus = Failing { block: Block::new(PolicyCode::MiasIpc, 0), fails_at: 60 };
    let mut firmware = Firmware::idle();
    assert!(program(&mut firmware, &mut bus, &mut CrashRecord::default()).is_err());
    bus.block.script = Rehearsal::new();
    assert_eq!(program(&mut firmware, &mut bus, &mut CrashRecord::default()), Ok(()));
    assert_eq!(firmware.scheduler().phase().code(), PhaseCode::Idle);
}
