//! A kernel of the library, prepared as for the simulator (`mias_workloads`): its data, arguments
//! and variables, and its PTX with the slot form of its entry.

use crate::repeat;
use crate::slot::{self, Slot};
use mias_ptx::Arg;
use mias_workloads::kernels::{Prepared, Spec};
use std::ops::Range;

/// First address of the simulator's buffers; those of variables are below (`mias_ptx::memory`).
const FIRST_BUFFER: u64 = 0x7000_0000_0000;

/// Kernels with threads that end before barriers of other threads. In the slot form they would wait
/// at the end of the TB, and block the others' barriers.
const END_EARLY: [&str; 2] = ["nw1", "nw2"];

/// A kernel that is not yet on a GPU.
#[derive(Debug)]
pub struct Kernel {
    /// Word that names it, such as `mm:256`.
    pub word: String,
    /// Code, data, launch, and expected results.
    pub prepared: Prepared,
    /// PTX text of the module.
    pub ptx: &'static str,
    /// Address range of its buffers.
    pub arena: Range<u64>,
    /// Address range that each pass through the grid needs for itself, if any.
    pub own: Option<Range<u64>>,
    /// Parameters that point into that range.
    pub shifted: Vec<usize>,
}

/// Addresses of the arguments on the GPU.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Address of the first buffer.
    pub arena: u64,
    /// Address of the first pass's own memory; none if it is that of the original.
    pub own: Option<u64>,
}

impl Kernel {
    /// Prepares the kernel that `word` names.
    ///
    /// # Errors
    /// A sentence for an unknown kernel, an invalid input, or a kernel that cannot run here.
    pub fn of(word: &str) -> Result<Self, String> {
        let spec = Spec::parse(word).map_err(|error| error.to_string())?;
        let built_in = spec.kernel.built_in_name().ok_or("only kernels that come with the library can be measured")?;
        let files = mias_kernels::find(built_in).ok_or("not in the library")?;
        if END_EARLY.contains(&files.name) {
            return Err(format!("some threads of `{word}` end before barriers of the others, which the slot form does not support"));
        }
        let prepared = spec.prepare().map_err(|error| error.to_string())?;
        if prepared.program.is_cooperative() || !prepared.instance.memory.textures().is_empty() {
            return Err(format!("`{word}` needs textures or a cooperative launch, which are not supported here"));
        }
        let spans = prepared.instance.memory.allocations().map(|(start, bytes, _)| start..start + bytes);
        let spans: Vec<Range<u64>> = spans.filter(|span| span.start >= FIRST_BUFFER).collect();
        let end = spans.last().map_or(FIRST_BUFFER, |span| span.end);
        let own = repeat::own_buffers(files.name).map(|[first, last]| -> Result<Range<u64>, String> {
            let (first, last) = (prepared.region(first)?, prepared.region(last)?);
            Ok(first.address..last.address + last.bytes)
        });
        let own = own.transpose()?;
        let points = |arg: &Arg| matches!((arg, &own), (Arg::U64(address), Some(own)) if own.contains(address));
        let args = prepared.instance.launch.args.iter().enumerate();
        let shifted = args.filter(|(_, arg)| points(arg)).map(|(number, _)| number).collect();
        Ok(Kernel { word: word.into(), ptx: files.ptx, arena: FIRST_BUFFER..end, own, shifted, prepared })
    }

