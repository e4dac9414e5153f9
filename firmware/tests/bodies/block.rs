//! The driver over a register block that answers anything: it comes back from every interrupt after a bounded number of accesses,
//! touches nothing but the map, and asks no SM for more than the firmware believes it to have.

use mias_firmware::Firmware;
use mias_firmware::bus::Bus;
use mias_firmware::policy::AnyPolicy;
use mias_firmware::regs::{ID_VALUE, MAP_END, MAX_SLOTS, PhaseCode, VERSION_VALUE, global, sm};

use super::commits_what_fits;

/// Accesses of one interrupt at most: no register of 256 SMs is touched more than a few times per event that it may find.
const MOST_ACCESSES: u32 = 30_000;

/// SMs looked at.
const LOOK_AT: usize = 8;

/// Answers reads from a list, over and over, and checks what is written.
struct Noise<'a> {
    answers: &'a [u32],
    policy: u32,
    accesses: u32,
    started: bool,
}

impl Bus for Noise<'_> {
    fn read32(&mut self, offset: u32) -> u32 {
        assert!(offset < MAP_END && offset.is_multiple_of(4), "read of {offset:#x}");
        self.accesses += 1;
        match offset {
            global::ID if !self.started => ID_VALUE,
            global::VERSION if !self.started => VERSION_VALUE,
            global::STRAP_POLICY if !self.started => self.policy,
            _ => self.answers.get(self.accesses as usize % self.answers.len().max(1)).copied().unwrap_or(0),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        assert!(offset < MAP_END && offset.is_multiple_of(4), "write of {offset:#x}");
        self.accesses += 1;
        let to_all = (global::QUOTA_ALL..global::QUOTA_ALL + 4 * MAX_SLOTS as u32).contains(&offset);
        assert!(!(to_all || offset >= sm::BASE) || value <= 255, "a quota of {value}");
    }
}

/// A value that means something in some register, of any number.
pub(crate) fn answer(any: u32) -> u32 {
    match any >> 29 {
        0..=2 => any % 8,
        3 => u32::MAX,
        4 | 5 => any % 2048,
        6 => any % 64,
        _ => any << 3,
    }
}

/// `interrupts` calls over a block that answers so.
pub(crate) fn driver_survives(answers: &[u32], policy: u32, interrupts: u32) {
    let mut bus = Noise { answers, policy: policy % 7, accesses: 0, started: false };
    let Ok(mut firmware) = Firmware::<AnyPolicy, 64>::from_straps(&mut bus) else { panic!("map and policy are known") };
    bus.started = true;
    for _ in 0..interrupts {
        let before = bus.accesses;
        firmware.on_interrupt(&mut bus);
        assert!(bus.accesses - before < MOST_ACCESSES, "{} accesses", bus.accesses - before);
        let s = firmware.scheduler();
        if s.phase().code() >= PhaseCode::Transition {
            (0..LOOK_AT.min(s.machine().sm_count.into())).for_each(|sm| commits_what_fits(s, sm));
        }
    }
}
