//! Energy is additive over events and monotone in counts, and an idle GPU draws its constant and
//! idle power (sources.md D112).

use super::*;
use crate::config::{EnergyConfig, PowerGatingConfig};
use crate::counts::Count;
use crate::gpu::{Gpu, Launch, LaunchCounters, RunEnd};
use crate::hand_made::{self, config};
use crate::memory::MemoryCounters;
use crate::register_block::{RegisterBlock, Straps};
use crate::sm::{KernelCounters, LaneClass};
use mias_policies::Firmware;
use mias_registers::PolicyCode;
use mias_warp_trace::isa::{Class, Space, StaticInst};
use proptest::prelude::*;

fn coefficients() -> EnergyConfig {
    config().energy.expect("the shipped file has them")
}

/// Issued instruction: unit, registers read, whether one is written, lanes.
type Issued = (usize, u8, bool, u32);

/// Random counters of a kernel: its instructions, and the other events.
fn counters() -> impl Strategy<Value = (Vec<Issued>, [u64; 16])> {
    let inst = (0usize..9, 0u8..5, any::<bool>(), 1u32..33);
    (prop::collection::vec(inst, 0..60), prop::array::uniform16(0u64..1 << 40))
}

fn events(insts: &[Issued], rest: &[u64; 16]) -> LaunchCounters {
    let mut sm = KernelCounters::default();
    for &(unit, sources, writes, lanes) in insts {
        sm.warp_insts += 1;
        sm.lanes.count(LaneClass::new(unit, sources.into(), writes), lanes);
    }
    [sm.shared_passes, sm.l1_hits, sm.l1_pending_hits, sm.l1_misses] = [rest[0], rest[1], rest[2], rest[3]];
    let memory = MemoryCounters {
        request_packets: rest[4],
        reply_packets: rest[5],
        l2_read_hits: rest[6],
        l2_read_misses: rest[7],
        l2_write_hits: rest[8],
        l2_write_misses: rest[9],
        l2_pending_hits: rest[10],
        dram_reads: rest[11],
        dram_writes: rest[12],
        dram_activates: rest[13],
        ..MemoryCounters::default()
    };
    LaunchCounters { sm, memory }
}

fn energy(insts: &[Issued], rest: &[u64; 16]) -> Femtojoules {
    DynamicEnergy::of(&events(insts, rest), &coefficients()).total()
}

proptest! {
    /// Two kernels' events cost the same together and apart, for any division into parts.
    #[test]
    fn energy_is_additive(a in counters(), b in counters()) {
        let insts = [a.0.clone(), b.0.clone()].concat();
        let rest: [u64; 16] = std::array::from_fn(|i| a.1[i] + b.1[i]);
        prop_assert_eq!(energy(&insts, &rest), energy(&a.0, &a.1) + energy(&b.0, &b.1));
        let (both, first) = (events(&insts, &rest), events(&a.0, &a.1));
        prop_assert_eq!(both.since(&first), events(&b.0, &b.1));
    }

    /// One more event of any kind never costs less. On the shipped GPU it costs more, since
    /// every kind has a coefficient.
    #[test]
    fn energy_grows_with_every_count(a in counters(), more in 0usize..14, by in 1u64..1000, inst in (0usize..9, 0u8..5, any::<bool>(), 1u32..33)) {
        let mut rest = a.1;
        rest[more] += by;
        prop_assert!(energy(&a.0, &rest) > energy(&a.0, &a.1), "count {more}");
        let insts = [a.0.clone(), vec![inst]].concat();
        prop_assert!(energy(&insts, &a.1) > energy(&a.0, &a.1), "{inst:?}");
    }

    /// Background power grows with time in every state.
    #[test]
    fn background_grows_with_every_duration(base in prop::array::uniform4(0u64..1 << 50), more in 0usize..4, by in 1u64..1 << 30) {
        let of = |t: [u64; 4]| {
            let [cycles, active_sm_cycles, idle_sm_cycles, issue_sm_cycles] = t;
            let activity = ChipActivity { cycles, active_sm_cycles, idle_sm_cycles, issue_sm_cycles, ..ChipActivity::default() };
            BackgroundEnergy::of(&activity, &coefficients(), None, 1_365_000).total()
        };
        let mut longer = base;
        longer[more] += by;
        prop_assert!(of(longer) > of(base));
    }
}

