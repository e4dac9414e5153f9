//! What a kernel's trace depends on, as one fingerprint: the decoded code, the lowered code, geometry, arguments, the contents of
//! memory, registers and shared memory, the format of the file, and the version of how traces are made.

use crate::kernels::{Instance, Prepared};
use crate::random::Random;
use mias_ptx::Program;
use mias_ptx::lower::Lowered;
use mias_trace::trace_file;
use std::sync::Arc;

/// Version of what executing and recording do. It changes with every change by which the same lowered code gives another trace:
/// of an instruction's result, of coalescing, of the numbering within a trace. A test holds traces against it. (The lowering needs no
/// version: its result is part of the key.)
pub const TRACE_VERSION: u32 = 2;

/// A hash of 128 bits, two of 64 that start apart: each word is mixed into the state by SplitMix64, which is a bijection of
/// both. Memory may be large, and this takes words where [`Fnv`](mias_trace::fingerprint::Fnv) takes bytes.
struct Mixer([u64; 2]);

impl Mixer {
    fn word(&mut self, word: u64) {
        self.0.iter_mut().for_each(|state| *state = Random::new(*state ^ word).bits());
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            self.word(chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }
}

/// The fingerprint, 32 hexadecimal digits.
pub fn key(prepared: &Prepared) -> String {
    // Exhaustive patterns and whole values: what is added to any of them is in the key, or does not compile.
    let Prepared { program, instance, info } = prepared;
    // Results were checked when the trace was made; names of files and buffers and lines of the source are in messages only.
    let Instance { memory, entry, launch, regions: _, expected: _ } = instance;
    let program = Program { file: String::new(), source: Arc::default(), ..program.clone() };
    let mut mixer = Mixer([1, 2]);
    mixer.word(trace_file::VERSION.into());
    mixer.word(TRACE_VERSION.into());
    mixer.text(&format!("{:?}", (&program, Lowered::new(&program), entry, launch, info)));
    for (start, bytes, words) in memory.allocations() {
        mixer.word(start);
        mixer.word(bytes);
        words.for_each(|word| mixer.word(word.into()));
    }
    // Kernels without textures keep the keys that they had before there were any.
    if !memory.textures().is_empty() {
        mixer.text(&format!("{:?}", memory.textures()));
    }
    mixer.0.map(|half| format!("{half:016x}")).concat()
}
