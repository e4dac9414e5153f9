//! Random traces: what is read from the text equals what the trace builder makes of the same warps
//! directly.

use super::writer::{Executed, write};
use super::{Warnings, file, read_kernel, xz};
use mias_warp_trace::isa::{Class, Space, StaticInst};
use mias_warp_trace::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder};
use proptest::prelude::*;

fn addresses(mask: u32) -> impl Strategy<Value = Vec<u64>> {
    let lanes = mask.count_ones() as usize;
    let strided = (0u64..1 << 40, -64i64..64).prop_map(move |(base, stride)| {
        let base = base + (1 << 20);
        (0..lanes as i64).map(|i| base.wrapping_add_signed(i * stride)).collect()
    });
    let scattered = prop::collection::vec((1u64 << 40)..(1 << 40) + (1 << 30), lanes);
    prop_oneof![strided, scattered]
}

fn executed() -> impl Strategy<Value = Executed> {
    let opcodes: Vec<(&'static str, Class, u8)> = vec![
        ("FFMA", Class::Sp, 0),
        ("IMAD.WIDE", Class::Int, 0),
        ("MUFU.RCP", Class::Sfu, 0),
        ("BAR.SYNC", Class::Barrier, 0),
        ("BRA", Class::Branch, 0),
        ("LDG.E.SYS", Class::Load(Space::Global), 4),
        ("LDG.E.128.SYS", Class::Load(Space::Global), 16),
        ("STG.E.U16", Class::Store(Space::Global), 2),
        ("LDS.64", Class::Load(Space::Shared), 8),
        ("STL", Class::Store(Space::Local), 4),
    ];
    let masks = prop_oneof![Just(u32::MAX), Just(0u32), any::<u32>()];
    let registers = (prop::option::of(0u8..255), prop::collection::vec(any::<u8>(), 0..=4));
    (prop::sample::select(opcodes), masks, registers, 0u32..40, 0u8..3).prop_flat_map(
        |((opcode, class, width), mask, registers, slot, mode)| {
            let (dst, sources) = registers;
            // PCs collide in the reader's chains every 64 KiB, and texts differ at one PC.
            let pc = 16 * (slot % 10) + 65_536 * (slot / 10);
            let mut inst = StaticInst::new(pc, class).reads(&sources).width(width);
            inst.dst = dst;
            let addresses = if width == 0 { Just(vec![]).boxed() } else { addresses(mask).boxed() };
            addresses.prop_map(move |addresses| Executed { opcode, inst, mask, addresses, mode })
        },
    )
}

fn built(threads: u32, tbs: &[Vec<Vec<Executed>>]) -> KernelTrace {
    let grid = [tbs.len() as u32, 1, 1];
    let info = KernelInfo { name: "k".into(), grid, block: [threads, 1, 1], registers_per_thread: 40, shared_bytes: 0 };
    let mut builder = TraceBuilder::new(info).unwrap();
    for tb in tbs {
        let mut recorder = TbRecorder::new();
        for warp in tb {
            recorder.warp();
            for executed in warp {
                let index = builder.define(executed.inst).unwrap();
                recorder.inst(index, &executed.inst, executed.mask.count_ones(), &executed.addresses);
            }
        }
        builder.add_tb(&recorder).unwrap();
    }
    builder.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn read_equals_built(
        tbs in prop::collection::vec(prop::collection::vec(prop::collection::vec(executed(), 0..12), 2), 1..4),
        version in 1u32..=5,
        lineinfo in any::<bool>(),
        compressed in any::<bool>(),
        last_newline in any::<bool>(),
    ) {
        let lineinfo = lineinfo && version >= 4;
        let mut text = write(version, lineinfo, 50, &tbs).into_bytes();
        if !last_newline {
            text.pop();
        }
        let written = if compressed { file("kernel-1.traceg.xz", &xz(&text)) } else { file("kernel-1.traceg", &text) };
        let mut warnings = Warnings::new();
        let (trace, stream) = read_kernel(&written.path, 1, &mut warnings).unwrap();
        prop_assert_eq!(stream.0, 3);
        prop_assert!(warnings.is_empty());
        prop_assert_eq!(trace, built(50, &tbs));
    }

    /// A file cut anywhere, or with bytes overwritten, is read or refused: no panic, no endless
    /// loop.
    #[test]
    fn damage_never_panics(
        tbs in prop::collection::vec(prop::collection::vec(prop::collection::vec(executed(), 0..4), 2), 1..3),
        cut in 0.0f64..=1.0,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        compressed in any::<bool>(),
    ) {
        let text = write(5, false, 50, &tbs).into_bytes();
        let mut bytes = if compressed { xz(&text) } else { text };
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let written = file(if compressed { "k.traceg.xz" } else { "k.traceg" }, &bytes);
        let _ = read_kernel(&written.path, 1, &mut Warnings::new());
    }
}