/// Background energy for any powers of SMs, in a second of a clock of 1 MHz: a cycle at a microwatt
/// is a picojoule.
fn of_sms(activity: &ChipActivity, [sm_active_uw, sm_idle_uw, sm_issue_uw]: [u32; 3], wake_fj: u32) -> Femtojoules {
    let power = EnergyConfig { sm_active_uw, sm_idle_uw, sm_issue_uw, ..coefficients() };
    BackgroundEnergy::of(activity, &power, Some(&PowerGatingConfig { wake_cycles: 1, wake_fj }), 1_000).total()
}

proptest! {
    /// Gating never raises the power: each gated cycle of an empty SM saves that SM's power. A
    /// wake-up costs wake_fj, so gating saves energy once it lasts longer than wake_fj over the
    /// power of an empty SM.
    #[test]
    fn gating_never_raises_the_power(powers in prop::array::uniform3(0u32..1 << 24), idle in 0u64..1 << 40, gated in 0u64..1 << 40, wakes in 0u64..1000, wake_fj in 0u32..4_000_000_000) {
        let gated = gated.min(idle);
        let before = ChipActivity { cycles: idle, idle_sm_cycles: idle, ..ChipActivity::default() };
        let after = ChipActivity { idle_sm_cycles: idle - gated, gated_sm_cycles: gated, ..before };
        let (with, without) = (of_sms(&after, powers, wake_fj), of_sms(&before, powers, wake_fj));
        prop_assert!(with <= without);
        prop_assert_eq!(without - with, Femtojoules::from(gated) * Femtojoules::from(powers[1]) * 1_000);
        let woken = ChipActivity { wakes, ..after };
        prop_assert_eq!(of_sms(&woken, powers, wake_fj) - with, Femtojoules::from(wakes) * Femtojoules::from(wake_fj));
    }

    /// An SM with TBs costs at least as much as an empty one, stalled or not, for all coefficients;
    /// more issue cycles cost no less.
    #[test]
    fn holding_tbs_is_never_cheaper_than_being_empty(powers in prop::array::uniform3(0u32..1 << 24), cycles in 1u64..1 << 40, issues in prop::array::uniform2(0u64..1 << 40)) {
        let empty = of_sms(&ChipActivity { cycles, idle_sm_cycles: cycles, ..ChipActivity::default() }, powers, 0);
        let holding = |issue: u64| {
            of_sms(&ChipActivity { cycles, active_sm_cycles: cycles, issue_sm_cycles: issue.min(cycles), ..ChipActivity::default() }, powers, 0)
        };
        let [few, many] = [holding(issues[0].min(issues[1])), holding(issues[0].max(issues[1]))];
        prop_assert!(empty <= few && few <= many);
    }
}

/// Standing energy of SMs with these powers, in a second of a clock of 1 MHz.
fn standing(activity: &ChipActivity, [sm_active_uw, sm_idle_uw, sm_issue_uw]: [u32; 3]) -> StandingEnergy {
    StandingEnergy::of(activity, &EnergyConfig { sm_active_uw, sm_idle_uw, sm_issue_uw, ..coefficients() }, 1_000)
}

