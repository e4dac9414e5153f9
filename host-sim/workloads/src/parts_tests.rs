//! Parts are returned unchanged, whether or not they fit into memory.

use super::*;
use mias_warp_trace::isa::{Class, Space, StaticInst};
use mias_warp_trace::{KernelInfo, TbRecorder, TraceBuilder};
use proptest::prelude::*;

/// Creates `tbs` TBs of one warp, whose loads begin at sector `first`.
fn part(tbs: u32, first: u64) -> KernelTrace {
    let info = KernelInfo { name: "k".into(), grid: [tbs, 1, 1], block: [32, 1, 1], registers_per_thread: 16, shared_bytes: 0 };
    let mut builder = TraceBuilder::new(info).unwrap();
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(1).reads(&[2]).width(4);
    let index = builder.define(load).unwrap();
    for tb in 0..u64::from(tbs) {
        let mut recorder = TbRecorder::new();
        recorder.warp();
        recorder.inst(index, &load, 1, &[32 * (first + tb)]);
        builder.add_tb(&recorder).unwrap();
    }
    builder.finish().unwrap()
}

proptest! {
    #[test]
    fn every_tb_is_where_it_was_put(
        sizes in prop::collection::vec(1u32..40, 1..12),
        budget_bytes in 0u64..6000,
        asked in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let mut parts = Parts::new(budget_bytes);
        let mut end = 0;
        for &tbs in &sizes {
            parts.add(end, part(tbs, 1000 * u64::from(end))).unwrap();
            end += tbs;
        }
        for tb in asked.iter().map(|index| index.index(end as usize) as u32) {
            let found = parts.with(tb, end).unwrap().unwrap();
            prop_assert!(found.first_tb <= tb && tb - found.first_tb < found.trace.recorded_tbs());
            prop_assert_eq!(&*found.trace, &part(sizes[found.number as usize], 1000 * u64::from(found.first_tb)));
            prop_assert!(parts.held_bytes <= budget_bytes);
            let held: u64 = parts.parts.iter().filter(|part| part.held.is_some()).map(|part| part.bytes).sum();
            prop_assert_eq!(held, parts.held_bytes);
        }
        prop_assert!(parts.with(end, end).unwrap().is_none());
        prop_assert_eq!(parts.all().unwrap().len(), sizes.len());
    }
}
