//! Tests of memory issue on whole GPUs: arbitration and instructions in flight (sources.md D123).

use super::*;
use crate::config::{InFlightLimit, MemoryIssueConfig, MemoryOrder, NoFails, StaticLimit, Unlimited};

const MOST: fn(u8) -> StaticLimit = StaticLimit::Most;

pub(super) fn with(mut config: GpuConfig, memory_issue: MemoryIssueConfig) -> GpuConfig {
    config.sm.memory_issue = Some(memory_issue);
    config.check().expect("a GPU");
    config
}

fn limited(limits: &[StaticLimit]) -> MemoryIssueConfig {
    MemoryIssueConfig { in_flight: InFlightLimit::Static, limits: limits.to_vec(), ..MemoryIssueConfig::default() }
}

/// Any combination of the mechanisms, for two kernels.
pub(super) fn any_mechanisms() -> impl Strategy<Value = MemoryIssueConfig> {
    let order = prop::sample::select(vec![MemoryOrder::Scheduler, MemoryOrder::RoundRobin, MemoryOrder::Quota]);
    let limit = prop_oneof![(1u8..6).prop_map(StaticLimit::Most), Just(StaticLimit::Any(Unlimited::Inf))];
    let limits = prop::collection::vec(limit, 1..3);
    let in_flight = prop_oneof![
        Just((InFlightLimit::None, Vec::new(), None)),
        Just((InFlightLimit::Dynamic, Vec::new(), None)),
        prop::option::of(1u32..60).prop_map(|cycles| (InFlightLimit::DynamicGlobal, Vec::new(), cycles)),
        limits.prop_map(|limits| (InFlightLimit::Static, limits, None)),
    ];
    let quota = prop::collection::vec(1u32..60, 0..3);
    (order, in_flight, any::<bool>(), any::<bool>(), quota).prop_map(
        |(order, (in_flight, limits, broadcast_cycles), grow, wide_fails, warp_quota)| {
            let no_fails = if grow { NoFails::Grow } else { NoFails::Unlimited };
            MemoryIssueConfig {
                order,
                in_flight,
                limits,
                no_fails,
                wide_fails,
                warp_quota,
                broadcast_cycles,
                ..MemoryIssueConfig::default()
            }
        },
    )
}

/// Loads of `lanes_apart` bytes from lane to lane into rotating registers, so that each is
/// independent of the 15 before.
fn independent(number: u64, lanes_apart: u8, address: u64) -> Step {
    (
        StaticInst::new(16 * number as u32, Class::Load(Space::Global)).writes(8 + (number % 16) as u8).reads(&[5]).width(lanes_apart),
        address,
    )
}

/// Number of cycles of a warp for 160 more loads of a line in the L1.
fn of_160_loads(config: &GpuConfig) -> u64 {
    let run = |count: u64| cycles(config, kernel(1, 32, 64, 0, |_, _| (0..count).map(|i| independent(i % 16, 4, 128 * 8)).collect()));
    run(320) - run(160)
}

/// With a limit of one, independent loads of a line in the L1 are serialized: each issues when the
/// previous data has arrived.
#[test]
fn with_one_in_flight_loads_are_a_chain() {
    let chain = (StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4), 128 * 8);
    let one = with(config(), limited(&[MOST(1)]));
    let hit = cost(&config(), chain);
    assert!(of_160_loads(&config()) < 160 * hit / 4, "without it they are not");
    assert_eq!(of_160_loads(&one), 160 * hit);
    let store = (StaticInst::new(0, Class::Store(Space::Global)).reads(&[5]).width(4), 128 * 8);
    // A store is in flight until the L2 has acknowledged it, which takes longer than a hit.
    assert!(cost(&one, store) > hit && cost(&config(), store) < hit, "{}", cost(&one, store));
    let shared = (StaticInst::new(0, Class::Load(Space::Shared)).writes(4).reads(&[5]).width(4), 0);
    assert_eq!(cost(&one, shared), cost(&config(), shared), "what stays on the chip is not limited");
}

/// Held cycles are counted in their own class, and slots add up.
#[test]
fn held_cycles_have_a_class_of_their_own() {
    let run =
        |config: &GpuConfig| alone(config, kernel(1, 32, 64, 0, |_, _| (0..100).map(|i| independent(i % 16, 4, 128 * 8)).collect()), 1);
    let one = with(config(), limited(&[MOST(1)]));
    let (off, on) = (run(&config()), run(&one));
    let held = |stats: &Stats| stats.sms[0].counters.issue_slots[IssueClass::Held as usize];
    assert_eq!(held(&off), 0);
    // Time between two loads of one warp: the time of one without the cycle of issue. The first
    // ones wait for DRAM.
    let between = 97 * (of_160_loads(&one) / 160 - 1);
    assert!((between..between + 2_000).contains(&held(&on)), "{} of {between}", held(&on));
    for sm in &on.sms {
        assert_eq!(sm.counters.issue_slots.iter().sum::<u64>(), u64::from(config().sm.sub_cores) * sm.counters.cycles);
    }
}

