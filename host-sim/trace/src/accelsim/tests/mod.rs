//! Tests of the trace reader: small files written here, and random traces written and read back.

mod broken;
mod round_trip;
mod threads;
mod writer;

use super::{Problem, ReadError, StreamId, Warnings, read_kernel, read_list};
use mias_warp_trace::KernelTrace;
use mias_warp_trace::isa::{Class, Space};
use std::io::Write;
use std::path::PathBuf;

const HEADER: &str = "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 512\n-nregs = 32\n\
    -binary version = 75\n-cuda stream id = 7\n-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007f0002000000\n\
    -nvbit version = 1.5.5\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = ...\n";

struct Written {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(name: &str, content: &[u8]) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    Written { _folder: folder, path }
}

pub(super) fn xz(content: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Returns a TB of one warp.
fn one_warp(insts: &[&str]) -> String {
    format!("{HEADER}\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = {}\n{}\n\n#END_TB\n", insts.len(), insts.join("\n"))
}

fn read(text: &str) -> Result<(KernelTrace, StreamId), ReadError> {
    read_kernel(&file("kernel-1.traceg", text.as_bytes()).path, 1, &mut Warnings::new())
}

/// Returns the class and lowest sector (if any) of each instruction of a one-warp trace.
fn classes(trace: &KernelTrace) -> Vec<Class> {
    let warp = trace.warp(0, 0);
    trace.shape(warp.shape).map(|i| trace.statics()[trace.shape_insts()[i as usize].index()].class).collect()
}

#[test]
fn the_three_address_modes_agree() {
    let lane = |i: u64| format!("0x{:x}", 0x1000 + 4 * i);
    let listed: Vec<String> = (0..32).map(lane).collect();
    let all = format!("0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 0 {} 0", listed.join(" "));
    let stride = "0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x1000 4 0";
    let delta = format!("0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 2 0x1000 {} 0", ["4"; 31].join(" "));
    let traces: Vec<KernelTrace> = [&all, stride, &delta].iter().map(|line| read(&one_warp(&[line])).unwrap().0).collect();
    assert_eq!(traces[0], traces[1]);
    assert_eq!(traces[0], traces[2]);
    assert_eq!(traces[0].mem(0).base_sector, 0x1000 / 32);
    assert_eq!(traces[0].pattern(0).len(), 4);
}

#[test]
fn generic_accesses_are_sorted_by_window() {
    let text = one_warp(&[
        "0000 ffffffff 1 R4 LD.E.SYS 1 R2 4 1 0x7f0000000040 4 0",
        "0000 ffffffff 1 R4 LD.E.SYS 1 R2 4 1 0x7f0002000040 4 0",
        "0000 ffffffff 1 R4 LD.E.SYS 1 R2 4 1 0x7f580face400 4 0",
        "0010 ffffffff 0 ST.E.SYS 2 R2 R4 4 1 0x7f580face400 4 0",
        "0020 ffffffff 0 EXIT 0 0 0",
    ]);
    let spaces = [Class::Load(Space::Shared), Class::Load(Space::Local), Class::Load(Space::Global), Class::Store(Space::Global)];
    assert_eq!(classes(&read(&text).unwrap().0), [&spaces[..], &[Class::Exit]].concat());
}

#[test]
fn only_the_last_exit_ends_the_warp() {
    let text = one_warp(&["0000 0000ffff 0 EXIT 0 0 0", "0010 ffff0000 1 R1 MOV 0 0 0", "0000 ffff0000 0 EXIT 0 0 0"]);
    assert_eq!(classes(&read(&text).unwrap().0), [Class::Int, Class::Int, Class::Exit]);
}

#[test]
fn strong_gpu_loads_and_atomics_bypass_l1() {
    let text = one_warp(&[
        "0000 1 1 R4 LDG.E.STRONG.GPU 1 R2 4 1 0x1000 0 0",
        "0010 1 1 R4 LDG.E.STRONG.SYS 1 R2 4 1 0x1000 0 0",
        "0020 1 1 R255 ATOMG.E.ADD.STRONG.GPU 2 R2 R5 4 1 0x1000 0 0",
    ]);
    let (trace, stream) = read(&text).unwrap();
    assert_eq!(stream, StreamId(7));
    assert_eq!(trace.statics().iter().map(|s| s.bypass_l1).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(trace.statics()[2].dst, None, "the zero register is never written");
}

#[test]
fn the_opcode_gives_the_width() {
    let text = one_warp(&["0000 1 1 R4 LDG.E.64.SYS 1 R2 4 1 0x1000 0 0", "0010 1 1 R4 LDG.E.U8.SYS 1 R2 4 1 0x1000 0 0"]);
    assert_eq!(read(&text).unwrap().0.statics().iter().map(|s| s.width_bytes).collect::<Vec<_>>(), [8, 1]);
}

#[test]
fn an_unknown_opcode_is_counted_and_timed_as_integer() {
    let text = one_warp(&["0000 1 1 R4 FROB.X 1 R2 0 0", "0010 1 1 R4 FROB.Y 1 R2 4 1 0x1000 0 0", "0000 1 1 R4 FROB.X 1 R2 0 0"]);
    let mut warnings = Warnings::new();
    let (trace, _) = read_kernel(&file("kernel-1.traceg", text.as_bytes()).path, 1, &mut warnings).unwrap();
    assert_eq!(classes(&trace), [Class::Int; 3]);
    assert_eq!(warnings.to_string(), "unknown opcodes timed as integer: FROB (3 executed)");
}

#[test]
fn the_same_pc_with_other_text_is_another_instruction() {
    let (trace, _) = read(&one_warp(&["0000 1 1 R4 MOV 1 R2 0 0", "0000 1 1 R4 MOV 1 R20 0 0", "0000 1 1 R4 MOV 1 R2 0 0"])).unwrap();
    assert_eq!(trace.statics().len(), 2);
    let warp = trace.warp(0, 0);
    let order: Vec<usize> = trace.shape(warp.shape).map(|i| trace.shape_insts()[i as usize].index()).collect();
    assert_eq!(order, [0, 1, 0]);
}

#[test]
fn a_list_names_copies_and_kernels_and_more() {
    let list =
        file("kernelslist.g", b"MemcpyHtoD,0x7f00,4096\r\nkernel-1.traceg\n# note\nncclGroupStart\nMemcpyDtoH,0x1,2\nkernel-2.traceg");
    let folder = list.path.parent().unwrap();
    std::fs::write(folder.join("kernel-1.traceg"), b"").unwrap();
    std::fs::write(folder.join("kernel-2.traceg.xz"), b"").unwrap();
    let read = read_list(&list.path).unwrap();
    assert_eq!(read.commands[0], super::Command::CopyToDevice { address: 0x7f00, bytes: 4096 });
    assert_eq!(
        read.kernels().map(|k| k.file_name().unwrap().to_str().unwrap()).collect::<Vec<_>>(),
        ["kernel-1.traceg", "kernel-2.traceg.xz"]
    );
}
