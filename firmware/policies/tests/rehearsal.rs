//! Script that images play on boards without a GPU.

use mias_firmware::Firmware;
use mias_firmware::driver::Observer;
use mias_firmware::policy::ShippedPolicy;
use mias_firmware::service::serve;
use mias_firmware_images::rehearsal::{ACTS, Rehearsal};
use mias_registers::PhaseCode::{self, Broadcast, Decide, Idle, Partition, Profile, Steady, Transition};

#[derive(Default)]
struct Phases(Vec<PhaseCode>);

impl Observer for Phases {
    fn phase(&mut self, phase: PhaseCode) {
        self.0.push(phase);
    }

    fn fault(&mut self, faults: u32) {
        panic!("fault {faults:#x}");
    }
}

#[test]
fn the_script_goes_through_every_phase_and_ends_idle() {
    let mut block = Rehearsal::new();
    let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut block).unwrap();
    let mut phases = Phases::default();
    for _ in 0..ACTS + 1 {
        block.play();
        serve(&mut firmware, &mut block, &mut phases, 1);
    }
    let profiled = [Partition, Transition, Profile, Decide, Broadcast, Steady];
    // One kernel alone is placed without a profile.
    let alone = [Partition, Broadcast, Steady];
    assert_eq!(phases.0, [&profiled[..], &alone, &[Idle]].concat());
}
