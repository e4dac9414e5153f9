//! Trace, warnings and errors do not depend on the number of threads or on repeated lines.

use super::super::body::{self, Audience};
use super::super::source::Lines;
use super::super::{MemoryBudget, Warnings, header, read_kernel, read_kernel_within};
use super::{Written, file, xz};
use crate::fingerprint;
use mias_warp_trace::{KernelTrace, TraceBuilder};
use proptest::prelude::*;
use std::path::Path;

/// Receiver of every instruction, so that each line is parsed.
struct Every;

impl Audience for Every {}

fn line_by_line(text: &str) -> (KernelTrace, Warnings) {
    let mut lines = Lines::of(text.as_bytes().to_vec(), text.len(), Path::new("text"));
    let (header, mut warnings) = (header::read(&mut lines).unwrap(), Warnings::new());
    let mut room = MemoryBudget { whole_bytes: u64::MAX, part_bytes: u64::MAX, closed: &mut |_, _| Ok(()) };
    let whole = body::read(&mut lines, &header, &mut warnings, &mut Every, &mut room).unwrap();
    (whole.trace, warnings)
}

fn with_threads(file: &Written, threads: usize) -> Result<(KernelTrace, Warnings), String> {
    let mut warnings = Warnings::new();
    let (trace, _) = read_kernel(&file.path, threads, &mut warnings).map_err(|error| error.to_string())?;
    Ok((trace, warnings))
}

fn head(tbs: usize, threads: u32) -> String {
    format!(
        "-kernel name = k\n-grid dim = ({tbs},1,1)\n-block dim = ({threads},1,1)\n-nregs = 40\n-binary version = 75\n\
         -accelsim tracer version = 5\n-shmem base_addr = 0x7f0000000000\n-local mem base_addr = 0x7f0002000000\n\n#format\n"
    )
}

/// Formats a trace; `tbs[tb][warp]` has the lines of each warp.
fn text(tbs: &[Vec<Vec<String>>]) -> String {
    let warps = tbs.iter().map(Vec::len).max().unwrap_or(1);
    let mut text = head(tbs.len(), 32 * warps as u32);
    for (number, warps) in tbs.iter().enumerate() {
        text += &format!("\n#BEGIN_TB\n\nthread block = {number},0,0\n");
        for (warp, lines) in warps.iter().enumerate() {
            text += &format!("\nwarp = {warp}\ninsts = {}\n", lines.len());
            lines.iter().for_each(|line| text += &format!("{line}\n"));
        }
        text += "\n#END_TB\n";
    }
    text
}

/// Returns a line of one of all kinds: plain, exit, unknown opcode, and accesses to shared,
/// constant, global and generic memory. Two texts share one PC, and one text is a prefix of
/// another.
fn line(kind: u8, address: u64) -> String {
    match kind {
        0 => "0000 ffffffff 1 R1 IADD3 2 R2 R3 0".into(),
        1 => "0010 ffffffff 0 EXIT 0 0".into(),
        2 => "0020 0000ffff 1 R4 FROB 1 R2 0".into(),
        3 => format!("0030 ffffffff 1 R4 LDS 1 R2 4 1 0x{address:x} 8"),
        4 => format!("0040 000000ff 1 R4 LDG.E.SYS 1 R2 4 1 0x{:x} 4", 0x1_0000 + address),
        5 => format!("0050 00000003 1 R4 LD.E.SYS 1 R2 4 2 0x{:x} 128", 0x7f00_01ff_ff00 + address),
        6 => "0000 ffffffff 1 R1 IADD3 2 R2 R3 0 0".into(),
        _ => format!("0060 ffffffff 1 R4 LDC 1 R2 4 1 0x{address:x} 4"),
    }
}

/// Generates TBs that are like each other but for some lines that differ, come or go, as in
/// programs; and some that are not.
fn tbs() -> impl Strategy<Value = Vec<Vec<Vec<String>>>> {
    let one = (0u8..8, 0u64..1024).prop_map(|(kind, address)| line(kind, 4 * address));
    let base = prop::collection::vec(prop::collection::vec(one.clone(), 0..30), 1..4);
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..4, one);
    (base, prop::collection::vec(prop::collection::vec(change, 0..4), 1..6)).prop_map(|(base, changes)| {
        let changed = |changes: Vec<(prop::sample::Index, prop::sample::Index, u8, String)>| {
            let mut warps = base.clone();
            for (warp, at, how, line) in changes {
                let (warp, count) = (warp.index(warps.len()), warps.len());
                let lines = &mut warps[warp % count];
                let at = at.index(lines.len() + 1);
                match how {
                    0 if at < lines.len() => lines[at] = line,
                    1 if at < lines.len() => drop(lines.remove(at)),
                    2 => lines.truncate(at),
                    _ => lines.insert(at, line),
                }
            }
            warps
        };
        changes.into_iter().map(changed).collect()
    })
}

proptest! {
    #[test]
    fn repeated_lines_are_as_if_taken_apart(tbs in tbs()) {
        let text = text(&tbs);
        let expected = line_by_line(&text);
        let insts: usize = tbs.iter().flatten().map(Vec::len).sum();
        prop_assert_eq!(expected.0.warp_insts(), insts as u64);
        let file = file("kernel-1.traceg", text.as_bytes());
        prop_assert_eq!(&with_threads(&file, 1).unwrap(), &expected);
        prop_assert_eq!(&with_threads(&file, 3).unwrap(), &expected);
    }
}

