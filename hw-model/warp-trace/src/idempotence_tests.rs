//! Tests of idempotence against kernels with known answers and against a byte-by-byte reference.

use crate::isa::{Class, Space, StaticInst};
use crate::{KernelInfo, KernelTrace, Step};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn kernel(tbs: u32, threads: u32, program: impl Fn(u32, u32) -> Vec<Step>) -> KernelTrace {
    let info = KernelInfo { name: "k".into(), grid: [tbs, 1, 1], block: [threads, 1, 1], registers_per_thread: 16, shared_bytes: 0 };
    crate::kernel(info, program).unwrap()
}

/// Random kernels with accesses of random kinds and lines.
fn random_kernel() -> impl Strategy<Value = KernelTrace> {
    let body = prop::collection::vec((0usize..5, 0u64..64), 1..40);
    (1u32..5, prop::sample::select(vec![32u32, 64, 100, 256]), body).prop_map(|(tbs, threads, body)| {
        let step = |&(kind, line): &(usize, u64), tb, warp| {
            let classes = [
                Class::Int,
                Class::Load(Space::Global),
                Class::Store(Space::Global),
                Class::Load(Space::Shared),
                Class::Atomic(Space::Global),
            ];
            access(classes[kind], 128 * (line * u64::from(1 + warp) + 7 * u64::from(tb)))
        };
        kernel(tbs, threads, |tb, warp| body.iter().map(|it| step(it, tb, warp)).collect())
    })
}

fn access(class: Class, place: u64) -> Step {
    (StaticInst::new(0, class).writes(4).reads(&[5]).width(4), place)
}

fn load(place: u64) -> Step {
    access(Class::Load(Space::Global), place)
}

fn store(place: u64) -> Step {
    (StaticInst::new(1, Class::Store(Space::Global)).reads(&[4, 5]).width(4), place)
}

/// Result for one TB of one warp that runs `steps`.
fn end(steps: &[Step]) -> Option<u32> {
    kernel(1, 32, |_, _| steps.to_vec()).idempotence_ends(0)[0]
}

#[test]
fn the_first_store_to_what_is_loaded_anywhere_ends_it() {
    assert_eq!(end(&[load(0), store(4096)]), None);
    assert_eq!(end(&[load(0), store(4096), store(0)]), Some(2));
    // The store precedes the load, but a second execution of the load would read the stored value.
    assert_eq!(end(&[store(0), load(0)]), Some(0));
    // Lanes 0 to 31 load bytes 0 to 127; the store begins at the last of these bytes or after them.
    assert_eq!(end(&[load(0), store(124)]), Some(1));
    assert_eq!(end(&[load(0), store(128)]), None);
}

#[test]
fn the_first_atomic_ends_it_and_other_memory_does_not() {
    let arithmetic = (StaticInst::new(2, Class::Sp).writes(6).reads(&[4]), 0);
    assert_eq!(end(&[arithmetic, access(Class::Atomic(Space::Global), 0)]), Some(1));
    assert_eq!(end(&[access(Class::Atomic(Space::Shared), 0), access(Class::Load(Space::Local), 0)]), None);
    assert_eq!(end(&[access(Class::Load(Space::Local), 0), access(Class::Store(Space::Local), 0)]), None);
    assert_eq!(end(&[access(Class::Load(Space::Texture), 0), store(0)]), Some(1));
}

/// Loads of other warps of the TB count; loads of other TBs do not.
#[test]
fn warps_share_a_tb_and_tbs_share_nothing() {
    let warps = kernel(1, 64, |_, warp| if warp == 0 { vec![store(0)] } else { vec![load(0)] });
    assert_eq!(warps.idempotence_ends(0), [Some(0), None]);
    let tbs = kernel(2, 32, |tb, _| if tb == 0 { vec![store(0)] } else { vec![load(0)] });
    assert_eq!([tbs.idempotence_ends(0), tbs.idempotence_ends(1)], [vec![None], vec![None]]);
    assert!(tbs.is_idempotent() && !warps.is_idempotent());
}

proptest! {
    /// Comparison with a byte-by-byte reference.
    #[test]
    fn as_a_look_at_every_byte_says(trace in random_kernel()) {
        for tb in 0..trace.recorded_tbs() {
            let mut accesses = Vec::new();
            for warp in 0..trace.info().warps() {
                let of_warp = trace.warp(tb, warp);
                let mut mem = of_warp.first_mem;
                for (place, at) in (0..).zip(trace.shape(of_warp.shape)) {
                    let class = trace.statics()[trace.shape_insts()[at as usize].index()].class;
                    if class.is_offchip() {
                        let reference = trace.mem(mem);
                        mem += 1;
                        let sectors = trace.pattern(reference.pattern).iter();
                        let bytes: Vec<u64> = sectors
                            .flat_map(|sector| {
                                let first = 32 * (reference.base_sector + u64::from(sector.delta));
                                (0..32).filter(|byte| sector.byte_mask >> byte & 1 != 0).map(move |byte| first + byte)
                            })
                            .collect();
                        accesses.push((warp, place, class, bytes));
                    }
                }
            }
            let loaded: BTreeSet<u64> = accesses
                .iter()
                .filter(|(.., class, _)| matches!(class, Class::Load(Space::Global)))
                .flat_map(|(.., bytes)| bytes.iter().copied())
                .collect();
            let expected: Vec<Option<u32>> = (0..trace.info().warps())
                .map(|warp| {
                    accesses
                        .iter()
                        .filter(|(of, ..)| *of == warp)
                        .find(|(.., class, bytes)| match class {
                            Class::Atomic(Space::Global) => true,
                            Class::Store(Space::Global) => bytes.iter().any(|byte| loaded.contains(byte)),
                            _ => false,
                        })
                        .map(|(_, place, ..)| *place)
                })
                .collect();
            prop_assert_eq!(trace.idempotence_ends(tb), expected);
        }
    }
}
