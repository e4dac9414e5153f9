//! Examples of the paper on its GPU (Lin et al. 2018, sections 6.6 and 7.2; kernels as the
//! paper's compiler reports them).

use super::*;
use crate::config::SmConfig;
use proptest::prelude::*;

fn gpu() -> GpuConfig {
    toml::from_str(mias_gpus::text("lin18").expect("it is built in")).expect("it is valid")
}

fn demand(sm: &SmConfig, threads: u32, registers: u32, shared_bytes: u32) -> Resources {
    let registers = registers.next_multiple_of(sm.register_granule);
    Resources { threads, registers: threads * registers, shared_bytes, tbs: 1 }
}

fn plans(config: OversubscriptionConfig, (threads, registers, shared_bytes): (u32, u32, u32), live: Option<u32>) -> Plans {
    let gpu = gpu();
    Plans::new(&gpu, &config, &demand(&gpu.sm, threads, registers, shared_bytes), live)
}

/// Lin et al. 2018, section 6.6: registers 0x000 to 0x7ff, shared memory 0x800 to 0xaff, L1 0xb00
/// to 0xbff.
#[test]
fn the_address_map_is_the_papers() {
    assert_eq!(AddressMap::of(&gpu()), AddressMap { shared: 0x800, l1: 0xb00, end: 0xc00 });
}

const BT: (u32, u32, u32) = (256, 27, 0);
const HG: (u32, u32, u32) = (96, 17, 12_288);
const DWT_2: (u32, u32, u32) = (128, 48, 5_912);
const HS: (u32, u32, u32) = (256, 32, 3_072);

/// Lin et al. 2018, section 7.2: the spare registers hold one more TB of BT, and 6 with shared
/// memory, for at most 20 live registers.
#[test]
fn b_tree() {
    let vt = plans(OversubscriptionConfig::of(OversubscriptionMechanism::Virtual), BT, None).usual.expect("slots limit");
    assert_eq!((vt.native, vt.most_extra, vt.level, vt.limit), (8, 1, Level::Tb, Limit::Slots));
    assert_eq!(vt.warp_bytes, 48);
    let duet = |live| plans(OversubscriptionConfig::of(OversubscriptionMechanism::Duet), BT, Some(live)).usual.expect("slots limit");
    assert_eq!((duet(20).most_extra, duet(20).level, duet(20).limit), (6, Level::Warp, Limit::Registers));
    assert_eq!(duet(21).most_extra, 5);
    assert_eq!(duet(20).warp_bytes, 128 + 20 * 128);
    // 12 of 21 units in 256 of registers, 36 in 768 of shared memory.
    assert_eq!(duet(20).spilled.parts, [(0xb00, 36), (0xc00, 0), (0x800, 12)]);
    assert_eq!(duet(1).most_extra, 8, "the table of 128 warps");
}

/// Shared memory limits HG: 8 TBs, and 8 more with the 16 entries of the paper's text.
#[test]
fn histogram() {
    assert_eq!(plans(OversubscriptionConfig::of(OversubscriptionMechanism::Virtual), HG, None).usual, Err(Unswitchable::Capacity));
    let sixteen = OversubscriptionConfig { table_tbs: Some(16), ..OversubscriptionConfig::of(OversubscriptionMechanism::Duet) };
    let plan = plans(sixteen, HG, None).usual.expect("shared memory limits");
    assert_eq!((plan.native, plan.most_extra, plan.level, plan.limit), (8, 8, Level::Tb, Limit::Shared));
    assert_eq!(3 * plan.warp_bytes + plan.tb_bytes, 3 * 128 + 12_288);
    // (2048 - 60 x (8 + k)) / 99 >= k for k up to 9.
    let all = plans(OversubscriptionConfig::of(OversubscriptionMechanism::Duet), HG, None).usual.expect("likewise");
    assert_eq!(all.most_extra, 9);
}

