//! The register block after reset holds the values of the map: `Register::reset` of every readable
//! register.

use mias_hw_model::register_block::{GpuDescription, RegisterBlock, Straps};
use mias_registers::bus::Bus;
use mias_registers::{PolicyCode, Register, global, memory, queue, slot, sm};

fn check(file: &mut RegisterBlock, base: u32, registers: &[Register], limit: u32) {
    for register in registers.iter().filter(|register| register.access.readable()) {
        let Some(expected) = register.reset else { continue };
        for element in 0..register.count.min(limit) {
            assert_eq!(file.read32(base + register.offset + 4 * element), expected, "{} at {base:#x}", register.name);
        }
    }
}

#[test]
fn every_register_is_reset_to_what_the_map_says() {
    let mut file = RegisterBlock::new(GpuDescription::reference(256, Straps::new(PolicyCode::MiasIpc)));
    check(&mut file, 0, global::REGISTERS, 8);
    (0..8).for_each(|index| check(&mut file, slot::at(index, 0), slot::REGISTERS, 1));
    (0..256).for_each(|index| check(&mut file, sm::at(index, 0), sm::REGISTERS, 11));
    (0..256).for_each(|index| check(&mut file, memory::at(index, 0), memory::REGISTERS, 8));
    (0..queue::ENTRIES).for_each(|index| check(&mut file, queue::at(index, 0), queue::REGISTERS, 1));
    assert_eq!(file.read32(global::FAULT), 0, "no access was against the rules");
}
