//! Asynchronous copies and barriers in shared memory, written by hand, against the host.

use super::harness::{Device, count, row};
use mias_ptx::lower::record::RecordError;
use mias_ptx::{Arg, Program};
use mias_warp_trace::KernelTrace;
use mias_warp_trace::isa::{Class, Space, StaticInst};
use proptest::prelude::*;

/// Parses a kernel `k(out, in)`: `%r1` is the thread, `%rd3` the address of its word of `out`,
/// `%rd2` that of `in`, `%r2` that of `s`.
fn kernel(body: &str) -> Program {
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out, .param .u64 in)\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n\
         .reg .b64 %rd<20>;\n.shared .align 16 .b8 s[8192];\nld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\n\
         mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\n{body}\nret;\n}}\n"
    );
    Program::parse("k.ptx", &text, "k").unwrap_or_else(|e| panic!("{e}"))
}

fn run(body: &str, threads: u32, input: &[u8]) -> Result<(Vec<i32>, KernelTrace), RecordError> {
    let mut device = Device::default();
    let (out, input) = (device.zeros(4 * threads as usize), device.put(input));
    let trace = device.run(&kernel(body), row(1, threads), &[Arg::U64(out), Arg::U64(input)])?;
    Ok((device.read_ints(out, threads as usize), trace))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The first bytes are copied, the rest is zero, in every size; a lane that ignores its source
    /// may have any.
    #[test]
    fn parts_of_copies(log in 2u32..5, amounts in prop::collection::vec(0u32..20, 40), ignore in 0u32..40, part in 0u32..4, cg: bool) {
        let bytes = 1u32 << log;
        let level = if cg && bytes == 16 { "cg" } else { "ca" };
        let mut input: Vec<u8> = (0..40 * bytes).map(|i| (i * 7 + 3) as u8).collect();
        input.extend(amounts.iter().flat_map(|amount| amount.to_le_bytes()));
        let part = part * 4 % bytes;
        let hint = if cg { ".L2::128B" } else { "" };
        let body = format!(
            "mul.wide.u32 %rd4, %r1, {bytes};\nadd.s64 %rd5, %rd2, %rd4;\nmul.wide.u32 %rd6, %r1, 4;\nadd.s64 %rd7, %rd2, %rd6;\n\
             ld.global.u32 %r4, [%rd7+{}];\ncvt.u32.u64 %r5, %rd4;\nadd.u32 %r5, %r5, %r2;\ncp.async.{level}.shared.global{hint} [%r5], [%rd5], {bytes}, %r4;\n\
             setp.eq.u32 %p1, %r1, {ignore};\nselp.b64 %rd8, 16, %rd5, %p1;\ncp.async.{level}.shared::cta.global [%r5+4096], [%rd8], {bytes}, %p1;\n\
             cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r6, [%r5+{part}];\nld.shared.u32 %r7, [%r5+{}];\n\
             mad.lo.u32 %r8, %r7, 3, %r6;\nst.global.u32 [%rd3], %r8;",
            40 * bytes, 4096 + part
        );
        let (found, trace) = run(&body, 40, &input).unwrap();
        let expected: Vec<i32> = (0..40).map(|lane| {
            let word = |amount: u32| (0..4).fold(0, |word, i| {
                let byte = part + i;
                if byte < amount { word | u32::from(input[(lane * bytes + byte) as usize]) << (8 * i) } else { word }
            });
            let whole = if lane == ignore { 0 } else { word(bytes) };
            whole.wrapping_mul(3).wrapping_add(word(amounts[lane as usize])) as i32
        }).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(count(&trace, Class::Load(Space::Global)), 3);
    }

    /// Threads of several warps meet at a barrier in shared memory, round after round; in each,
    /// every thread reads what all have written.
    #[test]
    fn rounds_of_a_barrier(threads in 1u32..140, rounds in 1u32..6, parity: bool, way in 0u32..3) {
        // By the state that the arrival gave, by the round's parity, or by `try_wait`.
        let test = match (parity, way) {
            (true, 0) => "and.b32 %r9, %r4, 1;\nW: mbarrier.test_wait.parity.shared.b64 %p1, [bar], %r9;",
            (true, _) => "and.b32 %r9, %r4, 1;\nW: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r9;",
            (false, 0) => "W: mbarrier.test_wait.shared.b64 %p1, [bar], %rd6;",
            (false, 1) => "W: mbarrier.try_wait.shared.b64 %p1, [bar], %rd6, 100;",
            (false, _) => "W: mbarrier.test_wait.b64 %p1, [%rd5], %rd6;",
        };
        let body = format!(
            ".shared .align 8 .b64 bar;\nmov.u64 %rd5, bar;\ncvta.shared.u64 %rd5, %rd5;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra READY;\nmbarrier.init.shared.b64 [bar], {threads};\n\
             READY: bar.sync 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\nshl.b32 %r7, %r1, 2;\nadd.u32 %r7, %r7, %r2;\n\
             L: red.shared.add.u32 [%r2+4], 1;\nmbarrier.arrive.shared.b64 %rd6, [bar];\n{test}\n@!%p1 bra W;\n\
             ld.shared.u32 %r8, [%r2+4];\nsetp.lt.u32 %p3, %r8, {threads};\nadd.u32 %r4, %r4, 1;\n@!%p3 add.u32 %r5, %r5, %r8;\n\
             mbarrier.arrive.shared.b64 %rd6, [bar2];\nV: mbarrier.test_wait.shared.b64 %p1, [bar2], %rd6;\n@!%p1 bra V;\n\
             @%p2 bra NEXT;\nst.shared.u32 [%r2+4], 0;\nNEXT: bar.sync 0;\nsetp.lt.u32 %p1, %r4, {rounds};\n@%p1 bra L;\nst.global.u32 [%rd3], %r5;"
        );
        let body = body.replace("READY: bar.sync 0;", &format!("mbarrier.init.shared.b64 [bar2], {threads};\nREADY: bar.sync 0;"));
        let body = body.replace(".shared .align 8 .b64 bar;", ".shared .align 8 .b64 bar;\n.shared .align 8 .b64 bar2;");
        let (found, trace) = run(&body, threads, &[0; 4]).unwrap();
        prop_assert_eq!(found, vec![(rounds * threads) as i32; threads as usize]);
        prop_assert!(count(&trace, Class::Atomic(Space::Shared)) >= 3 * rounds as usize);
        // A warp that polls in vain yields: some polls per round, not thousands.
        prop_assert!(count(&trace, Class::Load(Space::Shared)) <= 10 * rounds as usize, "asked {} times", count(&trace, Class::Load(Space::Shared)));
    }
}