proptest! {
    /// Leakage and clocks are a part of the energy of SMs for all coefficients. They are all energy
    /// of inactive SMs, and zero for gated SMs. More activity changes neither.
    #[test]
    fn leakage_and_clocks_are_a_part_of_what_sms_draw(powers in prop::array::uniform3(0u32..1 << 24), [active, idle, gated, issue] in prop::array::uniform4(0u64..1 << 40), wakes in 0u64..1000) {
        let some = ChipActivity { cycles: active, active_sm_cycles: active, idle_sm_cycles: idle, gated_sm_cycles: gated, issue_sm_cycles: issue.min(active), wakes };
        let power = EnergyConfig { sm_active_uw: powers[0], sm_idle_uw: powers[1], sm_issue_uw: powers[2], ..coefficients() };
        let all = BackgroundEnergy::of(&some, &power, Some(&PowerGatingConfig { wake_cycles: 1, wake_fj: 1 }), 1_000);
        let part = standing(&some, powers);
        prop_assert!(part.total() <= all.active_sms + all.idle_sms + all.issuing_sms);
        let quiet = ChipActivity { issue_sm_cycles: 0, ..some };
        prop_assert_eq!(standing(&quiet, powers), part);
        let all = BackgroundEnergy::of(&quiet, &power, None, 1_000);
        prop_assert_eq!(part.total(), all.active_sms + all.idle_sms);
        prop_assert_eq!(standing(&ChipActivity { active_sm_cycles: 0, idle_sm_cycles: 0, ..some }, powers).total(), 0);
    }
}

/// `zhao18`, by hand: leakage is 2.6566 W and the clock 1.59 W, in an SM that issues, one that does
/// not, and one that is empty.
#[test]
fn an_sm_leaks_and_has_a_clock_whatever_it_does() {
    let zhao: GpuConfig = toml::from_str(mias_gpus::text("zhao18").expect("built in")).expect("valid");
    let power = zhao.energy.expect("it has coefficients");
    for activity in [
        ChipActivity { active_sm_cycles: 1_000, issue_sm_cycles: 1_000, ..ChipActivity::default() },
        ChipActivity { active_sm_cycles: 1_000, ..ChipActivity::default() },
        ChipActivity { idle_sm_cycles: 1_000, ..ChipActivity::default() },
    ] {
        let StandingEnergy { leakage, clocks } = StandingEnergy::of(&activity, &power, 1_000);
        assert_eq!([leakage, clocks].map(|energy| energy / 1_000_000), [2_656_600, 1_590_000]);
    }
}

/// `zhao18`, regression: an SM with TBs that issues nothing drew 2.66 W where an empty one draws
/// 4.25 W. By hand: 4.2466 W both, and 4.247958 W where it issues.
#[test]
fn a_stalled_sm_draws_what_an_empty_one_does() {
    let zhao: GpuConfig = toml::from_str(mias_gpus::text("zhao18").expect("built in")).expect("valid");
    let power = zhao.energy.expect("it has coefficients");
    // A thousandth of a second, so that a microwatt is a nanojoule.
    let of = |activity: ChipActivity| BackgroundEnergy::of(&activity, &power, None, 1_000).total() / 1_000_000;
    let empty = of(ChipActivity { idle_sm_cycles: 1_000, ..ChipActivity::default() });
    let stalled = of(ChipActivity { active_sm_cycles: 1_000, ..ChipActivity::default() });
    let issuing = of(ChipActivity { active_sm_cycles: 1_000, issue_sm_cycles: 1_000, ..ChipActivity::default() });
    assert_eq!([empty, stalled, issuing], [4_246_600, 4_246_600, 2_656_600 + 1_591_358]);
    assert_eq!(of(ChipActivity { gated_sm_cycles: 1_000, ..ChipActivity::default() }), 0);
}

/// By hand: every count is multiplied by its own coefficient once.
#[test]
fn every_event_costs_its_coefficient() {
    let insts = [(0, 3, true, 32), (5, 2, true, 8), (2, 1, false, 4)];
    let rest = [7, 10, 1, 20, 3, 4, 30, 40, 50, 60, 2, 5, 6, 9, 0, 0];
    let each = coefficients();
    let of = |count: u64, fj: u32| Femtojoules::from(count) * Femtojoules::from(fj);
    let energy = DynamicEnergy::of(&events(&insts, &rest), &each);
    assert_eq!(energy.instructions, of(3, each.fetch_fj) + of(3, each.decode_fj) + of(3, each.schedule_fj));
    assert_eq!(energy.units, of(32, each.lane.sp_fj) + of(8, each.lane.int_fj) + of(4, each.lane.memory_fj));
    assert_eq!(energy.registers, of(3 * 32 + 2 * 8 + 4, each.register_read_fj) + of(32 + 8, each.register_write_fj));
    assert_eq!(energy.shared, of(7, each.shared_pass_fj));
    assert_eq!(energy.l1, of(10 + 1, each.l1_hit_fj) + of(20, each.l1_miss_fj));
    assert_eq!(energy.crossbar, of(3 + 4, each.packet_fj));
    let writes = of(50, each.l2_write_hit_fj) + of(60, each.l2_write_miss_fj);
    assert_eq!(energy.l2, of(30 + 2, each.l2_read_hit_fj) + of(40, each.l2_read_miss_fj) + writes);
    assert_eq!(energy.dram, of(5, each.dram_read_fj) + of(6, each.dram_write_fj) + of(9, each.dram_row_fj));
}

