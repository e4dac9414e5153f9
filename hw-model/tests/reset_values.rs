//! The register block after reset holds what the map says: `Register::reset` of every register that can be read.
#![allow(missing_docs)]

use mias_firmware::bus::Bus;
use mias_firmware::regs::{PolicyCode, Register, feature, global, slot, sm};
use mias_hw_model::register_file::{MachineDescription, RegisterFile, Straps};

fn check(file: &mut RegisterFile, base: u32, registers: &[Register], limit: u32) {
    for register in registers.iter().filter(|register| register.access.readable()) {
        let Some(expected) = register.reset else { continue };
        for element in 0..register.count.min(limit) {
            assert_eq!(file.read32(base + register.offset + 4 * element), expected, "{} at {base:#x}", register.name);
        }
    }
}

#[test]
fn every_register_is_reset_to_what_the_map_says() {
    let machine = MachineDescription {
        sm_count: 256,
        slot_count: 8,
        sm_threads: 1024,
        sm_registers: 65_536,
        sm_shared_bytes: 65_536,
        sm_tbs: 32,
        warp_threads: 32,
        register_granule: 4,
        shared_granule_bytes: 1,
        linear_coefficient_q16: 1 << 12,
        sm_schedulers: 4,
        reply_sectors_q16: 24 << 16,
        dram_sectors_q16: 8 << 16,
        features: feature::IDEAL_TRANSITION,
        straps: Straps::new(PolicyCode::MiasIpc),
    };
    let mut file = RegisterFile::new(machine);
    check(&mut file, 0, global::REGISTERS, 8);
    (0..8).for_each(|index| check(&mut file, slot::at(index, 0), slot::REGISTERS, 1));
    (0..256).for_each(|index| check(&mut file, sm::at(index, 0), sm::REGISTERS, 11));
    assert_eq!(file.read32(global::FAULT), 0, "no access was against the rules");
}
