//! The driver over a bus that answers anything at all: it must come back from every interrupt.
#![allow(missing_docs)]

mod cases;

use cases::cases;
use mias_firmware::Firmware;
use mias_firmware::bus::Bus;
use mias_firmware::driver::StartError;
use mias_firmware::machine::Settings;
use mias_firmware::metric::Linear;
use mias_firmware::policy::{AnyPolicy, Mias};
use mias_firmware::regs::{ID_VALUE, MAP_END, PolicyCode, VERSION_VALUE, fault, global, sm};
use proptest::prelude::*;

/// Answers reads from a list, over and over, and checks what is written.
struct Noise {
    answers: Vec<u32>,
    reads: usize,
    started: bool,
    writes: usize,
}

impl Bus for Noise {
    fn read32(&mut self, offset: u32) -> u32 {
        assert!(offset < MAP_END && offset.is_multiple_of(4), "read of {offset:#x}");
        match offset {
            global::ID if !self.started => ID_VALUE,
            global::VERSION if !self.started => VERSION_VALUE,
            global::STRAP_POLICY if !self.started => self.answers[0] % 7,
            _ => {
                self.reads += 1;
                self.answers[self.reads % self.answers.len()]
            }
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        assert!(offset < MAP_END && offset.is_multiple_of(4), "write of {offset:#x}");
        self.writes += 1;
        if (global::QUOTA_ALL..global::QUOTA_ALL + 32).contains(&offset) || offset >= sm::BASE {
            assert!(value <= 255, "a quota of {value}");
        }
    }
}

/// Values that mean something in some register, and any others.
fn answer() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 0..5_u32, 2 => Just(u32::MAX), 2 => 0..2048_u32, 1 => Just(0x3F), 2 => any::<u32>()]
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn survives_any_answers(answers in proptest::collection::vec(answer(), 1..60), interrupts in 1..40_u32) {
        let mut bus = Noise { answers, reads: 0, started: false, writes: 0 };
        let mut firmware = Firmware::<AnyPolicy, 64>::from_straps(&mut bus).expect("map and policy are known");
        bus.started = true;
        for _ in 0..interrupts {
            let before = bus.reads + bus.writes;
            firmware.on_interrupt(&mut bus);
            // Bounded: no interrupt touches each of 256 SMs' registers more than a few times per event it may find.
            prop_assert!(bus.reads + bus.writes - before < 30_000);
        }
    }
}

struct Plain(u32, u32, Vec<(u32, u32)>);

impl Bus for Plain {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            global::ID => self.0,
            global::VERSION => self.1,
            global::STRAP_POLICY => 99,
            _ => 0,
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.2.push((offset, value));
    }
}

#[test]
fn refuses_a_map_that_it_does_not_know() {
    let mut bus = Plain(ID_VALUE, VERSION_VALUE + 0x1_0000, vec![]);
    let policy = |_: &_| Mias { metric: Linear::default() };
    let refused = Firmware::<_, 64>::start(&mut bus, Settings::default(), policy).map(|_| ());
    assert_eq!(refused, Err(StartError::WrongMap { id: ID_VALUE, version: VERSION_VALUE + 0x1_0000 }));
    assert_eq!(bus.2, [(global::FAULT_SET, fault::WRONG_MAP)]);
    // A newer minor version has additions only.
    let mut bus = Plain(ID_VALUE, VERSION_VALUE + 1, vec![]);
    assert!(Firmware::<_, 64>::start(&mut bus, Settings::default(), policy).is_ok());
    assert_eq!(Firmware::<AnyPolicy, 64>::from_straps(&mut bus).map(|_| ()), Err(StartError::UnknownPolicy(99)));
}

#[test]
fn every_policy_has_its_code() {
    for (code, policy) in PolicyCode::ALL.into_iter().enumerate() {
        assert_eq!((PolicyCode::from_code(code as u32), policy as usize), (Some(policy), code));
    }
    assert_eq!(PolicyCode::from_code(7), None);
}

/// The image's memory: the firmware's state, with room for 64 configurations, whatever the number of SMs. On the 32-bit
/// target it is smaller.
#[test]
fn state_fits_four_kibibytes() {
    assert!(size_of::<Firmware<AnyPolicy, 64>>() <= 4096, "{} bytes", size_of::<Firmware<AnyPolicy, 64>>());
}
