//! Commands free the reserved space, for any placement of TBs.

use super::register_block::{self, FakeRegisterBlock, Tb};
use crate::cases::cases;
use mias_policies::preempt::Scheme;
use mias_registers::{preempt_command, slot, technique};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(400))]

    /// Checks properties for any placement of TBs. Victims free the reserved position, and the new
    /// TB has its threads and its TB slot. No TB leaves that need not, or that is already leaving.
    /// No TB is flushed without permission.
    #[test]
    fn what_is_commanded_makes_room(
        scheme in prop_oneof![Just(Scheme::Drain), Just(Scheme::Switch), Just(Scheme::Flush), Just(Scheme::Shieh), Just(Scheme::Oracle), Just(Scheme::Chimera)],
        tbs in proptest::collection::vec((0..4_u8, 0..30_u32, 0..2000_u32, 1..4000_u32, 0..4_u32, any::<bool>()), 0..12),
        demands in proptest::collection::vec((1..5_u32, 1..12_u32, 0..12_u32), 4),
        priorities in (0..2_u32, 0..2_u32, 0..2_u32),
        quotas in (0..4_u32, 0..4_u32, 0..4_u32),
        (count, need, limit) in (1..6_u32, 0..6_u32, 0..3000_u32),
        ended in (any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let mut register_block = FakeRegisterBlock::new(scheme, 1);
        let each = |slot: usize| (50 * demands[slot].0, 50 * demands[slot].0 * demands[slot].1, 100 * demands[slot].2);
        let priorities = [priorities.0, priorities.1, priorities.2, 1];
        for (slot, priority) in priorities.into_iter().enumerate() {
            let (threads, registers, shared) = each(slot);
            register_block.kernel(slot, priority, threads, registers, shared, if slot == 3 { need } else { 5 });
        }
        register_block.set(slot::at(3, slot::LATENCY_LIMIT), limit);
        // If a TB has ended, the end of the others can be predicted: often at no cost within the
        // limit.
        (0..).zip([ended.0, ended.1, ended.2]).filter(|(_, ended)| *ended).for_each(|(slot, _)| register_block.ended(0, slot, &[(1000, 1000)]));
        // As many as fit, one after the other.
        let (mut here, mut next) = (Vec::new(), (0, 0, 0));
        for (slot, gap, insts, cycles, leaving, flushable) in tbs {
            let (threads, registers, shared) = each(slot.into());
            let start = (next.0 + gap, next.1 + gap);
            if start.0 + registers > register_block::REGISTERS || start.1 + shared > register_block::SHARED || next.2 + threads > register_block::THREADS || here.len() == register_block::TBS {
                continue;
            }
            let leaving = if leaving == 0 { technique::SWITCH } else { technique::NONE };
            register_block.tb(0, here.len(), Tb { slot, insts, cycles, registers: start.0, shared: start.1, flushable, leaving, left: None });
            here.push((slot, start, leaving != technique::NONE, flushable));
            next = (start.0 + registers, start.1 + shared, next.2 + threads);
        }
        let residents = [0, 1, 2_u8].map(|slot| here.iter().filter(|tb| tb.0 == slot).count() as u32);
        (0..).zip(residents).zip([quotas.0, quotas.1, quotas.2]).for_each(|((slot, resident), quota)| register_block.quota(0, slot, resident, quota));
        register_block.wants(0, 3, count);
        register_block.serve();
        let commands = register_block.commands(0);
        let (who, positions) = register_block.reserved(0);
        let mut gone = [0_u32; 3];
        for &(place, how, _) in &commands {
            let (slot, _, leaving, flushable) = here[place];
            prop_assert!(slot != 3 && !leaving && priorities[usize::from(slot)] <= 1);
            prop_assert!(how != technique::FLUSH || flushable);
            gone[usize::from(slot)] += 1;
        }
        for slot in 0..3 {
            let leaving = here.iter().filter(|tb| usize::from(tb.0) == slot && tb.2).count() as u32;
            let excess = residents[slot].saturating_sub([quotas.0, quotas.1, quotas.2][slot] + leaving);
            prop_assert!(priorities[slot] == 0 || gone[slot] <= excess, "slot {}", slot);
        }
        let stays = |place: usize| !here[place].2 && commands.iter().all(|command| command.0 != place);
        let (threads, registers, shared) = each(3);
        let meets = |a: u32, n: u32, b: u32, m: u32| a < b + m && b < a + n && n != 0 && m != 0;
        let free = |position: u32, stays: &dyn Fn(usize) -> bool| {
            (0..here.len()).filter(|place| stays(*place)).all(|place| {
                let (slot, start, ..) = here[place];
                let (_, other_registers, other_shared) = each(slot.into());
                !meets(position * registers, registers, start.0, other_registers) && !meets(position * shared, shared, start.1, other_shared)
            })
        };
        for position in (0..64).filter(|position| positions >> position & 1 != 0) {
            prop_assert!(free(position, &stays), "position {}", position);
        }
        let staying: Vec<_> = (0..here.len()).filter(|place| stays(*place)).collect();
        let used: u32 = staying.iter().map(|place| each(here[*place].0.into()).0).sum();
        prop_assert!(positions == 0 || used + positions.count_ones() * threads <= register_block::THREADS);
        prop_assert!(positions == 0 || staying.len() + positions.count_ones() as usize <= register_block::TBS);
        prop_assert!(positions.count_ones() <= count.min(need) || scheme.is_whole() && positions.count_ones() <= count);
        prop_assert_eq!(who == 0, positions == 0);
        // If a position was free at the start, no TB had to leave for the first TB.
        let from_the_start = (0..register_block.positions(3)).any(|position| free(position, &|place| !here[place].2));
        if !scheme.is_whole() && need > 0 && from_the_start && here.len() < register_block::TBS && next.2 + threads <= register_block::THREADS {
            prop_assert!(positions != 0);
            prop_assert!(positions.count_ones() > 1 || commands.is_empty());
        }
        for (_, how, estimate) in commands {
            prop_assert!(how != technique::FLUSH || estimate == 0);
            prop_assert!(estimate < 1 << (32 - preempt_command::ESTIMATE_SHIFT));
        }
    }
}
