//! The driver over a register block with arbitrary answers.
//!
//! It returns from every interrupt after a bounded number of accesses, touches only the map, and
//! assigns no SM more than its believed capacity.

use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::bus::Bus;
use mias_registers::{
    ID_VALUE, KERNEL_SLOTS, MAP_END, PhaseCode, PolicyCode, VERSION_VALUE, feature, global, mode, preempt, preempt_scheme, slot, sm,
};

use super::commits_what_fits;

/// Most accesses of one interrupt: no register of 256 SMs is touched more than a few times per
/// event.
const MOST_ACCESSES: u32 = 30_000;

/// Most accesses with preemption: a contradictory block can let each SM request space for every
/// slot in turn. Each visit reads every register of each place.
const MOST_PREEMPTING: u32 = 8 * 3 * 256 * 350;

/// Number of SMs to check.
const LOOK_AT: usize = 8;

/// A bus that answers reads from a cyclic list, and checks the writes.
struct Noise<'a> {
    answers: &'a [u32],
    policy: u32,
    accesses: u32,
    started: bool,
    /// Whether most answers are valid, which have more effect.
    plausible: bool,
    /// Whether the firmware has announced that it preempts.
    preempts: bool,
}

impl Bus for Noise<'_> {
    fn read32(&mut self, offset: u32) -> u32 {
        assert!(offset < MAP_END && offset.is_multiple_of(4), "read of {offset:#x}");
        self.accesses += 1;
        match offset {
            global::ID if !self.started => ID_VALUE,
            global::VERSION if !self.started => VERSION_VALUE,
            global::STRAP_POLICY if !self.started => self.policy,
            _ => {
                let any = self.answers.get(self.accesses as usize % self.answers.len().max(1)).copied().unwrap_or(0);
                if self.plausible && any != u32::MAX { plausible(offset, any, self.accesses) } else { any }
            }
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        assert!(offset < MAP_END && offset.is_multiple_of(4), "write of {offset:#x}");
        self.accesses += 1;
        let quotas = [global::QUOTA_ALL, global::QUOTA_SOME].map(|first| first..first + 4 * KERNEL_SLOTS as u32);
        let quota = (sm::BASE..preempt::BASE).contains(&offset) || quotas.iter().any(|registers| registers.contains(&offset));
        assert!(!quota || value <= 255, "a quota of {value}");
        self.preempts |= (offset, value) == (global::MODE, mode::PREEMPT);
    }
}

/// Returns valid answers for the registers without which nothing would happen: a machine, kernels
/// that fit it, a running clock, and statuses with one bit more than exist.
fn plausible(offset: u32, any: u32, accesses: u32) -> u32 {
    let slots = slot::BASE..slot::BASE + KERNEL_SLOTS as u32 * slot::STRIDE;
    match offset {
        global::SM_COUNT => any % 40 + 1,
        global::SLOT_COUNT => 8,
        global::SM_THREADS => 1024,
        global::SM_REGISTERS | global::SM_SHARED_BYTES => 65_536,
        global::SM_TBS | global::WARP_THREADS => 32,
        global::REGISTER_GRANULE | global::SHARED_GRANULE_BYTES => 4,
        global::STRAP_PROFILE_WINDOW => 1000,
        global::FEATURES => feature::PREEMPT | feature::QUEUE | (any % 8),
        global::STRAP_OPTIONS => any & 0x3_FFFF,
        global::QUEUE_ENTRIES => any & 0xFFFF,
        global::STRAP_PREEMPT => any % (preempt_scheme::ORACLE + 2),
        global::STRAP_COALESCE_WINDOW => any % 256,
        global::CYCLE_LOW => accesses * 50,
        global::CYCLE_HIGH => 0,
        global::INT_STATUS => any & 0xFFF,
        global::LAUNCH_COUNT => any & 0x3,
        global::LAUNCH_SLOT => any & 0xF,
        _ if slots.contains(&offset) => match (offset - slot::BASE) % slot::STRIDE {
            slot::STATUS => any & 0xF,
            slot::TB_THREADS => any & 0x1FF,
            slot::THREAD_REGISTERS => any & 0x3F,
            slot::TB_SHARED_BYTES => any & 0x3FFF,
            _ => any,
        },
        _ => any,
    }
}

/// Converts any number to a value that is valid in some register.
pub(crate) fn answer(any: u32) -> u32 {
    match any >> 29 {
        0..=2 => any % 8,
        3 => u32::MAX,
        4 | 5 => any % 2048,
        6 => any % 64,
        _ => any << 3,
    }
}

/// Runs `interrupts` calls over a block with these answers. `policy` selects the policy, modulo
/// their number. Its ninth bit requests valid answers for registers without which nothing would
/// happen.
pub(crate) fn driver_survives(answers: &[u32], policy: u32, interrupts: u32) {
    let code = PolicyCode::ALL[policy as usize % PolicyCode::ALL.len()];
    let mut bus = Noise { answers, policy: code as u32, accesses: 0, started: false, plausible: policy & 0x100 != 0, preempts: false };
    let Ok(mut firmware) = Firmware::<AnyPolicy, 64>::from_straps(&mut bus) else { panic!("map and policy are known") };
    bus.started = true;
    for _ in 0..interrupts {
        let before = bus.accesses;
        firmware.on_interrupt(&mut bus);
        let most = if bus.preempts { MOST_PREEMPTING } else { MOST_ACCESSES };
        assert!(bus.accesses - before < most, "{} accesses", bus.accesses - before);
        let s = firmware.scheduler();
        if s.phase().code() >= PhaseCode::Transition {
            (0..LOOK_AT.min(s.gpu().sm_count.into())).for_each(|sm| commits_what_fits(s, sm));
        }
    }
}
