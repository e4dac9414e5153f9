//! Runs an entry of a committed PTX file.

use mias_ptx::lower::record::{self, RecordError};
use mias_ptx::{Arg, DeviceMemory, Launch, Program};
use mias_warp_trace::isa::Class;
use mias_warp_trace::{KernelInfo, KernelTrace};
use std::ops::ControlFlow;
use std::path::Path;

/// Returns the text of `tests/data/NAME.ptx`.
pub(crate) fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).with_extension("ptx");
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn program(name: &str, entry: &str) -> Program {
    Program::parse(&format!("{name}.ptx"), &text(name), entry).unwrap_or_else(|e| panic!("{e}"))
}

/// A device with buffers of any plain type.
#[derive(Default)]
pub(crate) struct Device(pub(crate) DeviceMemory);

impl Device {
    /// Allocates a buffer of these bytes, filled up to whole words, and returns its address.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> u64 {
        let words = bytes.chunks(4).map(|c| c.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)));
        self.0.allocate(words.collect::<Vec<u32>>()).address
    }

    pub(crate) fn ints(&mut self, values: impl IntoIterator<Item = i32>) -> u64 {
        self.put(&values.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<u8>>())
    }

    pub(crate) fn longs(&mut self, values: impl IntoIterator<Item = i64>) -> u64 {
        self.put(&values.into_iter().flat_map(i64::to_le_bytes).collect::<Vec<u8>>())
    }

    pub(crate) fn zeros(&mut self, bytes: usize) -> u64 {
        self.put(&vec![0; bytes])
    }

    pub(crate) fn read<const N: usize>(&self, address: u64, count: usize) -> Vec<[u8; N]> {
        let bytes = self.0.read(address, N * count).unwrap();
        bytes.chunks(N).map(|chunk| chunk.try_into().unwrap()).collect()
    }

    pub(crate) fn read_ints(&self, address: u64, count: usize) -> Vec<i32> {
        self.read(address, count).into_iter().map(i32::from_le_bytes).collect()
    }

    pub(crate) fn read_longs(&self, address: u64, count: usize) -> Vec<i64> {
        self.read(address, count).into_iter().map(i64::from_le_bytes).collect()
    }

    pub(crate) fn read_doubles(&self, address: u64, count: usize) -> Vec<f64> {
        self.read(address, count).into_iter().map(f64::from_le_bytes).collect()
    }

    pub(crate) fn read_floats(&self, address: u64, count: usize) -> Vec<f32> {
        self.read(address, count).into_iter().map(f32::from_le_bytes).collect()
    }

    pub(crate) fn read_halves(&self, address: u64, count: usize) -> Vec<u16> {
        self.read(address, count).into_iter().map(u16::from_le_bytes).collect()
    }

    /// Runs a whole launch and gives its trace.
    pub(crate) fn run(&self, program: &Program, (grid, block): ([u32; 3], [u32; 3]), args: &[Arg]) -> Result<KernelTrace, RecordError> {
        self.run_shared(program, (grid, block), args, 0)
    }

    pub(crate) fn run_shared(
        &self,
        program: &Program,
        (grid, block): ([u32; 3], [u32; 3]),
        args: &[Arg],
        shared_bytes: u32,
    ) -> Result<KernelTrace, RecordError> {
        let launch = Launch { grid, block, args: args.to_vec(), shared_bytes, ..Launch::default() };
        let name = program.name.clone();
        let info = KernelInfo { name, grid, block, registers_per_thread: 32, shared_bytes: program.shared_bytes + shared_bytes };
        record::trace(program, &launch, &self.0, info, &mut |_| ControlFlow::Continue(()))
    }
}

/// Returns the extents of `tbs` TBs in a row, of `threads` threads in a row each.
pub(crate) fn row(tbs: u32, threads: u32) -> ([u32; 3], [u32; 3]) {
    ([tbs, 1, 1], [threads, 1, 1])
}

/// Returns the number of instructions of a class that the first warp executes.
pub(crate) fn count(trace: &KernelTrace, class: Class) -> usize {
    let range = trace.shape(trace.warp(0, 0).shape);
    let insts = &trace.shape_insts()[range.start as usize..range.end as usize];
    insts.iter().filter(|i| trace.statics()[i.index()].class == class).count()
}

/// Generates numbers that are all different enough (a linear congruential generator, Knuth's
/// constants).
pub(crate) fn random(seed: u64) -> impl Iterator<Item = u64> {
    let step = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(step(&(seed + 1)), step).map(|x| x ^ x >> 29)
}
