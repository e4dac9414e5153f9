//! Comparison of the texture cache of an SM with arithmetic (sources.md D141).

use super::*;
use crate::config::TextureCacheConfig;

const CACHE: TextureCacheConfig = TextureCacheConfig { sets: 4, ways: 3, latency: 40, mshrs: 16, mshr_merges: 4, miss_queue: 8 };

fn with(cache: TextureCacheConfig) -> GpuConfig {
    let mut config = config();
    config.sm.texture_cache = Some(cache);
    config.check().expect("such a cache there may be");
    config
}

/// Load of a sector that depends on the previous one.
fn load(space: Space, address: u64) -> Step {
    (StaticInst::new(0, Class::Load(space)).writes(4).reads(&[4]).width(1), address)
}

/// Statistics of a warp's loads.
fn of_warp(config: &GpuConfig, steps: &[Step]) -> LaunchStats {
    alone(config, kernel(1, 32, 16, 0, |_, _| steps.to_vec()), 1).launches[0]
}

#[test]
fn a_hit_takes_the_caches_latency() {
    let plain = config();
    let line = |space| load(space, 0x400);
    for latency in [1, 40, 300] {
        let config = with(TextureCacheConfig { latency, ..CACHE });
        assert_eq!(cost(&config, line(Space::Texture)), u64::from(latency) + 4);
        for space in [Space::Global, Space::Local] {
            assert_eq!(cost(&config, line(space)), cost(&plain, line(space)), "others go through the L1");
        }
        let mut slow = config.clone();
        slow.sm.texel_latency = 57;
        assert_eq!(cost(&slow, line(Space::Texture)), u64::from(latency) + 4 + 57);
        let store = (StaticInst::new(0, Class::Store(Space::Texture)).reads(&[4]).width(4), 0x400);
        assert_eq!(cost(&config, store), cost(&plain, store), "what is written to a surface goes through the L1");
    }
}

/// Lines up to the cache's size stay; with one more in a set, used in turn, none of that set does
/// (true LRU).
#[test]
fn it_holds_its_sets_and_ways() {
    let config = with(CACHE);
    let line = u64::from(config.l1.line_bytes);
    let walk = |lines: u64, stride: u64| -> Vec<Step> {
        (0..4).flat_map(|_| (0..lines).map(|n| load(Space::Texture, 0x10_000 + n * stride * line))).collect()
    };
    for (lines, stride, misses) in [(12, 1, 12), (3, 4, 3), (4, 4, 16), (13, 1, 12 + 1 + 3 * 4)] {
        let counted = of_warp(&config, &walk(lines, stride)).texture;
        assert_eq!((counted.accesses, counted.misses), (4 * lines, misses), "{lines} lines, every {stride}th");
        assert_eq!(counted.hits, counted.accesses - counted.misses);
    }
}

/// Accesses of one cache take no line of the other, and are counted only there.
#[test]
fn texels_and_the_l1_leave_each_other_alone() {
    let config = with(CACHE);
    let lines = u64::from(config.l1.sets * config.l1.ways);
    let line = u64::from(config.l1.line_bytes);
    let again = |space| [load(space, 0x400), load(space, 0x400)];
    let flood = |space| (0..4 * lines).map(move |n| load(space, 0x100_0000 + n * line));
    let mixed = |space, other| [again(space)[0]].into_iter().chain(flood(other)).chain([again(space)[1]]).collect::<Vec<_>>();
    let counted = of_warp(&config, &mixed(Space::Global, Space::Texture));
    assert_eq!((counted.l1.accesses, counted.l1.hits, counted.texture.accesses), (2, 1, 4 * lines));
    let counted = of_warp(&config, &mixed(Space::Texture, Space::Global));
    assert_eq!((counted.texture.accesses, counted.texture.hits, counted.l1.accesses), (2, 1, 4 * lines));
    let without = of_warp(&super::config(), &mixed(Space::Texture, Space::Global));
    assert_eq!((without.texture.accesses, without.l1.accesses, without.l1.hits), (0, 4 * lines + 2, 0), "without it they are the L1's");
}

#[test]
fn a_cache_that_cannot_be_is_refused() {
    let refused = |cache| {
        let mut config = config();
        config.sm.texture_cache = Some(cache);
        config.check().expect_err("no such cache").to_string()
    };
    assert_eq!(refused(TextureCacheConfig { sets: 3, ..CACHE }), "sm.texture_cache.sets = 3: must be a power of two");
    assert_eq!(
        refused(TextureCacheConfig { miss_queue: 1, ..CACHE }),
        "sm.texture_cache.miss_queue = 1: must be 2 to 1024: a miss keeps a place free"
    );
    let remedy = "must be 1 to 1024; without the table fetches go through the L1";
    assert_eq!(refused(TextureCacheConfig { ways: 0, ..CACHE }), format!("sm.texture_cache.ways = 0: {remedy}"));
    assert_eq!(refused(TextureCacheConfig { mshrs: 1_025, ..CACHE }), format!("sm.texture_cache.mshrs = 1025: {remedy}"));
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Skipping changes nothing, and nothing is lost: every access hits, misses, or finds its
        /// data in flight.
        #[test]
        fn sleeping_changes_nothing(
            steps in prop::collection::vec((0u8..3, 0u64..64, 0u8..2), 1..60),
            warps in 1u32..9,
            mshrs in 1u32..4,
            miss_queue in 2u32..4,
            latency in 1u32..50,
        ) {
            let config = with(TextureCacheConfig { mshrs, miss_queue, latency, mshr_merges: 2, ..CACHE });
            let program = |_, warp| -> Vec<Step> {
                let step = |&(space, line, wait): &(u8, u64, u8)| {
                    let space = [Space::Texture, Space::Texture, Space::Global][usize::from(space)];
                    let inst = StaticInst::new(0, Class::Load(space)).writes(4 + wait).reads(&[4]).width(4);
                    (inst, 128 * (line + u64::from(warp) % 3))
                };
                steps.iter().map(step).collect()
            };
            let run = |skip: bool| {
                let gpu = gpu(&config);
                let mut gpu = if skip { gpu } else { gpu.without_skipping() };
                gpu.launch(once(kernel(2, 32 * warps, 16, 0, program))).expect("fits");
                assert_eq!(gpu.run(&mut Table::fixed(&[2]), 10_000_000), RunEnd::AllComplete);
                gpu.stats()
            };
            let stats = run(true);
            let texture = stats.launches[0].texture;
            prop_assert!(texture.hits + texture.misses == texture.accesses);
            let fetched = steps.iter().filter(|step| step.0 < 2).count() as u64;
            prop_assert_eq!(texture.accesses, 4 * fetched * u64::from(2 * warps), "a warp's 128 bytes are four sectors");
            prop_assert_eq!(stats, run(false));
        }
    }
}
