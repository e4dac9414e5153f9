//! The firmware on a custom bus: a toy GPU of two SMs, as a map from register offset to value.
//!
//! Run it with `cargo run -p mias-firmware --example own_bus`. It launches one kernel and prints
//! every register that the firmware writes. On a chip, the same two functions would be volatile
//! accesses (`mias_registers::bus::MappedBus`).

use std::collections::BTreeMap;

use mias_firmware::Firmware;
use mias_firmware::driver::StartError;
use mias_firmware::policy::ShippedPolicy;
use mias_registers::bus::Bus;
use mias_registers::{ID_VALUE, PolicyCode, VERSION_VALUE, global, interrupt, slot};

/// Registers that keep the last written value, which suffices for one launch.
#[derive(Default)]
struct ToyGpu {
    registers: BTreeMap<u32, u32>,
}

impl Bus for ToyGpu {
    fn read32(&mut self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        println!("  write {offset:#07x} = {value}");
        match offset {
            // Write one to clear.
            global::INT_STATUS => *self.registers.entry(offset).or_default() &= !value,
            global::LAUNCH_POP => *self.registers.entry(global::LAUNCH_COUNT).or_default() -= 1,
            _ => drop(self.registers.insert(offset, value)),
        }
    }
}

fn main() -> Result<(), StartError> {
    let mut gpu = ToyGpu::default();
    gpu.registers.extend([
        (global::ID, ID_VALUE),
        (global::VERSION, VERSION_VALUE),
        (global::SM_COUNT, 2),
        (global::SLOT_COUNT, 1),
        (global::SM_THREADS, 1024),
        (global::SM_REGISTERS, 65_536),
        (global::SM_SHARED_BYTES, 65_536),
        (global::SM_TBS, 32),
        (global::WARP_THREADS, 32),
        (global::REGISTER_GRANULE, 4),
        (global::SHARED_GRANULE_BYTES, 256),
        (global::STRAP_POLICY, PolicyCode::MiasIpmIpc as u32),
        (global::STRAP_PROFILE_WINDOW, 45_000),
        (global::STRAP_COALESCE_WINDOW, 5_000),
    ]);

    println!("start:");
    let mut firmware = Firmware::<ShippedPolicy, (), 64>::from_straps(&mut gpu)?;

    println!("a kernel of 1,000 TBs with 256 threads and 40 registers per thread is launched into slot 0:");
    let descriptor = [(slot::STATUS, 1), (slot::GRID_TBS, 1000), (slot::TB_THREADS, 256), (slot::THREAD_REGISTERS, 40)];
    gpu.registers.extend(descriptor.map(|(register, value)| (slot::at(0, register), value)));
    gpu.registers.extend([(slot::at(0, slot::UNFINISHED_TBS), 1000), (global::LAUNCH_COUNT, 1)]);
    gpu.registers.insert(global::INT_STATUS, interrupt::LAUNCH);
    firmware.on_interrupt(&mut gpu);

    println!("5,000 cycles later the timer expires; four TBs fit each SM:");
    gpu.registers.insert(global::CYCLE_LOW, 5_000);
    gpu.registers.insert(global::INT_STATUS, interrupt::TIMER);
    firmware.on_interrupt(&mut gpu);

    println!("phase: {}", firmware.scheduler().phase().code().name());
    assert_eq!(gpu.read32(global::QUOTA_ALL), 4);
    Ok(())
}