/// Returns a trace of 120 TBs of 8 warps: several pieces. Static instructions, shapes and patterns
/// that are new come in the middle, too.
fn large() -> String {
    let warp = |tb: u64, warp: u64| -> Vec<String> {
        let mut lines: Vec<String> = (0..200).map(|at| line([0, 3, 2, 7][at % 4], 4 * warp)).collect();
        lines.push(line(4, 4096 * tb + 128 * warp));
        lines.push(format!("{:04x} ffffffff 1 R{} MOV 1 R3 0", 0x100 + 16 * (tb / 7), tb % 5));
        lines.push(format!("0070 {:08x} 1 R4 LDG.E.64 1 R2 8 0 0x{:x}", 1 << (tb % 32), 0x1000 * tb * tb));
        lines.push(line(1, 0));
        lines
    };
    text(&(0..120).map(|tb| (0..8).map(|number| warp(tb, number)).collect()).collect::<Vec<_>>())
}

#[test]
fn any_number_of_threads_reads_the_same() {
    let text = large();
    assert!(text.len() > 6 << 20, "{} bytes", text.len());
    let expected = line_by_line(&text);
    assert_eq!(expected.0.warp_insts(), 120 * 8 * 204);
    // Those of every kind at once.
    assert_eq!(expected.1.unknown_opcodes().get("FROB"), Some(&(120 * 8 * 50)));
    for file in [file("kernel-1.traceg", text.as_bytes()), file("kernel-1.traceg.xz", &xz(text.as_bytes()))] {
        for threads in [1, 2, 3, 4, 16] {
            assert!(with_threads(&file, threads).unwrap() == expected, "{threads} threads");
        }
    }
}

/// A part is full when it takes more than the room: the parts together are the whole, and none is
/// much larger.
#[test]
fn parts_are_the_whole_in_order() {
    let text = large();
    let (whole, expected) = line_by_line(&text);
    let file = file("kernel-1.traceg", text.as_bytes());
    for (threads, part_bytes) in [(1, 1), (1, 3_000), (2, 1), (2, 3_000), (16, 1)] {
        let (mut parts, mut warnings) = (Vec::new(), Warnings::new());
        let mut closed = |first_tb: u32, part: KernelTrace| {
            parts.push((first_tb, part));
            Ok(())
        };
        let mut room = MemoryBudget { whole_bytes: part_bytes, part_bytes, closed: &mut closed };
        let (last, _) = read_kernel_within(&file.path, threads, &mut warnings, &mut room).unwrap();
        assert_eq!((last.trace.statics(), &warnings), (whole.statics(), &expected));
        assert!(parts.len() > 4, "{} parts", parts.len());
        parts.push((last.first_tb, last.trace));
        let mut builder = TraceBuilder::new(whole.info().clone()).unwrap();
        for (first_tb, part) in &parts {
            assert_eq!(*first_tb, builder.tbs());
            builder.append(part).unwrap();
        }
        assert!(builder.finish().unwrap() == whole);
        let each = |visit: &mut dyn FnMut(&KernelTrace)| -> Result<(), ()> {
            parts.iter().for_each(|(_, part)| visit(part));
            Ok(())
        };
        assert_eq!(fingerprint::kernel_in_parts(whole.info(), whole.statics(), each), Ok(fingerprint::kernel(&whole)));
    }
}

/// The first error is reported with any number of threads: one error in the first piece, the last,
/// or between, then two errors.
#[test]
fn any_number_of_threads_finds_the_first_error() {
    let text = large();
    let lines: Vec<&str> = text.lines().collect();
    let at = |part: usize| (lines.len() * part / 8..).find(|&at| lines[at].contains("IADD3")).unwrap();
    let broken = |places: &[usize]| {
        let mut lines = lines.clone();
        places.iter().for_each(|&place| lines[place] = "0000 ffffffff 1 R1000 IADD3 2 R2 R3 0");
        lines.join("\n")
    };
    for places in [vec![at(0)], vec![at(4)], vec![at(7)], vec![at(3), at(5)], vec![at(2), at(2) + 4]] {
        let file = file("kernel-1.traceg", broken(&places).as_bytes());
        let first = format!("kernel-1.traceg:{}: a register R0 to R255 expected, found `R1000`", places[0] + 1);
        for threads in [1, 2, 3, 16] {
            let error = with_threads(&file, threads).unwrap_err();
            assert!(error.contains(&first), "{threads} threads: {error}");
        }
    }
}

/// Errors that concern the whole file are found with any number of threads.
#[test]
fn any_number_of_threads_finds_what_is_missing() {
    let text = large();
    let whole = xz(text.as_bytes());
    let cases = [
        file("kernel-1.traceg", text.replace("(120,1,1)", "(119,1,1)").as_bytes()),
        file("kernel-1.traceg", text.replace("(120,1,1)", "(121,1,1)").as_bytes()),
        file("kernel-1.traceg", &text.as_bytes()[..text.len() / 2]),
        file("kernel-1.traceg", &text.as_bytes()[..text.len() - 4]),
        file("kernel-1.traceg.xz", &whole[..whole.len() / 2]),
        file("kernel-1.traceg.xz", &[&whole[..whole.len() / 2], &[0xff; 64], &whole[whole.len() / 2 + 64..]].concat()),
        file("kernel-1.traceg", text.replacen("warp = 7", "warp = 8", 1).as_bytes()),
    ];
    for file in &cases {
        let told = with_threads(file, 1).unwrap_err();
        for threads in [2, 3, 16] {
            assert_eq!(with_threads(file, threads).unwrap_err(), told);
        }
    }
}