/// Registers limit DWT_2 to 10 TBs. With half of them live, 2 more fit into the L1 alone, and into
/// the rest of shared memory.
#[test]
fn wavelet() {
    let duet = plans(OversubscriptionConfig::of(OversubscriptionMechanism::Duet), DWT_2, Some(24)).usual.expect("registers limit");
    assert_eq!((duet.native, duet.level, duet.limit), (10, Level::Warp, Limit::Registers));
    // (768 - 47 x 12) / 25 = 8 and 128 / 25 = 5 contexts of the 8 that two TBs take; of three, 6 +
    // 5 of 12.
    assert_eq!((duet.most_extra, duet.spilled.parts), (2, [(0xb00, 8), (0xc00, 0), (0x800, 5)]));
    assert_eq!(plans(OversubscriptionConfig::of(OversubscriptionMechanism::Virtual), DWT_2, None).usual, Err(Unswitchable::Capacity));
}

/// Slots and registers limit HS equally; a kernel limited by registers and shared memory cannot be
/// switched.
#[test]
fn others() {
    let hs = plans(OversubscriptionConfig::of(OversubscriptionMechanism::Duet), HS, None).usual.expect("registers limit");
    assert_eq!((hs.native, hs.level, hs.limit), (8, Level::Warp, Limit::Registers));
    let tb = plans(OversubscriptionConfig::of(OversubscriptionMechanism::DuetTb), HS, None).usual.expect("likewise");
    assert_eq!((tb.level, tb.limit, tb.most_extra), (Level::Tb, Limit::Registers, hs.most_extra));
    let both = (256, 64, 25_088);
    assert_eq!(plans(OversubscriptionConfig::of(OversubscriptionMechanism::Duet), both, None).usual, Err(Unswitchable::Both));
    assert_eq!(
        plans(OversubscriptionConfig::of(OversubscriptionMechanism::Duet), (32, 16, 0), None).usual,
        Err(Unswitchable::Tables),
        "32 TBs"
    );
}

/// All registers are taken and shared memory is too full for a context: only the L1 is left, unless
/// it is forbidden.
#[test]
fn the_l1_is_the_last_resort() {
    let duet = OversubscriptionConfig::of(OversubscriptionMechanism::Duet);
    let plans_of = |config| plans(config, (128, 128, 19_000), Some(20));
    // 4 TBs take all registers. Shared memory: 149 units each, so that 5 TBs leave 23 of 768: one
    // context of 21, and a TB has 4 warps.
    assert_eq!(plans_of(duet).usual, Err(Unswitchable::NoSpace));
    let taken = plans_of(duet).in_l1.expect("256 units of L1");
    assert_eq!((taken.most_extra, taken.in_l1, taken.spilled.parts), (1, true, [(0xb00, 1), (0xc00, 12), (0x800, 0)]));
    let never = OversubscriptionConfig { in_l1: ContextsInL1::Never, ..duet };
    assert_eq!(plans_of(never).in_l1, None);
}

proptest! {
    /// Places and spilled contexts are within the space, do not overlap, and suffice for the extra
    /// TBs.
    #[test]
    fn contexts_have_room(
        mechanism in prop::sample::select(vec![OversubscriptionMechanism::Virtual, OversubscriptionMechanism::Duet, OversubscriptionMechanism::DuetTb]),
        warps in 1u32..33,
        registers in 8u32..200,
        shared_bytes in 0u32..50_000,
        live in prop::option::of(1u32..200),
    ) {
        let gpu = gpu();
        let demand = demand(&gpu.sm, 32 * warps, registers, shared_bytes);
        let native = Resources::of_sm(&gpu.sm).count(&demand);
        prop_assume!(native > 0);
        let plans = Plans::new(&gpu, &OversubscriptionConfig::of(mechanism), &demand, live);
        let map = AddressMap::of(&gpu);
        for plan in [plans.usual.ok(), plans.in_l1].into_iter().flatten() {
            prop_assert_eq!(plan.native, native);
            prop_assert!(plan.most_extra >= 1 && plan.native + plan.most_extra <= 32);
            prop_assert!((plan.native + plan.most_extra) * warps <= 128);
            let [shared, l1, registers] = plan.spilled.parts.map(|(_, count)| count * plan.spilled.units);
            prop_assert!(plan.registers.units * plan.registers.count + registers <= map.shared);
            prop_assert!(plan.shared.units * plan.shared.count + shared <= map.l1 - map.shared);
            let in_l1 = if plan.in_l1 { map.end - map.l1 } else { 0 };
            prop_assert!(l1 <= in_l1);
            let each = if plan.limit == Limit::Registers { warps } else { 1 };
            prop_assert!(plan.spilled.count() >= plan.most_extra * each);
        }
    }
}
