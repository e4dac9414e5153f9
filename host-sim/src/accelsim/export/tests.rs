//! Tests of the writer: small texts against the format's own rules, kernels against the trace that the model replays, and
//! folders that must not be half there.

use super::super::tests::xz;
use super::super::{Warnings, read_kernel, read_list};
use super::{Export, ExportError, copy, execute};
use crate::kernels::{ALL, Prepared, Spec, prepare};
use crate::ptx::lower::observe::Job;
use liblzma::read::XzDecoder;
use mias_hw_model::isa::{Space, StaticInst};
use mias_hw_model::trace::{KernelTrace, SectorRef};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The exported trace of a prepared kernel, in a folder that lasts as long as the first result.
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

/// Lines of a compressed file.
fn lines(path: &Path) -> Vec<String> {
    let mut text = String::new();
    XzDecoder::new_multi_decoder(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// What one instruction of a warp is to the model: the instruction, lanes, passes, and where it goes.
type Step = (StaticInst, u32, u32, Option<(u64, Vec<SectorRef>)>);

/// What a warp does, free of how the trace numbers its parts.
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
    for (name, size) in [("mm", 32), ("fwt", 2048), ("nbdy", 512), ("blk", 512), ("bopt", 2), ("bfs", 1024), ("dxtc", 8)] {
        let spec = Spec::sized(crate::kernels::find(name).unwrap(), size, 3);
        let (_folder, target) = exported(&prepare(&spec).unwrap());
        let direct = prepare(&spec).unwrap().record(&mut |_, _| {}).unwrap();
        let mut warnings = Warnings::new();
        let (read, _) = read_kernel(&target.join("kernel-1.traceg.xz"), &mut warnings).unwrap();
        assert!(warnings.is_empty(), "{name}: {warnings}");
        assert_eq!(read.info(), direct.info(), "{name}");
        for tb in 0..direct.tbs() {
            for warp in 0..direct.info().warps() {
                assert!(steps(&read, tb, warp) == steps(&direct, tb, warp), "{name}: TB {tb}, warp {warp}");
            }
        }
    }
    assert_eq!(ALL.len(), 7);
}

/// The format's own rules, line by line: fields, at most one destination and four sources, masks within the block, an address
/// per active lane, and an EXIT at the end of every warp, there alone.
#[test]
fn lines_keep_the_rules_of_the_format() {
    for (name, size) in [("bfs", 1024), ("dxtc", 4)] {
        let (_folder, target) = exported(&prepare(&Spec::sized(crate::kernels::find(name).unwrap(), size, 1)).unwrap());
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

/// A trace of two warps, in every version, becomes the same lines.
#[test]
fn every_version_becomes_the_newest() {
    let insts = [
        ("0000 ffffffff 1 R12 LDG.E.128.SYS 1 R2 16 1 0x7f580face400 16", "0"),
        ("0010 0000000f 0 STS 2 R3 R12 4 0 0x0 0x8000 0x0 0x8000", "0"),
        ("0020 00000000 0 STG.E.SYS 2 R2 R3 4 1 0x0 0", "0"),
        ("0030 ffffffff 1 R9 FROB.X 2 R1 R2 4 1 0x40 4", "7"),
        ("0040 ffffffff 0 BRA 0 0", "256"),
        ("0050 ffffffff 0 EXIT 0 0", "0"),
    ];
    for version in 1..=5 {
        for lineinfo in [false, true] {
            if lineinfo && version < 4 {
                continue;
            }
            let line = |(text, immediate): &(&str, &str)| {
                let prefix = if version < 3 { "1 0 0 1 " } else { "" };
                let number = if lineinfo { "42 " } else { "" };
                let immediate = if version < 5 { String::new() } else { format!(" {immediate}") };
                format!("{prefix}{number}{text}{immediate}\n")
            };
            let body: String = insts.iter().map(line).collect();
            let text = format!(
                "-kernel name = k<int>(float*)\n-kernel id = 9\n-grid dim = (1,1,1)\n-block dim = (96,1,1)\n-shmem = 64\n-nregs = 32\n\
                 -binary version = 70\n-cuda stream id = 5\n-nvbit version = 1.5.5\n-accelsim tracer version = {version}\n\
                 -enable lineinfo = {}\n\n#x\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\ninsts = 6\n{body}#END_TB\n",
                u8::from(lineinfo)
            );
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("kernel-9.traceg.xz"), xz(text.as_bytes())).unwrap();
            let list = folder.path().join("kernelslist.g");
            std::fs::write(&list, "MemcpyHtoD,0x7f00,64\nkernel-9.traceg.xz\nMemcpyHtoD,0x7f40,8").unwrap();
            let target = folder.path().join("out");
            let mut export = Export::create(&target, false).unwrap();
            let mut warnings = Warnings::new();
            copy(&mut export, &list, &mut warnings, &mut || true).unwrap();
            assert_eq!(warnings.unknown_opcodes()["FROB"], 1);
            assert_eq!((export.launches(), export.warp_insts()), (1, 6));
            export.finish().unwrap();

            let copied = std::fs::read_to_string(target.join("kernelslist.g")).unwrap();
            assert_eq!(copied, "MemcpyHtoD,0x0000000000007f00,64\nkernel-1.traceg.xz\nMemcpyHtoD,0x0000000000007f40,8\n");
            assert_eq!(read_list(&target.join("kernelslist.g")).unwrap().commands.len(), 3);
            let found = lines(&target.join("kernel-1.traceg.xz"));
            let expected: Vec<String> = insts
                .iter()
                .map(|(text, immediate)| {
                    let number = if lineinfo { "42 " } else { "" };
                    format!("{number}{text} {} ", if version < 5 { "0" } else { immediate })
                })
                .collect();
            let begin = found.iter().position(|line| line == "warp = 1").unwrap();
            assert_eq!(found[begin + 2..begin + 8], expected, "version {version}");
            for line in ["warp = 0", "warp = 2", "insts = 0", "thread block = 0,0,0", "-kernel id = 9", "-kernel name = k<int>(float*)"] {
                assert!(found.iter().any(|found| found == line), "{line}");
            }
            for line in ["-binary version = 70", "-cuda stream id = 5", "-nvbit version = 1.5.5", "-accelsim tracer version = 5"] {
                assert!(found.iter().any(|found| found == line), "{line}");
            }
        }
    }
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_is_whole_or_not_there() {
    let prepared = prepare(&Spec::sized(crate::kernels::find("mm").unwrap(), 64, 1)).unwrap();
    let job = Job { program: &prepared.program, launch: &prepared.instance.launch, device: &prepared.instance.memory };
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    // Stopped after the first TB.
    let mut export = Export::create(&target, false).unwrap();
    assert!(!target.exists());
    let stopped = execute(&mut export, job, &prepared.info, &mut |done| done == 0);
    assert!(matches!(stopped, Err(ExportError::Interrupted)));
    drop(export);
    assert_eq!(names(folder.path()), [""; 0]);
    // A list that ends early.
    let list = folder.path().join("kernelslist.g");
    std::fs::write(&list, "kernel-1.traceg\n").unwrap();
    std::fs::write(folder.path().join("kernel-1.traceg"), "-kernel name = k\n").unwrap();
    let mut export = Export::create(&target, false).unwrap();
    assert!(matches!(copy(&mut export, &list, &mut Warnings::new(), &mut || true), Err(ExportError::Read(_))));
    drop(export);
    assert_eq!(names(folder.path()), ["kernel-1.traceg", "kernelslist.g"]);
}

#[test]
fn only_a_trace_is_replaced_and_only_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let write = |replace| Export::create(&target, replace).and_then(Export::finish);
    std::fs::create_dir(&target).unwrap();
    write(false).unwrap();
    assert_eq!(names(&target), ["kernelslist.g"], "an empty folder is as good as none");
    std::fs::write(target.join("kernel-7.traceg"), "old").unwrap();
    assert!(matches!(write(false), Err(ExportError::Taken(_))));
    assert_eq!(names(&target), ["kernel-7.traceg", "kernelslist.g"]);
    write(true).unwrap();
    assert_eq!(names(&target), ["kernelslist.g"]);
    std::fs::write(target.join("thesis.tex"), "precious").unwrap();
    match write(true) {
        Err(ExportError::NoTrace { found, .. }) => assert_eq!(found, "thesis.tex"),
        other => panic!("{other:?}"),
    }
    assert_eq!(names(&target), ["kernelslist.g", "thesis.tex"]);
    assert_eq!(names(folder.path()), ["out"], "nothing beside it");
    // A file is in the way, of the folder or of its parent.
    for path in [target.join("thesis.tex"), target.join("thesis.tex/out")] {
        assert!(matches!(Export::create(&path, true), Err(ExportError::Write { .. })), "{}", path.display());
    }
}
