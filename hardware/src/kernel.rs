//! A kernel of the library, made ready as the simulator makes it (`mias_workloads`): its data, arguments and variables, its PTX with the
//! slot form of its entry.

use crate::repeat;
use crate::slot::{self, Slot};
use mias_ptx::Arg;
use mias_workloads::kernels::{Prepared, Spec};
use std::ops::Range;

/// Addresses of the simulator's buffers are from here on; those of variables are below (`mias_ptx::memory`).
const FIRST_BUFFER: u64 = 0x7000_0000_0000;

/// Kernels some of whose threads end before barriers of the others: in the slot form they would have to wait at the end of the TB, where
/// the others' barriers would wait for them.
const END_EARLY: [&str; 2] = ["nw1", "nw2"];

/// A kernel, not yet on a GPU.
#[derive(Debug)]
pub struct Kernel {
    /// The word that asked for it, such as `mm:256`.
    pub word: String,
    /// Code, data, launch, and what its results should be.
    pub prepared: Prepared,
    /// The module's text.
    pub ptx: &'static str,
    /// Its buffers, from the first to the end of the last.
    pub arena: Range<u64>,
    /// What each pass through the grid has for its own, if it must.
    pub own: Option<Range<u64>>,
    /// Parameters that point there.
    pub shifted: Vec<usize>,
}

/// Where the arguments' addresses lie on the GPU.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Address of the first buffer.
    pub arena: u64,
    /// Address of what the first pass has for its own; none: it is where the original is.
    pub own: Option<u64>,
}

impl Kernel {
    /// Prepares what `word` asks for.
    ///
    /// # Errors
    /// A sentence: no such kernel, input that it cannot have, or one that cannot run here.
    pub fn of(word: &str) -> Result<Self, String> {
        let spec = Spec::parse(word).map_err(|error| error.to_string())?;
        let built_in = spec.kernel.built_in_name().ok_or("only kernels that come with the library can be measured")?;
        let files = mias_kernels::find(built_in).ok_or("not in the library")?;
        if END_EARLY.contains(&files.name) {
            return Err(format!("some threads of `{word}` end before barriers of the others, for which the slot form has no way"));
        }
        let prepared = spec.prepare().map_err(|error| error.to_string())?;
        if prepared.program.is_cooperative() || !prepared.instance.memory.textures().is_empty() {
            return Err(format!("`{word}` needs textures or a cooperative launch, which are not set up here"));
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

    /// Prepares several at once, a thread each; for each what [`Kernel::of`] says.
    pub fn each(words: &[String]) -> Vec<Result<Self, String>> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = words.iter().map(|word| scope.spawn(|| Kernel::of(word))).collect();
            let gone = |_| Err("preparing a kernel panicked".to_owned());
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(gone)).collect()
        })
    }

    /// The module with the slot form, of at most so many registers per thread.
    ///
    /// # Errors
    /// A sentence that says what the form has no room for.
    pub fn slot(&self, registers: Option<u32>) -> Result<Slot, String> {
        let entry = &self.prepared.instance.entry;
        slot::transform(self.ptx, entry, &self.shifted, registers).map_err(|error| format!("`{}`: {error}", self.word))
    }

    /// Threads per TB.
    pub fn threads(&self) -> u32 {
        self.prepared.instance.launch.threads() as u32
    }

    /// TBs of the grid.
    pub fn tbs(&self) -> u32 {
        self.prepared.instance.launch.tbs() as u32
    }

    /// Passes through the grid that memory lasts for; none: as many as there is time for.
    pub fn passes(&self) -> Option<u32> {
        self.own.as_ref().map(|own| repeat::passes(own.end - own.start))
    }

    /// The buffers' contents, from the first to the end of the last; zeros in between.
    pub fn contents(&self) -> Vec<u8> {
        let mut bytes = vec![0; (self.arena.end - self.arena.start) as usize];
        for (start, size, words) in self.prepared.instance.memory.allocations().filter(|(start, ..)| self.arena.contains(start)) {
            let at = (start - self.arena.start) as usize;
            let room = &mut bytes[at..at + size as usize];
            room.chunks_mut(4).zip(words).for_each(|(room, word)| room.copy_from_slice(&word.to_le_bytes()[..room.len()]));
        }
        bytes
    }

    /// Names of the module's variables, and the contents of those that the kernel's description sets.
    pub fn variables(&self, places: Places) -> Vec<(String, Option<Vec<u8>>)> {
        let memory = &self.prepared.instance.memory;
        let set = |address: u64| memory.allocations().any(|(start, ..)| start == address);
        let contents = |address: u64, bytes: u64| memory.read(address, bytes as usize).ok().map(|bytes| self.moved(&bytes, places));
        let variables = self.prepared.program.image.variables.iter();
        variables.map(|v| (v.name.clone(), set(v.address).then(|| contents(v.address, v.bytes)).flatten())).collect()
    }

    /// The arguments' bytes, in order. What a pass has for its own is at its place for `shifted` parameters if there is one.
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

    /// With addresses of buffers replaced by theirs on the GPU: each 8 bytes that, taken for an address, lie within. No number or text that
    /// is no address does, for it would have to begin with 0x7000.
    fn moved(&self, bytes: &[u8], places: Places) -> Vec<u8> {
        let moved = |chunk: &[u8]| match chunk.try_into().map(u64::from_le_bytes) {
            Ok(address) if (self.arena.start..=self.arena.end).contains(&address) => {
                (address - self.arena.start + places.arena).to_le_bytes().to_vec()
            }
            _ => chunk.to_vec(),
        };
        bytes.chunks(8).flat_map(moved).collect()
    }

    /// Puts what the GPU left in the buffers where the host reference looks for it.
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
