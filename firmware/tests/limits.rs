//! Behavior of the firmware beyond an image's limits on SMs and configurations. (Launches beyond
//! its kernels wait in the FIFO: `hw-model/tests/firmware_cycle.rs`.)

use std::collections::BTreeMap;

use crate::phases::{COALESCE, GPU, MIAS, SETTINGS, kernel};
use mias_firmware::Firmware;
use mias_firmware::gpu::GpuProperties;
use mias_firmware::policy::ShippedPolicy;
use mias_firmware::scheduler::{Event, Scheduler};
use mias_registers::bus::Bus;
use mias_registers::{ID_VALUE, PolicyCode, VERSION_VALUE, fault, global, interrupt, slot};

/// Registers that keep written values, and a list of all writes.
#[derive(Default)]
struct Block(BTreeMap<u32, u32>, Vec<(u32, u32)>);

impl Bus for Block {
    fn read32(&mut self, offset: u32) -> u32 {
        self.0.get(&offset).copied().unwrap_or(0)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.1.push((offset, value));
        match offset {
            global::INT_STATUS => drop(self.0.insert(offset, 0)),
            global::LAUNCH_POP => *self.0.entry(global::LAUNCH_COUNT).or_default() -= 1,
            _ => drop(self.0.insert(offset, value)),
        }
    }
}

/// Behavior of an image for 32 SMs on a GPU of 40.
#[test]
fn surplus_sms_stay_idle_and_are_told_of() {
    for (sms, surplus) in [(32, false), (40, true)] {
        let mut block = Block::default();
        block.0.extend([(global::ID, ID_VALUE), (global::VERSION, VERSION_VALUE), (global::SM_COUNT, sms), (global::SLOT_COUNT, 8)]);
        block.0.extend([(global::SM_THREADS, 1024), (global::SM_REGISTERS, 65_536), (global::SM_TBS, 32), (global::WARP_THREADS, 32)]);
        block.0.extend([(global::STRAP_POLICY, PolicyCode::Spatial as u32), (global::STRAP_PROFILE_WINDOW, 1000)]);
        let mut firmware = Firmware::<ShippedPolicy, (), 64>::idle();
        assert_eq!(firmware.restart(&mut block, 32), Ok(()));
        assert_eq!(block.1.contains(&(global::FAULT_SET, fault::GPU_TOO_LARGE)), surplus, "{sms} SMs");
        assert_eq!(firmware.scheduler().gpu().sm_count, 32);
        for number in 0..2 {
            block.0.extend([(slot::GRID_TBS, 1000), (slot::TB_THREADS, 256)].map(|(r, v)| (slot::at(number as usize, r), v)));
            block.0.extend([(global::LAUNCH_COUNT, 1), (global::LAUNCH_SLOT, number), (global::INT_STATUS, interrupt::LAUNCH)]);
            firmware.on_interrupt(&mut block);
        }
        block.0.extend([(global::INT_STATUS, interrupt::TIMER), (global::CYCLE_LOW, 6000)]);
        firmware.on_interrupt(&mut block);
        // Spatial writes a row of quotas for the SMs of each kernel.
        let written = |word: u32| {
            let masks = block.1.iter().filter(|(offset, _)| *offset == global::QUOTA_SMS + 4 * word);
            masks.fold(0, |all, (_, mask)| all | mask)
        };
        assert_eq!([written(0), written(1)], [u32::MAX, 0], "{sms} SMs");
    }
}

/// Three kernels have 42 configurations, for a capacity of 8, on 6 SMs and on 60.
#[test]
fn more_configurations_than_room_are_sampled_and_counted() {
    for sm_count in [6, 60] {
        let mut s = Scheduler::<_, 8>::new(MIAS, GpuProperties { sm_count, ..GPU }, SETTINGS);
        (0..3).for_each(|slot| drop(s.handle(Event::Launched(kernel(slot, 128)), 0)));
        s.handle(Event::Timer, COALESCE);
        let positions: Vec<u32> = s.report().tried().map(|tried| tried.entry.position).collect();
        assert_eq!(s.report().total_configs(), 42);
        // Half of the capacity for each of two rounds, the first at a fixed stride over all: 42 / 4
        // = 10.5.
        assert_eq!(positions.len(), 4, "{sm_count} SMs");
        assert!(positions[0] == 0 && positions.windows(2).all(|pair| (10..=11).contains(&(pair[1] - pair[0]))), "{positions:?}");
    }
}
