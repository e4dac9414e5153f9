//! Tests of the block under random accesses: against a naive reference, and for robustness.

use super::{SMS, at_sm, gpu, kernel};
use crate::register_block::RegisterBlock;
use mias_registers::bus::Bus;
use mias_registers::counters::Counter;
use mias_registers::{KERNEL_SLOTS, MAP_END, global, sm, sm_control};
use proptest::prelude::*;

/// One step of a random access sequence.
#[derive(Clone, Debug)]
enum Step {
    Stage { sm: usize, slot: usize, tbs: u8 },
    StageAll { slot: usize, tbs: u8 },
    StageSome { sms: u32, slot: usize, tbs: u8 },
    Commit,
    Resident { sm: usize, slot: usize, tbs: u32 },
    Arm(usize),
    Disarm(usize),
    Clear,
    Advance(u64),
}

fn step() -> impl Strategy<Value = Step> {
    // Small ranges make quotas and resident TBs coincide often.
    let place = (0..SMS, 0..2_usize, 0..2_u8);
    prop_oneof![
        place.clone().prop_map(|(sm, slot, tbs)| Step::Stage { sm, slot, tbs }),
        (0..2_usize, 0..2_u8).prop_map(|(slot, tbs)| Step::StageAll { slot, tbs }),
        // The mask may include SMs that do not exist.
        (any::<u32>(), 0..2_usize, 0..2_u8).prop_map(|(sms, slot, tbs)| Step::StageSome { sms, slot, tbs }),
        Just(Step::Commit),
        place.prop_map(|(sm, slot, tbs)| Step::Resident { sm, slot, tbs: tbs.into() }),
        (0..SMS).prop_map(Step::Arm),
        (0..SMS).prop_map(Step::Disarm),
        Just(Step::Clear),
        (1..40_u64).prop_map(Step::Advance),
    ]
}

/// Reference device, as simple as possible and stepped cycle by cycle, without deadlines or dirty
/// flags.
#[derive(Default)]
struct Naive {
    staged: [[u32; 2]; SMS],
    active: [[u32; 2]; SMS],
    resident: [[u32; 2]; SMS],
    armed: [bool; SMS],
    started: [Option<u64>; SMS],
    latched: [u64; SMS],
    partition: u32,
    done: u32,
    now: u64,
}

impl Naive {
    fn cycle(&mut self, window: u64) {
        for sm in 0..SMS {
            if self.started[sm].is_some_and(|start| self.now - start == window) {
                self.latched[sm] = window;
                self.started[sm] = None;
                self.armed[sm] = false;
                self.done |= 1 << sm;
            }
            if self.armed[sm] && self.started[sm].is_none() && self.active[sm] == self.resident[sm] {
                self.started[sm] = Some(self.now);
                self.partition |= 1 << sm;
            }
        }
    }
}

proptest! {
    #[test]
    fn behaves_as_the_naive_reference(steps in proptest::collection::vec(step(), 1..200), window in 1..60_u64) {
        let mut file = RegisterBlock::new(gpu());
        let mut naive = Naive::default();
        file.post_launch(kernel(1000));
        file.post_launch(kernel(1000));
        file.write32(global::PROFILE_WINDOW, window as u32);
        for step in steps {
            match step {
                Step::Stage { sm, slot, tbs } => {
                    file.write32(sm::at(sm, sm::QUOTA + 4 * slot as u32), tbs.into());
                    naive.staged[sm][slot] = tbs.into();
                }
                Step::StageAll { slot, tbs } => {
                    file.write32(global::QUOTA_ALL + 4 * slot as u32, tbs.into());
                    naive.staged.iter_mut().for_each(|quotas| quotas[slot] = tbs.into());
                }
                Step::StageSome { sms, slot, tbs } => {
                    file.write32(global::QUOTA_SMS, sms);
                    file.write32(global::QUOTA_SOME + 4 * slot as u32, tbs.into());
                    let some = naive.staged.iter_mut().enumerate().filter(|(sm, _)| sms >> sm & 1 != 0);
                    some.for_each(|(_, quotas)| quotas[slot] = tbs.into());
                }
                Step::Commit => {
                    file.write32(global::COMMIT, 1);
                    naive.active = naive.staged;
                }
                Step::Resident { sm, slot, tbs } => {
                    file.set_resident(sm, slot, tbs);
                    naive.resident[sm][slot] = tbs;
                }
                Step::Arm(sm) => {
                    file.write32(global::ARM, 1 << sm);
                    naive.armed[sm] = true;
                }
                Step::Disarm(sm) => {
                    file.write32(sm::at(sm, sm::CONTROL), sm_control::DISARM);
                    naive.armed[sm] = false;
                    naive.started[sm] = None;
                }
                Step::Clear => {
                    file.write32(global::PARTITION, u32::MAX);
                    file.write32(global::PROFILE_DONE, u32::MAX);
                    (naive.partition, naive.done) = (0, 0);
                }
                Step::Advance(cycles) => {
                    for _ in 0..cycles {
                        let now = naive.now;
                        naive.cycle(window);
                        if file.needs_tick(now) {
                            file.tick(now, at_sm(now));
                        }
                        naive.now += 1;
                    }
                }
            }
            prop_assert_eq!(file.read32(global::PARTITION), naive.partition);
            prop_assert_eq!(file.read32(global::PROFILE_DONE), naive.done);
            for sm in 0..SMS {
                prop_assert_eq!(u64::from(file.read32(sm::at(sm, Counter::Cycles.register()))), naive.latched[sm]);
                prop_assert_eq!(file.profiling(sm), naive.started[sm].is_some());
                prop_assert_eq!(file.read32(global::ARM) >> sm & 1 != 0, naive.armed[sm]);
                for slot in 0..2 {
                    prop_assert_eq!(file.quota(sm, slot), naive.active[sm][slot]);
                    prop_assert_eq!(file.read32(sm::at(sm, sm::QUOTA + 4 * slot as u32)), naive.staged[sm][slot]);
                }
            }
        }
    }

    /// The block answers every firmware access, and no quota read back exceeds the SM's TB slots.
    #[test]
    fn survives_any_access(accesses in proptest::collection::vec((any::<bool>(), 0..MAP_END + 4096, any::<u32>()), 1..300)) {
        let mut file = RegisterBlock::new(gpu());
        file.post_launch(kernel(7));
        for (now, (write, offset, value)) in accesses.into_iter().enumerate() {
            if write {
                file.write32(offset, value);
            } else {
                file.read32(offset);
            }
            file.tick(now as u64, at_sm(now as u64));
            prop_assert!((0..SMS).all(|sm| (0..KERNEL_SLOTS).all(|slot| file.quota(sm, slot) <= 32)));
        }
    }
}
