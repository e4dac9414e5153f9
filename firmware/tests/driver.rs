//! Start of the driver: the register blocks and the policies that it accepts.

use mias_firmware::Firmware;
use mias_firmware::driver::StartError;
use mias_firmware::gpu::Settings;
use mias_firmware::metric::Linear;
use mias_firmware::policy::{Mias, ShippedPolicy};
use mias_registers::bus::Bus;
use mias_registers::{ID_VALUE, VERSION_VALUE, fault, global};

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
    let refused = Firmware::<_, (), 64>::start(&mut bus, Settings::default(), policy).map(|_| ());
    assert_eq!(refused, Err(StartError::WrongMap { id: ID_VALUE, version: VERSION_VALUE + 0x1_0000 }));
    assert_eq!(bus.2, [(global::FAULT_SET, fault::WRONG_MAP)]);
    // A newer minor version only adds registers.
    let mut bus = Plain(ID_VALUE, VERSION_VALUE + 1, vec![]);
    assert!(Firmware::<_, (), 64>::start(&mut bus, Settings::default(), policy).is_ok());
    assert_eq!(Firmware::<ShippedPolicy, (), 64>::from_straps(&mut bus).map(|_| ()), Err(StartError::UnknownPolicy(99)));
}
