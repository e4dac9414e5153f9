//! From CUDA source to warp trace through the public interface of the front end.

use mias_ptx::lower::record::{self, RecordError};
use mias_ptx::{Arg, DeviceMemory, ExecError, Launch, Program};
use mias_warp_trace::KernelInfo;
use mias_warp_trace::isa::Class;
use mias_workloads::kernels::{self, KernelError, KernelType, Spec};
use std::ops::ControlFlow;

const SMALL: [(&str, u64); 2] = [("mm", 64), ("fwt", 8192)];

#[test]
fn both_kernels_run_check_and_record() {
    for (name, size) in SMALL {
        let kernel = kernels::find(name).unwrap();
        let mut reports = Vec::new();
        let prepared = Spec::sized(kernel, size, 7).prepare().unwrap();
        let trace = prepared.record_once(&mut |done, of| {
            reports.push((done, of));
            ControlFlow::Continue(())
        });
        let trace = trace.unwrap();
        assert_eq!(u64::from(trace.tbs()), trace.info().tbs());
        assert_eq!(reports.last(), Some(&(trace.info().tbs(), trace.info().tbs())));
        // Every warp ends with its one exit, and all 32 lanes execute everything: neither kernel
        // diverges.
        for tb in 0..trace.tbs() {
            for warp in 0..trace.info().warps() {
                let range = trace.shape(trace.warp(tb, warp).shape);
                let insts = &trace.shape_insts()[range.start as usize..range.end as usize];
                let exits = insts.iter().filter(|i| trace.statics()[i.index()].class == Class::Exit).count();
                assert_eq!(exits, 1);
                assert_eq!(trace.statics()[insts.last().unwrap().index()].class, Class::Exit);
                assert!(insts.iter().all(|i| i.lanes() == 32));
            }
        }
        assert_eq!(trace.thread_insts(), 32 * trace.warp_insts());
    }
}

/// The traces move the bytes that the algorithms need: every element once per load and store.
#[test]
fn traffic_is_what_the_algorithm_needs() {
    let bytes = |name: &str, size| -> (u64, u64) {
        let trace = kernels::trace(kernels::find(name).unwrap(), size, 0).unwrap();
        let (mut loaded, mut stored) = (0, 0);
        for tb in 0..trace.tbs() {
            for warp in 0..trace.info().warps() {
                let reference = trace.warp(tb, warp);
                let range = trace.shape(reference.shape);
                let mut mem = reference.first_mem;
                for inst in &trace.shape_insts()[range.start as usize..range.end as usize] {
                    let class = trace.statics()[inst.index()].class;
                    if class.is_offchip() {
                        let touched: u64 = trace.pattern(trace.mem(mem).pattern).iter().map(|s| u64::from(s.byte_mask.count_ones())).sum();
                        *(if matches!(class, Class::Load(_)) { &mut loaded } else { &mut stored }) += touched;
                        mem += 1;
                    }
                }
            }
        }
        (loaded, stored)
    };
    // fwt: n elements of 4 bytes in and out.
    assert_eq!(bytes("fwt", 4096), (4 * 4096, 4 * 4096));
    // mm: each tile step of a TB loads two tiles of 256 elements; n/16 steps for (n/16)^2 TBs.
    let n = 64;
    assert_eq!(bytes("mm", n), ((n / 16).pow(3) * 2 * 256 * 4, n * n * 4));
}

#[test]
fn types_are_those_of_the_thesis() {
    let kind = |name| kernels::find(name).unwrap().kernel_type();
    for name in ["mm", "nbdy", "bopt", "dxtc"] {
        assert_eq!(kind(name), Some(KernelType::Compute), "{name}");
    }
    for name in ["bfs", "fwt", "blk"] {
        assert_eq!(kind(name), Some(KernelType::Memory), "{name}");
    }
    assert!(kernels::find("nn").is_err());
}

/// A user's own PTX with a bug: the message gives its location.
#[test]
fn a_fault_in_the_users_kernel_is_found() {
    let text = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry fill(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %r<3>;\n\
        .reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
        st.global.u32 [%rd3], %r1;\nret;\n}\n";
    let program = Program::parse("fill.ptx", text, "fill").unwrap();
    let mut memory = DeviceMemory::new();
    let buffer = memory.allocate([0; 40]);
    let info = KernelInfo { name: "fill".into(), grid: [1, 1, 1], block: [64, 1, 1], registers_per_thread: 8, shared_bytes: 0 };
    let launch = Launch {
        grid: info.grid,
        block: info.block,
        args: vec![Arg::U64(buffer.address), Arg::U32(40)],
        shared_bytes: 0,
        ..Launch::default()
    };
    let error = record::trace(&program, &launch, &memory, info, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(&error, RecordError::Exec(ExecError::Access { thread: [40, 0, 0], line: 12, .. })), "{error}");
    assert!(error.to_string().contains("fill.ptx:12: kernel `fill`, TB [0, 0, 0], thread [40, 0, 0]: out of bounds"), "{error}");
    let missing = Program::parse("fill.ptx", text, "fil").unwrap_err().to_string();
    assert_eq!(missing, "fill.ptx: no entry `fil`; the module has: fill");
}

#[test]
fn impossible_sizes_are_refused_before_anything_runs() {
    let error = kernels::trace(kernels::find("mm").unwrap(), 100, 0).unwrap_err();
    assert!(matches!(error, KernelError::Size { size: 100, .. }));
    assert_eq!(error.to_string(), "kernel `mm`: size 100: must be a multiple of 16, from 16 to 32768");
}
