//! Properties of every built-in kernel, and the numbers of sources.md D79 and D80.

use super::results_tests::{sm_of, tbs_on};
use super::*;
use mias_ptx::Program;
use mias_ptx::lower::Lowered;
use mias_warp_trace::isa::{Class, Space};
use proptest::prelude::*;

fn traced(name: &str, size: u64, seed: u64) -> KernelTrace {
    trace(find(name).unwrap(), size, seed).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let wrong = [("mm", 17), ("fwt", 1000), ("fwt", 512), ("nbdy", 384), ("blk", 128), ("bopt", 1025)];
    let impossible = names().flat_map(|name| [(name, 0), (name, 1 << 40), (name, u64::MAX)]);
    for (name, size) in wrong.into_iter().chain(impossible) {
        let error = Spec::sized(find(name).unwrap(), size, 0).prepare().unwrap_err();
        assert!(error.to_string().starts_with(&format!("kernel `{name}`: size {size}: must be ")), "{error}");
    }
}

/// Threads, registers and shared memory of sources.md D79: those published, but for dxtc the 93 to
/// 100 registers that give its occupancy, and less shared memory.
#[test]
fn resources_are_those_of_the_thesis_kernels() {
    for (name, size, threads, registers, shared) in [
        ("mm", 64, 256, 39..=39, 2048),
        ("fwt", 1024, 256, 22..=22, 0),
        ("nbdy", 512, 256, 60..=60, 4096),
        ("blk", 256, 128, 23..=23, 0),
        ("bopt", 1, 128, 32..=32, 516),
        ("bfs", 256, 256, 20..=20, 0),
        ("dxtc", 16, 64, 93..=100, 1408),
    ] {
        let kernel = find(name).unwrap();
        let info = Spec::sized(kernel, size, 0).compile().unwrap().1;
        assert_eq!((info.threads(), info.shared_bytes), (threads, shared), "{name}");
        assert!(registers.contains(&info.registers_per_thread), "{name}: {}", info.registers_per_thread);
    }
}

/// The kernels of Dai et al. 2018, table 2, with a size that is possible: threads, registers and
/// shared memory of a TB (sources.md D130), and the table's occupancies in permille: registers,
/// shared memory, threads, TBs.
const DAI: [(&str, u64, [u32; 3], [u64; 4]); 7] = [
    ("cp", 1, [128, 28, 4116], [875, 670, 667, 1000]),
    ("hs", 16, [256, 36, 3072], [984, 219, 583, 438]),
    ("dc", 16, [64, 36, 2048], [562, 333, 333, 1000]),
    ("pf", 32, [256, 16, 2048], [750, 250, 1000, 750]),
    ("bp", 16, [256, 12, 1088], [562, 133, 1000, 750]),
    ("bs", 512, [512, 16, 0], [750, 0, 1000, 375]),
    ("st", 3, [512, 16, 0], [750, 0, 1000, 375]),
];

/// Occupancies equal the table's to the permille, on its GPU; where the table's own rounding
/// goes the other way, one off.
#[test]
fn occupancies_are_those_of_dais_table_2() {
    let sm = sm_of("dai18-lines");
    for (name, size, [threads, registers, shared], occupancy) in DAI {
        let info = Spec::sized(find(name).unwrap(), size, 0).compile().unwrap().1;
        assert_eq!((info.threads(), info.registers_per_thread, info.shared_bytes), (threads, registers, shared), "{name}");
        let tbs = u64::from(tbs_on(&sm, &info));
        let permille = |used: u32, of: u32| (2000 * tbs * u64::from(used)).div_ceil(u64::from(of)) / 2;
        let found = [
            permille(threads * registers, sm.registers),
            permille(shared, sm.shared_bytes),
            permille(threads, sm.threads),
            permille(1, sm.tbs),
        ];
        assert!(found.iter().zip(occupancy).all(|(found, table)| found.abs_diff(table) <= 1), "{name}: {found:?}");
    }
}

