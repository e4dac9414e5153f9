//! Tests of the writer: traces of every version, and folders that must not be incomplete. Tests
//! with kernels are in `host-sim/workloads/tests/export.rs`.

use super::super::tests::xz;
use super::super::{Warnings, read_list};
use super::{Export, ExportError, copy};
use liblzma::read::XzDecoder;
use std::io::Read;
use std::path::Path;

/// Returns the lines of a compressed file.
fn lines(path: &Path) -> Vec<String> {
    let mut text = String::new();
    XzDecoder::new_multi_decoder(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
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

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A list that ends early leaves no files.
#[test]
fn a_broken_list_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
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
    // A file occupies the path of the folder or of its parent.
    for path in [target.join("thesis.tex"), target.join("thesis.tex/out")] {
        assert!(matches!(Export::create(&path, true), Err(ExportError::Write { .. })), "{}", path.display());
    }
}
