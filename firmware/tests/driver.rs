//! The driver over a bus that answers anything at all: it must come back from every interrupt.

use crate::bodies::block::{answer, driver_survives};
use crate::cases::cases;
use mias_firmware::Firmware;
use mias_firmware::driver::StartError;
use mias_firmware::levels::KernelScheduler;
use mias_firmware::machine::Settings;
use mias_firmware::metric::Linear;
use mias_firmware::policy::{AnyPolicy, Mias};
use mias_firmware::search::{Search, Shares};
use mias_registers::bus::Bus;
use mias_registers::{ID_VALUE, PolicyCode, VERSION_VALUE, fault, global};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn survives_any_answers(any in proptest::collection::vec(any::<u32>(), 1..80), policy: u32, interrupts in 1..40_u32) {
        let answers: Vec<u32> = any.into_iter().map(answer).collect();
        driver_survives(&answers, policy, interrupts);
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
    assert_eq!(PolicyCode::from_code(PolicyCode::ALL.len() as u32), None);
}

/// The image's memory: the firmware's state, with room for 64 configurations, whatever the number of SMs. On the 32-bit
/// target it is smaller. A search is state of its own, in images that have it: fair share's too, which remembers the fairest shares and each kernel's
/// progress (38 bytes), that of limits of active warps, with what the L1s counted (82 bytes), and trials, with what four kernels did in four windows,
/// who may have half, and how long what they found stays (148 bytes). So is the scheduler of kernels.
#[test]
fn state_fits_four_kibibytes() {
    let (all, search) = (size_of::<Firmware<AnyPolicy, 64>>(), size_of::<Search>() + size_of::<Shares>());
    let levels = size_of::<KernelScheduler>();
    assert!(all - search - levels <= 4096, "{all} bytes, {search} of a search, {levels} of levels");
    assert!(search <= 622, "{search} bytes");
    // Sixteen kernels of three words, a count, and what was asked for.
    assert!(levels <= 16 * 12 + 12, "{levels} bytes");
}