/// Settings change no occupancy, not even the smaller tree, which takes fewer registers.
#[test]
fn settings_change_no_occupancy() {
    let sm = sm_of("rtx2060");
    for (word, threads, registers, shared, tbs) in [
        ("bopt:1,steps=512", 128, 9..=32, 516, 8),
        ("nbdy:512,systems=2", 256, 60..=60, 4096, 4),
        ("bfs:64,graph=rmat", 256, 20..=20, 0, 4),
    ] {
        let info = Spec::parse(word).unwrap().compile().unwrap().1;
        assert_eq!((info.threads(), info.shared_bytes), (threads, shared), "{word}");
        assert!(registers.contains(&info.registers_per_thread), "{word}: {}", info.registers_per_thread);
        assert_eq!(tbs_on(&sm, &info), tbs, "{word}");
    }
}

/// The most TBs per SM of sources.md D79 on the GPU of the thesis.
#[test]
fn occupancy_is_that_of_the_thesis_kernels() {
    let sm = sm_of("rtx2060");
    for (name, size, tbs) in
        [("mm", 64, 4), ("fwt", 1024, 4), ("nbdy", 512, 4), ("blk", 256, 8), ("bopt", 1, 8), ("bfs", 256, 4), ("dxtc", 16, 10)]
    {
        let kernel = find(name).unwrap();
        let info = Spec::sized(kernel, size, 0).compile().unwrap().1;
        assert_eq!(tbs_on(&sm, &info), tbs, "{name}");
    }
}

/// Returns the dynamic instructions of the first warp, by class.
fn mix(trace: &KernelTrace) -> Vec<Class> {
    let range = trace.shape(trace.warp(0, 0).shape);
    trace.shape_insts()[range.start as usize..range.end as usize].iter().map(|i| trace.statics()[i.index()].class).collect()
}

fn count(mix: &[Class], class: Class) -> usize {
    mix.iter().filter(|&&c| c == class).count()
}

/// Per tile 2 loads, 2 + 32 shared accesses, 16 multiply-adds and 2 barriers: both factors of each
/// product are read from shared memory, which the assembler makes 20 accesses of, four of them of
/// 16 bytes (sources.md D80). The SDK's kernel has 1,218 instructions for 20 tiles, 56 % of them to
/// shared memory.
#[test]
fn mm_executes_what_is_published() {
    let (one, two) = (mix(&traced("mm", 16, 0)), mix(&traced("mm", 32, 0)));
    let per_tile = |class| count(&two, class) - count(&one, class);
    assert_eq!(per_tile(Class::Load(Space::Global)), 2);
    assert_eq!(per_tile(Class::Store(Space::Shared)), 2);
    assert_eq!(per_tile(Class::Load(Space::Shared)), 32);
    assert_eq!(per_tile(Class::Sp), 16);
    assert_eq!(per_tile(Class::Barrier), 2);
    assert_eq!(per_tile(Class::Branch), 1);
    let all = |tiles: usize| one.len() + (tiles - 1) * (two.len() - one.len());
    assert!(all(20).abs_diff(1218) <= 12, "{}", all(20));
    assert_eq!(count(&one, Class::Exit), 1);
    assert_eq!(one.last(), Some(&Class::Exit));
}

#[test]
fn fwt_executes_what_is_published() {
    let mix = mix(&traced("fwt", 1024, 0));
    assert_eq!(count(&mix, Class::Load(Space::Global)), 4);
    assert_eq!(count(&mix, Class::Store(Space::Global)), 4);
    assert_eq!(count(&mix, Class::Sp), 8);
    assert_eq!(mix.len(), 42, "as the SDK's; the assembler makes 47, with two-step 64-bit additions");
}

