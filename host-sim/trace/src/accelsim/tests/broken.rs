//! Files that break in the ways that real ones do: read where that is harmless, else refused with
//! file and line.

use super::{HEADER, Problem, Warnings, classes, file, one_warp, read, read_kernel, read_list, xz};
use mias_warp_trace::isa::Class;

const MOV: &str = "0000 ffffffff 1 R1 MOV 0 0 0";

/// Returns the message about a refused trace, without the folder.
fn refused(text: &str) -> String {
    let message = read(text).unwrap_err().to_string();
    message.rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn a_missing_last_newline_is_harmless() {
    let text = one_warp(&[MOV]);
    assert_eq!(read(text.trim_end()).unwrap(), read(&text).unwrap());
}

#[test]
fn dos_line_ends_are_harmless() {
    let text = one_warp(&[MOV]);
    assert_eq!(read(&text.replace('\n', "\r\n")).unwrap(), read(&text).unwrap());
}

#[test]
fn warps_without_instructions_are_empty() {
    let block = HEADER.replace("(32,1,1)", "(128,1,1)");
    let text = format!("{block}#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\ninsts = 0\nwarp = 2\ninsts = 1\n{MOV}\n#END_TB\n");
    let (trace, _) = read(&text).unwrap();
    let lengths: Vec<usize> = (0..4).map(|warp| trace.shape(trace.warp(0, warp).shape).len()).collect();
    assert_eq!(lengths, [0, 0, 1, 0]);
}

#[test]
fn a_narrow_barrier_mask_is_harmless() {
    assert_eq!(classes(&read(&one_warp(&["0000 000000ff 0 BAR.SYNC 0 0 0"])).unwrap().0), [Class::Barrier]);
}

#[test]
fn a_corrupt_header_is_refused() {
    let text = one_warp(&[MOV]);
    let expected = "kernel-1.traceg:6: header `nregs`: `21955` is not a number of registers from 1 to 255";
    assert_eq!(refused(&text.replace("nregs = 32", "nregs = 21955")), expected);
    assert!(
        refused(&text.replace("binary version = 75", "binary version = 0"))
            .starts_with("kernel-1.traceg:7: header `binary version`: `0` is not")
    );
    assert!(refused(&text.replace("version = 5\n", "version = 6\n")).ends_with("`6` is not a version from 1 to 5"));
    assert!(refused(&text.replace("(32,1,1)", "(32,1)")).contains("header `block dim`: `(32,1)`"));
    assert!(refused(&text.replace("(32,1,1)", "(99999,1,1)")).contains("header `block dim`"));
    assert_eq!(
        refused(&text.replace("-grid dim = (1,1,1)\n", "")),
        "kernel-1.traceg:14: the header has no `-grid dim = ...` line before the first `#` line"
    );
    assert!(refused("").contains("the header has no `-kernel name"));
}

#[test]
fn values_that_no_gpu_has_are_refused() {
    let text = one_warp(&[MOV]);
    let with = |from: &str, to: &str| {
        assert!(text.contains(from));
        refused(&text.replace(from, to))
    };
    assert!(with("nregs = 32", "nregs = 0").ends_with(":6: header `nregs`: `0` is not a number of registers from 1 to 255"));
    assert!(with("nregs = 32", "nregs = 256").contains("`256` is not a number of registers from 1 to 255"));
    assert!(read(&text.replace("nregs = 32", "nregs = 255")).is_ok());
    assert!(with("(32,1,1)", "(0,1,1)").ends_with(":4: header `block dim`: `(0,1,1)` is not three numbers (x,y,z) of at least 1"));
    assert!(with("(32,1,1)", "(32,32,2)").ends_with("`(32,32,2)` is not a block of at most 1024 threads"));
    for grid in ["(100000,100000,1)", "(10000000000,1,1)", "(18446744073709551615,18446744073709551615,4)"] {
        let message = with("grid dim = (1,1,1)", &format!("grid dim = {grid}"));
        assert!(message.ends_with(&format!(":3: header `grid dim`: `{grid}` is not a grid of at most 2147483647 TBs")), "{message}");
    }
    assert!(with("grid dim = (1,1,1)", "grid dim = (1,-1,1)").ends_with("`(1,-1,1)` is not three whole numbers (x,y,z)"));
    // 227 KiB is what a TB of compute capability 9.0 may have.
    assert!(read(&text.replace("shmem = 512", "shmem = 232448")).is_ok());
    assert!(with("shmem = 512", "shmem = 233473").contains(":5: header `shmem`: `233473` is not a number of bytes from 0 to 233472"));
    assert!(with("version = 5\n", "version = 0\n").ends_with("`0` is not a version from 1 to 5"));
    assert!(
        with("binary version = 75", "binary version = 12").contains(":7: header `binary version`: `12` is not a known instruction set")
    );
}

#[test]
fn an_empty_launch_is_refused() {
    let text = HEADER.replace("grid dim = (1,1,1)", "grid dim = (0,1,1)");
    let message = refused(&text);
    assert!(message.starts_with("kernel-1.traceg:3: header `grid dim`: `(0,1,1)` is not three numbers (x,y,z) of at least 1"), "{message}");
    assert_eq!(refused(HEADER), "kernel-1.traceg:15: the grid has 1 TBs but 0 were recorded");
}

#[test]
fn a_file_cut_short_is_refused() {
    let text = one_warp(&[MOV, MOV, MOV]);
    let in_warp = &text[..text.rfind(MOV).unwrap()];
    assert_eq!(refused(in_warp), "kernel-1.traceg:24: the file ends after 2 of the warp's 3 instructions");
    let in_tb = &text[..text.find("#END").unwrap()];
    assert!(refused(in_tb).ends_with("the file ends within the TB that begins at line 17"));
    let compressed = xz(text.as_bytes());
    let cut = file("kernel-1.traceg.xz", &compressed[..compressed.len() / 2]);
    let error = read_kernel(&cut.path, 1, &mut Warnings::new()).unwrap_err();
    assert!(matches!(error.problem, Problem::CutOff), "{error}");
    let said = error.to_string();
    assert!(said.contains("kernel-1.traceg.xz:") && said.ends_with("is truncated here; copy or trace it again"), "{error}");
}

#[test]
fn damaged_data_are_refused() {
    let mut compressed = xz(one_warp(&[MOV; 3]).as_bytes());
    let middle = compressed.len() / 2;
    compressed[middle] ^= 0xff;
    let damaged = file("kernel-1.traceg.xz", &compressed);
    let error = read_kernel(&damaged.path, 1, &mut Warnings::new()).unwrap_err();
    assert!(matches!(error.problem, Problem::Damaged(_)) && error.to_string().contains("the compressed data are damaged"), "{error}");
}

#[test]
fn malformed_lines_are_refused_with_their_text() {
    let line = |line: &str| refused(&one_warp(&[MOV, line]));
    assert_eq!(line("00g0 ffffffff 1 R1 MOV 0 0 0"), "kernel-1.traceg:24: a PC expected, found `00g0`, in `00g0 ffffffff 1 R1 MOV 0 0 0`");
    assert!(line("0010 1ffffffff 1 R1 MOV 0 0 0").contains("a mask of 32 lanes expected, found `1ffffffff`"));
    assert!(line("0010 ffffffff 2 R1 R2 MOV 0 0 0").contains("at most one destination register expected, found `2`"));
    assert!(line("0010 ffffffff 1 R256 MOV 0 0 0").contains("a register R0 to R255 expected, found `R256`"));
    assert!(line("0010 ffffffff 1 R1 MOV 5 R1 R1 R1 R1 R1 0 0").contains("at most four source registers expected, found `5`"));
    assert!(line("0010 ffffffff 1 R1").contains("an opcode expected before the end of the line"));
    assert!(line("0010 ffffffff 1 R1 LDG 1 R2 200 1 0x0 4").contains("an access width of at most 16 bytes expected, found `200`"));
    assert!(line("0010 ffffffff 1 R1 LDG 1 R2 4 3 0x0 4").contains("an address mode (0, 1 or 2) expected, found `3`"));
    assert!(line("0010 ffffffff 1 R1 LDG 1 R2 4 0 0x0 0x4").contains("an address for each active lane expected before the end"));
    assert!(line("0010 ffffffff 1 R1 LDG 1 R2 4 1 0x1f00000000000000 4").contains("addresses below 2^57 expected"));
    assert!(line("#END_TB").contains("`#END_TB` after 1 of the warp's 2 instructions"));
}

#[test]
fn a_body_that_does_not_fit_the_grid_is_refused() {
    let text = one_warp(&[MOV]);
    let body = &text[text.find("#BEGIN").unwrap()..];
    assert!(refused(&format!("{text}{body}")).ends_with("more TBs than the 1 of the grid"));
    assert!(refused(&text.replace("warp = 0", "warp = 1")).contains("`warp = 1`: warps of a TB must ascend, and this block has 1 warps"));
    assert!(refused(&text.replace("warp = 0\n", "")).contains("`insts = n` before the first `warp = w`"));
}

#[test]
fn a_line_without_end_is_refused() {
    let mut text = one_warp(&[MOV]);
    text.push_str(&"x".repeat(3 << 20));
    assert!(refused(&text).contains("this is not a trace"));
}

#[test]
fn broken_lists_are_refused() {
    let message = |content: &str| read_list(&file("kernelslist.g", content.as_bytes()).path).unwrap_err().to_string();
    assert!(
        message("\nkernel-9.traceg.xz\n")
            .ends_with("kernelslist.g:2: `kernel-9.traceg.xz` is named here, but missing from the folder of the list")
    );
    let list = file("kernelslist.g", b"kernel-1.traceg\n");
    std::fs::create_dir(list.path.with_file_name("kernel-1.traceg")).unwrap();
    assert!(read_list(&list.path).unwrap_err().to_string().contains("`kernel-1.traceg` is named here, but missing from the folder"));
    assert!(message("MemcpyHtoD,0x12\n").contains("kernelslist.g:1: malformed copy `MemcpyHtoD,0x12`"));
    assert!(message("nothing\n").contains("the list names no kernel trace"));
    assert!(message(HEADER).contains("kernelslist.g:1: this is the trace of a launch, not a list"), "{}", message(HEADER));
    let folder = read_list(&std::env::temp_dir()).unwrap_err().to_string();
    assert!(folder.contains(": this is a folder; use a file in it"), "{folder}");
    let missing = read_list(std::path::Path::new("no-such-list.g")).unwrap_err().to_string();
    assert!(missing.starts_with("no-such-list.g: "), "{missing}");
}