    /// Prepares several kernels, one thread each, with the result of [`Kernel::of`] for each.
    pub fn each(words: &[String]) -> Vec<Result<Self, String>> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = words.iter().map(|word| scope.spawn(|| Kernel::of(word))).collect();
            let gone = |_| Err("preparing a kernel panicked".to_owned());
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(gone)).collect()
        })
    }

    /// Returns the module with the slot form, limited to `registers` registers per thread.
    ///
    /// # Errors
    /// A sentence with the unsupported part of the kernel.
    pub fn slot(&self, registers: Option<u32>) -> Result<Slot, String> {
        let entry = &self.prepared.instance.entry;
        slot::transform(self.ptx, entry, &self.shifted, registers).map_err(|error| format!("`{}`: {error}", self.word))
    }

    /// Returns the threads per TB.
    pub fn threads(&self) -> u32 {
        self.prepared.instance.launch.threads() as u32
    }

    /// Returns the TBs of the grid.
    pub fn tbs(&self) -> u32 {
        self.prepared.instance.launch.tbs() as u32
    }

    /// Returns the passes through the grid for which memory suffices; none for no limit.
    pub fn passes(&self) -> Option<u32> {
        self.own.as_ref().map(|own| repeat::passes(own.end - own.start))
    }

    /// Returns the buffers' contents, from the first to the end of the last, with zeros in between.
    pub fn contents(&self) -> Vec<u8> {
        let mut bytes = vec![0; (self.arena.end - self.arena.start) as usize];
        for (start, size, words) in self.prepared.instance.memory.allocations().filter(|(start, ..)| self.arena.contains(start)) {
            let at = (start - self.arena.start) as usize;
            let room = &mut bytes[at..at + size as usize];
            room.chunks_mut(4).zip(words).for_each(|(room, word)| room.copy_from_slice(&word.to_le_bytes()[..room.len()]));
        }
        bytes
    }

    /// Returns the names of the module's variables, and the contents of those that the kernel's
    /// description sets.
    pub fn variables(&self, places: Places) -> Vec<(String, Option<Vec<u8>>)> {
        let memory = &self.prepared.instance.memory;
        let set = |address: u64| memory.allocations().any(|(start, ..)| start == address);
        let contents = |address: u64, bytes: u64| memory.read(address, bytes as usize).ok().map(|bytes| self.moved(&bytes, places));
        let variables = self.prepared.program.image.variables.iter();
        variables.map(|v| (v.name.clone(), set(v.address).then(|| contents(v.address, v.bytes)).flatten())).collect()
    }

    /// Returns the arguments' bytes, in order. `shifted` parameters point to the pass's own memory
    /// if there is one.
    pub fn arguments(&self, places: Places) -> Vec<Vec<u8>> {
        let args = self.prepared.instance.launch.args.iter().enumerate();
        let bytes = args.map(|(number, arg)| match (arg, places.own, &self.own) {
            (Arg::U64(address), Some(own), Some(span)) if self.shifted.contains(&number) => {
                (address - span.start + own).to_le_bytes().into()
            }
            (Arg::U64(_) | Arg::Bytes(_), ..) => self.moved(&arg.bytes(), places),
            _ => arg.bytes(),
        });
        bytes.collect()
    }

    /// Replaces the addresses of buffers by theirs on the GPU: each 8 bytes that, read as an
    /// address, lie within. No other number or text does, because it would have to start with
    /// 0x7000.
    fn moved(&self, bytes: &[u8], places: Places) -> Vec<u8> {
        let moved = |chunk: &[u8]| match chunk.try_into().map(u64::from_le_bytes) {
            Ok(address) if (self.arena.start..=self.arena.end).contains(&address) => {
                (address - self.arena.start + places.arena).to_le_bytes().to_vec()
            }
            _ => chunk.to_vec(),
        };
        bytes.chunks(8).flat_map(moved).collect()
    }

    /// Copies the GPU's buffers to the memory that the host reference checks.
    ///
    /// # Errors
    /// A sentence if they do not fit.
    pub fn take_results(&self, bytes: &[u8]) -> Result<(), String> {
        let memory = &self.prepared.instance.memory;
        for (start, size, words) in memory.allocations().filter(|(start, ..)| self.arena.contains(start)) {
            let at = (start - self.arena.start) as usize;
            let found = bytes.get(at..at + size as usize).ok_or("fewer bytes than buffers")?;
            for (number, (chunk, word)) in found.chunks(4).zip(words).enumerate() {
                if chunk != &word.to_le_bytes()[..chunk.len()] {
                    memory.write(start + 4 * number as u64, chunk).map_err(|fault| fault.to_string())?;
                }
            }
        }
        Ok(())
    }
}