/// Two tiles of 256 bodies, of the 120 that the default has: per tile one load, one shared store,
/// 256 shared loads and 2 barriers (sources.md D80); besides, the own place, the velocity, and both
/// written.
#[test]
fn nbdy_executes_what_is_published() {
    let mix = mix(&traced("nbdy", 512, 0));
    assert_eq!(count(&mix, Class::Load(Space::Global)), 2 + 2);
    assert_eq!(count(&mix, Class::Store(Space::Global)), 2);
    assert_eq!(count(&mix, Class::Store(Space::Shared)), 2);
    assert_eq!(count(&mix, Class::Load(Space::Shared)), 512);
    assert_eq!(count(&mix, Class::Barrier), 4);
    assert_eq!(count(&mix, Class::Sp) + count(&mix, Class::Sfu), 512 * (3 + 4 + 1 + 3 + 3) + 6, "14 per body, 6 at the end");
    // The SDK's kernel has 464,328 for 120 tiles.
    let all = 60 * mix.len();
    assert!(all.abs_diff(464_328) < 464_328 / 20, "{all}");
}

/// Three loads and two stores (sources.md D80), of 8 bytes per lane: two sectors' worth of eight.
#[test]
fn blk_executes_what_is_published() {
    let trace = traced("blk", 256, 0);
    let mix = mix(&trace);
    assert_eq!(count(&mix, Class::Load(Space::Global)), 3);
    assert_eq!(count(&mix, Class::Store(Space::Global)), 2);
    let sectors = |mem| trace.pattern(trace.mem(trace.warp(0, 0).first_mem + mem).pattern).len();
    assert!((0..5).all(|mem| sectors(mem) == 8), "256 bytes in sectors of 32");
    assert!((133..=147).contains(&mix.len()), "{} where the SDK's has 140", mix.len());
}

/// Returns the float operations of a warp.
fn floats(trace: &KernelTrace, warp: u32) -> usize {
    let range = trace.shape(trace.warp(0, warp).shape);
    trace.shape_insts()[range.start as usize..range.end as usize].iter().filter(|i| trace.statics()[i.index()].class == Class::Sp).count()
}

/// For both trees, a step has two barriers, one value through shared memory, and no other memory
/// access in the loop (sources.md D80). Each tree is given by its steps and nodes per thread. Warp
/// w is within the tree for all steps but the last 32 times its first thread's nodes, and has two
/// float operations per node then.
#[test]
fn bopt_executes_what_is_published() {
    for (word, steps, nodes) in [("bopt:1", 2048, 16), ("bopt:1,steps=512", 512, 4)] {
        let trace = results_tests::traced(word);
        let mix = mix(&trace);
        assert_eq!(count(&mix, Class::Barrier), 2 * steps);
        assert_eq!(count(&mix, Class::Load(Space::Shared)), steps);
        assert_eq!(count(&mix, Class::Store(Space::Shared)), steps + 1, "thread 0 makes the topmost leaf");
        assert_eq!(count(&mix, Class::Load(Space::Constant)), 5, "an option");
        assert_eq!(count(&mix, Class::Load(Space::Global)), 0);
        assert_eq!(count(&mix, Class::Store(Space::Global)), 1);
        assert_eq!(count(&mix, Class::Sfu), 2 * nodes + 1, "leaves: a conversion and a power each, and the topmost's power");
        for warp in 1..4 {
            // The topmost leaf: a product, its power's, a difference and a maximum.
            assert_eq!(floats(&trace, 0) - 4 - floats(&trace, warp), 2 * nodes * 32 * nodes * warp as usize, "warp {warp}");
        }
    }
}

/// Published are 55,760 instructions per warp in the mean (sources.md D81), 27.2 per step; the
/// SDK's kernel read as PTX has 55,740.
#[test]
fn bopt_executes_as_much_as_is_published() {
    let mean = traced("bopt", 1, 0).warp_insts() as f64 / 4.0;
    assert!((55_740.0 * 0.99..=55_760.0 * 1.01).contains(&mean), "{mean}");
}