/// Pending arrivals of a state, and threads that leave a barrier.
#[test]
fn arrivals_are_counted() {
    let state = |body: &str| {
        let setup = ".shared .align 8 .b64 bar;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 ret;\nmbarrier.init.shared.b64 [bar], 5;\n";
        run(&format!("{setup}{body}\nst.global.u32 [%rd3], %r4;"), 32, &[0; 4]).map(|(found, _)| found[0])
    };
    let arrive = "mbarrier.arrive.shared.b64 %rd6, [bar];\n";
    let pending = "mbarrier.pending_count.b64 %r4, %rd6;";
    assert_eq!(state(&format!("{arrive}{pending}")), Ok(5));
    assert_eq!(state(&format!("{arrive}{arrive}{pending}")), Ok(4));
    let many = "mbarrier.arrive.noComplete.shared.b64 %rd6, [bar], 3;\n";
    assert_eq!(state(&format!("{many}{arrive}{pending}")), Ok(2));
    let drop = "mbarrier.arrive_drop.shared.b64 %rd6, [bar];\n";
    let drop_two = "mbarrier.arrive_drop.noComplete.shared.b64 _, [bar], 2;\n";
    // Three are dropped, two arrive: the next phase waits for two.
    assert_eq!(state(&format!("{drop}{drop_two}{arrive}{arrive}{arrive}{pending}")), Ok(2));
    // Copies that are done arrive, once with a count of their own.
    assert_eq!(state(&format!("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n{arrive}{pending}")), Ok(4));
    assert_eq!(
        state(
            &format!("cp.async.mbarrier.arrive.b64 [%rd7];\n{arrive}{pending}")
                .replace("cp.async", "mov.u64 %rd7, bar;\ncvta.shared.u64 %rd7, %rd7;\ncp.async")
        ),
        Ok(5)
    );
    let error = |body: &str| state(body).unwrap_err().to_string();
    let text = error("mbarrier.arrive.shared.b64 %rd6, [bar], 6;");
    assert!(text.contains("more arrivals than the mbarrier waits for, in a shared access of 8 bytes at address"), "{text}");
    let text = error(&format!("mbarrier.inval.shared.b64 [bar];\n{arrive}"));
    assert!(text.contains("more arrivals than the mbarrier waits for"), "{text}");
    let text = error("mbarrier.init.shared.b64 [bar], 0;");
    assert!(text.contains("an mbarrier counts 1 to 1048575 arrivals, not as many as in this shared access"), "{text}");
    let text = error("mbarrier.init.b64 [%rd2], 1;");
    assert!(text.contains("the instruction needs shared memory, not a global access of 8 bytes"), "{text}");
}

