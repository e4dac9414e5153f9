//! Tests of the bus: data pass the wire unchanged, and damaged data are an error with the register.

extern crate std;

use std::collections::BTreeMap;
use std::string::String;

use mias_firmware::crash_record::{BUS_FAILED, CrashRecord, MAGIC};
use mias_registers::bus::{Bus, Failed, TryBus};
use mias_registers::{MAP_END, global};
use proptest::prelude::*;

use crate::Scheduler;
use crate::demo::demo;
use crate::spi_bus::{Cause, SpiBus, checksum};
use crate::wire::Wire;

/// Registers that keep written values.
#[derive(Default)]
struct Memory(BTreeMap<u32, u32>);

impl Bus for Memory {
    fn read32(&mut self, offset: u32) -> u32 {
        self.0.get(&offset).copied().unwrap_or(0)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.0.insert(offset, value);
    }
}

fn offset() -> impl Strategy<Value = u32> {
    (0..MAP_END / 4).prop_map(|word| 4 * word)
}

proptest! {
    #[test]
    fn what_is_written_is_read(offset in offset(), value: u32) {
        let mut bus = SpiBus::new(Wire { block: Memory::default(), plugged: true });
        prop_assert_eq!(bus.try_write32(offset, value), Ok(()));
        prop_assert_eq!(bus.try_read32(offset), Ok(value));
    }

    /// An unplugged cable reads as all ones: an error with the register, and no value.
    #[test]
    fn a_cable_that_is_pulled_is_an_error(offset in offset(), value: u32) {
        let mut bus = SpiBus::new(Wire { block: Memory::default(), plugged: false });
        let failed = Failed::new(offset, Cause::NotAcknowledged);
        prop_assert_eq!(bus.try_write32(offset, value), Err(failed));
        prop_assert_eq!(bus.try_read32(offset), Err(failed));
    }

    /// A CRC detects every single-bit error.
    #[test]
    fn a_bit_that_flips_changes_the_checksum(bytes: [u8; 8], bit in 0..64_usize) {
        let sum = |bytes: [u8; 8]| {
            let [a, b, c, d, e, f, g, h] = bytes;
            checksum([a, b, c, d], [e, f, g, h])
        };
        let mut flipped = bytes;
        flipped[bit / 8] ^= 1 << (bit % 8);
        prop_assert_ne!(sum(bytes), sum(flipped));
    }
}

#[test]
fn the_demo_decides_and_ends_in_the_crash_record() {
    let (mut said, mut crash_record) = (String::new(), CrashRecord::EMPTY);
    demo(&mut Scheduler::idle(), &mut crash_record, &mut said).unwrap();
    // The third SM has the most instructions, so the third configuration wins.
    assert!(said.contains("\nsteady\nfirst decision: [3, 1, 0, 0] TBs per SM\n"), "{said}");
    assert_eq!((crash_record.magic, crash_record.cause, crash_record.address), (MAGIC, BUS_FAILED, global::WATCHDOG_PERIOD));
}