/// Lanes diverge: nodes off the frontier leave, the others have 2 to 10 edges.
#[test]
fn bfs_diverges() {
    let trace = traced("bfs", 4096, 0);
    let lanes = trace.thread_insts() as f64 / trace.warp_insts() as f64;
    assert!((4.0..24.0).contains(&lanes), "{lanes}");
}

/// The kernel loads pixels once and the list of divisions 16 times; for each division, all colors
/// are read from shared memory. The second warp has no pixels to load. Barriers: one after loading,
/// one and 4 for the covariance of 16, one each for projection and sorting, one and 6 for the
/// minimum error of 64. The SDK's kernel has 5,788 instructions per warp, about six per memory
/// access.
#[test]
fn dxtc_executes_what_its_source_says() {
    let trace = traced("dxtc", 4, 0);
    let mix = mix(&trace);
    assert_eq!(count(&mix, Class::Load(Space::Global)), 1 + 16);
    let shared = count(&mix, Class::Load(Space::Shared));
    assert!(shared >= 16 * 48, "{shared}: 16 colors of three channels for each of 16 cuts");
    assert_eq!(count(&mix, Class::Barrier), 1 + 1 + 4 + 1 + 1 + 1 + 6);
    let mean = trace.warp_insts() as f64 / 2.0;
    assert!((5788.0 * 0.95..=5788.0 * 1.05).contains(&mean), "{mean}");
}

/// Loads are in flight together: no multiply-add stands between the shared loads of a tile.
#[test]
fn loads_come_before_their_use() {
    let mix = mix(&traced("mm", 16, 0));
    let loads: Vec<usize> = (0..mix.len()).filter(|&i| mix[i] == Class::Load(Space::Shared)).collect();
    assert_eq!(loads.last().unwrap() - loads[0], 31);
}

#[test]
fn the_trace_does_not_depend_on_the_number_of_workers() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // Several threads of bfs may write the same place, with the same value.
        pool.install(|| (traced("mm", 64, 5), traced("fwt", 4096, 5), traced("bfs", 4096, 5)))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn every_compiled_entry_lowers_and_reports() {
    for files in mias_kernels::ALL {
        for entry in mias_ptx::parser::parse(files.ptx_file, files.ptx).unwrap().entries {
            let program = Program::parse(files.ptx_file, files.ptx, entry.name).unwrap();
            assert!(Lowered::new(&program).statics.iter().flatten().count() > 0);
            let resources = ptxas::parse(files.report_file, files.report, entry.name).unwrap();
            // The sizes declared in PTX equal those of the assembler.
            assert!(resources.registers > 0 && resources.shared_bytes == program.shared_with(0));
            assert!(!files.ptx.contains('/') || files.ptx.lines().all(|l| !l.contains('/') || l.trim_start().starts_with("//")));
        }
    }
}

proptest! {
    /// Real PTX with a piece cut out, doubled or overwritten is read, or refused with a place in
    /// the file.
    #[test]
    fn damaged_ptx_never_panics(at in 0usize..4000, length in 1usize..60, how in 0u8..3, with in "[%a-z0-9.,;{}@:\\[\\] ]{0,8}") {
        for (kernel, entry) in [("mm", "mm"), ("fwt", "fwt_radix4")] {
            let compiled = mias_kernels::find(kernel).unwrap();
            let at = at % compiled.ptx.len();
            let end = (at + length).min(compiled.ptx.len());
            let (before, piece, after) = (&compiled.ptx[..at], &compiled.ptx[at..end], &compiled.ptx[end..]);
            let text = match how {
                0 => format!("{before}{after}"),
                1 => format!("{before}{piece}{piece}{after}"),
                _ => format!("{before}{with}{after}"),
            };
            match Program::parse("d.ptx", &text, entry) {
                Ok(program) => prop_assert!(Lowered::new(&program).statics.len() == program.insts.len()),
                Err(error) => prop_assert!(error.to_string().starts_with("d.ptx:")),
            }
        }
    }
}