/// A thread that waits for missing arrivals polls up to the limit.
#[test]
fn a_barrier_that_never_opens_is_named() {
    let body = ".shared .align 8 .b64 bar;\nmbarrier.init.shared.b64 [bar], 64;\nmbarrier.arrive.shared.b64 %rd6, [bar];\n\
        W: mbarrier.test_wait.shared.b64 %p1, [bar], %rd6;\n@!%p1 bra W;";
    let mut device = Device::default();
    let out = device.zeros(4);
    let program = kernel(body);
    let launch = mias_ptx::Launch {
        grid: [1; 3],
        block: [32, 1, 1],
        args: vec![Arg::U64(out), Arg::U64(out)],
        shared_bytes: 0,
        ..mias_ptx::Launch::default()
    };
    let mut runner = mias_ptx::TbRunner::new(&program, &launch, &device.0).unwrap().limit(2000);
    let error = runner.run(0, &mut mias_ptx::warp::Unobserved).unwrap_err().to_string();
    assert!(error.contains("still running after 2000 instructions, in lines 19 to 20;"), "{error}");
}

/// Returns the instructions of the first warp.
fn statics(trace: &KernelTrace) -> Vec<StaticInst> {
    let range = trace.shape(trace.warp(0, 0).shape);
    trace.shape_insts()[range.start as usize..range.end as usize].iter().map(|i| trace.statics()[i.index()]).collect()
}

/// In the trace, an instruction that waits for a group reads the names of its copies, and no
/// earlier instruction does.
#[test]
fn waiting_reads_the_names_of_copies() {
    let copy = |at: u32| format!("cp.async.ca.shared.global [%r2+{at}], [%rd2+{at}], 16;\n");
    let body = format!(
        "{}{}cp.async.commit_group;\n{}cp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %r4, [%r2];\n{}cp.async.wait_all;\n\
         ld.shared.u32 %r5, [%r2+32];\nadd.u32 %r4, %r4, %r5;\nst.global.u32 [%rd3], %r4;",
        copy(0),
        copy(16),
        copy(32),
        copy(48)
    );
    let input: Vec<u8> = (0..64).collect();
    let (found, trace) = run(&body, 32, &input).unwrap();
    assert_eq!(found, vec![i32::from_le_bytes([32, 34, 36, 38]); 32]);
    let insts = statics(&trace);
    let copies: Vec<usize> = (0..insts.len()).filter(|&at| insts[at].class == Class::Load(Space::Global)).collect();
    let names: Vec<u8> = copies.iter().map(|&at| insts[at].dst.unwrap()).collect();
    assert_eq!(names.len(), 4);
    let readers = |name: u8| (0..insts.len()).filter(|&at| insts[at].sources().contains(&name)).collect::<Vec<_>>();
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|i| readers(names[i]));
    assert_eq!((first.len(), &first, &third), (1, &second, &fourth));
    assert!(copies[2] < first[0] && first[0] < copies[3] && copies[3] < third[0]);
    let load = insts.iter().position(|inst| inst.class == Class::Load(Space::Shared)).unwrap();
    assert!(first[0] < load && load < third[0], "the shared load stays behind the wait");
    assert!(insts.iter().all(|inst| inst.dst.is_none_or(|dst| !names.contains(&dst)) || inst.class == Class::Load(Space::Global)));
}
