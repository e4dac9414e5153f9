//! Fuzz target for PTX text: it is rejected with one message, or every kernel of it can be lowered,
//! and run for a while.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mias_ptx::lower::Lowered;
use mias_ptx::warp::Unobserved;
use mias_ptx::{Arg, DeviceMemory, Launch, Limits, Program, TbRunner, parser};

/// Instructions per warp: enough for every seed's prologue, and few enough to test many inputs.
const LIMIT: u64 = 2_000;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let module = match parser::parse("my.ptx", text) {
        Ok(module) => module,
        Err(error) => {
            assert!(error.to_string().starts_with("my.ptx:"));
            return;
        }
    };
    for entry in &module.entries {
        let program = match Program::parse("my.ptx", text, entry.name) {
            Ok(program) => program,
            Err(error) => {
                assert!(error.to_string().starts_with("my.ptx:"));
                continue;
            }
        };
        assert_eq!(Lowered::new(&program).statics.len(), program.insts.len());
        let limits = Limits::default();
        // Only kernels with a few kilobytes of memory run. Their run-time errors are ignored.
        let small =
            program.image.variables.iter().map(|v| v.bytes).sum::<u64>() + 32 * u64::from(program.local_with(limits.stack_bytes)) < 1 << 20;
        if small {
            let mut device = DeviceMemory::new();
            let buffer = device.allocate([1; 1024]);
            let bytes = |size: u32| buffer.address.to_le_bytes().into_iter().cycle().take(size as usize).collect();
            let args = program.params.iter().map(|param| Arg::Bytes(bytes(param.bytes))).collect();
            let launch = Launch { grid: [2, 1, 1], block: [40, 1, 1], args, shared_bytes: 1024, limits };
            if let Ok(runner) = TbRunner::new(&program, &launch, &device) {
                let _ = runner.limit(LIMIT).run(1, &mut Unobserved);
            }
        }
    }
});
