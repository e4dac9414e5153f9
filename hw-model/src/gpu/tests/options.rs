//! Tests of optional parts of an SM: a constant cache, and a texture unit with its own latency.

use super::*;
use crate::config::ConstantCacheConfig;
use mias_warp_trace::{KernelInfo, TbRecorder, TraceBuilder};

/// Cycles of a memory instruction's stages from issue to cut: issue, collect, dispatch, cut.
const STAGES: u64 = 4;

fn with_cache(latency: u32, word_cycles: u32) -> GpuConfig {
    let mut config = config();
    config.sm.constant_cache = Some(ConstantCacheConfig { latency, word_cycles });
    config
}

/// Load that depends on the previous one, `width` bytes from lane to lane.
fn load(space: Space, width: u8) -> Step {
    (StaticInst::new(0, Class::Load(space)).writes(4).reads(&[4]).width(width), 0x400)
}

/// Kernel of `warps` warps that execute constant loads with these numbers of different words, one
/// after the other.
fn constant_loads(warps: u32, words: &[u32], dependent: bool) -> Arc<KernelTrace> {
    let info =
        KernelInfo { name: "constants".into(), grid: [1, 1, 1], block: [32 * warps, 1, 1], registers_per_thread: 64, shared_bytes: 0 };
    let mut builder = TraceBuilder::new(info).expect("not empty");
    let mut recorder = TbRecorder::new();
    for _ in 0..warps {
        recorder.warp();
        for (place, &words) in words.iter().enumerate() {
            let (to, from) = if dependent { (4, 4) } else { (5 + place as u8, 4) };
            let inst = StaticInst::new(0, Class::Load(Space::Constant)).writes(to).reads(&[from]).width(4);
            let lanes: Vec<u64> = (0..32).map(|lane| 4 * u64::from(lane % words)).collect();
            recorder.inst(builder.define(inst).expect("few"), &inst, 32, &lanes);
        }
        let exit = StaticInst::new(16, Class::Exit);
        recorder.inst(builder.define(exit).expect("few"), &exit, 32, &[]);
    }
    builder.add_tb(&recorder).expect("all warps recorded");
    builder.finish().expect("all TBs added").into()
}

#[test]
fn a_perfect_cache_asks_nothing_of_what_lanes_read() {
    let config = config();
    assert_eq!(config.sm.constant_cache, None);
    assert_eq!(cost(&config, load(Space::Constant, 0)), cost(&config, load(Space::Constant, 4)));
    assert_eq!(cost(&config, load(Space::Constant, 0)), STAGES);
}

#[test]
fn a_constant_load_costs_its_latency_and_a_pass_for_each_word() {
    for (latency, word_cycles) in [(1, 1), (8, 1), (30, 3)] {
        let config = with_cache(latency, word_cycles);
        // The last word enters the cache after the others; a uniform load has one.
        for (width, words) in [(0, 1), (1, 8), (4, 32), (16, 32)] {
            let expected = STAGES + u64::from(words * word_cycles - 1) + u64::from(latency);
            assert_eq!(cost(&config, load(Space::Constant, width)), expected, "{width} bytes apart, {latency}, {word_cycles}");
        }
    }
}

#[test]
fn a_diverging_load_holds_up_the_loads_of_other_warps() {
    // Sixteen warps without dependences keep the load/store unit busy: an instruction is taken in
    // the cycle in which the previous one ends.
    let run = |words: u32, count: usize| cycles(&with_cache(20, 2), constant_loads(16, &vec![words; count], false));
    for words in [1, 4, 32] {
        assert_eq!(run(words, 30) - run(words, 10), 20 * 16 * u64::from(2 * words), "{words} words");
    }
}

#[test]
fn a_fetch_of_texels_takes_the_texture_units_latency_on_top() {
    let plain = config();
    let mut slow = plain.clone();
    slow.sm.texel_latency = 57;
    let of = |config, space, width| cost(config, load(space, width));
    assert_eq!(of(&plain, Space::Texture, 4), of(&plain, Space::Global, 4));
    // Tested are a hit, a hit of several sectors per bank, and instructions other than a fetch.
    for width in [4, 16] {
        assert_eq!(of(&slow, Space::Texture, width), of(&plain, Space::Texture, width) + 57);
    }
    for space in [Space::Global, Space::Local, Space::Shared, Space::Constant] {
        assert_eq!(of(&slow, space, 4), of(&plain, space, 4), "{space:?}");
    }
    let store = (StaticInst::new(0, Class::Store(Space::Texture)).reads(&[4]).width(4), 0x400);
    assert_eq!(cost(&slow, store), cost(&plain, store));
}

#[test]
fn values_that_no_option_can_have_are_refused() {
    let refused = |latency, word_cycles, texel_latency| {
        let mut gpu = with_cache(latency, word_cycles);
        gpu.sm.texel_latency = texel_latency;
        gpu.check().map_err(|error| error.to_string())
    };
    assert_eq!(refused(1, 1, 0), Ok(()));
    assert_eq!(refused(512, 512, 512), Ok(()));
    assert_eq!(refused(1, 1, 513), Err("sm.texel_latency = 513: must be at most 512 cycles; 0 for none".to_owned()));
    for (latency, word_cycles, value) in [(0, 1, "latency = 0"), (513, 1, "latency = 513"), (8, 0, "word_cycles = 0")] {
        let message = refused(latency, word_cycles, 0).unwrap_err();
        assert!(message.starts_with(&format!("sm.constant_cache.{value}: must be 1 to 512 cycles")), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A chain takes the sum of its loads' individual times (a load of one cycle ends before the
    /// exit behind it). Running every cycle equals skipping.
    #[test]
    fn a_chain_is_the_sum_of_its_loads(
        words in prop::collection::vec(1u32..=32, 1..30),
        latency in 2u32..60,
        word_cycles in 1u32..5,
        warps in 1u32..5,
    ) {
        let config = with_cache(latency, word_cycles);
        let alone = |words: &[u32]| cycles(&config, constant_loads(1, words, true));
        let of = |words: u32| STAGES + u64::from(words * word_cycles - 1) + u64::from(latency);
        let chain: u64 = words.iter().map(|&words| of(words)).sum();
        prop_assert_eq!(alone(&words) - alone(&[1]), chain - of(1));

        let run = |skip: bool| {
            let gpu = gpu(&config);
            let mut gpu = if skip { gpu } else { gpu.without_skipping() };
            gpu.launch(once(constant_loads(warps, &words, true))).expect("fits");
            assert_eq!(gpu.run(&mut Table::fixed(&[32]), 10_000_000), RunEnd::AllComplete);
            gpu.stats()
        };
        prop_assert_eq!(run(true), run(false));
    }
}
