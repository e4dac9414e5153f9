//! Tests of kernels exported as Accel-Sim traces. Read back, they equal the trace that the model
//! replays. Their lines follow the rules of the format, and an unfinished folder is absent.

use liblzma::read::XzDecoder;
use mias_ptx::lower::observe::Job;
use mias_trace::accelsim::export::{Export, ExportError, execute};
use mias_trace::accelsim::{Warnings, read_kernel};
use mias_warp_trace::isa::{Space, StaticInst};
use mias_warp_trace::{KernelTrace, SectorRef};
use mias_workloads::kernels::{self, Prepared, Spec};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Exports the trace of a prepared kernel, into a folder that lasts as long as the first result.
fn exported(prepared: &Prepared) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let mut export = Export::create(&target, false).unwrap();
    let job = Job { program: &prepared.program, launch: &prepared.instance.launch, device: &prepared.instance.memory };
    execute(&mut export, job, &prepared.info, &mut |_| true).unwrap();
    prepared.instance.check_results("k").unwrap();
    export.finish().unwrap();
    (folder, target)
}

/// Returns the lines of a compressed file.
fn lines(path: &Path) -> Vec<String> {
    let mut text = String::new();
    XzDecoder::new_multi_decoder(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// An instruction of a warp as the model sees it: the instruction, lanes, passes, and memory
/// references.
type Step = (StaticInst, u32, u32, Option<(u64, Vec<SectorRef>)>);

/// Returns the steps of a warp, independent of the numbering within the trace.
fn steps(trace: &KernelTrace, tb: u32, warp: u32) -> Vec<Step> {
    let at = trace.warp(tb, warp);
    let mut mem = at.first_mem;
    let step = |index: u32| {
        let executed = trace.shape_insts()[index as usize];
        let mut inst = trace.statics()[executed.index()];
        let access = inst.class.is_offchip().then(|| {
            let reference = trace.mem(mem);
            mem += 1;
            (reference.base_sector, trace.pattern(reference.pattern).to_vec())
        });
        // Shared memory has no L1 to skip; the format cannot say that an atomic there would.
        inst.bypass_l1 &= inst.class.space() != Some(Space::Shared);
        (inst, executed.lanes(), executed.passes(), access)
    };
    trace.shape(at.shape).map(step).collect()
}

/// The sizes are the smallest that have several TBs and, for bfs, diverge.
#[test]
fn a_kernel_read_back_is_the_trace_that_the_model_replays() {
    for name in ["mm:32", "fwt:2048", "nbdy:512", "blk:512", "bopt:2,steps=512", "bfs:1024", "dxtc:8"] {
        let spec = Spec::parse(&format!("{name},seed=3")).unwrap();
        let (_folder, target) = exported(&spec.prepare().unwrap());
        let direct = spec.prepare().unwrap().record().unwrap();
        let mut warnings = Warnings::new();
        let (read, _) = read_kernel(&target.join("kernel-1.traceg.xz"), 1, &mut warnings).unwrap();
        assert!(warnings.is_empty(), "{name}: {warnings}");
        assert_eq!(read.info(), direct.info(), "{name}");
        for tb in 0..direct.tbs() {
            for warp in 0..direct.info().warps() {
                assert!(steps(&read, tb, warp) == steps(&direct, tb, warp), "{name}: TB {tb}, warp {warp}");
            }
        }
    }
    assert_eq!(kernels::THESIS.len(), 7);
}

/// Rules of the format, line by line: fields, at most one destination and four sources, masks
/// within the block, and an address per active lane. An EXIT is at the end of every warp, and only
/// there.
#[test]
fn lines_keep_the_rules_of_the_format() {
    for (name, size) in [("bfs", 1024), ("dxtc", 4)] {
        let (_folder, target) = exported(&Spec::sized(kernels::find(name).unwrap(), size, 1).prepare().unwrap());
        assert_eq!(std::fs::read_to_string(target.join("kernelslist.g")).unwrap(), "kernel-1.traceg.xz\n");
        let lines = lines(&target.join("kernel-1.traceg.xz"));
        let header: Vec<&str> = lines.iter().map(String::as_str).take_while(|line| !line.starts_with('#')).collect();
        for key in [
            "kernel name",
            "kernel id",
            "grid dim",
            "block dim",
            "shmem",
            "nregs",
            "binary version",
            "cuda stream id",
            "shmem base_addr",
            "local mem base_addr",
            "nvbit version",
            "accelsim tracer version",
            "enable lineinfo",
        ] {
            assert_eq!(header.iter().filter(|line| line.starts_with(&format!("-{key} = "))).count(), 1, "{key}");
        }
        let (mut left, mut warps) = (0, 0);
        for line in &lines[header.len() + 1..] {
            if let Some(count) = line.strip_prefix("insts = ") {
                assert_eq!(left, 0);
                (left, warps) = (count.parse().unwrap(), warps + 1);
                continue;
            }
            if left == 0 {
                continue;
            }
            left -= 1;
            let mut words = line.split_ascii_whitespace();
            let mut word = || words.next().unwrap();
            assert!(u32::from_str_radix(word(), 16).unwrap().is_multiple_of(16));
            let mask = u32::from_str_radix(word(), 16).unwrap();
            let destinations: u32 = word().parse().unwrap();
            assert!(destinations <= 1 && (0..destinations).all(|_| word().starts_with('R')));
            assert_eq!(word() == "EXIT", left == 0, "{line}");
            let sources: u32 = word().parse().unwrap();
            assert!(sources <= 4 && (0..sources).all(|_| word().starts_with('R')));
            if word() != "0" {
                let addresses = match (word(), mask.count_ones()) {
                    ("1", _) => 2,
                    ("0" | "2", lanes) => lanes,
                    (mode, _) => panic!("mode {mode}"),
                };
                (0..addresses).for_each(|_| assert!(!word().is_empty()));
            }
            assert!(word().parse::<u32>().is_ok(), "an immediate: {line}");
            assert_eq!(words.next(), None, "{line}");
        }
        assert!(left == 0 && warps > 1);
    }
}

#[test]
fn a_folder_is_whole_or_not_there() {
    let prepared = Spec::sized(kernels::find("mm").unwrap(), 64, 1).prepare().unwrap();
    let job = Job { program: &prepared.program, launch: &prepared.instance.launch, device: &prepared.instance.memory };
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    // Stopped after the first TB.
    let mut export = Export::create(&target, false).unwrap();
    assert!(!target.exists());
    let stopped = execute(&mut export, job, &prepared.info, &mut |done| done == 0);
    assert!(matches!(stopped, Err(ExportError::Interrupted)));
    drop(export);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