/// Two kernels that are always ready, one with 32 requests per instruction and older warps: with
/// quotas the other gets its share.
#[test]
fn quotas_give_the_kernel_with_few_requests_its_share() {
    let mut config = of(3);
    config.sm.count = 1;
    let issued = |order: MemoryOrder| {
        let config = with(config.clone(), MemoryIssueConfig { order, ..MemoryIssueConfig::default() });
        let mut gpu = gpu(&config);
        for (stream, lanes_apart) in (0u32..).zip([128, 1]) {
            let address = |tb: u32, warp: u32, i: u64| (u64::from(8 * tb + warp) * 4_000 + i) * 128;
            let steps = |tb, warp| (0..4_000).map(|i| independent(i % 16, lanes_apart, address(tb, warp, i))).collect();
            gpu.launch(Launch { stream, sector_offset: u64::from(stream) << 26, ..once(kernel(2, 256, 32, 0, steps)) }).expect("fits");
        }
        gpu.run(&mut Table::fixed(&[2, 2]), 60_000);
        let stats = gpu.stats();
        [0, 1].map(|launch| stats.launches[launch].warp_insts)
    };
    let (free, fair) = (issued(MemoryOrder::Scheduler), issued(MemoryOrder::Quota));
    assert!(fair[1] > 2 * free[1] && fair[1] > 4 * fair[0], "{free:?}, {fair:?}");
}

/// Requests of atomics count like others (Dai et al. 2018, section 3.2). A kernel of atomics with
/// 32 requests each has 32 requests per instruction. A concurrent one with single requests then
/// gets 32 turns for each of its own, once that is known.
#[test]
fn requests_of_atomics_are_in_the_quotas() {
    let mut config = of(3);
    config.sm.count = 1;
    let issued = |order: MemoryOrder| {
        let config = with(config.clone(), MemoryIssueConfig { order, ..MemoryIssueConfig::default() });
        let mut gpu = gpu(&config);
        for (stream, class, lanes_apart) in [(0, Class::Atomic(Space::Global), 128), (1, Class::Load(Space::Global), 1)] {
            let address = |tb: u32, warp: u32, i: u64| (u64::from(8 * tb + warp) * 4_000 + i) * 128;
            let access = |i: u64| StaticInst::new(16 * (i % 16) as u32, class).writes(8 + (i % 16) as u8).reads(&[5]).width(lanes_apart);
            let steps = |tb, warp| (0..4_000).map(|i| (access(i), address(tb, warp, i))).collect();
            gpu.launch(Launch { stream, sector_offset: u64::from(stream) << 26, ..once(kernel(2, 256, 32, 0, steps)) }).expect("fits");
        }
        gpu.run(&mut Table::fixed(&[2, 2]), 60_000);
        let stats = gpu.stats();
        [0, 1].map(|launch| stats.launches[launch].warp_insts)
    };
    let (free, fair) = (issued(MemoryOrder::Scheduler), issued(MemoryOrder::Quota));
    // Until it has made 1,024 requests, its quota equals the other's: 32 instructions.
    let turns = fair[1] / (fair[0] - 32);
    assert!((28..=36).contains(&turns) && free[1] < 16 * free[0], "{free:?}, {fair:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let off = MemoryIssueConfig::default;
    for (memory_issue, message) in [
        (limited(&[MOST(0)]), "sm.memory_issue.limits = 0: must be 1 to 127 instructions, or \"inf\""),
        (limited(&[MOST(128)]), "sm.memory_issue.limits = 128: must be 1 to 127"),
        (limited(&[]), "sm.memory_issue.limits = 0: numbers: static limits need some"),
        (MemoryIssueConfig { limits: vec![MOST(3)], ..off() }, "sm.memory_issue.limits = 1: numbers: static limits need some"),
        (limited(&[MOST(3); 9]), "sm.memory_issue.limits = 9: numbers, and there are 8 kernel slots"),
        (
            MemoryIssueConfig { broadcast_cycles: Some(8), ..off() },
            "sm.memory_issue.broadcast_cycles = 8: must be at least 1 cycle, and only",
        ),
        (
            MemoryIssueConfig { broadcast_cycles: Some(0), in_flight: InFlightLimit::DynamicGlobal, ..off() },
            "sm.memory_issue.broadcast_cycles = 0: must be at least 1 cycle",
        ),
        (MemoryIssueConfig { warp_quota: vec![0], ..off() }, "sm.memory_issue.warp_quota = 0: must be 1 to"),
    ] {
        let mut gpu = config();
        gpu.sm.memory_issue = Some(memory_issue);
        let said = gpu.check().expect_err("no GPU").to_string();
        assert!(said.starts_with(message), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With everything off, and with infinite limits, every count is equal except those of choices.
    #[test]
    fn no_limit_is_no_limiter(first in random_kernel(), second in random_kernel()) {
        let off = all(&of(3), &[&first, &second]);
        let inf = StaticLimit::Any(Unlimited::Inf);
        for none in [MemoryIssueConfig::default(), limited(&[inf, inf])] {
            let (end, stats) = all(&with(of(3), none), &[&first, &second]);
            let choices = stats.memory_choices.expect("counted");
            prop_assert!(choices.contested <= choices.issues);
            prop_assert_eq!(&(end, Stats { memory_choices: None, ..stats }), &off);
        }
    }

    /// No kernel starves under any combination, and every instruction issues once.
    #[test]
    fn every_kernel_ends(first in random_kernel(), second in random_kernel(), mechanisms in any_mechanisms()) {
        let (_, free) = all(&of(3), &[&first, &second]);
        let (end, stats) = all(&with(of(3), mechanisms.clone()), &[&first, &second]);
        prop_assert_eq!(end, RunEnd::AllComplete, "{:?}", mechanisms);
        prop_assert_eq!(insts(&stats), insts(&free));
    }

    /// Skipped cycles, and cycles slept by SMs, would have changed nothing.
    #[test]
    fn skipping_changes_nothing(recipe in random_kernel(), mechanisms in any_mechanisms()) {
        let config = with(of(3), mechanisms);
        prop_assert_eq!(run_of(&config, &recipe, true), run_of(&config, &recipe, false));
    }
}
