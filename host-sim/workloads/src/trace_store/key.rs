//! Key of a kernel's trace: one fingerprint of all its inputs. These are the decoded and lowered
//! code, geometry, arguments, memory contents, registers and shared memory, the file format, and
//! the version of trace generation.

use crate::kernels::{Instance, Prepared};
use crate::random::Random;
use mias_ptx::Program;
use mias_ptx::lower::Lowered;
use mias_trace::trace_file;
use std::sync::Arc;

/// Version of execution and recording.
///
/// It changes with every change after which the same lowered code gives another trace: of an
/// instruction's result, of coalescing, of the numbering within a trace. A test compares traces
/// with it. (The lowering needs no version, since its result is part of the key.)
pub const TRACE_VERSION: u32 = 2;

/// A hash of 128 bits, two of 64 with different starts. SplitMix64, a bijection of both, mixes each
/// word into the state. Memory may be large, and this takes words where
/// [`Fnv`](mias_trace::fingerprint::Fnv) takes bytes.
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

/// Returns the fingerprint of a prepared kernel, as 32 hexadecimal digits.
pub fn key(prepared: &Prepared) -> String {
    // Exhaustive patterns and whole values ensure that a new field is part of the key, or does not
    // compile.
    let Prepared { program, instance, info } = prepared;
    // Results were checked when the trace was made. Names of files and buffers and source lines
    // appear only in messages.
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
    // Kernels without textures keep the keys from before textures were supported.
    if !memory.textures().is_empty() {
        mixer.text(&format!("{:?}", memory.textures()));
    }
    mixer.0.map(|half| format!("{half:016x}")).concat()
}