/// Switched contexts cost as much as accesses to the same registers, shared memory and L1, in a
/// part of their own.
#[test]
fn contexts_cost_what_their_accesses_cost() {
    let mut counters = events(&[], &[0; 16]);
    let each = coefficients();
    assert_eq!(DynamicEnergy::of(&counters, &each), DynamicEnergy::default());
    let sm = &mut counters.sm;
    [sm.context_register_reads, sm.context_register_writes, sm.context_shared_passes, sm.context_l1_accesses] = [672, 96, 21, 84];
    let energy = DynamicEnergy::of(&counters, &each);
    let of = |count: u64, fj: u32| Femtojoules::from(count) * Femtojoules::from(fj);
    let expected = of(672, each.register_read_fj) + of(96, each.register_write_fj) + of(21, each.shared_pass_fj) + of(84, each.l1_hit_fj);
    assert_eq!((energy.contexts, energy.total()), (expected, expected));
}

/// Division among kernels costs an integer operation per count. A line fill of a cache with owners
/// costs two, and a sixty-fourth of a hit, charged to the cache. Requests and fails alone cost
/// nothing, for any energy table.
#[test]
fn what_shares_out_costs_what_adding_costs() {
    let each = coefficients();
    let cost_of = |sharing_counts: u64, l1_owner_accesses: u64, l2_owner_accesses: u64| {
        let mut counters = events(&[], &[0; 16]);
        (counters.sm.sharing_counts, counters.sm.l1_owner_accesses) = (sharing_counts, l1_owner_accesses);
        counters.memory.l2_owner_accesses = l2_owner_accesses;
        let energy = DynamicEnergy::of(&counters, &each);
        assert_eq!(energy.total(), energy.l1 + energy.l2);
        [energy.l1, energy.l2]
    };
    let of = |count: u64, fj: u32| Femtojoules::from(count) * Femtojoules::from(fj);
    let int = each.lane.int_fj;
    assert_eq!(cost_of(52, 0, 0), [of(52, int), 0]);
    assert_eq!(cost_of(0, 9, 0), [of(9, each.l1_hit_fj / 64) + of(18, int), 0]);
    assert_eq!(cost_of(0, 0, 5), [0, of(5, each.l2_read_hit_fj / 64) + of(10, int)]);
    let mut config = config();
    config.sm.memory_issue = Some(Default::default());
    let mut counters = events(&[], &[0; 16]);
    (counters.sm.l1_accesses, counters.sm.past_l1_requests, counters.sm.l1_reservation_fails) = (10, 5, 7);
    let stats = Stats { counters: vec![counters], ..Stats::default() };
    assert_eq!(EnergyReport::of(&config, &stats).expect("the file has coefficients").launches, [DynamicEnergy::default()]);
}

/// A kernel of one warp that runs `insts` and exits.
fn kernel(insts: &[StaticInst]) -> Launch {
    let trace = hand_made::kernel(1, 32, 16, 0, |_, _| insts.iter().map(|&inst| (inst, 0)).collect());
    Launch::new(trace)
}

/// Statistics of `launch`, run to its end or to cycle `until`.
fn run(config: &GpuConfig, launch: Launch, until: u64) -> Stats {
    let mut gpu = Gpu::new(config, Straps::new(PolicyCode::LeftOver));
    let mut firmware: Firmware = Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map");
    let mut scheduler = |registers: &mut RegisterBlock| {
        firmware.on_interrupt(registers);
    };
    gpu.launch(launch).expect("fits");
    assert!(!matches!(gpu.run(&mut scheduler, until), RunEnd::Stuck(_)));
    gpu.stats()
}

/// Each class of instruction is charged to its own unit: ten instructions of 32 lanes each, and the
/// exit, which is an integer instruction.
#[test]
fn every_class_is_charged_for_its_unit() {
    let config = config();
    let lane = coefficients().lane;
    for (class, each_fj) in [
        (Class::Int, lane.int_fj),
        (Class::Sp, lane.sp_fj),
        (Class::Dp, lane.dp_fj),
        (Class::Sfu, lane.sfu_fj),
        (Class::Tensor, lane.tensor_fj),
        (Class::Branch, lane.branch_fj),
        (Class::Texture, lane.texture_fj),
        (Class::Uniform, lane.uniform_fj),
        (Class::Load(Space::Global), lane.memory_fj),
    ] {
        let width = if class.space().is_some() { 4 } else { 0 };
        let inst = StaticInst::new(0, class).writes(4).reads(&[5, 6]).width(width);
        let mut distinct = config.clone();
        let energy = distinct.energy.as_mut().expect("the GPU has coefficients");
        // Units with equal costs on the shipped GPU get distinct costs, so that the test tells
        // them apart.
        (energy.lane.branch_fj, energy.lane.uniform_fj, energy.lane.memory_fj) = (1_001, 1_002, 1_003);
        let each_fj = match class {
            Class::Branch => 1_001,
            Class::Uniform => 1_002,
            Class::Load(_) => 1_003,
            _ => each_fj,
        };
        let stats = run(&distinct, kernel(&[inst; 10]), 1_000_000);
        assert_eq!(stats.counters[0].sm.lanes.total(), stats.launches[0].thread_insts);
        let report = EnergyReport::of(&distinct, &stats).expect("the GPU has coefficients");
        let expected = 320 * Femtojoules::from(each_fj) + 32 * Femtojoules::from(lane.int_fj);
        assert_eq!(report.launches[0].units, expected, "{class:?}");
        let lanes = &stats.counters[0].sm.lanes;
        assert_eq!((lanes.register_reads(), lanes.register_writes()), (640, 320), "{class:?}");
    }
}

/// Nothing arrives for a millisecond: only constant and idle power remain. A microwatt is then a
/// nanojoule, a million femtojoules.
#[test]
fn an_idle_gpu_draws_constant_and_idle_power() {
    let config = config();
    let millisecond = u64::from(config.clocks.core_khz);
    let stats = run(&config, Launch { arrival_cycle: 2 * millisecond, ..kernel(&[]) }, millisecond);
    assert_eq!(stats.cycles, millisecond);
    let report = EnergyReport::of(&config, &stats).expect("the GPU has coefficients");
    let each = coefficients();
    let of = |power_uw: u32| Femtojoules::from(power_uw) * 1_000_000;
    let idle = Femtojoules::from(config.sm.count) * of(each.sm_idle_uw);
    assert_eq!((report.background.constant, report.background.idle_sms), (of(each.constant_uw), idle));
    assert_eq!(report.total(), of(each.constant_uw) + idle);
    let without = GpuConfig { energy: None, ..config };
    assert_eq!(EnergyReport::of(&without, &stats), None);
}

/// One TB on one SM: the SM is active from the cycle after the TB's issue, one launch latency in,
/// to the TB's end, and idle otherwise. The other SMs are always idle.
#[test]
fn an_sm_is_active_while_it_holds_a_tb() {
    let config = config();
    let stats = run(&config, kernel(&[StaticInst::new(0, Class::Dp).writes(4).reads(&[4]); 20]), 1_000_000);
    let end = stats.launches[0].end_cycle.expect("complete");
    let active: Vec<u64> = stats.sms.iter().map(|sm| sm.active_cycles).filter(|&cycles| cycles > 0).collect();
    assert_eq!(active, [end - u64::from(config.launch.latency_cycles) - 1]);
    let chip = ChipActivity::of(&stats);
    assert_eq!(chip.active_sm_cycles + chip.idle_sm_cycles, 30 * stats.cycles);
}
